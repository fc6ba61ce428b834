"""Question → ranked chunks, with every stage recorded: dense, lexical, fusion, and the verdict on the evidence."""
