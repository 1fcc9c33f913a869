"""What is no topic of its own: wording of messages, lazy imports, fast dataclasses, ordered threads."""

__version__ = "0.1.0"
"""The version of the package, where whatever is below the package itself can read it."""


def regex_version() -> str:
    """Return the version of the ``regex`` module, which tells its Unicode version."""
    import glob
    import os
    import sys

    # Where installers note it: the first on the path counts. Asking the library for it takes longer than all the rest.
    for folder in sys.path:
        for noted in glob.glob(os.path.join(glob.escape(folder), "regex-*.dist-info")):
            return os.path.basename(noted).removeprefix("regex-").removesuffix(".dist-info")
    from importlib.metadata import version

    return version("regex")
