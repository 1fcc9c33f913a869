"""Show a text and its tokens."""
