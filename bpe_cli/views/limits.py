"""Describe how much is shown unless all is asked for."""

TOKEN_LIMIT = 1000
"""Tokens of a text."""
DOCUMENT_LIMIT = 100
"""Documents of a page or picture."""
