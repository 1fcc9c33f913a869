"""Read and write tokenizer files: one module per format, each with ``sniff``, ``load`` and ``dump``.

``dump`` gives contents, it does not write: file name -> bytes, where ``""`` is the output path itself.
What a format cannot hold is an error that names it, unless the caller agrees to that very loss.
"""

from bpe_cli.formats.detect import identify, is_tokenizer, locate
from bpe_cli.formats.files import check_beside, dump, left_behind, load, rehearse
from bpe_cli.formats.find import files_meant, find_tokenizer
from bpe_cli.formats.registry import FORMATS, format_of_name

__all__ = [
    "FORMATS",
    "check_beside",
    "dump",
    "files_meant",
    "find_tokenizer",
    "format_of_name",
    "identify",
    "is_tokenizer",
    "left_behind",
    "load",
    "locate",
    "rehearse",
]
