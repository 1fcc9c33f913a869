"""Read and write Mistral's ``tekken.json``: byte-level BPE by ranks, behind special tokens.

The id of a token is its rank plus the number of special tokens; of the ranks in the file only the first
are used, as many as the vocabulary's size leaves room for. Special tokens stand in a list, or (up to
version v7) are known; ids that are left are called ``<SPECIAL_n>``. The first 256 ranks are the bytes.

What the file says besides, of images and sound, and ranks that are not used, is kept for writing it again.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

from bpe_cli import _core
from bpe_cli.errors import FormatError
from bpe_cli.formats.added_tokens import special_text
from bpe_cli.formats.byte_level import plain
from bpe_cli.formats.features import losses, other_model, refuse_losses
from bpe_cli.formats.read_file import Node, reader_of, split_of
from bpe_cli.stages import MergeBpe, RankBpe, SpecialToken
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.messages import quote
from bpe_cli.support.safe_orjson import dumps, orjson
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.merging import why_no_ranks
from bpe_cli.tokenizer.usage import Fact, Origin, Usage, roles_in_order

NAME = "tekken"
FILES = ("tekken.json", "tekken*.json")
MODELS = frozenset({"bpe-ranks", "bpe-merges"})
HOLDS = frozenset({"ids", "pattern", "special-tokens", "roles"})

SPECIAL_TOKENS = (
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]",
    "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
)  # fmt: skip
"""Those of a file that lists none (mistral-common 1.13)."""

MAX_SPECIAL_TOKENS = 1 << 16
"""Most that a file may announce; Mistral's have 1,000."""

ROLES = {"bos": "<s>", "eos": "</s>", "unk": "<unk>", "pad": "<pad>"}
"""The roles that tokens have by their texts."""

_HEAD = re.compile(rb'"token_bytes"\s*:\s*"|"default_num_special_tokens"\s*:')
_UNLISTED_UP_TO = 7


def sniff(head: bytes) -> bool:
    """Return whether a file is a JSON object with what only a ``tekken.json`` has."""
    return re.match(rb"\s*\{", head) is not None and _HEAD.search(head) is not None


def loads(data: bytes, source: str = "tekken.json") -> Tokenizer:
    """Read the text of a ``tekken.json``."""
    root = Node.parse(data, source)
    config, vocab = root.get("config"), root.get("vocab")
    special_count = config.get("default_num_special_tokens").integer(MAX_SPECIAL_TOKENS + 1)
    size = config.get("default_vocab_size").integer(_core.MAX_TOKENS + 1)
    entries = vocab.elements()
    used = size - special_count
    if not 256 <= used <= len(entries):
        raise config.get("default_vocab_size").error(
            f"is {size:,}: with {special_count:,} special tokens, that takes {used:,} ranks of {len(entries):,}",
            hint="it takes 256 at least, for the bytes",
        )
    tokens = [b""] * special_count + (_usual_tokens(entries[:used]) or list(_read_tokens(vocab, used)))
    texts = _read_special_tokens(root, special_count)
    roles = roles_in_order({role: texts.index(text) for role, text in ROLES.items() if text in texts})
    pattern = config.get("pattern")
    if not pattern.text():
        raise pattern.error("is empty")
    rest = {key: value for key, value in root.members().items() if key != "vocab"}
    kept = (("rest", Node(rest, source).kept(0)), ("unused ranks", Node(entries[used:], source, "vocab").kept(1)))
    facts = tuple(_facts({key: value for key, value in rest.items() if key != "special_tokens"}))
    return Tokenizer(
        RankBpe(Vocabulary.from_tokens(tokens)),
        (split_of(pattern.text(), pattern.where),),
        tuple(SpecialToken(text.encode(), token_id) for token_id, text in enumerate(texts)),
        usage=Usage(roles=roles),
        origin=Origin(NAME, facts, kept),
    )


load = reader_of(loads, "says itself how text is split")


