"""The page: Gradio 6 Blocks with three tabs. Only this room and ``app.py`` import gradio.

``page`` builds it, ``launch`` serves it, one module a tab wires the events, and the ``render`` modules turn the types
of :mod:`rag.types` into escaped HTML without knowing gradio. ``texts`` holds what people read.
"""
