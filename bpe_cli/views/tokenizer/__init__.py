"""Show the report on a tokenizer."""
