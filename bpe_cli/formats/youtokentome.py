"""Read and write YouTokenToMe's models: BPE over characters, as lines of numbers.

``characters rules``, then ``code point, id`` of each character, ``left right product`` of each rule by
priority, and at the end the ids of ``<UNK> <PAD> <BOS> <EOS>`` (-1: there is none).

Words are what stands between ASCII whitespace or marks (U+2581), so a mark in a text is a blank; each
begins with a mark. Neighbouring characters without an id are one unknown token. A byte that is no part of
UTF-8 is such a character here; YouTokenToMe leaves it out.
"""

from __future__ import annotations

import re

from bpe_cli import _core
from bpe_cli.errors import FormatError
from bpe_cli.formats.features import losses, other_model, refuse_losses
from bpe_cli.formats.read_file import MergesById, number, reader_of, text_lines
from bpe_cli.stages import CharacterBpe, Metaspace, MetaspaceDecoder, SpecialToken, Split
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.usage import Fact, Origin, Usage, roles_in_order

NAME = "youtokentome"
FILES = ("*.yttm",)
MODELS = frozenset({"bpe-characters"})
HOLDS = frozenset({"ids", "pre-tokenizer", "pattern", "decoder", "special-tokens", "roles"})

MARK = "▁"
ROLES = {"unk": "<UNK>", "pad": "<PAD>", "bos": "<BOS>", "eos": "<EOS>"}
"""The special tokens' names, which the file does not have, in the order of its last line."""

_PRE_TOKENIZER = (Split(f"[\\t-\\r {MARK}]+", "Removed"), Metaspace(MARK, "always", split=False))
_DECODER = (MetaspaceDecoder(MARK, "always", split=False),)
_WHOLE = 1 << 16
"""A head shorter than this is the whole file."""


def sniff(head: bytes) -> bool:
    """Return whether all lines at hand have the numbers that the first one announces."""
    lines = head.split(b"\n")
    counts = re.fullmatch(rb"([1-9][0-9]{0,6}) ([0-9]{1,7})\r?", lines[0])
    if counts is None:
        return False
    characters, rules = int(counts[1]), int(counts[2])
    body = lines[1:-1]
    if len(head) < _WHOLE and len(body) != characters + rules + 1:
        return False
    row = re.compile(rb"[0-9]{1,7} [0-9]{1,7}\r?"), re.compile(rb"[0-9]{1,7} [0-9]{1,7} [0-9]{1,7}\r?")
    rows = body[: characters + rules]
    return bool(rows) and all(row[place >= characters].fullmatch(line) for place, line in enumerate(rows))


def loads(data: bytes, source: str = "model.yttm") -> Tokenizer:
    r"""Read the text of a model.

    >>> loads(b"2 1\n9601 2\n97 3\n2 3 4\n1 0 -1 -1\n").encode("a aa b")
    [4, 4, 3, 2, 1]
    """
    lines = text_lines(data, source)
    counts, where = lines[0].split() if lines else [], f"{source}:1"
    if len(counts) != 2:
        raise FormatError(f"the first line is not the number of characters and of rules ({where})")
    character_count, rule_count = (number(count, _core.MAX_TOKENS, where) for count in counts)
    if len(lines) != character_count + rule_count + 2:
        raise FormatError(
            f"{character_count:,} characters and {rule_count:,} rules are announced, "
            f"and {len(lines) - 1:,} lines follow, not {character_count + rule_count + 1:,} ({where})"
        )
    end = 1 + character_count
    characters = _read_characters(lines[1:end], source)
    specials = _read_specials(lines[-1], f"{source}:{len(lines)}")
    for role, token_id in specials.items():
        if token_id in characters:
            raise FormatError(
                f"id {token_id} is {ROLES[role]} and the character {quote(characters[token_id])} ({source})"
            )
    merges = MergesById(characters, source)
    for row, line in enumerate(lines[end:-1], start=end + 1):
        where = f"{source}:{row}"
        parts = line.split()
        if len(parts) != 3:
            raise FormatError(f"not the three ids of a rule: {quote(line)} ({where})")
        left, right, product = (number(part, _core.MAX_TOKENS, where) for part in parts)
        if product in specials.values():
            raise FormatError(f"the rule makes id {product}, which is a special token ({where})")
        merges.add(left, right, product, where)
    vocabulary, table = merges.result()
    roles_of = {token_id: role for role, token_id in specials.items()}
    facts: dict[str, Fact] = {"characters": character_count, "rules": rule_count}
    facts |= {f"{role}_id": specials.get(role, -1) for role in ROLES}
    return Tokenizer(
        CharacterBpe(vocabulary, table, unk_id=specials["unk"], fuse_unk=True),
        _PRE_TOKENIZER,
        tuple(SpecialToken(ROLES[role].encode(), token_id) for token_id, role in sorted(roles_of.items())),
        decoder=_DECODER,
        usage=Usage(roles=roles_in_order(specials)),
        origin=Origin(NAME, tuple(facts.items()), (("characters", "\n".join(lines[1:end]).encode()),)),
    )


load = reader_of(loads, "holds words, which are cut at whitespace")


