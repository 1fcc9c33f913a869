"""Hugging Face's files: ``tokenizer.json``, what lies beside it, whole folders, and the older pair of files."""
