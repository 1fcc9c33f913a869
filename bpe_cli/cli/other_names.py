"""What other tools call our commands, options and their values: whoever types their names is told ours."""

from __future__ import annotations

COMMANDS = {
    "apply": ("encode", ""),
    "bench": ("compare", "--speed"),
    "benchmark": ("compare", "--speed"),
    "chunk": ("encode", "--to chunks --size 256"),
    "chunks": ("encode", "--to chunks --size 256"),
    "count": ("encode", "--to count"),
    "detokenize": ("decode", ""),
    "info": ("inspect", ""),
    "learn": ("train", ""),
    "play": ("inspect", "--live"),
    "segment": ("encode", "--to segmented"),
    "show": ("inspect", ""),
    "steps": ("inspect", "--steps"),
    "tokenize": ("encode", ""),
    "truncate": ("encode", "--to text --truncate 256"),
    "verify": ("compare", "--ids"),
    "visualize": ("inspect", ""),
    "wc": ("encode", "--to count"),
}
"""Where what other tools have a command for is done with the same words behind it: the command and its options."""

TEMPLATES = {
    "apply-bpe": "encode -t CODES --to segmented",
    "diff": "compare TEXT -t A -t B --diff",
    "export": "convert A -o OUT",
    "extend": "convert A --extend CORPUS --vocab-size N -o OUT",
    "learn-bpe": "train -a bpe --compat subword-nmt --set merges=N -o CODES",
    "merge": "convert A --merge B -o OUT",
    "prune": "convert A --prune-to N --counts-from CORPUS -o OUT",
}
"""How it is done where other words are needed behind the command, or the same ones mean something else."""

_SIZE = "-s, which counts the tokens before the first merge too"
_TOKENIZERS = ("encode", "decode", "inspect", "compare", "prepare")
_READERS = ("train", "encode", "inspect", "compare", "prepare")

OPTIONS: dict[tuple[str, ...], dict[tuple[str, ...], str]] = {
    _TOKENIZERS: {("codes", "encoding", "m", "model", "tokenizer-file", "vocab"): "-t"},
    _READERS: {("jobs", "nproc", "num-proc", "num-threads", "num-workers", "workers"): "-j"},
    ("train", "encode", "decode", "convert", "inspect", "compare", "prepare"): {
        ("no-progress", "silent"): "-q",
        ("i", "input", "input-file"): "inputs are named without an option",
    },
    ("encode", "decode", "convert", "train"): {("output-dir", "output-file", "save"): "-o"},
    ("convert",): {("to", "to-format"): "--format"},
    ("decode",): {("format", "input-format"): "--from"},
    ("encode",): {
        ("add-bos",): "--bos auto",
        ("add-eos",): "--eot auto",
        ("allow-special",): "--special all",
        ("allowed-special", "parse-special"): "--special",
        ("alpha",): "--sample",
        ("bpe-dropout",): "--dropout",
        ("chunk", "chunk-size"): "--to chunks --size N",
        ("chunk-overlap",): "--overlap",
        ("count",): "--to count",
        ("decode",): "bpe decode",
        ("encode",): "--to ids",
        ("format", "output-format"): "--to",
        ("max-length", "truncation"): "--to text --truncate N",
        ("nbest-size",): "--nbest",
        ("offsets", "spans"): "--to jsonl --with spans",
        ("tokens",): "--to tokens",
    },
    ("train",): {
        ("model-prefix",): "-o",
        ("model-type", "type"): "-a",
        ("merges", "num-merges", "num-operations", "symbols"): _SIZE,
    },
}
"""Commands -> what others call an option -> how it is said here."""

_SENTENCEPIECE = "-a bpe or -a unigram with --compat sentencepiece"

VALUES = {
    ("train", "--algorithm"): {
        "bytebpe": "-a bbpe",
        "bytelevel": "-a bbpe",
        "bytelevelbpe": "-a bbpe",
        "character": "-a char",
        "parity": "-a bbpe --parity",
        "pickybpe": "-a picky",
        "scaffoldbpe": "-a scaffold",
        "sentencepiece": _SENTENCEPIECE,
        "spm": _SENTENCEPIECE,
        "subwordnmt": "-a bpe --compat subword-nmt",
        "superbpe": "-a bbpe --superwords",
        "superwords": "-a bbpe --superwords",
        "wordlevel": "-a word",
    },
    ("encode", "--to"): {
        "arrow": "bpe prepare --to arrow",
        "json": "--to jsonl, or --to count --json",
        "mds": "bpe prepare --to mds",
        "megatron": "bpe prepare --to megatron",
        "numpy": "--to npy",
        "offsets": "--to jsonl --with spans",
        "parquet": "bpe prepare --to parquet",
        "spans": "--to jsonl --with spans",
    },
}
"""The command and the option -> what others call a value, in small letters alone -> how it is said here."""


def option_of(command: str | None, name: str) -> str | None:
    """Return the hint at what another tool's option is called here.

    >>> option_of("encode", "--num_proc"), option_of("encode", "--nothing")
    ('here it is -j', None)
    """
    wanted = name.strip("-").replace("_", "-").lower()
    for commands, options in OPTIONS.items():
        for names, ours in options.items() if command in commands else ():
            if wanted in names:
                return _hint(ours)
    return None


def value_of(command: str | None, option: str, value: str) -> str | None:
    """Return the hint at what another tool's value of an option is called here.

    >>> value_of("train", "--algorithm", "Byte-Level BPE"), value_of("train", "--algorithm", "lstm")
    ('here it is -a bbpe', None)
    """
    values = VALUES.get((command or "", option), {})
    ours = values.get("".join(filter(str.isalpha, value.lower())))
    return None if ours is None else _hint(ours)


def _hint(ours: str) -> str:
    return f"here it is {ours}" if ours.startswith(("-", "bpe ")) else ours