def _usual_tokens(entries: list[Any]) -> list[bytes] | None:
    """Return the tokens of all ranks; None if there is anything to say of one, which ``_read_tokens`` does."""
    try:
        # Loops of their own, without a call: there are 130,000 of them.
        tokens = [binascii.a2b_base64(entry["token_bytes"], strict_mode=True) for entry in entries]
        ranks = [entry["rank"] for entry in entries]
    except (KeyError, TypeError, ValueError):
        return None
    has_fields = all(len(entry) == 2 + ("token_str" in entry) for entry in entries)
    is_in_order = ranks == [*range(len(entries))] and tokens[:256] == [bytes([byte]) for byte in range(256)]
    return tokens if has_fields and is_in_order and all(tokens) and len({*tokens}) == len(tokens) else None


def _read_tokens(vocab: Node, used: int) -> Iterator[bytes]:
    """Yield the tokens of the ranks that are used.

    Raises:
        FormatError: if an entry has another form, or a token stands twice.
    """
    ranks_of: dict[bytes, int] = {}
    # Plain values and no nodes: the place is for errors only.
    for rank, entry in enumerate(vocab.elements()[:used]):
        encoded = entry.get("token_bytes") if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or not isinstance(encoded, str) or entry.get("rank") != rank:
            raise FormatError(
                f"{vocab.where}[{rank}] must be an object with the rank {rank} and its token_bytes in base64"
            )
        if not entry.keys() <= {"rank", "token_bytes", "token_str"}:
            raise FormatError(f"{vocab.where}[{rank}] has a field that this version does not know")
        try:
            token = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            raise FormatError(f"{vocab.where}[{rank}] has token_bytes that are not base64: {quote(encoded)}") from None
        if not token or (rank < 256 and token != bytes([rank])):
            what = (
                "an empty token" if not token else f"the token {quote(token)}, and the first 256 are the bytes in order"
            )
            raise FormatError(f"{vocab.where}[{rank}] has {what}")
        if ranks_of.setdefault(token, rank) != rank:
            raise FormatError(f"{vocab.where}[{rank}] has the token of rank {ranks_of[token]}: {quote(token)}")
        yield token


def _read_special_tokens(root: Node, count: int) -> list[str]:
    """Return the texts of all special tokens, by id."""
    listed = root.get("special_tokens")
    if listed.is_null:
        version = root.get("config").get("version")
        match = re.fullmatch(r"v([0-9]{1,3})(m[0-9]+)?", version.text())
        if match is None or int(match[1]) > _UNLISTED_UP_TO:
            raise FormatError(f"{root.source} lists no special tokens, which only versions up to v7 may leave out")
        texts = list(SPECIAL_TOKENS[:count])
    else:
        if len(listed.elements()) > count:
            raise listed.error(f"has {len(listed.elements()):,} tokens; the file announces {count:,}")
        texts = []
        for place, node in enumerate(listed.items()):
            node.only("rank", "token_str", "is_control")
            if node.get("rank").integer(MAX_SPECIAL_TOKENS) != place:
                raise node.get("rank").error(f"is not {place}: special tokens are to stand in order")
            node.flag("is_control", default=True)
            texts.append(node.get("token_str").text())
    texts += [_filler(token_id) for token_id in range(len(texts), count)]
    ids: dict[str, int] = {}
    for token_id, text in enumerate(texts):
        if not text or ids.setdefault(text, token_id) != token_id:
            raise listed.error(f"has {quote(text)} as token {token_id}, which is empty or stands there already")
    return texts


def _filler(token_id: int) -> str:
    return f"<SPECIAL_{token_id}>"


def _facts(value: dict[str, Any], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Fact]]:
    """Yield the settings of an object and of those in it."""
    for key, each in value.items():
        if isinstance(each, dict) and depth < 4:
            yield from _facts(each, f"{prefix}{key}.", depth + 1)
        elif isinstance(each, (str, int, float, bool)):
            yield prefix + key, each


