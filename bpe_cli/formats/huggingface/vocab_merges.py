"""Read and write GPT-2's pair of files: ``vocab.json`` and ``merges.txt``.

``encoder.json`` and ``vocab.bpe`` are OpenAI's names for the same two. The pair does not name its
split pattern: it stands for GPT-2's, which is used unless another is given, or the class that
``tokenizer_config.json`` names has another (``classes``). Special tokens are read from
the files that Hugging Face puts beside the pair; without those, only OpenAI's own files are known to
have one. Nothing else is taken for special: an entry that no merge makes stays an ordinary token.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from bpe_cli.errors import FormatError, InputError
from bpe_cli.formats import byte_level
from bpe_cli.formats.added_tokens import read_special_tokens
from bpe_cli.formats.features import losses, other_model, refuse_losses
from bpe_cli.formats.huggingface import classes, companions
from bpe_cli.formats.huggingface import models as hf_models
from bpe_cli.formats.read_file import Node, read
from bpe_cli.stages import MergeBpe, Model, PrefixSpace, RankBpe, SpecialToken
from bpe_cli.stages.spelling import CHAR_TO_BYTE, from_visible
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.merging import why_no_ranks
from bpe_cli.tokenizer.usage import Origin

NAME = "vocab-merges"
FILES = ("vocab.json", "encoder.json", "merges.txt", "vocab.bpe")
HOLDER = "the pair vocab.json and merges.txt"
MODELS = frozenset({"bpe-ranks", "bpe-merges"})
HOLDS = frozenset((
    "ids", "prefix-space", "special-tokens", "unspelt-tokens", "token-flags", "unicode-version", "roles",
    "chat-templates",
))  # fmt: skip

PAIRS = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))

OPENAI_VOCABULARIES = frozenset(
    {
        "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",  # as published
        "6401aa8aac4e480b02ed2713037078c26fab6fc9f1882012e746fe9bd87bc99b",  # the same object, indented (tiktoken-rs)
    }
)
"""sha256 of GPT-2's ``encoder.json``, whose last entry is a special token."""

_KEY = rb'\s*"(?:[^"\\]|\\.)*"\s*:\s*'
_VOCABULARY_HEAD = re.compile(rb"\s*\{" + _KEY + rb"-?\d")
_DATA_HEAD = re.compile(rb"\s*+\{" + _KEY + rb"-?[\d.]++(?:\s*+," + _KEY + rb"[^\s\d-]|[^\n]*\}[^\S\n]*+\n\s*+\{)")
"""An object that begins with a number and goes on with something else, or is the first of several lines.

No run of digits, blanks or line ends is tried twice: a file may be nothing else."""

_MERGE = re.compile(r"\S+ \S+")


def sniff(head: bytes) -> bool:
    """Return whether a file begins like one of the pair."""
    return (_VOCABULARY_HEAD.match(head) is not None and _DATA_HEAD.match(head) is None) or _is_merges(head)


def _is_merges(head: bytes) -> bool:
    if head.startswith(b"#version"):
        return True
    lines = head.split(b"\n")[:16]
    complete = [line.decode("utf-8", "replace") for line in (lines[:-1] or lines) if line]
    # Without a header it must look the part: the first merge can only be of two single bytes.
    return (
        bool(complete)
        and len(complete[0]) == 3
        and all(_MERGE.fullmatch(line) and from_visible(line.replace(" ", "")) is not None for line in complete)
    )


def find_pair(path: Path) -> tuple[Path, Path] | None:
    """Find ``vocab.json`` and ``merges.txt`` from their folder or from either of them.

    A prefix is kept: ``my-vocab.json`` goes with ``my-merges.txt``.
    """
    if path.is_dir():
        candidates = [(path / vocabulary, path / merges) for vocabulary, merges in PAIRS]
        return next((pair for pair in candidates if pair[0].is_file() and pair[1].is_file()), None)
    for pair in PAIRS:
        for own, name in enumerate(pair):
            if path.name.endswith(name):
                partner = path.with_name(path.name[: -len(name)] + pair[1 - own])
                both = (partner, path) if own else (path, partner)
                return both if partner.is_file() else None
    return None


def belongs(path: Path) -> bool:
    """Return whether a file is one of a pair, whatever it looks like by itself.

    A list of merges with ends of words looks like codes of subword-nmt, a vocabulary may look like BERT's.
    """
    return find_pair(path) is not None


