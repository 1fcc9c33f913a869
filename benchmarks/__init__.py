"""Measure bpe against other libraries: ``run.py`` writes results.json, ``render.py`` makes tables of it."""
