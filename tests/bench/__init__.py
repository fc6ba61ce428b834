"""Measurements, run by hand: ``python -m tests.bench.NAME``. Timings never decide a test."""
