"""Text files of every kind: plain, marked up, tables, data, notebooks."""
