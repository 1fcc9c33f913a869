"""Write a tokenizer as GGUF metadata, a file of vocabulary alone.

Keys that a tokenizer brought from a GGUF file are written again before its own.
"""

from __future__ import annotations

import base64
import sys
from array import array
from dataclasses import dataclass, field

from bpe_cli import _core
from bpe_cli.errors import FormatError
from bpe_cli.formats import byte_level
from bpe_cli.formats.added_tokens import special_text
from bpe_cli.formats.dialects import to_sentencepiece
from bpe_cli.formats.dialects.models import LLAMA_CPP
from bpe_cli.formats.features import EDGES, check_order, other_model
from bpe_cli.formats.gguf import fixed_point
from bpe_cli.formats.gguf import pre as gguf_pre
from bpe_cli.formats.gguf.container import ARRAY, BOOL, F32, I32, STRING, U8, U32, encode
from bpe_cli.formats.gguf.to_tokenizer import DNA, HYBRID_DNA, NO_LIMIT
from bpe_cli.formats.gguf.tokens import DEFAULT_ROLES, LIMIT_KEY, MARK, ROLE_KEYS, UNDEFINED, padding
from bpe_cli.stages import (
    BertNormalizer,
    CharacterBpe,
    Charsmap,
    MergeBpe,
    PrefixSpace,
    RankBpe,
    ScoredBpe,
    SpaceMarks,
    Split,
    Unigram,
    WordPiece,
)
from bpe_cli.stages.spelling import BYTE, CONTROL, NORMAL, UNKNOWN, UNUSED, USER_DEFINED
from bpe_cli.support.blocks import Block
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.post_processor import affixes

MODELS = frozenset({"bpe-ranks", "bpe-merges", "bpe-characters", "bpe-scores", "unigram", "wordpiece"})
HOLDS = frozenset(
    {
        "ids", "pattern", "pre-tokenizer", "codebook", "normalizer", "decoder", "special-tokens", "unspelt-tokens",
        "token-flags", "post-processor", "roles", "chat-templates", EDGES,
    }
)  # fmt: skip

HOLDER = LLAMA_CPP.holder
_ALIKE = ((NORMAL, UNUSED, UNDEFINED), (CONTROL, UNKNOWN))


def keys_of(tokenizer: Tokenizer) -> Keys:
    """Return the metadata keys of a tokenizer."""
    edges: dict[str, str] = {}
    plamo = isinstance(tokenizer.model, Unigram) and tokenizer.model.fixed_point
    if isinstance(tokenizer.model, (CharacterBpe, Unigram)) and not plamo:  # llama.cpp does these as SentencePiece does
        tokenizer, edges = to_sentencepiece(tokenizer, LLAMA_CPP)
    out = Keys(tokenizer, edges)
    model = tokenizer.model
    if isinstance(model, (RankBpe, MergeBpe)):
        _gpt2(out, model)
    elif isinstance(model, ScoredBpe):
        _llama(out, model)
    elif isinstance(model, Unigram):
        (_plamo2 if plamo else _t5)(out, model)
    elif isinstance(model, WordPiece):
        _bert(out, model)
    else:
        raise other_model(model, MODELS, HOLDER)
    return out


