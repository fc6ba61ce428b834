"""Source documents → what is kept, in step with a folder: chunks, vectors (Chroma), catalog and keywords (SQLite)."""
