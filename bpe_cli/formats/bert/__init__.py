r"""Read and write BERT's ``vocab.txt``: one token a line, whose id is the number of the line.

The file holds tokens only. The stages are BERT's: ``BertNormalizer``, ``BertPreTokenizer``, WordPiece with
``##``, ``[CLS] $A [SEP]`` around a text. How text is written before it is looked up stands in
``tokenizer_config.json`` (``do_lower_case``, ``strip_accents``, ``tokenize_chinese_chars``), which counts when it
lies beside the vocabulary, as do its other ``companions``. Without it the vocabulary shows it: see
``casing.reading``.

What the readers of this file agree on is done here too: lines end in LF, or CR and LF; of a token that stands
twice the last line counts, and the id of the first stands for nothing. Where they differ, only the line end is
taken off (Google's code takes whitespace off both ends, Hugging Face's ``tokenizers`` off the right end).
The same vocabulary as a JSON object of token -> id is read too, not written.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from bpe_cli import _core
from bpe_cli.errors import FormatError
from bpe_cli.formats import byte_level
from bpe_cli.formats.added_tokens import read_special_tokens, special_text
from bpe_cli.formats.bert.casing import reading, sniff
from bpe_cli.formats.features import losses, other_model, refuse_losses
from bpe_cli.formats.huggingface import companions, template
from bpe_cli.formats.huggingface.companions import CONFIG, Companions
from bpe_cli.formats.read_file import Node, read, refuse_pattern, text_lines
from bpe_cli.stages import BertNormalizer, BertPreTokenizer, SpecialToken, WordPiece, WordPieceDecoder
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.post_processor import layout
from bpe_cli.tokenizer.usage import Fact, Origin, Usage, roles_in_order

__all__ = ["FILES", "HOLDS", "MODELS", "NAME", "ROLES", "dump", "load", "loads", "sniff"]

NAME = "bert-vocab"
FILES = ("vocab.txt",)
MODELS = frozenset({"wordpiece"})
HOLDS = frozenset((
    "ids", "normalizer", "pre-tokenizer", "decoder", "special-tokens", "token-flags", "post-processor", "roles",
    "unicode-version",
))  # fmt: skip

MAX_BYTES = 1 << 25
"""Largest file that is read (32 MiB; the largest in use, of 500,000 tokens, has 5)."""

NAMES = {"unk": "[UNK]", "sep": "[SEP]", "pad": "[PAD]", "cls": "[CLS]", "mask": "[MASK]"}
"""BERT's special tokens by role; some vocabularies have them in lower case."""

STATED_ROLES = ("bos", "eos", *NAMES)
"""Roles that ``tokenizer_config.json`` can name (``bos_token``, ...)."""

ROLES = dict.fromkeys(STATED_ROLES)
"""The same, of tokens of any text."""

_BERT_LIKE = ("Bert", "DistilBert", "Electra", "MobileBert", "SqueezeBert", "ConvBert", "LayoutLM", "Lxmert")
_OLDER = ("RetriBert", "DPRQuestionEncoder", "DPRContextEncoder", "DPRReader")
CLASSES = frozenset(f"{name}Tokenizer" for name in (*_BERT_LIKE, *_OLDER))
"""Classes of ``transformers`` whose stages are BERT's; with ``Fast`` behind they are the same."""

SILENT_CLASSES = frozenset({"PreTrainedTokenizer", "TokenizersBackend"})
"""Classes that say nothing of the stages."""

_IDLE_LINES = "lines that stand for nothing"
"""Where ``Origin.carried`` has them: a number, a blank and the line, each on a line."""

PREFIX = "##"
LONGEST_WORD = 100


def load(path: Path, pattern: str | None = None) -> Tokenizer:
    """Read a ``vocab.txt`` and its companion files."""
    refuse_pattern(pattern, path, "is a vocabulary of BERT, which cuts text in its own way")
    return loads(read(path, MAX_BYTES), str(path), companions.find(path.parent))


