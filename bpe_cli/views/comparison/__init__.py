"""Show a comparison of tokenizers."""
