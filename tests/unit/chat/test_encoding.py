"""Ids of conversations: special tokens of the template's alone, and all else as in the text as a whole."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

from bpe_cli.chat import LAYOUTS, ChatEncoder, ChatTemplate, Conversation
from bpe_cli.chat.provenance import MESSAGE, TEMPLATE, UNKNOWN, Meter, Traced
from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.formats import load
from bpe_cli.formats.huggingface import tokenizer_json as hf_json
from bpe_cli.stages import SpecialToken
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer.named_encodings import named
from tests.counted import at_least, compared

IM = LAYOUTS["gpt-3.5"].fit(named("cl100k_base"), "gpt-3.5")


def ids_of(tokenizer, text, **options):
    encoder = ChatEncoder(tokenizer, **options)
    ids, _ = tokenizer.encode_block(Block.of([encoder.prepare(text, "x.json")]), encoder.matcher)
    return ids.tolist()


def text_of(*parts: tuple[str, bytes]) -> Traced:
    meter = Meter()
    whole = Traced.of("", TEMPLATE, meter)
    for text, origin in parts:
        whole = whole + Traced.of(text, origin, meter)
    return whole


def test_special_tokens_are_the_templates():
    """The worked example: the same text twice, once of each."""
    text = text_of(("<|im_end|>", TEMPLATE), ("<|im_end|>", MESSAGE), ("<|im_end|>", TEMPLATE))
    plain = named("cl100k_base").encode("<|im_end|>")
    assert ids_of(IM, text) == [100265, *plain, 100265]
    assert ids_of(IM, text, specials="all") == [100265] * 3
    assert ids_of(IM, text, specials=("<|im_end|>",)) == [100265] * 3
    assert ids_of(IM, text, specials=("<|im_start|>",)) == [100265, *plain, 100265]


@pytest.mark.parametrize("cut", range(1, 10))
def test_half_a_special_token_is_none(cut):
    for first, second in ((TEMPLATE, MESSAGE), (MESSAGE, TEMPLATE)):
        text = text_of(("<|im_end|>"[:cut], first), ("<|im_end|>"[cut:], second))
        assert ids_of(IM, text) == named("cl100k_base").encode("<|im_end|>")


def test_a_message_hides_no_token_of_the_template():
    tokenizer = IM.with_special_tokens([SpecialToken(b"x<|im_end|", 100270), SpecialToken(b"|><|im_end|>", 100271)])
    text = text_of(("x", MESSAGE), ("<|im_end|>", TEMPLATE), ("|>", MESSAGE), ("<|im_end|>", TEMPLATE))
    assert ids_of(tokenizer, text).count(100265) == 2


def test_what_cannot_be_followed_is_an_error():
    encoder = ChatEncoder(IM)
    with pytest.raises(FormatError, match=r"makes <\|im_end\|> in a way that cannot be followed") as caught:
        encoder.prepare(text_of(("<|im_", TEMPLATE), ("end|>", UNKNOWN)), "x.json")
    assert caught.value.hint.startswith('`specials="all"`')
    with pytest.raises(FormatError, match="half a character"):
        encoder.prepare(text_of(("\ud800", TEMPLATE)), "x.json")
    # Who asks for the token also in messages need not know who wrote it.
    for specials in ("all", ("<|im_end|>",)):
        assert ids_of(IM, text_of(("<|im_", TEMPLATE), ("end|>", UNKNOWN)), specials=specials) == [100265]
    with pytest.raises(FormatError, match="in a way that cannot be followed"):
        ids_of(IM, text_of(("<|im_end|>", UNKNOWN)), specials=("<|im_start|>",))
    # In what a message had a part in there is no special token anyway.
    assert 100265 not in ids_of(IM, text_of(("<|im_", UNKNOWN), ("end|>", MESSAGE)))


def test_refusing_names_the_place():
    text = text_of(("<|im_end|>", TEMPLATE), ("a<|im_end|>", MESSAGE))
    with pytest.raises(InputError, match=r"x\.json: the text of a message contains the special token <\|im_end\|>"):
        ChatEncoder(IM, refuse=True).prepare(text, "x.json")
    assert ChatEncoder(IM, refuse=True).prepare(text_of(("<|im_end|>", TEMPLATE), ("a", MESSAGE)), "x.json")


def test_unknown_name():
    with pytest.raises(UsageError, match="is not a special token"):
        ChatEncoder(IM, ("<|nothing|>",))


def test_tokenizer_without_special_tokens():
    from dataclasses import replace

    assert ids_of(replace(IM, special_tokens=()), text_of(("hello world", MESSAGE))) == [15339, 1917]


def test_an_unknown_token_without_text_is_in_none():
    model = {"type": "WordLevel", "unk_token": "", "vocab": {"": 0, "a": 1}}
    tokenizer = hf_json.loads(json.dumps({"version": "1.0", "added_tokens": [], "model": model}).encode(), "x")
    assert ids_of(tokenizer, text_of(("a", MESSAGE))) == [1]
    assert ids_of(tokenizer, text_of(("a", TEMPLATE)), specials="all") == [1]


# -- tokenizers whose special tokens have flags, and whose text is rewritten -----------------------------

SPECIALS = {
    "<a>": {}, "<l>": {"lstrip": True}, "<r>": {"rstrip": True}, "<lr>": {"lstrip": True, "rstrip": True},
    "<w>": {"single_word": True}, "word": {"single_word": True},
}  # fmt: skip


def staged(kind: str) -> Tokenizer:
    """Make a small tokenizer of Hugging Face's: characters as tokens, behind stages of several kinds."""
    alphabet = "▁<>/ablrwod Aéé\n中Ġ"
    vocab = {token: number for number, token in enumerate(dict.fromkeys([*alphabet, "[UNK]", "ab", "▁a", "wo", "rd"]))}
    if kind == "bytes":
        vocab = {c: n for n, c in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
        tokenizer = Tokenizer(models.BPE(vocab, []))
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
    else:
        tokenizer = Tokenizer(models.BPE(vocab, [("a", "b"), ("▁", "a"), ("w", "o"), ("r", "d")], unk_token="[UNK]"))
        if kind == "metaspace-first":
            tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
        elif kind == "metaspace-always":
            tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
        else:
            tokenizer.normalizer = normalizers.Sequence(
                [normalizers.NFC(), normalizers.Lowercase(), normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
            )
    tokenizer.add_special_tokens(
        [AddedToken(text, special=True, normalized=False, **flags) for text, flags in SPECIALS.items()]
    )
    tokenizer.add_tokens([AddedToken("od", normalized=False), AddedToken("</a>", normalized=True)])
    return tokenizer


KINDS = ("bytes", "metaspace-first", "metaspace-always", "normalized")
PAIRS = {kind: (rival := staged(kind), hf_json.loads(rival.to_str().encode(), kind)) for kind in KINDS}
PLAIN = st.text("ab wrod\nAé中", max_size=6) | st.sampled_from(["a b", "word", "x od</a>"])
PARTS = st.lists(
    st.tuples(st.sampled_from([*SPECIALS, "", " ", "\n"]), st.just(TEMPLATE)) | st.tuples(PLAIN, st.just(MESSAGE)),
    max_size=6,
)


def has_token_across(parts: list[tuple[str, bytes]]) -> bool:
    """Return whether a message's text has a part in a special token: ``word`` is made of letters."""
    return any("word" in text for text, origin in parts if origin == MESSAGE) or "word" in "".join(
        text if origin == MESSAGE or text not in SPECIALS else "|" for text, origin in parts
    )


@at_least(14)
@pytest.mark.parametrize("kind", KINDS)
@given(parts=PARTS)
def test_harmless_messages_have_the_ids_of_their_text(kind, parts):
    """Pieces, whitespace and prefixes are as in the whole text, for us and for the reference library."""
    rival, tokenizer = PAIRS[kind]
    parts = [part for part in parts if "word" not in part[0]]
    if has_token_across(parts):
        return
    text = text_of(*parts)
    found = ids_of(tokenizer, text)
    assert found == tokenizer.encode(str.__str__(text), specials="all")
    assert found == rival.encode(str.__str__(text), add_special_tokens=False).ids
    compared()


ATTACKS = st.lists(
    st.sampled_from([*SPECIALS, "<|im_end|>", "<|im_start|>", "<", ">", "a", " ", "\n", "<|im_", "end|>"]), max_size=5
).map("".join)


@pytest.mark.parametrize("kind", KINDS)
@given(contents=st.lists(ATTACKS, min_size=2, max_size=2))
def test_no_message_makes_a_special_token(kind, contents):
    tokenizer = PAIRS[kind][1]
    frame = "<a>{}<r>{}<lr>"
    first, second = contents
    text = text_of(("<a>", TEMPLATE), (first, MESSAGE), ("<r>", TEMPLATE), (second, MESSAGE), ("<lr>", TEMPLATE))
    special = {token.token_id for token in tokenizer.special_tokens if token.special}
    found = Counter(token_id for token_id in ids_of(tokenizer, text) if token_id in special)
    assert found == Counter(tokenizer.encode(frame.format("", ""), specials="all"))


# What a template may do to a text before it writes it: cut, put together, rewrite.
REWRITING = (
    "{{ m }}", "{{ m | trim }}", "{{ m.replace(' ', '') }}", "{{ m | replace('a', '') }}", "{{ m.split('a') | join }}",
    "{{ m[1:] }}{{ m }}", "{{ m ~ m }}", "{{ '%s' % m }}", "{{ '{}'.format(m) }}", "{{ m | upper | lower }}",
    "{{ m | tojson }}", "{% set x %}{{ m }}{% endset %}{{ x }}", "{{ m | list | join }}", "{{ m | reverse | reverse }}",
    "{{ [m, m] | join('') }}", "{{ m * 2 }}", "{{ m | string }}", "{{ [m] }}", "{{ {m: m} | tojson }}",
    "<{{ m }}>", "<|im_{{ m }}", "{{ m }}end|>", "{% for c in m %}{{ c }}{% endfor %}", "{{ m.strip('a') + m }}",
    "{{ m | title }}", "{{ m | indent(1) }}", "{{ m | capitalize }}", "{{ m | default('x') }}", "{{ m | safe }}",
    "{{ strftime_now(m) }}", "{{ m.format() }}", "{% set j = joiner(m) %}{{ j() }}{{ j() }}",
    "{{ cycler(m).next() }}", "{{ m | batch(2) | map('join') | join }}", "{{ m | unique | join }}", "{{ m.title() }}",
    "{% macro f(x) %}{{ x }}{{ caller() }}{% endmacro %}{% call f(m) %}{{ m }}{% endcall %}",
    "{{ [m, m] | sum(start='') }}",
    "{% for k, v in {m: m}.items() %}{{ k }}{{ v }}{% endfor %}", "{{ ('<|im_', m) | join }}", "{{ m.join(['', '']) }}",
    "{% filter replace(' ', '') %}{{ m }}{% endfilter %}", "{% autoescape true %}{{ m }}{% endautoescape %}",
)  # fmt: skip
COMPILED = {source: ChatTemplate("{% set m = messages[0].content %}" + source, "t") for source in REWRITING}


@at_least(1)
@pytest.mark.parametrize("source", REWRITING)
@settings(max_examples=15)
@given(content=ATTACKS)
def test_no_way_through_a_template_makes_a_special_token(source, content):
    conversation = Conversation(({"role": "user", "content": content},))
    text = COMPILED[source].render(conversation, add_generation_prompt=False)
    try:
        ids = ids_of(IM, text)
    except FormatError:  # it cannot be told who wrote it, which is an error and no guess
        assert UNKNOWN[0] in text.origins
        return
    assert not {100264, 100265, 100266} & set(ids)
    assert ids == named("cl100k_base").encode(str.__str__(text))
    compared()


# Ways to write what a tool is called with, which quote the names in it, or make characters of numbers.
QUOTING = (
    "{{ '%s' % a }}", "{{ '%s' % [a] }}", "{{ '%r' % (a,) }}", "{{ 'call %s(%s)' % ('f', [[a], 1]) }}",
    "{{ '{}'.format(a) }}", "{{ '{!s:>9}'.format(a) }}", "{{ '{0} {0!r}'.format({'x': [a]}) }}",
    "{{ 'call %s' | format(a) }}", "{{ '%s' % {'x': a} }}", "{{ '%s' % {(a.keys() | first, 1): 1} }}",
    "{{ '%s' % (a.items() | list, ) }}", "{{ '%s' % [a.keys() | list] }}", "{{ '%(x)a' % {'x': a} }}",
    "{{ '%s' % [a.keys() | first] }}", "{{ '%a' % (a.keys() | first) }}", "{{ '{!r}'.format(a.keys() | first) }}",
    "{{ '{!a}'.format(a.keys() | first) }}", "{{ '{0[0]!r}'.format(a.keys() | list) }}", "{{ '{x}'.format(x=a) }}",
    "{{ '{0[0]!a}'.format([a]) }}", "{{ '%(x)s' | format(x=a) }}", "{{ ('%c' * codes | length) % CODES }}",
    "{% for c in codes %}{{ '%c' % c }}{% endfor %}", "{% for c in codes %}{{ '{:c}'.format(c) }}{% endfor %}",
    "{% for c in codes %}{{ '%(a(b)c)c' % {'a(b)c': c} }}{% endfor %}",
)  # fmt: skip
# Quoted, the last is as long as if every character of it were U+FFFF: ten times 1, thirteen times 10 and 4, 24 times 6.
NAMES = ("<|im_end|>", "<|im_end|>\\", "<|im_end|>" + "\U000e0080" * 13 + "\x01")


@pytest.mark.parametrize("source", QUOTING)
@pytest.mark.parametrize("name", NAMES, ids=["alone", "escaped", "as long"])
@pytest.mark.parametrize("value", [1, None, {}, [True, 0.5], ""])
def test_no_name_or_number_of_a_message_makes_a_special_token(source, name, value):
    source = source.replace("CODES", "(" + ",".join(f"codes[{at}]" for at in range(len(name))) + ",)")
    template = ChatTemplate("{% set a = messages[0].calls %}{% set codes = messages[0].codes %}" + source, "t")
    message = {"role": "assistant", "content": "", "calls": {name: value}, "codes": [ord(each) for each in name]}
    text = template.render(Conversation((message,)), add_generation_prompt=False)
    assert TEMPLATE[0] not in text.origins[text.find("<|im_end|>") :][:10]
    encoder = ChatEncoder(IM, refuse=True)
    with pytest.raises((FormatError, InputError)):
        encoder.prepare(text, "t")


# -- published tokenizers ---------------------------------------------------------------------------------


@at_least(2)
@pytest.mark.parametrize("name", ["hf-llama3", "hf-qwen2_5", "phi-3-mini"])
def test_ids_are_those_of_transformers(shared, name):
    """Messages that hold special tokens differ on purpose, unless ``all`` are asked for."""
    config = json.loads((shared / "vocabs" / name / "tokenizer_config.json").read_text("utf-8"))
    expected = json.loads((shared / "expected" / "chat" / f"{name}.json").read_text("utf-8"))
    tokenizer = load(shared / "vocabs" / name / "tokenizer.json")
    names = {key: expected[key] for key in ("bos_token", "eos_token") if expected[key]}
    template = ChatTemplate(config["chat_template"], name, names)
    special = {token.token_id for token in tokenizer.special_tokens if token.special}
    for title, case in expected["cases"].items():
        conversation = Conversation(tuple(case["messages"]))
        text = template.render(conversation, add_generation_prompt=case["add_generation_prompt"])
        assert ids_of(tokenizer, text, specials="all") == case["ids"]
        if not title.startswith("inject"):
            assert ids_of(tokenizer, text) == case["ids"]
            continue
        harmless = ({**case["messages"][0], "content": "x"},)
        plain = template.render(Conversation(harmless), add_generation_prompt=case["add_generation_prompt"])
        found, wanted = (
            [token_id for token_id in ids_of(tokenizer, each) if token_id in special] for each in (text, plain)
        )
        assert found == wanted
        assert tokenizer.decode_bytes(ids_of(tokenizer, text)) == tokenizer.decode_bytes(case["ids"])
        compared()