def loads(data: bytes, source: str = "vocab.txt", companion_files: Companions = companions.NONE) -> Tokenizer:
    """Read the content of a ``vocab.txt``, with its companion files."""
    as_json = data.lstrip()[:1] == b"{"
    lines = [] if as_json else _read_lines(data, source)
    ids = _read_json(data, source) if as_json else {line: number for number, line in enumerate(lines) if line}
    declared = [each.token for each in companion_files.numbered]
    known = ids | {token.content.decode(): token.token_id for token in declared}
    names = _role_names(companion_files, known)
    if "unk" not in names:
        raise FormatError(
            f"{source} has no token for words that cannot be spelt: {NAMES['unk']}, or what {CONFIG} names",
            hint="tokenizer.json can say what is done without one",
        )
    named = ((each.token, known.get(each.token.content.decode())) for each in companion_files.named)
    declared += [replace(token, token_id=token_id) for token, token_id in named if token_id is not None]
    declared += [SpecialToken(name.encode(), known[name]) for name in names.values()]
    specials = read_special_tokens(ids, declared, source)
    hidden = {token.content.decode() for token in specials if token.special}
    words = {token: number for token, number in ids.items() if token not in hidden}
    roles = {role: known[name] for role, name in names.items()}
    facts: list[tuple[str, Fact]] = []
    if companion_files.config_data is not None:
        normalizer = _read_normalizer(companion_files.config)
    else:
        shown = reading(words, PREFIX)
        normalizer = shown.normalizer()
        facts += shown.facts()
    idle, count = bytearray(), 0
    for number, line in enumerate(lines):
        if ids.get(line) != number:
            idle += f"{number} {line}\n".encode()
            count += 1
    if count:
        facts.append((_IDLE_LINES, count))
    tokenizer = Tokenizer(
        WordPiece(
            Vocabulary.from_ids({token.encode(): number for token, number in words.items()}),
            roles["unk"],
            PREFIX,
            LONGEST_WORD,
        ),
        (BertPreTokenizer(),),
        specials,
        unicode_version=companion_files.config.get("unicode_version").text_or_none(),
        post_processor=_template(names, roles),
        normalizer=(normalizer,),
        decoder=(WordPieceDecoder(PREFIX),),
        usage=Usage(roles=roles_in_order(roles)),
        origin=Origin(NAME, tuple(facts), ((_IDLE_LINES, bytes(idle)),) if idle else ()),
    )
    return companions.apply(tokenizer, companion_files, source)


def _read_lines(data: bytes, source: str) -> list[str]:
    """Return the tokens of all lines."""
    if data.count(b"\n") > _core.MAX_TOKENS:
        raise FormatError(f"{source} has more than {_core.MAX_TOKENS:,} lines")
    return text_lines(data, source)


def _read_json(data: bytes, source: str) -> dict[str, int]:
    """Return token -> id of an object of these."""
    ids = byte_level.read_ids(Node.parse(data, source))
    largest = max(ids.values(), default=0)
    if largest >= _core.MAX_TOKENS:
        raise FormatError(f"{source} has the id {largest:,}; ids run to {_core.MAX_TOKENS - 1:,}")
    return {token: number for token, number in ids.items() if token}


def _role_names(companion_files: Companions, known: Collection[str]) -> dict[str, str]:
    """Return the token of each role: as a companion file names it, else BERT's if the vocabulary has it.

    A role that ``tokenizer_config.json`` states as null has none.
    """
    stated = {each.role: each.token.content.decode() for each in companion_files.named}
    names = {}
    for role in STATED_ROLES:
        spellings = [NAMES[role], NAMES[role].lower()] if role in NAMES else []
        if role in stated or f"{role}_token" in companion_files.config.members():
            spellings = [stated[role]] if role in stated else []
        present = [name for name in spellings if name in known]
        if present:
            names[role] = present[0]
    return names


