"""Show reports: as blocks that a console, a page and Markdown write, as plain JSON values. Nothing is computed here.

A text: ``tokens``, ``stages``, ``steps``. A tokenizer: ``health``, ``vocabulary``, ``structure``. Several of them:
``comparison/``. A training: ``training_steps``, ``vocabulary_curve``.

What they share: ``visible`` makes any text harmless, ``labels`` write numbers and names, ``lines`` set text in which
every space counts; ``blocks`` are what ``on_console``, ``page/`` and ``markdown`` write, ``as_json`` walks reports.
"""

SECTIONS = {
    "totals": "Totals",
    "reachability": "Reachability",
    "corpus": "On the corpus",
    "residues": "Residues of merging",
    "lengths": "Lengths",
    "scripts": "Scripts",
    "merges": "Merge tree",
    "utf8": "Tokens that are not UTF-8",
    "whitespace": "Only whitespace",
    "numbers": "Numbers that are one token",
    "duplicates": "Tokens that differ only by",
    "invisible": "Characters that nobody sees",
    "repeats": "Long repeats",
    "longest": "Longest tokens",
    "special": "Special tokens",
    "settings": "Settings in the file",
}
"""The sections of the report on a tokenizer in their order: their names, and the headings of those that are empty."""

ALL = "all"
"""The name for all sections."""
