"""BERT's ``vocab.txt``."""