def _read_normalizer(config: Node) -> BertNormalizer:
    """Return the normalizer that ``tokenizer_config.json`` states; its defaults are those of transformers."""
    kind = config.get("tokenizer_class")
    name = None if kind.is_null else kind.text().removesuffix("Fast")
    if name not in (None, *CLASSES, *SILENT_CLASSES):
        raise kind.error(
            f"is {quote(kind.text())}, whose stages are not known to be BERT's",
            hint="tokenizer.json says what they are",
        )
    if not config.flag("do_basic_tokenize", default=True):
        raise config.get("do_basic_tokenize").error("is false, which this version cannot carry over")
    accents = config.get("strip_accents")
    return BertNormalizer(
        handle_chinese_chars=config.flag("tokenize_chinese_chars", default=True),
        strip_accents=None if accents.is_null else accents.boolean(),
        lowercase=config.flag("do_lower_case", default=True),
    )


def _template(names: Mapping[str, str], roles: Mapping[str, int]) -> str | None:
    """Return the post-processor ``[CLS] $A [SEP]``, as transformers' BERT has it; None without these two tokens."""
    if "cls" not in names or "sep" not in names:
        return None
    ordered = sorted(("cls", "sep"), key=lambda role: names[role])
    return template({roles[role]: names[role] for role in ordered}, (roles["cls"],), (roles["sep"],))


def dump(tokenizer: Tokenizer, allow_loss: frozenset[str] = frozenset()) -> dict[str, bytes]:
    """Write ``vocab.txt``, and the ``tokenizer_config.json`` that says how text is normalized for it."""
    model = tokenizer.model
    if not isinstance(model, WordPiece):
        raise other_model(model, MODELS, "a vocab.txt")
    for what, value, fixed in (
        ("continuing tokens begin with", model.continuing_subword_prefix, PREFIX),
        ("the longest known word has", model.max_input_chars_per_word, LONGEST_WORD),
    ):
        if value != fixed:
            raise FormatError(
                f"a vocab.txt cannot say that {what} {value!r}: with BERT it is {fixed!r}",
                hint="write tokenizer.json, which holds everything",
            )
    special = {token.token_id: special_text(token) for token in tokenizer.special_tokens}
    roles = _roles_to_write(tokenizer, special) | {"unk": model.unk_id}
    lines = _lines(tokenizer, model.unk_id)
    config = _config(tokenizer, roles, lines)
    refuse_losses(_losses(tokenizer, roles, special), allow_loss, "a vocab.txt")
    return {
        "vocab.txt": "".join(f"{line}\n" for line in lines).encode(),
        CONFIG: (json.dumps(config, indent=2, ensure_ascii=False) + "\n").encode(),
    }


def _roles_to_write(tokenizer: Tokenizer, special: Mapping[int, str]) -> dict[str, int]:
    """Return the roles as they are stated; where none is, those that BERT's names stand for."""
    if tokenizer.usage.roles:
        return {role: number for role, number in tokenizer.usage.roles if role in STATED_ROLES and number in special}
    by_name = {name: token_id for token_id, name in special.items()}
    roles = {role: by_name.get(name, by_name.get(name.lower())) for role, name in NAMES.items()}
    return {role: number for role, number in roles.items() if number is not None}


def _losses(tokenizer: Tokenizer, roles: Mapping[str, int], special: Mapping[int, str]) -> dict[str, str]:
    """Return what the file would state differently from the tokenizer."""
    lost = losses(tokenizer, HOLDS)
    stages = tokenizer.normalizer
    if len(stages) != 1 or not isinstance(stages[0], BertNormalizer) or not stages[0].clean_text:
        lost["normalizer"] = "another normalizer than BERT's" if stages else "the lack of a normalizer"
    if tokenizer.pre_tokenizer != (BertPreTokenizer(),):
        lost["pre-tokenizer"] = "another pre-tokenizer than BERT's"
        lost.pop("pattern", None)
        lost.pop("prefix-space", None)
    if tokenizer.decoder != (WordPieceDecoder(PREFIX),):
        lost["decoder"] = "another decoder than BERT's"
    names = {role: special[number] for role, number in roles.items() if number in special}
    if "unk" not in names:
        lost["special-tokens"] = "that the unknown token is an ordinary one"
    if _order(tokenizer.post_processor) != _order(_template(names, roles)):
        lost["post-processor"] = "another post-processor than BERT's"
    return lost


