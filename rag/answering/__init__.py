"""Ranked chunks → a streamed answer with checked citations: prompt, budget, chain, citations."""