@dataclass
class Keys:
    """Collect the keys of one file.

    Attributes:
        tokenizer: What is written.
        edges: What differs on rare texts, as ``features.losses`` has it.
        name: What ``tokenizer.ggml.model`` is to say.
        own: The keys of this kind of model, in order.
        lost: What the file will not hold, by the names of ``features.LOSSES``.
        roles: (role, id) to be written.
        model_name: What ``general.name`` is to say, unless the tokenizer brought one.
    """

    tokenizer: Tokenizer
    edges: dict[str, str]
    name: str = ""
    own: list[tuple[str, bytes]] = field(default_factory=list)
    lost: dict[str, str] = field(default_factory=dict)
    roles: dict[str, int] = field(default_factory=dict)
    model_name: str = ""

    @property
    def has_model_name(self) -> bool:
        """Whether the tokenizer brought a name from its file."""
        return "general.name" in self._carried

    @property
    def _carried(self) -> dict[str, bytes]:
        origin = self.tokenizer.origin
        return dict(origin.carried) if origin is not None and origin.format == "gguf" else {}

    def add(self, key: str, kind: int, value: bool | int | bytes) -> None:
        """Add a key; ``tokenizer.ggml.`` is put before its name."""
        self.own.append((f"tokenizer.ggml.{key}", encode(kind, value)))

    def add_array(self, key: str, element: int, values: list[bytes] | array[int] | array[float]) -> None:
        """Add a key whose value is an array."""
        self.own.append((f"tokenizer.ggml.{key}", encode(ARRAY, values, element)))

    def begin(self, name: str) -> None:
        """Add the model's name, and note the tokenizer's roles."""
        self.name = name
        self.roles = dict(self.tokenizer.usage.roles)
        self.add("model", STRING, name.encode())

    def add_tokens(self, texts: dict[int, bytes], kinds: dict[int, int]) -> None:
        """Add the tokens and their types: ordinary ones as given, by id; special ones; and what fills gaps."""
        types = dict.fromkeys(texts, NORMAL) | kinds
        unk_id = self.tokenizer.model.unk_id
        size = max(self.tokenizer.vocab_size, 0 if unk_id is None else unk_id + 1)
        if size > _core.MAX_TOKENS:
            raise FormatError(
                f"the ids run to {size - 1:,}, and {HOLDER} has a token for every id, {_core.MAX_TOKENS:,} at most"
            )
        for special in self.tokenizer.special_tokens:
            texts[special.token_id] = special_text(special).encode()
            types[special.token_id] = CONTROL if special.special else USER_DEFINED
        if unk_id in texts and types[unk_id] == CONTROL and self.name in ("llama", "t5"):
            types[unk_id] = UNKNOWN
        owner: dict[bytes, int] = {}
        for token_id, text in sorted(texts.items()):
            if text in owner:
                raise FormatError(f"the tokens {owner[text]} and {token_id} would both be written {quote(text)}")
            owner[text] = token_id
        for token_id in range(size):
            if token_id not in texts:
                texts[token_id], types[token_id] = padding(token_id), UNUSED
                if texts[token_id] in owner:
                    raise FormatError(f"id {token_id} is unused, and token {owner[texts[token_id]]} has its name")
        self.add_array("tokens", STRING, [texts[token_id] for token_id in range(size)])
        self.add_array("token_type", I32, self._with_carried(array("i", (types[number] for number in range(size)))))

    def _with_carried(self, types: array[int]) -> array[int]:
        """Return the types that the tokenizer's file had where they mean the same to llama.cpp."""
        origin = self.tokenizer.origin
        kept = origin.kept("gguf", "tokenizer.ggml.token_type") if origin else None
        if kept is not None:
            before = array("i", kept[16:])  # behind array, type and count
            if sys.byteorder != "little":
                before.byteswap()
            if len(before) == len(types):
                for token_id, kind in enumerate(before):
                    if any(kind in same and types[token_id] in same for same in _ALIKE):
                        types[token_id] = kind
        return types

    def add_scores(self, scores: array[float]) -> None:
        """Add scores, as f32: there is no other way to write them."""
        size = max(self.tokenizer.vocab_size, len(scores))
        self.add_array("scores", F32, array("f", [*scores, *[0.0] * (size - len(scores))]))

    def add_ends(self, first: str = "bos", last: str = "eos", *, switches: bool = True) -> None:
        """Add the tokens that are put around texts: at most one on each side, by its role."""
        try:
            before, after = affixes(self.tokenizer.post_processor)
        except FormatError:
            before, after = (), ()  # ``changed`` will find it
        for role, ids in ((first, before), (last, after)):
            fits = len(ids) == 1 and self.roles.get(role, ids[0]) == ids[0]
            if fits and DEFAULT_ROLES[self.name].get(role) != ids[0]:
                self.roles[role] = ids[0]
            if switches:
                self.add(f"add_{role}_token", BOOL, fits)

    def add_unknown(self, unk_id: int) -> None:
        """Add the unknown token, unless it is llama.cpp's default."""
        if "unk" in self.roles or DEFAULT_ROLES[self.name]["unk"] != unk_id:
            self.roles["unk"] = unk_id

    def fields(self) -> list[tuple[str, bytes]]:
        """Return all keys, in order."""
        before = {"general.architecture": encode(STRING, self.name.encode())}
        if self.model_name:
            before["general.name"] = encode(STRING, self.model_name.encode())
        after = {}
        own = dict(self.own)
        for key, value in self._carried.items():
            if key.endswith(".vocab_size"):
                before[key] = encode(U32, self.tokenizer.vocab_size)
            elif not key.startswith("tokenizer."):
                before[key] = value
            elif key not in own:
                after[key] = value
        roles = [
            (f"tokenizer.ggml.{ROLE_KEYS[role]}", encode(U32, number)) for role, number in sorted(self.roles.items())
        ]
        return [*before.items(), *self.own, *roles, *self._chat_templates(), *after.items()]

    def _chat_templates(self) -> list[tuple[str, bytes]]:
        templates = dict(self.tokenizer.usage.chat_templates)
        fields = []
        if "default" in templates:
            fields.append(("tokenizer.chat_template", encode(STRING, templates.pop("default").encode())))
        if templates:
            names: list[bytes] = [name.encode() for name in templates]
            fields.append(("tokenizer.chat_templates", encode(ARRAY, names, STRING)))
            fields += [
                (f"tokenizer.chat_template.{name}", encode(STRING, text.encode())) for name, text in templates.items()
            ]
        return fields


