"""What ``bpe train`` is asked for, to have a tokenizer of every algorithm and of everybody's rules for it."""

from __future__ import annotations

SENTENCEPIECE = ("--compat", "sentencepiece", "-s", "60")
KINDS = {
    "bbpe": ("-a", "bbpe", "-s", "290"),
    "bbpe minbpe": ("-a", "bbpe", "--compat", "minbpe", "-s", "290"),
    "bbpe rustbpe": ("-a", "bbpe", "--compat", "rustbpe", "-s", "290"),
    "bbpe subword-nmt": ("-a", "bbpe", "--compat", "subword-nmt", "-s", "290"),
    "byte": ("-a", "byte"),
    "bpe": ("-a", "bpe", "-s", "80"),
    "bpe hf": ("-a", "bpe", "--compat", "hf", "-s", "60"),
    "bpe subword-nmt": ("-a", "bpe", "--compat", "subword-nmt", "-s", "80", "--format", "tokenizer.json"),
    "bpe 0.1": ("-a", "bpe", "--set", "suffix_form=0.1", "-s", "60"),
    "bpe bytes": ("-a", "bpe", "--set", "by_byte=yes", "-s", "540"),
    "bpe sentencepiece": ("-a", "bpe", *SENTENCEPIECE),
    "wordpiece": ("-a", "wordpiece", "-s", "70"),
    "wordpiece hf": ("-a", "wordpiece", "--compat", "hf", "-s", "70"),
    "wordpiece tensorflow": ("-a", "wordpiece", "--compat", "tensorflow", "-s", "65", "--min-frequency", "2"),
    "wordpiece score": ("-a", "wordpiece", "--set", "rule=score", "--min-frequency", "1", "-s", "70"),
    "unigram": ("-a", "unigram", "-s", "38"),
    "unigram textbook": ("-a", "unigram", "--set", "rule=textbook", "-s", "56"),
    "unigram sentencepiece": ("-a", "unigram", "--compat", "sentencepiece", "-s", "40"),
    "mingram": ("-a", "mingram", "-s", "290"),
    "picky": ("-a", "picky", "-s", "60", "--set", "threshold=0.5"),
    "scaffold": ("-a", "scaffold", "-s", "60"),
    "greedtok": ("-a", "greedtok", "-s", "290"),
    "char": ("-a", "char"),
    "char sentencepiece": ("-a", "char", *SENTENCEPIECE),
    "word": ("-a", "word"),
    "word sentencepiece": ("-a", "word", *SENTENCEPIECE),
    "ngram": ("-a", "ngram"),
    "ngram strided": ("-a", "ngram", "--set", "strided=yes", "--set", "n=3"),
    "maxmatch": ("-a", "maxmatch"),
}
