"""Measure several tokenizers on the same texts."""