# -- byte-level BPE ----------------------------------------------------------------------------


def _gpt2(out: Keys, model: RankBpe | MergeBpe) -> None:
    book = model.codebook
    out.begin(HYBRID_DNA if book == DNA else "gpt2")
    if book not in (None, DNA):
        out.lost["codebook"] = "the codebook (llama.cpp has only that of DNA)"
    out.add("pre", STRING, _pre(out, model).encode())
    visible = byte_level.visible_tokens(model.vocabulary)
    tokens = {number: text.encode() for number, text in enumerate(visible) if text}
    tokens |= dict(model.texts) if isinstance(model, MergeBpe) else {}
    out.add_tokens(tokens, {})
    merges = byte_level.write_merges(out.tokenizer, HOLDER)
    out.add_array("merges", STRING, [f"{left} {right}".encode() for left, right in merges])
    out.add_ends()


def _pre(out: Keys, model: RankBpe | MergeBpe) -> str:
    """Choose the name of the split: the one that the tokenizer's file had, if it still fits, or the table's."""
    stages = tuple(stage for stage in out.tokenizer.pre_tokenizer if not isinstance(stage, PrefixSpace))
    ignore_merges = model.ignore_merges if isinstance(model, MergeBpe) else None
    origin = out.tokenizer.origin
    kept = origin.kept("gguf", "tokenizer.ggml.pre") if origin else None
    name = gguf_pre.name_for(stages, ignore_merges=ignore_merges, kept=kept[12:].decode() if kept else None)
    if name is None and isinstance(model, MergeBpe):
        name = gguf_pre.name_for(stages, ignore_merges=None)
        if name is not None:
            _check_whole_tokens(model)
    if name is None:
        near = next((gguf_pre.NEAR[p] for p in out.tokenizer.patterns if p in gguf_pre.NEAR), None)
        others = [stage for stage in stages if not isinstance(stage, Split)]
        name = near or gguf_pre.DEFAULT.names[0]
        what = f"the pre-tokenizer {type(others[0]).__name__}" if others else "the split pattern"
        reason = f"llama.cpp's {name} is only similar" if near else "llama.cpp has no name for it"
        out.lost["pre-tokenizer" if others else "pattern"] = f"{what} ({reason})"
    return name


def _check_whole_tokens(model: MergeBpe) -> None:
    """Refuse a model whose result depends on whether pieces that are tokens are looked up first."""
    tokens = list(model.vocabulary.items())
    merging = Tokenizer(MergeBpe(model.vocabulary, model.merges))
    _, ends = merging.encode_block(Block.of([content for _, content in tokens]))
    start = 0
    for (token_id, content), end in zip(tokens, ends, strict=True):
        if end - start != 1:
            raise FormatError(
                f"no merges make the token {quote(content)} (id {token_id}), so it matters whether a piece that is a "
                "token is taken whole, and no split of llama.cpp treats it as this tokenizer does",
                hint="tokenizer.json can hold it",
            )
        start = end


