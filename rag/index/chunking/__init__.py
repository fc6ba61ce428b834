"""A document → its chunks: sections numbered, cut, and put back together where they are short."""
