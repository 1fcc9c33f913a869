"""Traced strings: each method gives what ``str`` gives, and knows where every character comes from."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_cli.chat.provenance import MESSAGE, TEMPLATE, UNKNOWN, Meter, TooMuch, Traced, expanded, joined
from tests.work import assert_little_work, lines

# Few characters, so that separators and prefixes occur; a letter whose case has another length; wide ones.
TEXTS = st.text("ab <>\n\r\tß中😀", max_size=12)
METHODS = {
    "strip": st.tuples(st.none() | TEXTS),
    "lstrip": st.tuples(st.none() | TEXTS),
    "rstrip": st.tuples(st.none() | TEXTS),
    "split": st.tuples(st.none() | TEXTS.filter(bool), st.integers(-1, 4)),
    "rsplit": st.tuples(st.none() | TEXTS.filter(bool), st.integers(-1, 4)),
    "splitlines": st.tuples(st.booleans()),
    "partition": st.tuples(TEXTS.filter(bool)),
    "rpartition": st.tuples(TEXTS.filter(bool)),
    "replace": st.tuples(TEXTS, TEXTS, st.integers(-1, 4)),
    "removeprefix": st.tuples(TEXTS),
    "removesuffix": st.tuples(TEXTS),
    "join": st.tuples(st.lists(TEXTS, max_size=4)),
    "upper": st.tuples(),
    "lower": st.tuples(),
    "title": st.tuples(),
    "capitalize": st.tuples(),
    "casefold": st.tuples(),
    "swapcase": st.tuples(),
    "__add__": st.tuples(TEXTS),
    "__mul__": st.tuples(st.integers(-1, 4)),
    "__getitem__": st.tuples(st.slices(12)),
}


def traced(text: str, origins: bytes, meter: Meter | None = None) -> Traced:
    return Traced.of(text, origins, meter or Meter())


def flat(value: object) -> list[str]:
    return [value] if isinstance(value, str) else [part for each in value for part in flat(each)]


@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=25)
@given(data=st.data())
def test_method_gives_what_str_gives(name, data):
    text = data.draw(TEXTS)
    arguments = data.draw(METHODS[name])
    found = getattr(traced(text, MESSAGE), name)(*arguments)
    assert found == getattr(text, name)(*arguments)
    assert all(type(part) is Traced and len(part.origins) == len(part) for part in flat(found))


# Each character is another, and so shows its own origin: upper case is the template's.
NAMED = st.text("ABCDEabcde ,", max_size=12)


def origins(text: str) -> bytes:
    return b"".join(TEMPLATE if c.isupper() else MESSAGE if c.islower() else UNKNOWN for c in text)


@pytest.mark.parametrize(
    "name", ["strip", "split", "rsplit", "partition", "rpartition", "removeprefix", "__getitem__", "replace", "lstrip"]
)
@given(data=st.data())
def test_every_character_keeps_its_origin(name, data):
    text = data.draw(NAMED)
    some = NAMED.filter(bool) | st.sampled_from([" ", ","])
    arguments = {
        "partition": st.tuples(some), "rpartition": st.tuples(some), "removeprefix": st.tuples(NAMED),
        "split": st.tuples(st.none() | some, st.integers(-1, 3)), "__getitem__": st.tuples(st.slices(12)),
        "rsplit": st.tuples(st.none() | some, st.integers(-1, 3)),
        "replace": st.tuples(NAMED, NAMED.map(lambda new: traced(new, origins(new))), st.integers(-1, 3)),
    }.get(name, st.just(()))  # fmt: skip
    found = getattr(traced(text, origins(text)), name)(*data.draw(arguments))
    assert all(part.origins == origins(part) for part in flat(found))


def test_literals_beside_a_message():
    meter = Meter()
    message = traced("m", MESSAGE, meter)
    whole = traced("<", TEMPLATE, meter) + message + "?" + message * 2
    assert (whole, whole.origins) == ("<m?mm", b"tm?mm")
    assert ("x" + message).origins == b"?m"
    assert [c.origins for c in whole] == [b"t", b"m", b"?", b"m", b"m"]
    assert whole[-2].origins == b"m"
    assert type(str(message)) is Traced
    assert joined(", ", [message, "x"], meter).origins == b"m???"


def test_a_case_that_changes_the_length_of_mixed_text_leaves_its_origin_unknown():
    meter = Meter()
    assert traced("ß", MESSAGE, meter).upper().origins == b"mm"
    assert (traced("<", TEMPLATE, meter) + traced("ß", MESSAGE, meter)).upper().origins == b"???"


def test_growth_is_bounded_before_it_happens():
    meter = Meter()
    text = traced("ab", MESSAGE, meter)
    for grow, most_lines, most_cost in (
        (lambda: text * 10**12, 100, 0.25),
        (
            lambda: text.replace("a", text * 10**6).replace("b", text * 10**6).replace("a", text * 10**6),
            4_000_000,
            1_000,
        ),
        (lambda: (text * 10**5).join([text] * 10**5), 2_000, 3),
    ):

        def refuse(grow=grow):
            meter.start(0)
            with pytest.raises(TooMuch):
                grow()

        assert_little_work(refuse, size=0, most_lines=most_lines, most_cost=most_cost)


LEAVES = st.sampled_from(["", "text", traced("ab", MESSAGE), 5, None, True, range(0), range(7)])
BUILT = st.lists(st.tuples(st.sampled_from([list, tuple, dict]), st.lists(st.integers(0, 40), max_size=3)), max_size=9)


def walked(value, meter, texts):
    """Go into each part as often as it occurs."""
    meter.charge(16)
    size = 8 + (len(value) if texts and isinstance(value, str) else 0)
    if isinstance(value, dict):
        meter.charge(16 * len(value))
        return size + sum(walked(part, meter, texts) for pair in value.items() for part in pair)
    if isinstance(value, (list, tuple, range)):
        meter.charge(8 * len(value))
        return size + sum(walked(part, meter, texts) for part in value)
    return size


@given(st.lists(LEAVES, min_size=1), BUILT, st.booleans())
def test_shared_parts_count_as_often_as_they_occur(parts, built, texts):
    for kind, places in built:
        some = [parts[-1 - place % len(parts)] for place in places]
        parts.append({f"key {place}": part for place, part in enumerate(some)} if kind is dict else kind(some))
    ours, plain = Meter(), Meter()
    ours.start(0)
    plain.start(0)
    try:
        size = walked(parts[-1], plain, texts)
        plain.charge(2 * size if texts else 0)
    except TooMuch:
        with pytest.raises(TooMuch):
            expanded(parts[-1], ours, texts=texts)
    else:
        assert (expanded(parts[-1], ours, texts=texts), ours._left) == (size, plain._left)


def test_what_is_shared_is_looked_into_once():
    value = ["x"]
    for _ in range(200):
        value = [value, {"a": value}]
    itself = []
    itself.append([itself])
    for huge in (value, itself):
        meter = Meter()
        meter.start(0)

        def refuse(huge=huge, meter=meter):
            with pytest.raises(TooMuch, match="too much data from too little input"):
                expanded(huge, meter)

        assert lines(refuse, 50_000) > 10


def test_time_is_bounded():
    meter = Meter()
    meter.start(0)
    for _ in range(Meter.STEPS - 2):
        meter.tick()
    meter.tick(2)
    with pytest.raises(TooMuch, match="too long"):
        meter.tick()
