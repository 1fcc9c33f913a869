r"""Write reports as plain JSON values: one walk over their dataclasses. docs/reference/json.md documents each field.

A dataclass is an object of its fields in their order, unless ``SHAPES`` says how they are called, which of them there
are, and what is derived. A text from outside (a token, a name, a grapheme cluster) is a string when it is UTF-8, else
an object ``{"bytes": "e8b0"}`` with its bytes in hexadecimal. Strings are not made harmless for terminals: write them
with ``ensure_ascii``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from math import isfinite
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from bpe_cli.support.json_text import name_value, text_value

if TYPE_CHECKING:
    from bpe_cli.reports.text.conversation import ConversationReport
    from bpe_cli.reports.text.scores import Ranking
    from bpe_cli.reports.text.segmentation import Segmentation
    from bpe_cli.reports.text.stages import StagesReport
    from bpe_cli.reports.text.steps import Steps
    from bpe_cli.reports.text.warnings import TextWarning
    from bpe_cli.reports.tokenizer.health import HealthReport
    from bpe_cli.reports.tokenizer.lookup import TokenCard
    from bpe_cli.reports.tokenizer.reachability import Reachability
    from bpe_cli.teaching.steps import Steps as Training
    from bpe_cli.tokenizer.usage import Fact

MOST_DIGITS = 15
"""Longer numbers are no exact ones for many who read JSON."""


class Shape:
    """The keys of a dataclass's object, in order, and their values."""

    def __init__(self, keys: str, **derived: Callable[[Any], Any]) -> None:
        """Read the keys, which are words, and functions of the whole for some of them.

        ``key`` is the field or property of that name, ``key=name`` one of another name, ``key=name.name`` one of a
        field's value, and ``key=start,end`` a list of several.
        """
        self.columns: list[tuple[str, Callable[[Any], Any]]] = []
        for word in keys.split():
            key, _, names = word.partition("=")
            self.columns.append((key, derived.get(key) or attrgetter(*(names or key).split(","))))


_AS_IT_IS = (int, bool, type(None))


class JsonWalker:
    r"""Walk over reports.

    Shapes are found by the names of a class and of the module that it is in: nothing is imported that was not measured.

    >>> from bpe_cli.reports.tokenizer.contents import NamedToken
    >>> JsonWalker({})([NamedToken(7, b"a"), 0.5, None])
    [{'token_id': 7, 'content': 'a'}, 0.5, None]
    >>> shapes = {"contents.NamedToken": Shape("id=token_id text=content both=token_id,content")}
    >>> JsonWalker(shapes)(NamedToken(7, b"\xe8"))
    {'id': 7, 'text': {'bytes': 'e8'}, 'both': [7, {'bytes': 'e8'}]}
    """

    def __init__(self, shapes: Mapping[str, Shape], endless: Callable[[float], str | None] | None = None) -> None:
        """Walk by a table of shapes; ``endless`` writes a number that JSON has not, which is null otherwise."""
        self._shapes = shapes
        self._endless = endless
        self._known: dict[type, Shape | None] = {}

    def __call__(self, value: Any) -> Any:
        """Write a value of a report."""
        kind = type(value)
        if kind in _AS_IT_IS:
            return value
        if isinstance(value, str):
            return name_value(value)
        if isinstance(value, float):
            return value if isfinite(value) else self._endless and self._endless(value)
        if isinstance(value, bytes):
            return text_value(value)
        if isinstance(value, dict):
            return {key: self(each) for key, each in value.items()}
        if kind not in self._known:
            self._known[kind] = self._shape_of(kind)
        shape = self._known[kind]
        if shape is None:
            return [self(each) for each in value]
        columns = ((key, column(value)) for key, column in shape.columns)
        return {key: each if type(each) in _AS_IT_IS else self(each) for key, each in columns}

    def _shape_of(self, kind: type) -> Shape | None:
        """Return how a class is written; None for a sequence."""
        shape = self._shapes.get(f"{kind.__module__.rpartition('.')[2]}.{kind.__name__}")
        if shape is None and is_dataclass(kind):
            return Shape(" ".join(each.name for each in fields(kind)))
        return shape


