"""Measure tokenizers and what they make of text: frozen values, for ``bpe_cli.views`` to show.

- ``segmentation.segment(tokenizer, text)``: one text, token by token.
- ``vocabulary_report.describe(tokenizer)``: the tokenizer itself.
- ``comparison.compare(tokenizers, inputs)``: several tokenizers on the same texts.
"""
