"""Measure tokenizers and what they make of text: frozen values, for ``bpe_cli.views`` to show.

- ``text.segmentation.segment(tokenizer, text)``: one text, token by token.
- ``tokenizer.health.examine_health(tokenizer)``: the tokenizer itself, all of this together:
- ``tokenizer.vocabulary_report.describe(tokenizer)``: what it is and holds.
- ``tokenizer.structure.examine_structure(Anatomy(tokenizer))``: how its vocabulary is built.
- ``tokenizer.corpus_report.examine_corpus(anatomy, count_frequencies(tokenizer, blocks))``: what a corpus uses of it.
- ``tokenizer.lookup.look_up(anatomy, token_id)``: all about one token.
- ``comparison.compare.compare(tokenizers, inputs)``: several tokenizers on the same texts.
"""
