"""Helpers for all other folders: wording of messages, lazy imports, fast dataclasses, ordered threads."""

__version__ = "0.1.0"
"""The version of the package, where whatever is below the package itself can read it."""


def regex_version() -> str:
    """Return the version of the ``regex`` module, which tells its Unicode version."""
    import os
    import sys

    # Where installers note it: the first on the path counts. Asking the library for it takes longer than all the rest.
    for folder in sys.path:
        try:
            names = os.listdir(folder or os.curdir)
        except OSError:  # no folder: an archive, or nothing
            continue
        for name in names:
            if name.startswith("regex-") and name.endswith(".dist-info"):
                return name.removeprefix("regex-").removesuffix(".dist-info")
    from importlib.metadata import version

    return version("regex")