def json_text(value: dict[str, Any]) -> str:
    """Write one JSON object, in ASCII: no control or bidirectional character reaches a terminal."""
    import json

    return json.dumps(value, indent=2, ensure_ascii=True) + "\n"


def one_or_several(values: Sequence[dict[str, Any]], origins: Sequence[tuple[str, int]], schema: str) -> dict[str, Any]:
    """Write one text's value as it is, and those of several as one object with a list ``texts`` of them.

    Each of several says besides which ``input`` it is of, and its number there (``document``, from 1).

    >>> one_or_several([{"a": 1}, {"a": 2}], [("x", 1), ("x", 2)], "s/1")["texts"][1]
    {'input': 'x', 'document': 2, 'a': 2}
    """
    if len(values) == 1:
        return values[0]
    named = zip(origins, values, strict=True)
    texts = [{"input": name_value(name), "document": number, **value} for (name, number), value in named]
    return {"schema": schema, "texts": texts}


def _pairs(pairs: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"what": what, "value": value} for what, value in pairs]


def _settings(facts: Sequence[tuple[str, Fact]]) -> dict[str, Any]:
    """Return settings as an object.

    >>> _settings([("a", 1), ("b", "x"), ("b", "y")])
    {'a': 1, 'b': ['x', 'y']}
    """
    values: dict[str, list[Any]] = {}
    for name, value in facts:
        values.setdefault(name, []).append(value)
    return {name: each[0] if len(each) == 1 else each for name, each in values.items()}


