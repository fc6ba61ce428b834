"""Footnote: chat with your own notes and papers, and check what it read before you trust it.

The folders are the pipeline, and data walks one way: sources → index → retrieval → answering → inspection, wired in
:mod:`rag.engine`. Importing this package loads no model and no heavy library.
"""

__version__ = "0.1.0"
