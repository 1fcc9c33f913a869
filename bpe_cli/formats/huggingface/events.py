"""Read and write the model of a ``bpe.json`` that has merges and splits in one list (``EventBpe``).

An event is ``["a", "b"]``, a merge of two tokens, or ``["ab"]``, a split of one.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping, Sequence

from bpe_cli.errors import FormatError
from bpe_cli.formats import byte_level
from bpe_cli.formats.read_file import Node
from bpe_cli.stages import EventBpe
from bpe_cli.stages.events import SPLIT, replayed, triples
from bpe_cli.stages.spelling import from_visible
from bpe_cli.support.messages import quote

_HINT = "an event can merge or split only what is there at its time: write the list anew, in the order of training"


def read(node: Node, ids: Mapping[str, int], hidden: Collection[str], unk_id: int | None) -> EventBpe:
    """Read the model; ``hidden`` tokens are left out of what is matched, but for those that events name."""
    node.only("type", "unk_token", "fuse_unk", "byte_level", "ignore_merges", "unicode_version", "vocab", "events")
    in_bytes, whole = node.flag("byte_level"), node.flag("ignore_merges", default=True)
    events = _read_events(node.get("events"), ids)
    used = set(events)
    matched = {token: token_id for token, token_id in ids.items() if token not in hidden or token_id in used}

    def spelt(token: str) -> bytes:
        content = from_visible(token)
        if content is None:
            raise node.get("vocab").error(f"has {quote(token)}, which is not spelt in the byte alphabet")
        return content

    vocabulary = byte_level.vocabulary_of(node, matched, spelt if in_bytes else str.encode)
    model = EventBpe(vocabulary, events, unk_id, node.flag("fuse_unk"), in_bytes, whole)
    try:
        replayed(model)
    except FormatError as error:
        raise node.get("events").error(f"cannot be: {error}", hint=_HINT) from None
    return model


def _read_events(node: Node, ids: Mapping[str, int]) -> array[int]:
    events = array("I")
    for number, event in enumerate(node.elements(), start=1):
        if not isinstance(event, list) or len(event) not in (1, 2) or not all(isinstance(each, str) for each in event):
            raise node.error(f'has event {number} in another form than ["a", "b"] or ["ab"]')
        try:
            named = [ids[each] for each in event]
            named += [ids["".join(event)]] if len(event) == 2 else [SPLIT, SPLIT]
        except KeyError as error:
            raise node.error(
                f"has event {number} ({', '.join(map(quote, event))}), and "
                f"the token {quote(error.args[0])} is not in the vocabulary"
            ) from None
        events.extend(named)
    return events


def write(model: EventBpe, tokens: Sequence[str]) -> list[list[str]]:
    """Return the events as a file has them; ``tokens`` are texts by id."""
    return [
        [tokens[left]] if right == SPLIT else [tokens[left], tokens[right]] for left, right, _ in triples(model.events)
    ]