SHAPES: dict[str, Shape] = {
    "segmentation.Segmentation": Shape(
        "schema tokenizer token_count byte_count character_count bytes_per_token characters_per_token round_trip "
        "differs_at tokens split=splits",
        schema=lambda _: "bpe.inspect.text/1",
    ),
    "segmentation.PlacedToken": Shape(
        "id=token_id token=content bytes=start,end characters=character_start,character_end special piece score"
    ),
    "characters.SplitGrapheme": Shape(
        "text tokens contents",
        tokens=lambda split: (split.first, split.first + len(split.contents)),
        contents=lambda split: [content.hex() for content in split.contents],
    ),
    "characters.TextWarning": Shape("kind message hint bytes=start,end count"),
    "conversation.ConversationReport": Shape(
        "schema tokenizer=whole.tokenizer template token_count=whole.token_count byte_count=whole.byte_count "
        "special_count said_count round_trip=whole.round_trip differs_at=whole.differs_at parts",
        schema=lambda _: "bpe.inspect.chat/1",
    ),
    "conversation.ConversationPart": Shape(
        "kind messages roles bytes=start,end token_count special_count said_count tokens=segmentation.tokens"
    ),
    "stages.StagesReport": Shape(
        "normalizer=normalizers pre_tokenizer=pre_tokenizers pieces model post_processor decoder",
        post_processor=lambda report: {
            "types": report.post_processor,
            "ids": report.processed.ids,
            "tokens": report.contents,
            "type_ids": report.processed.type_ids,
            "special_mask": report.processed.special_mask,
        },
        decoder=lambda report: {"types": report.decoders, "text": report.decoded},
    ),
    "stages.Normalized": Shape("type=name text=content changes"),
    "stages.Change": Shape("bytes=start,end before after"),
    "stages.Piece": Shape("text=content bytes=start,end tokens=first,token_end special"),
    "scores.Ranking": Shape("schema tokenizer byte_count wanted segmentations", schema=lambda _: "bpe.inspect.nbest/1"),
    "scores.RankedSegmentation": Shape(
        "score ids tokens",
        ids=lambda each: [token.token_id for token in each.tokens],
        tokens=lambda each: [token.content for token in each.tokens],
    ),
    "steps.StepToken": Shape("id=token_id token=content"),
    "steps.Candidate": Shape(
        "parts product count left_count right_count score loss taken tied",
        score=lambda each: None if each.score is None else float(each.score),
    ),
    "steps.Change": Shape("before after count"),
    "steps.Entry": Shape("id=token_id token count score"),
    "vocabulary_report.VocabularyReport": Shape(
        "schema name fingerprint kind algorithm ordinary_count special_count merge_count dead_merge_count highest_id "
        "unused_count unused_ranges patterns prefix_space ignore_merges unicode_version special_tokens settings "
        "bytes_without_token kinds mean_length lengths longest facts format usage",
        schema=lambda _: "bpe.inspect.tokenizer/1",
        special_tokens=lambda report: [
            {"id": token.token_id, "token": token.content, "special": token.special} for token in report.special_tokens
        ],
        settings=lambda report: _pairs(report.settings),
        bytes_without_token=lambda report: (
            None if report.bytes_without_token is None else list(report.bytes_without_token)
        ),
        facts=lambda report: _settings(report.facts),
        usage=lambda report: _pairs(report.usage),
    ),
    "vocabulary_report.LongToken": Shape("id=token_id token=content byte_count character_count"),
    "contents.NamedToken": Shape("id=token_id text=content"),
    "structure.Structure": Shape(
        "scripts character_lengths merge_tree cuts white_space digits duplicates unseen repeats",
        merge_tree=lambda report: report.merges and {**json_value(report.merges), "deepest": report.deepest},
        digits=lambda structure: [run for run in structure.digits if run.length <= MOST_DIGITS],
        repeats=lambda structure: {"tokens": structure.repeat_count, "longest": structure.repeats},
    ),
    "structure.Scripts": Shape(
        "counts several without not_utf8 examples",
        examples=lambda scripts: [{**json_value(token), "scripts": names} for token, names in scripts.examples],
    ),
    "merge_tree.MergeShape": Shape("made depths mean_depth leaves leaf_share"),
    "structure.TreeNode": Shape("level id=token.token_id text=token.content made"),
    "odd_tokens.WhiteSpaceRun": Shape("kind tokens lengths=stretches longest"),
    "odd_tokens.DigitRun": Shape("digits=length possible tokens=present tokens_with_space=present_spaced missing"),
    "contents.Redundancy": Shape("differ_by=name groups redundant share"),
    "odd_tokens.Repeat": Shape("unit tokens times token=longest"),
    "corpus_report.CorpusReport": Shape(
        "document_count byte_count token_count used unused unused_share special_used unknown at_most mean_count "
        "unused_is_rarer_than=bound rare head coverage curve unused_ids unused_by_kind unused_parts residues",
        unused_by_kind=lambda report: dict(
            zip(("not_utf8", "single_characters", "others"), report.unused_by_kind, strict=True)
        ),
    ),
    "corpus_report.UsedToken": Shape("id=token.token_id text=token.content count frequency"),
    "residues.Residues": Shape(
        "share count vocabulary_share never_final final_count final_share measured staying taken scaffolds tokens",
        scaffolds=lambda residues: {"count": residues.scaffolds, "stay_less_than": residues.scaffold_limit},
    ),
    "residues.Residue": Shape(
        "id=token.token_id text=token.content final made ratio taken mainly child_count scaffold"
    ),
    "lookup.TokenCard": Shape(
        "id=token.token_id text=token.content bytes written character_count kind score rank depth tree tree_is_cut "
        "children child_count descendant_count dead_merges dead_merge_count variants reachable=verdict "
        "corpus=occurrence",
        bytes=lambda card: card.token.content.hex(),
    ),
    "lookup.DeadMerge": Shape("rank=number left right product"),
    "lookup.Variant": Shape("id=token.token_id text=token.content differs_by"),
    "reachability.Verdict": Shape("reachable layer witness reason"),
}  # fmt: skip
"""What is called otherwise than in the report, what is left out, and what is derived."""