def load(path: Path, pattern: str | None = None) -> Tokenizer:
    """Read the pair, given its folder or either file; ``pattern`` replaces the known way to cut text."""
    import hashlib

    pair = find_pair(path)
    if pair is None:
        raise InputError(
            f"{path} is one of a pair of files, and the other is missing",
            hint=f"lay them side by side: {' or '.join(' with '.join(names) for names in PAIRS)}",
        )
    vocabulary_path, merges_path = pair
    data = read(vocabulary_path)
    vocabulary = Node.parse(data, str(vocabulary_path))
    ids = byte_level.read_ids(vocabulary)
    openai = hashlib.sha256(data).hexdigest() in OPENAI_VOCABULARIES
    declared = [SpecialToken(b"<|endoftext|>", 50256)] if openai else []
    companion_files = companions.find(vocabulary_path.parent)
    config = companion_files.config
    declared += [each.token for each in companions.declared(companion_files, ids.get)]
    written = read(merges_path)
    known = {token.content.decode() for token in declared}
    convention = classes.convention(config, pattern, ids, written, known, str(merges_path))
    declared += [SpecialToken(text.encode(), ids[text]) for text in convention.special if text in ids]
    special_tokens = read_special_tokens(ids, declared, str(vocabulary_path.parent))
    merges = _read_merges(written, str(merges_path))
    model: Model
    if convention.on_bytes:
        _check_alphabet(ids, known, str(vocabulary_path))
        model = byte_level.read_model(ids, merges, special_tokens, str(merges_path))
    else:
        settings = {
            "end_of_word_suffix": convention.suffix,
            "unk_token": _unknown(companion_files, ids, convention.unk),
        }
        model = hf_models.read_character_bpe(Node(settings, str(merges_path)), ids, merges, special_tokens)
    stages = convention.pre_tokenizer
    if config.flag("add_prefix_space"):
        stages = (PrefixSpace(), *stages)
    tokenizer = Tokenizer(
        model,
        stages,
        special_tokens,
        unicode_version=config.get("unicode_version").text_or_none(),
        normalizer=convention.normalizer,
        decoder=convention.decoder,
        origin=Origin(NAME, (("vocabulary", vocabulary_path.name), ("merges", merges_path.name), *_header(written))),
    )
    return companions.apply(hf_models.with_unknown(tokenizer, ids), companion_files, str(path))


def _unknown(companion_files: companions.Companions, ids: Mapping[str, int], usual: str | None) -> str | None:
    """Return the unknown token: as a companion file names it, else the usual one if the vocabulary has it."""
    for each in companion_files.named:
        if each.role == "unk":
            return each.token.content.decode()
    return usual if usual in ids and "unk_token" not in companion_files.config.members() else None


def _check_alphabet(ids: Mapping[str, int], known: Collection[str], source: str) -> None:
    """Check that a vocabulary spells bytes, which no file of a pair states.

    One that has all bytes may have an entry or two that are not spelt so, and are only decoded.
    """
    foreign = next((token for token in ids if token not in known and from_visible(token) is None), None)
    if foreign is not None and not ids.keys() >= CHAR_TO_BYTE.keys():
        character = next(character for character in foreign if character not in CHAR_TO_BYTE)
        raise FormatError(
            f"{source}: the token {quote(foreign)} (id {ids[foreign]}) has a character outside the byte alphabet, "
            f"{quote(character)} (U+{ord(character):04X}), so this is not a byte-level vocabulary",
            hint="byte-level vocabularies write a space as Ġ; special tokens are to stand among the added tokens",
        )


def _header(merges: bytes) -> Iterator[tuple[str, str]]:
    """Yield the version that the first line of ``merges.txt`` states, if it does."""
    first = merges.partition(b"\n")[0]
    if first.startswith(b"#version"):
        yield "merges version", first.removeprefix(b"#version").lstrip(b":").strip().decode()


def _read_merges(data: bytes, source: str) -> Iterator[tuple[str, str]]:
    """Yield merges; ``#version`` is a header on the first line only, ``#`` may begin a merge anywhere."""
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise FormatError(f"byte {error.start} is not UTF-8 ({source}:{row})") from None
    while lines and not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, start=1):
        if number == 1 and line.startswith("#version"):
            continue
        left, _, right = line.partition(" ")
        if not left or not right or " " in right or line.endswith("\r"):
            hint = "the file has the line ends of Windows; convert them to LF" if line.endswith("\r") else None
            raise FormatError(f"not two tokens and one space between: {quote(line)} ({source}:{number})", hint=hint)
        yield left, right


def dump(tokenizer: Tokenizer, allow_loss: frozenset[str] = frozenset()) -> dict[str, bytes]:
    """Write the pair, and ``tokenizer_config.json`` unless it would be empty."""
    import json

    from bpe_cli.support.safe_orjson import dumps

    model = tokenizer.model
    if not isinstance(model, (RankBpe, MergeBpe)):
        raise other_model(model, MODELS, HOLDER)
    if isinstance(model, MergeBpe) and model.ignore_merges:
        reason = why_no_ranks(replace(model, ignore_merges=False))
        if reason is not None:
            raise FormatError(
                f"merges.txt cannot say that a whole piece may be a token before merging: {reason}",
                hint="write tokenizer.json, which can",
            )
    class_name = classes.name_of(tokenizer)
    lost = losses(tokenizer, HOLDS)
    if class_name is not None:  # which says all of these
        lost = {name: what for name, what in lost.items() if name not in ("pattern", "normalizer")}
    elif byte_level.plain(tokenizer, HOLDER).patterns != (classes.GPT2,):
        lost["pattern"] = "the split pattern"
    else:
        del lost["pattern"]
    merges = byte_level.write_merges(tokenizer, "merges.txt")
    files = {
        "vocab.json": dumps(byte_level.write_vocabulary(tokenizer, all_special=True)),
        "merges.txt": "".join(["#version: 0.2\n", *(f"{left} {right}\n" for left, right in merges)]).encode(),
    }
    config = companions.config_of(tokenizer)
    if tokenizer.unicode_version is not None:
        config["unicode_version"] = tokenizer.unicode_version
    if class_name is not None:
        config["tokenizer_class"] = class_name
    if config or tokenizer.prefix_space:
        config = {"add_prefix_space": tokenizer.prefix_space, **config}
        files["tokenizer_config.json"] = (json.dumps(config, indent=2, ensure_ascii=False) + "\n").encode()
    refuse_losses(lost, allow_loss, HOLDER)
    return files