def _order(post_processor: str | None) -> list[list[tuple[int | None, int, tuple[int, ...] | None]]]:
    """Return what a post-processor does to a text and to a pair, however it is written."""
    return [
        [(part.sequence, part.type_id, part.ids) for part in layout(post_processor, pair=pair)]
        for pair in (False, True)
    ]


def _lines(tokenizer: Tokenizer, unk_id: int) -> list[str]:
    """Return the tokens of all lines; special tokens that follow the others without a gap stand there too."""
    vocabulary = tokenizer.model.vocabulary
    texts = [""] * vocabulary.size
    for number, content in vocabulary.items():
        try:
            texts[number] = content.decode()
        except UnicodeDecodeError:
            raise FormatError(f"the token {quote(content)} (id {number}) is not UTF-8, as a vocab.txt is") from None
    entries = byte_level.write_vocabulary(tokenizer, texts, all_special=True)
    by_id = {number: token for token, number in entries.items()}
    size = max(vocabulary.size, unk_id + 1)
    while size in tokenizer.special_ids and tokenizer.special_ids[size].special:
        size += 1
    idle = _idle_lines(tokenizer)
    lines = []
    for number in range(size):
        token = by_id.get(number)
        if token is None:
            token = idle.get(number)
            if token is None or (token and entries.get(token, -1) < number):
                raise FormatError(
                    f"id {number} has no token, and in a vocab.txt the number of the line is the id",
                    hint="write tokenizer.json, which can leave ids out",
                )
        elif not token or "\n" in token or token.endswith("\r"):
            raise FormatError(f"the token {quote(token)} (id {number}) has a line end, and cannot stand on a line")
        lines.append(token)
    return lines


def _idle_lines(tokenizer: Tokenizer) -> dict[int, str]:
    """Return the lines that stood for nothing, as they were read: empty, or a token that a later line has again."""
    kept = tokenizer.origin.kept(NAME, _IDLE_LINES) if tokenizer.origin is not None else None
    rows = (kept or b"").decode().split("\n")[:-1]
    return {int(number): line for number, _, line in (row.partition(" ") for row in rows)}


def _config(tokenizer: Tokenizer, roles: Mapping[str, int], lines: list[str]) -> dict[str, object]:
    """Return the content of ``tokenizer_config.json``."""
    normalizer = next((stage for stage in tokenizer.normalizer if isinstance(stage, BertNormalizer)), None)
    settings = normalizer or BertNormalizer(handle_chinese_chars=False, lowercase=False)
    config: dict[str, object] = {}
    plain = [
        SpecialToken(lines[number].encode(), number) for number in sorted(set(roles.values())) if number < len(lines)
    ]
    if list(tokenizer.special_tokens) != plain:
        config["added_tokens_decoder"] = companions.added_tokens_decoder(tokenizer)
    for role in STATED_ROLES:
        if role in roles:
            config[f"{role}_token"] = tokenizer.token_bytes(roles[role]).decode()
        elif role in NAMES:
            config[f"{role}_token"] = None
    if tokenizer.unicode_version is not None:
        config["unicode_version"] = tokenizer.unicode_version
    return config | {
        "do_lower_case": settings.lowercase,
        "strip_accents": settings.strip_accents,
        "tokenize_chinese_chars": settings.handle_chinese_chars,
        "tokenizer_class": "BertTokenizer",
    }