json_value: JsonWalker = JsonWalker(SHAPES)
"""Writes a value of a report on texts or on a tokenizer."""

_steps_value = JsonWalker(SHAPES, endless=str)


def segmentation_json(
    report: Segmentation, warnings: Sequence[TextWarning] | None = None, stages: StagesReport | None = None
) -> dict[str, Any]:
    """Return a text as tokens, with its warnings and stages if they were asked for."""
    besides = {"warnings": warnings, "stages": stages}
    return {**json_value(report), **json_value({name: each for name, each in besides.items() if each is not None})}


def texts_json(texts: Sequence[dict[str, Any]], origins: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """Write texts as ``segmentation_json`` gave them, several as one object."""
    return one_or_several(texts, origins, "bpe.inspect.texts/1")


def rankings_json(rankings: Sequence[Ranking], origins: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """Write the best segmentations of texts."""
    return one_or_several([json_value(each) for each in rankings], origins, "bpe.inspect.nbests/1")


def all_steps_json(steps: Sequence[Steps], origins: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """Write how a tokenizer arrived at the tokens of texts."""
    values = [{"schema": "bpe.inspect.steps/1", **_steps_value(each)} for each in steps]
    return one_or_several(values, origins, "bpe.inspect.all-steps/1")


def conversations_json(reports: Sequence[ConversationReport], origins: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """Write conversations as tokens, message by message."""
    return one_or_several([json_value(each) for each in reports], origins, "bpe.inspect.chats/1")


def training_json(steps: Training, algorithm: str, most: int | None) -> dict[str, Any]:
    """Write a training step by step, with up to so many candidates in each; None for all."""
    from bpe_cli.teaching.record import record

    return {"schema": "bpe.train.steps/1", "algorithm": algorithm, **_steps_value(record(steps, most))}


def health_json(report: HealthReport, *, full: bool = False) -> dict[str, Any]:
    """Return the report on a tokenizer."""
    return {
        **json_value(report.vocabulary),
        "findings": json_value(report.findings),
        "structure": json_value(report.structure),
        "reachability": reachability_json(report.reachability, full=full),
        "corpus": json_value(report.corpus),
    }


def reachability_json(reachability: Reachability, *, full: bool = False) -> dict[str, Any]:
    """Return the report on which tokens text can become; ``full`` lists all tokens."""
    from bpe_cli.reports.tokenizer.reachability import LAYERS
    from bpe_cli.views.structure import listed_layers

    layers = (*listed_layers(full=full), "special", "plain") if full else listed_layers(full=full)
    return {
        "examined": reachability.examined,
        "reachable": reachability.reachable_count,
        "unreachable": reachability.unreachable_count,
        "undecided": reachability.undecided_count,
        "layers": [
            {"layer": layer, "tokens": tokens, "meaning": LAYERS[layer]} for layer, tokens in reachability.counts
        ],
        "tokens": [
            json_value({"id": token_id, "token": reachability.contents[token_id], **json_value(verdict)})
            for token_id, verdict in reachability.verdicts.items()
            if verdict.layer in layers
        ],
    }


def cards_json(name: str | None, cards: Sequence[TokenCard]) -> dict[str, Any]:
    """Return the reports on single tokens."""
    return {"schema": "bpe.inspect.tokens/1", "tokenizer": json_value(name), "tokens": json_value(cards)}


def all_pieces_json(reports: Sequence[StagesReport], origins: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """Return what the stages before the model make of texts: schema ``bpe.inspect.pieces/1``, or ``all-pieces/1``."""
    names = ("normalizer", "pre_tokenizer")
    values = []
    for report in reports:
        value = json_value(report)
        pieces = [{"text": piece["text"], "bytes": piece["bytes"]} for piece in value["pieces"]]
        values.append({"schema": "bpe.inspect.pieces/1", **{name: value[name] for name in names}, "pieces": pieces})
    return one_or_several(values, origins, "bpe.inspect.all-pieces/1")
