"""The version of the package, where whatever is below the package itself can read it."""

__version__ = "0.1.0"
