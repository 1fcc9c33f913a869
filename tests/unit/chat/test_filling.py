"""Format strings of templates: they are filled as Python does, and who wrote which part of the result is known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.chat import ChatTemplate, Conversation
from bpe_cli.chat.filling import FormatMethod, filled
from bpe_cli.chat.provenance import MESSAGE, TEMPLATE, UNKNOWN, Meter, TooMuch, Traced
from bpe_cli.chat.sandbox import Sandbox
from bpe_cli.errors import InputError
from tests.work import assert_little_work


def traced(text: str, origins: bytes) -> Traced:
    return Traced.of(text, origins, Meter())


def test_formats_are_followed():
    text = traced("hi", MESSAGE)
    found = filled(traced("<|%s|> %d", TEMPLATE), (text, 5))
    assert (found, found.origins) == ("<|hi|> 5", b"ttmmtttt")
    # What is written otherwise than it stands there cannot be followed, nor can a format of the message's.
    assert set(filled(traced("%r", TEMPLATE), text).origins) == set(UNKNOWN)
    assert set(filled(traced("%s", MESSAGE), text).origins) == set(UNKNOWN)
    assert set(filled(traced("%s", TEMPLATE), [text]).origins) == set(UNKNOWN)
    with pytest.raises(TypeError):
        filled(traced("%s", TEMPLATE), object())


@pytest.mark.parametrize("pattern", ["%s", "%r", "%a", "%(x)s", "{}", "{!r}", "{!a}", "{0[x]!r}", "{0[x][0]!r}"])
def test_what_is_quoted_is_not_followed_however_long_it_is(pattern):
    # Quoted, it has six times its characters, as what stands for it would have: 26 * 1 + 35 * 10 + 5 * 4 = 66 * 6.
    name = traced("<" + "a" * 24 + ">" + "\U000e0080" * 35 + "\0" * 5, MESSAGE)
    given: dict[str, object] = {traced("x", TEMPLATE): [name]}
    if "%" in pattern:
        found = filled(traced(pattern, TEMPLATE), given)
    else:
        found = FormatMethod(Sandbox(None), traced(pattern, TEMPLATE))(given)
    assert found == (pattern % given if "%" in pattern else pattern.format(given))
    assert TEMPLATE[0] not in found.origins[found.find("<") :][:26]


def test_objects_are_followed_where_nothing_of_them_is_quoted():
    given = {traced("x", TEMPLATE): traced("hi", MESSAGE), traced("y", MESSAGE): {traced("z", MESSAGE): 1}}
    assert filled(traced("<%(x)s>", TEMPLATE), given).origins == b"tmmt"
    found = FormatMethod(Sandbox(None), traced("<{0[x]}{0[y][z]}{x:>3}{0[x][1]}>", TEMPLATE))(given, x="a")
    assert (found, found.origins) == ("<hi1  ai>", b"tmmtttmmt")
    literal = {traced("x", TEMPLATE): [traced("y", TEMPLATE), 1, None]}
    found = filled(traced("%s", TEMPLATE), literal)
    assert (found, set(found.origins)) == ("{'x': ['y', 1, None]}", set(TEMPLATE))


@pytest.mark.parametrize("pattern", ["%c", "%3c", "%(a(b)c)-3c", "{:c}", "{:>3c}", "{x:c}"])
def test_a_number_written_as_a_character_is_not_followed(pattern):
    if "%" in pattern:
        found = filled(traced(pattern, TEMPLATE), {"a(b)c": 60} if "(" in pattern else 60)
    else:
        found = FormatMethod(Sandbox(None), traced(pattern, TEMPLATE))(60, x=60)
    assert found.strip() == "<"
    assert set(found.origins) == set(UNKNOWN)


@pytest.mark.parametrize(
    "pattern", ["%(a(b)c)99999d", "%d%99999d", "%99999%", "%*d", "{:>99999}", "{:\u0669\u0669\u0669\u0669}"]
)
def test_a_large_width_is_refused(pattern):
    text = traced(pattern, TEMPLATE)
    fill = (lambda: filled(text, {"a(b)c": 1})) if "%" in pattern else (lambda: FormatMethod(Sandbox(None), text))
    with pytest.raises(TooMuch, match="very large width"):
        fill()


def test_a_method_is_not_written_out():
    conversation = Conversation(({"role": "user", "content": "<|endoftext|>"},))
    template = ChatTemplate("{{ '{0.upper}'.format(messages[0].content) }}", "t")
    with pytest.raises(InputError, match="is neither text nor a number"):
        template.render(conversation, add_generation_prompt=False)


@given(st.text("%()0-3dsc .é", max_size=12), st.sampled_from([1, "a", {"": 1, "s": "a", "()": 2}, (1, 2), ()]))
def test_it_is_filled_as_python_does(pattern, given):
    try:
        expected = pattern % given
    except (TypeError, ValueError, OverflowError) as error:
        with pytest.raises(type(error)):
            filled(traced(pattern, TEMPLATE), given)
    else:
        assert filled(traced(pattern, TEMPLATE), given) == expected


def test_a_pattern_of_open_parentheses_is_little_work():
    text = traced("%(" * 30_000, TEMPLATE)

    def fill():
        with pytest.raises(ValueError, match="incomplete format key"):
            filled(text, {})

    assert_little_work(fill, size=len(text), most_lines=200_000, most_cost=100)


def test_what_is_not_there_is_written_as_nothing_and_an_object_gives_values_by_name():
    template = (
        "{{ 'a%sb' % nothing }}{{ '{}'.format(nothing) }} {{ '{x}{y}'.format_map({'x': 1, 'y': messages[0].content}) }}"
    )
    said = Conversation(({"role": "user", "content": "hi"},))
    found = ChatTemplate(template, "t").render(said, add_generation_prompt=False)
    assert (str.__str__(found), found.origins[-2:]) == ("ab 1hi", MESSAGE * 2)
    for wrong in ("{{ '{x}'.format_map(1) }}", "{{ '{x}'.format_map() }}", "{{ '{x}'.format_map(x=1) }}"):
        with pytest.raises(InputError, match="format_map takes one object"):
            ChatTemplate(wrong, "t").render(said, add_generation_prompt=False)


def test_a_star_fills_a_field_and_takes_the_width_of_a_place():
    template = "{{ '{:*^9}'.format('a') }}{{ '{:*<9}'.format(messages[0].content) }}"
    said = Conversation(({"role": "user", "content": "hi"},))
    assert str.__str__(ChatTemplate(template, "t").render(said, add_generation_prompt=False)) == "****a****hi*******"
    with pytest.raises(TooMuch):
        filled(traced("%*d", TEMPLATE), (9, 1))