# -- SentencePiece's models, and BERT's --------------------------------------------------------


def _llama(out: Keys, model: ScoredBpe) -> None:
    if not model.byte_fallback:
        raise FormatError(
            f"{HOLDER} holds BPE by scores only with tokens of bytes: without them llama.cpp aborts the whole program "
            "at a character that has no token",
            hint="train with `byte_fallback=True`, or keep the SentencePiece model",
        )
    check_order(model, HOLDER)
    _add_pieces(out, "llama", model, model.unk_id)


def _t5(out: Keys, model: Unigram) -> None:
    if model.unk_id is None:
        raise FormatError(f"{HOLDER} cannot hold a unigram model without an unknown token")
    marks = _add_pieces(out, "t5", model, model.unk_id)
    out.add("remove_extra_whitespaces", BOOL, marks.remove_extra_whitespaces)
    for stage in out.tokenizer.normalizer:
        if isinstance(stage, Charsmap) and stage.precompiled_charsmap:
            out.add_array("precompiled_charsmap", U8, array("B", base64.b64decode(stage.precompiled_charsmap)))


def _plamo2(out: Keys, model: Unigram) -> None:
    fixed_point.check(model)
    out.begin(fixed_point.NAME)
    out.add("pre", STRING, b"default")
    kinds = {number: kind for number, kind in enumerate(model.kinds) if kind in (BYTE, UNUSED)}
    out.add_tokens(dict(model.vocabulary.items()), kinds)
    out.add_array("scores", F32, array("f", fixed_point.scores(model, out.tokenizer.vocab_size)))
    if out.tokenizer.pre_tokenizer:
        out.lost["pre-tokenizer"] = "the pre-tokenizer (llama.cpp cuts no text for this model)"


def _add_pieces(out: Keys, name: str, model: ScoredBpe | Unigram, unk_id: int) -> SpaceMarks:
    """Add what SentencePiece's models share, and return the rules for blanks: without any, no blank precedes a text."""
    out.begin(name)
    out.add("pre", STRING, b"default")
    texts, kinds = dict(model.vocabulary.items()), {n: BYTE for n, kind in enumerate(model.kinds) if kind == BYTE}
    if name == "llama":  # which looks for a user's own in the text as it is; of a unigram model they are ordinary ones
        own = [n for n, kind in enumerate(model.kinds) if kind == USER_DEFINED and n in texts]
        texts |= {n: texts[n].replace(MARK, b" ") for n in own}
        kinds |= dict.fromkeys(own, USER_DEFINED)
    out.add_tokens(texts, kinds)
    out.add_scores(model.scores)
    out.add_unknown(unk_id)
    out.add_ends()
    stages = [stage for stage in out.tokenizer.normalizer if isinstance(stage, SpaceMarks)]
    marks = stages[-1] if stages else SpaceMarks(add_dummy_prefix=False, remove_extra_whitespaces=False)
    out.add("add_space_prefix", BOOL, marks.add_dummy_prefix)
    return marks


def _bert(out: Keys, model: WordPiece) -> None:
    if model.continuing_subword_prefix != "##":
        raise FormatError(
            f"{HOLDER} holds WordPiece whose tokens inside of words begin with ##, "
            f"and these begin with {quote(model.continuing_subword_prefix)}",
            hint="tokenizer.json can hold it",
        )
    out.begin("bert")
    texts = {}
    for number, content in model.vocabulary.items():
        bracketed = content.startswith(b"[") and content.endswith(b"]")
        inside = content.startswith(b"##") and len(content) > 2
        texts[number] = content[2:] if inside else content if bracketed else MARK + content
    out.add_tokens(texts, {})
    out.add_unknown(model.unk_id)
    out.add_ends("bos", "sep", switches=False)
    for stage in out.tokenizer.normalizer:
        if isinstance(stage, BertNormalizer):
            strip = stage.lowercase if stage.strip_accents is None else stage.strip_accents
            out.add("normalizer.lowercase", BOOL, stage.lowercase)
            out.add("normalizer.strip_accents", BOOL, strip)
    if model.max_input_chars_per_word != NO_LIMIT:
        out.own.append((LIMIT_KEY, encode(U32, model.max_input_chars_per_word)))
