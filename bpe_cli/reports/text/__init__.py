"""Report everything about one text and its tokens."""