def dump(tokenizer: Tokenizer, allow_loss: frozenset[str] = frozenset()) -> dict[str, bytes]:
    """Write a ``tekken.json``."""
    model = tokenizer.model
    if not isinstance(model, (RankBpe, MergeBpe)):
        raise other_model(model, MODELS, "tekken.json")
    patterns = plain(tokenizer, "tekken.json").patterns
    reason = why_no_ranks(model) if isinstance(model, MergeBpe) else None
    if reason is not None:
        raise FormatError(
            f"tekken.json holds ranks, which cannot do what these merges do: {reason}", hint="keep it as tokenizer.json"
        )
    if len(patterns) != 1 or not patterns[0]:
        raise FormatError(f"tekken.json has one split pattern, and this tokenizer {len(patterns)}")
    tokens = list(model.vocabulary.items())
    texts = _special_texts(tokenizer, tokens)
    refuse_losses(losses(tokenizer, HOLDS), allow_loss, "tekken.json")
    origin = tokenizer.origin or Origin("")
    kept, unused = origin.kept(NAME, "rest"), origin.kept(NAME, "unused ranks")
    rest: dict[str, Any] = orjson.loads(kept) if kept else {"config": {}}
    entries = [_entry(rank, token) for rank, (_, token) in enumerate(tokens)]
    stated = rest.pop("config")
    if (stated.get("default_vocab_size"), stated.get("default_num_special_tokens")) == (
        len(texts) + len(tokens), len(texts),
    ):  # fmt: skip
        entries += orjson.loads(unused) if unused else []  # they still come next, and so many are there
    else:
        stated.pop("num_vocab_tokens", None)
    config = {
        "pattern": patterns[0],
        "num_vocab_tokens": len(entries),
        "default_vocab_size": len(texts) + len(tokens),
        "default_num_special_tokens": len(texts),
        "version": "v3",  # the first there was; who goes by it takes the special tokens from the list
    }
    config |= {key: value for key, value in stated.items() if key not in _COMPUTED}
    listed = _listed(texts, rest.pop("special_tokens", None), foreign=kept is None)
    document = {"config": config, "vocab": entries} | ({} if listed is None else {"special_tokens": listed}) | rest
    return {"": dumps(document, orjson.OPT_INDENT_2)}


_COMPUTED = {"pattern", "default_vocab_size", "default_num_special_tokens"}


def _entry(rank: int, token: bytes) -> dict[str, object]:
    try:
        text = token.decode()
    except UnicodeDecodeError:
        text = None
    return {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": text}


def _special_texts(tokenizer: Tokenizer, tokens: list[tuple[int, bytes]]) -> list[str]:
    """Return the texts of the special tokens, which must fill the ids before the bytes."""
    special = sorted(tokenizer.special_tokens, key=lambda token: token.token_id)
    count = tokens[0][0] if tokens else 0
    hint = "tokenizer.json holds any ids"
    if [token.token_id for token in special] != list(range(count)) or count > MAX_SPECIAL_TOKENS:
        raise FormatError(
            f"in tekken.json, the special tokens have all ids below {count}; here they are at "
            + (", ".join(str(token.token_id) for token in special[:5]) or "none"),
            hint=hint,
        )
    for rank, (token_id, token) in enumerate(tokens):
        if token_id != count + rank:
            raise FormatError(f"tekken.json has no unused ids, and here id {count + rank} is unused", hint=hint)
        if rank < 256 and token != bytes([rank]):
            raise FormatError(
                f"the first 256 ranks of tekken.json are the bytes in order, and here {rank} is another", hint=hint
            )
    if len(tokens) < 256:
        raise FormatError(f"tekken.json has all 256 bytes, and here are {len(tokens)} tokens", hint=hint)
    return [special_text(token) for token in special]


def _listed(texts: list[str], listed: list[dict[str, Any]] | None, *, foreign: bool) -> list[dict[str, Any]] | None:
    """Return the list of special tokens as the file had it, where that still says the same; None for no list.

    ``foreign``: There was no file; all are listed.
    """
    length = len(texts)
    if not foreign:
        shortest = len(SPECIAL_TOKENS) if listed is None else len(listed)
        while length > shortest and texts[length - 1] == _filler(length - 1):
            length -= 1
        if listed is None and tuple(texts[:length]) == SPECIAL_TOKENS[:length]:
            return None
    known = {(each["rank"], each["token_str"]): each for each in listed or ()}
    return [
        known.get((token_id, text), {"rank": token_id, "token_str": text, "is_control": True})
        for token_id, text in enumerate(texts[:length])
    ]