def _read_characters(lines: list[str], source: str) -> dict[int, bytes]:
    """Return the characters by id."""
    characters: dict[int, bytes] = {}
    for row, line in enumerate(lines, start=2):
        where = f"{source}:{row}"
        parts = line.split()
        if len(parts) != 2:
            raise FormatError(f"not a character's code point and id: {quote(line)} ({where})")
        code, token_id = number(parts[0], 0x110000, where), number(parts[1], _core.MAX_TOKENS, where)
        if 0xD800 <= code < 0xE000:
            raise FormatError(f"U+{code:04X} is half of a pair of surrogates, and no character ({where})")
        if token_id in characters:
            raise FormatError(f"the id {token_id} is given to another character already ({where})")
        characters[token_id] = chr(code).encode()
    if MARK.encode() not in characters.values():
        raise FormatError(f"{source} has no id for U+2581, with which every word begins")
    return characters


def _read_specials(line: str, where: str) -> dict[str, int]:
    """Return the ids of the special tokens that there are, by role."""
    parts = line.split()
    if len(parts) != len(ROLES):
        raise FormatError(f"not the ids of {', '.join(ROLES.values())}: {quote(line)} ({where})")
    ids = {role: number(part, _core.MAX_TOKENS, where) for role, part in zip(ROLES, parts, strict=True) if part != "-1"}
    if "unk" not in ids:
        raise FormatError(f"there is no id for {ROLES['unk']}, which YouTokenToMe cannot do without ({where})")
    if len(set(ids.values())) != len(ids):
        raise FormatError(f"two special tokens have one id: {quote(line)} ({where})")
    return ids


def dump(tokenizer: Tokenizer, allow_loss: frozenset[str] = frozenset()) -> dict[str, bytes]:
    """Write a model."""
    model = tokenizer.model
    if not isinstance(model, CharacterBpe):
        raise other_model(model, MODELS, "a model of YouTokenToMe")
    unk_id = model.unk_id
    if unk_id is None or model != CharacterBpe(model.vocabulary, model.merges, unk_id, fuse_unk=True):
        raise FormatError(
            "YouTokenToMe's models have one unknown token for neighbouring unknown characters, no bytes, and neither "
            "prefix nor suffix; this tokenizer's has not",
            hint="tokenizer.json holds them all",
        )
    lost = losses(tokenizer, HOLDS)
    if tokenizer.pre_tokenizer != _PRE_TOKENIZER:
        lost["pre-tokenizer"] = "the pre-tokenizer (words are cut at whitespace and begin with a mark)"
    if tokenizer.decoder != _DECODER:
        lost["decoder"] = "the decoder"
    names = {name.encode(): role for role, name in ROLES.items()}
    specials = {names[token.content]: token.token_id for token in tokenizer.special_tokens if token.content in names}
    if len(specials) != len(tokenizer.special_tokens) or specials.get("unk") != unk_id:
        lost["special-tokens"] = f"special tokens other than {', '.join(ROLES.values())}, and these by their names"
    specials["unk"] = unk_id
    characters, rules = _numbers_of(model, {token.token_id for token in tokenizer.special_tokens} | {unk_id})
    refuse_losses(lost, allow_loss, "a model of YouTokenToMe")
    kept = tokenizer.origin.kept(NAME, "characters") if tokenizer.origin else None
    if kept is not None and sorted(kept.split(b"\n")) == sorted(line.encode() for line in characters):
        characters = kept.decode().split("\n")  # YouTokenToMe's order is that of a hash table
    last = " ".join(str(specials.get(role, -1)) for role in ROLES)
    lines = [f"{len(characters)} {len(rules)}", *characters, *rules, last]
    return {"": "".join(line + "\n" for line in lines).encode()}


def _numbers_of(model: CharacterBpe, specials: set[int]) -> tuple[list[str], list[str]]:
    """Return the lines of characters and of rules."""
    tokens = {token_id: _text_of(token) for token_id, token in model.vocabulary.items()}
    made: set[int] = set()
    rules = []
    for left, right, product in model.merges:
        parts = f"{quote(tokens[left])} and {quote(tokens[right])}"
        if tokens[left] + tokens[right] != tokens[product]:
            raise FormatError(f"a rule of YouTokenToMe joins its parts; here {parts} make {quote(tokens[product])}")
        if product in made or len(tokens[product]) < 2:
            raise FormatError(
                f"YouTokenToMe has one rule a token; here {parts} make {quote(tokens[product])}, as others do"
            )
        for part in (left, right):
            if len(tokens[part]) > 1 and part not in made:
                raise FormatError(f"the rule for {quote(tokens[product])} comes before that for {quote(tokens[part])}")
        made.add(product)
        rules.append(f"{left} {right} {product}")
    characters = []
    for token_id, token in tokens.items():
        if token_id in specials or token_id in made:
            if token_id in specials and token_id in made:
                raise FormatError(f"id {token_id} is a special token and made by a rule")
        elif len(token) == 1:
            characters.append(f"{ord(token)} {token_id}")
        else:
            raise FormatError(f"no rule makes {quote(token)}, which is not a single character")
    if f"{ord(MARK)}" not in {line.partition(" ")[0] for line in characters}:
        raise FormatError("YouTokenToMe needs a token for U+2581 alone, and this tokenizer has none")
    return characters, rules


def _text_of(token: bytes) -> str:
    try:
        return token.decode()
    except UnicodeDecodeError:
        raise FormatError(f"YouTokenToMe's tokens are characters, and {quote(token)} is not UTF-8") from None
