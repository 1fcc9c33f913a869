"""What is no topic of its own: wording of messages, lazy imports, fast dataclasses, ordered threads."""

__version__ = "0.1.0"
"""The version of the package, where whatever is below the package itself can read it."""
