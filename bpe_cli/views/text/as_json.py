"""Write what is reported of texts as plain JSON, with a ``schema`` field that says which version of which form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bpe_cli.reports.text.scores import Ranking
from bpe_cli.reports.text.segmentation import Segmentation
from bpe_cli.reports.text.stages import StagesReport
from bpe_cli.reports.text.warnings import TextWarning
from bpe_cli.views.json_values import JsonWalker, Shape, one_or_several

if TYPE_CHECKING:
    from bpe_cli.reports.text.steps import Steps

SEGMENTATION_SCHEMA = "bpe.inspect.text/1"
TEXTS_SCHEMA = "bpe.inspect.texts/1"
RANKING_SCHEMA = "bpe.inspect.nbest/1"
RANKINGS_SCHEMA = "bpe.inspect.nbests/1"
STEPS_SCHEMA = "bpe.inspect.steps/1"
ALL_STEPS_SCHEMA = "bpe.inspect.all-steps/1"

SHAPES = {
    "segmentation.Segmentation": Shape(
        "schema tokenizer token_count byte_count character_count bytes_per_token characters_per_token round_trip "
        "differs_at tokens split=splits",
        schema=lambda _: SEGMENTATION_SCHEMA,
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
    "scores.Ranking": Shape("schema tokenizer byte_count wanted segmentations", schema=lambda _: RANKING_SCHEMA),
    "scores.RankedSegmentation": Shape(
        "score ids tokens",
        ids=lambda each: [token.token_id for token in each.tokens],
        tokens=lambda each: [token.content for token in each.tokens],
    ),
    "steps.StepToken": Shape("id=token_id token=content"),
}
"""What is called otherwise than in the report, and what is derived."""

_value = JsonWalker(SHAPES)
_steps_value = JsonWalker(SHAPES, endless=str)


def segmentation_json(
    report: Segmentation, warnings: Sequence[TextWarning] | None = None, stages: StagesReport | None = None
) -> dict[str, Any]:
    """Return a text as tokens.

    Fields:
        schema: ``bpe.inspect.text/1``.
        tokenizer: Its name, or null.
        token_count, byte_count, character_count: Totals.
        bytes_per_token, characters_per_token: Numbers, or null.
        round_trip: Whether decoding gives exactly the text; if not, ``differs_at`` is the first byte
            that differs (else null).
        tokens: In order, each with ``id``, ``token`` (as the vocabulary spells it), ``bytes`` and
            ``characters`` ([start, end) in the text), ``special``, ``piece`` (number of its piece; null
            for special tokens, and where pieces are rewritten) and ``score`` (a natural logarithm for a
            unigram model; null where there is none).
        split: Grapheme clusters that lie in several tokens, each with ``text``, ``tokens``
            ([first, end) numbers) and ``contents`` (hexadecimal, one per token).
        warnings: If the text was looked at for them: each with ``kind`` (``reports.text.warnings.KINDS``),
            ``message``, ``hint``, ``bytes`` ([start, end) of the first place) and ``count`` of places.
        stages: If asked for, what each stage makes of the text; offsets are [start, end) in bytes of the text as given:

            normalizer: Each normalizer in order, with ``type``, ``text`` (what it made) and ``changes``, each
                with ``bytes``, ``before`` and ``after``.
            pre_tokenizer: Their types, in order.
            pieces: In order, each with ``text`` (what the model gets), ``bytes``, ``tokens`` ([first, end)
                numbers) and ``special``: whether it is a special token found in the text, and no piece.
            model: What the model is called.
            post_processor: ``types`` of its parts, and what they give: ``ids``, ``tokens``, ``type_ids`` and
                ``special_mask`` (1 for what they put in).
            decoder: ``types`` of its parts, and the ``text`` that the tokens read as.
    """
    besides = {"warnings": warnings, "stages": stages}
    return {**_value(report), **_value({name: each for name, each in besides.items() if each is not None})}


def texts_json(texts: Sequence[dict[str, Any]], origins: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """Write one text as ``segmentation_json`` gave it, and several as one object.

    Schema ``bpe.inspect.texts/1``: ``texts`` is a list of ``bpe.inspect.text/1`` objects, in order, each with
    ``input`` (the name of the input it is of) and ``document`` (its number there, from 1) besides.
    """
    return one_or_several(texts, origins, TEXTS_SCHEMA)


def rankings_json(rankings: Sequence[Ranking], origins: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """Write one text's best segmentations, and those of several as ``one_or_several`` does.

    Fields:
        schema: ``bpe.inspect.nbest/1``.
        tokenizer: Its name, or null.
        byte_count: Bytes of the text.
        wanted: How many were asked for.
        segmentations: The best first, each with ``score`` (a natural logarithm), ``ids`` and ``tokens`` (strings,
            or ``{"bytes": "e8b0"}`` where a token is not UTF-8).
    """
    return one_or_several([_value(each) for each in rankings], origins, RANKINGS_SCHEMA)


def all_steps_json(steps: Sequence[Steps], origins: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """Write how a tokenizer arrived at the tokens of one text, and of several as ``one_or_several`` does.

    Texts are strings, or ``{"bytes": "e8b0"}`` where they are no UTF-8. A token is ``{"id": 3, "token": "a"}``.

    Fields:
        schema: ``bpe.inspect.steps/1``.
        tokenizer: Its name, or null.
        model: The kind of its model.
        byte_count, token_count, row_count, piece_count: Of the whole text; a row is a piece or a special token.
        spelt: Whether texts are written in GPT-2's alphabet, a character for each byte.
        words: Whether a "piece" is a word of a piece here: some are cut, for no token goes over a blank.
        differs_at: Place (from 0) of the first row whose steps end elsewhere than the tokenizer: null, or an error
            of bpe.
        rows: The first ones, each with ``number`` (of the piece, from 0; null for a special token), ``text``,
            ``special`` (a token or null), ``walk`` (null for a special token and for a piece that stood before),
            ``same_as`` (the number of that), ``fused`` (it is one unknown token with the row before) and
            ``tokens``.

    A walk says its ``family``, what the piece becomes (``tokens``), the first ``steps`` (or ``places``) and how
    many ``more`` there are; the other fields are those of the classes in ``reports/text/steps/__init__.py``:

        merges: ``whole`` (the piece is a token: the steps are those that there would be), ``spelt`` and ``ends``
            (what is not a token before and after merging), ``start``, ``merged``; a step has ``rank`` or ``score``,
            ``left``, ``right``, ``product`` and the ``symbols`` afterwards.
        longest-from-left: a step has the ``rest`` (``cut`` by so many characters), how many beginnings were
            ``tried``, the tokens that ``fits``, longest first, and the one ``taken``.
        longest-anywhere: a step has the ``token`` cut out and the ``parts`` afterwards.
        look-up: a step has the ``text``, the ``token``, and whether it is ``known``.
        lattice: a place has the ``ways`` that end there (``text``, ``token_id`` or null, ``start``, ``score``,
            ``total``) and which of them is ``best``; then ``path``, ``score``, and ``ranked``: the best
            segmentations with ``score`` and ``probability``.
        left-out: ``reason``.

    A score without end, which a broken file can have, is the string ``inf`` or ``-inf``.
    """
    values = [{"schema": STEPS_SCHEMA, **_steps_value(each)} for each in steps]
    return one_or_several(values, origins, ALL_STEPS_SCHEMA)
