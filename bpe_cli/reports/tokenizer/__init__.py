"""Report on a tokenizer by itself."""
