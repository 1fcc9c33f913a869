"""Check that what lies already where a tokenizer is written does not change what is read there afterwards.

Files of Hugging Face's layouts are read together: added tokens, roles and chat templates of a tokenizer that was there
before would become the new one's, and in a folder an older ``tokenizer.json`` would be read in place of a new pair.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from bpe_cli.errors import FormatError, UsageError
from bpe_cli.formats.detect import may_belong
from bpe_cli.formats.proof import Load, first_difference, read_back
from bpe_cli.support.messages import listed, show_path
from bpe_cli.tokenizer import Tokenizer


def check_beside(tokenizer: Tokenizer, files: Mapping[str, bytes], output: Path, load: Load) -> None:
    """Check that a tokenizer is read as it is written, with the files that are there already and stay.

    Args:
        tokenizer: What is written.
        files: Name -> content, as ``dump`` gives them.
        output: The file or folder by which they will be read; one of several files stands for itself.
        load: Reads them.

    Raises:
        UsageError: if a file that is there would change the tokenizer or its use.
        OutputError: if there is no place for a temporary file.
    """
    is_file = "" in files or output.name in files
    folder, file_name = (output.parent, output.name) if is_file else (output, "")
    written = {name or file_name for name in files}
    paths = {path.relative_to(folder).as_posix(): path for path in may_belong(folder) if os.path.lexists(path)}
    others = {name: path for name, path in paths.items() if name not in written}
    if not others:
        return
    try:
        alone = read_back(files, file_name, load)
    except FormatError:  # it is not read by this name, whatever lies beside it
        return

    def change(some: Mapping[str, Path]) -> bool:
        """Return whether these files give another tokenizer than what is written alone, and than what it is to be."""
        try:
            read = read_back(files, file_name, load, some)
            same = any(first_difference(each, read, frozenset()) is None for each in (alone, tokenizer))
        except FormatError:
            return True
        return not same or read.usage not in (alone.usage, tokenizer.usage)

    if change(others):
        names = [show_path(path) for name, path in others.items() if change({name: path})]
        names = names or list(map(show_path, others.values()))
        are, they, them = ("is", "it", "it") if len(names) == 1 else ("are", "they", "them")
        raise UsageError(
            f"{listed(names, separator=', ')} {are} there already: {they} would be read with the new files, or instead "
            "of them, and change the tokenizer or its use",
            hint=f"write to another folder, or remove {them}",
        )
