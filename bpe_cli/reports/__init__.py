"""Measure tokenizers and what they make of text: frozen values, for ``bpe_cli.views`` to show.

- ``text.segmentation.segment(tokenizer, text)``: one text, token by token.
- ``tokenizer.vocabulary_report.describe(tokenizer)``: the tokenizer itself.
- ``comparison.comparing.compare(tokenizers, inputs)``: several tokenizers on the same texts.
"""
