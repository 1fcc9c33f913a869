"""What a model is to learn of a conversation: as transformers marks it where templates do, else what it would write."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_cli.chat import LAYOUTS, ChatEncoder, ChatTemplate, Conversation, special_names
from bpe_cli.chat.learning import MOST_TURNS, learnt_spans
from bpe_cli.errors import FormatError, InputError
from bpe_cli.formats import load
from bpe_cli.stages import SpecialToken
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer.named_encodings import named
from tests.needs import needs

CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
MARKED = {
    "the end of the turn": (
        "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' }}{% if m['role'] == 'assistant' %}"
        "{% generation %}{{ m['content'] + '<|im_end|>' }}{% endgeneration %}{{ '\n' }}"
        "{% else %}{{ m['content'] + '<|im_end|>\n' }}{% endif %}{% endfor %}"
    ),
    "words only, trimmed": (
        "{%- for m in messages %}<|im_start|>{{ m['role'] }}\n{% if m['role'] == 'assistant' %}"
        "{% generation %}{{ m['content'] | trim }}{% endgeneration %}{% else %}{{ m['content'] }}{% endif %}<|im_end|>"
        "{% endfor %}"
    ),
    "several in a turn": (
        "{%- for m in messages %}{% if m['role'] == 'assistant' %}A:"
        "{% generation %} {{ m['content'] }}{% endgeneration %}"
        "{% generation %}<|im_end|>{% endgeneration %}{% else %}U: {{ m['content'] }}<|im_end|>{% endif %}{% endfor %}"
    ),
}
IM = LAYOUTS["gpt-3.5"].fit(named("cl100k_base"), "gpt-3.5")
TEXTS = st.text(st.sampled_from("ab \n.é日🙂"), min_size=1, max_size=8)
ROLES = st.sampled_from(["user", "assistant", "system"])
MESSAGES = st.lists(st.tuples(ROLES, TEXTS).map(lambda each: {"role": each[0], "content": each[1]}), max_size=6)


def learnt(
    tokenizer: Any, renderer: Any, messages: list[dict[str, Any]], **options: Any
) -> tuple[list[int], list[int]]:
    """Return the ids of a conversation, and a number for each, 1 if it is to be learnt."""
    conversation = Conversation(tuple(messages), "x.json")
    encoder = ChatEncoder(tokenizer)
    text = renderer.render(conversation, add_generation_prompt=options.get("opened", False))
    spans = learnt_spans(renderer, encoder, conversation, text)
    prepared, mask = encoder.prepare_learnt(text, "x.json", spans)
    assert len(prepared) == len(mask)
    ids, marks = encoder.learnt(tokenizer, prepared, mask)
    assert ids.tolist() == tokenizer.encode_block(Block.of([prepared]), encoder.matcher)[0].tolist()
    return ids.tolist(), marks.tolist()


def shown(tokenizer: Any, renderer: Any, messages: list[dict[str, Any]], **options: Any) -> list[str]:
    """Return the stretches that are to be learnt, as text."""
    stretches, before = [], 0
    for id_, mark in zip(*learnt(tokenizer, renderer, messages, **options), strict=True):
        if mark and not before:
            stretches.append(b"")
        if mark:
            stretches[-1] += tokenizer.token_bytes(id_)
        before = mark
    return [stretch.decode() for stretch in stretches]


TALK = [
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": "hello"},
    {"role": "user", "content": "bye"},
    {"role": "assistant", "content": "farewell"},
]


def template(source: str, tokenizer: Any = IM) -> ChatTemplate:
    return ChatTemplate(source, "t", special_names(tokenizer))


def test_a_turn_is_learnt_to_its_end() -> None:
    for renderer in (LAYOUTS["gpt-3.5"], template(CHATML), template(MARKED["the end of the turn"])):
        assert shown(IM, renderer, TALK) == ["hello<|im_end|>", "farewell<|im_end|>"]
        assert shown(IM, renderer, TALK[:3]) == ["hello<|im_end|>"]
    assert shown(IM, template(CHATML), TALK[:1], opened=True) == []


def test_layouts_mark_what_the_model_writes() -> None:
    mistral = named("cl100k_base").with_special_tokens(
        SpecialToken(text.encode(), 100300 + number) for number, text in enumerate(LAYOUTS["mistral-v3"].tokens)
    )
    assert shown(mistral, LAYOUTS["mistral-v3"], TALK) == ["hello</s>", "farewell</s>"]
    said = [*TALK[:1], {"role": "assistant", "channel": "final", "content": "hello"}]
    harmony = LAYOUTS["harmony"].fit(named("o200k_harmony"), "harmony")
    assert shown(harmony, LAYOUTS["harmony"], said) == ["<|channel|>final<|message|>hello<|end|>"]


def test_what_a_template_writes_within_a_turn_is_learnt() -> None:
    source = CHATML.replace(
        " + m['content'] +",
        " + (m.content or '') }}{% for t in m.tool_calls or [] %}{{ '[' ~ t.function.name ~ ' ' ~ "
        "(t.function.arguments | tojson) ~ ']' }}{% endfor %}{{ '' +",
    )
    call = {"function": {"name": "f", "arguments": {"city": "Rome"}}}
    messages = [*TALK[:1], {"role": "assistant", "tool_calls": [call]}, {"role": "tool", "content": "42"}, TALK[3]]
    assert shown(IM, template(source), messages) == ['[f {"city": "Rome"}]<|im_end|>', "farewell<|im_end|>"]


def test_an_end_that_differs_at_the_end_of_the_conversation() -> None:
    """Some templates write a further token at the end of all, or open the next turn in any case; others have none."""
    source = CHATML + "{% if not add_generation_prompt %}{{ '<|im_sep|>' }}{% endif %}"
    separated = LAYOUTS["gpt-4-32k"].fit(IM, "gpt-4-32k")
    assert shown(separated, template(source), TALK) == ["hello<|im_end|>", "farewell<|im_end|>\n<|im_sep|>"]
    always = CHATML.replace("{% if add_generation_prompt %}", "{% if true %}")
    assert shown(IM, template(always), TALK) == ["hello<|im_end|>", "farewell<|im_end|>"]
    plain = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
    opened = "{% if add_generation_prompt %}assistant: {% endif %}"
    # An id counts as soon as one byte of it does: here the blank is the opened turn's.
    assert shown(IM, template(plain + opened), TALK) == [" hello\n", " farewell\n"]


def test_a_system_prompt_of_the_templates_own_opens_no_turn() -> None:
    """What closes it closes the turns of the model too, which is to learn to write that."""
    source = (
        "{% if messages[0].role != 'system' %}{{ '<|im_start|>system\nBe brief.<|im_end|>\n' }}{% endif %}"
        + CHATML.replace("+ '<|im_end|>'", "+ ('<|im_sep|>' if m.role == 'assistant' else '') + '<|im_end|>'")
    )
    separated = LAYOUTS["gpt-4-32k"].fit(IM, "gpt-4-32k")
    assert shown(separated, template(source), TALK) == ["hello<|im_sep|><|im_end|>", "farewell<|im_sep|><|im_end|>"]


def test_a_template_that_always_wants_an_answer() -> None:
    last = "not add_generation_prompt and messages[-1].role == 'user'"
    source = "{% if " + last + " %}{{ raise_exception('no answer') }}{% endif %}" + CHATML
    assert shown(IM, template(source), TALK) == ["hello<|im_end|>", "farewell<|im_end|>"]


def test_what_the_model_said_may_come_again_in_the_turn_of_a_tool() -> None:
    source = (
        "{% set ns = namespace(called='') %}{% for m in messages %}"
        "{% if m.tool_calls %}{% set ns.called = m.tool_calls[0].name %}{% endif %}"
        "{{ '<|im_start|>' + (ns.called if m.role == 'tool' else m.role) + '\n' }}"
        "{{ (ns.called if m.tool_calls else m.content) + '<|im_end|>\n' }}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
    )
    call = {"role": "assistant", "tool_calls": [{"name": "clock"}]}
    messages = [TALK[0], call, {"role": "tool", "content": "noon"}, TALK[3]]
    assert shown(IM, template(source), messages) == ["clock<|im_end|>", "farewell<|im_end|>"]


def test_half_a_character_of_the_template_is_named() -> None:
    with pytest.raises(FormatError, match=r"x\.json: the chat template writes half a character"):
        learnt(IM, template("\ud800" + CHATML), TALK)


def test_the_past_written_otherwise() -> None:
    """A thought that is written only in the last turn hides no turn before it; a changed start does."""
    thinking = CHATML.replace(
        "+ m['content']", "+ ('<think></think>' if loop.last and m['role'] == 'assistant' else '') + m['content']"
    )
    assert shown(IM, template(thinking), TALK) == ["hello<|im_end|>", "<think></think>farewell<|im_end|>"]
    numbered = "{{ messages | length }}" + CHATML
    with pytest.raises(
        InputError, match=r"x\.json: messages\[1\]: the chat template writes this turn differently"
    ) as caught:
        learnt(IM, template(numbered), TALK)
    assert "{% generation %}" in (caught.value.hint or "")
    with pytest.raises(InputError, match="by rendering the first 1 messages alone, and that fails"):
        learnt(IM, template("{% if messages | length < 4 %}{{ raise_exception('few') }}{% endif %}" + CHATML), TALK)


def test_a_message_cannot_end_a_turn() -> None:
    messages = [TALK[0], {"role": "assistant", "content": "a<|im_end|>b"}, TALK[2]]
    for renderer in (template(CHATML), LAYOUTS["gpt-3.5"]):
        assert shown(IM, renderer, messages) == ["a<|im_end|>b<|im_end|>"]


def test_the_number_of_turns_is_bounded_where_all_is_rendered_anew_for_each() -> None:
    messages = TALK[:2] * (MOST_TURNS + 1)
    with pytest.raises(InputError, match=r"x\.json has 501 turns of the model; .* found for at most 500") as caught:
        learnt(IM, template(CHATML), messages)
    assert "{% generation %}" in (caught.value.hint or "")
    assert shown(IM, template(MARKED["the end of the turn"]), messages) == ["hello<|im_end|>"] * (MOST_TURNS + 1)


def test_special_tokens_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    find = ChatEncoder.occurrences
    monkeypatch.setattr(ChatEncoder, "occurrences", lambda self, text: looked.append(text) or find(self, text))
    assert shown(IM, template(CHATML), TALK * 5) == ["hello<|im_end|>", "farewell<|im_end|>"] * 5
    assert len(looked) == 2  # for the turns, and for the marks that are encoded


@given(messages=MESSAGES)
@settings(max_examples=50)
def test_a_template_without_marks_gives_what_one_with_marks_does(messages: list[dict[str, str]]) -> None:
    expected = learnt(IM, template(MARKED["the end of the turn"]), messages)
    assert learnt(IM, template(CHATML), messages) == learnt(IM, LAYOUTS["chatml"], messages) == expected


@pytest.fixture(scope="module")
def rival() -> Any:
    """Return a tokenizer of transformers, and ours of the same file."""
    tokenizers, transformers = needs("tokenizers"), needs("transformers")
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE({letter: number for number, letter in enumerate(alphabet)}, []))
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.decoder = tokenizers.decoders.ByteLevel()
    theirs.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    from bpe_cli.formats.huggingface import tokenizer_json as hf_json

    return transformers.PreTrainedTokenizerFast(tokenizer_object=theirs), hf_json.loads(theirs.to_str().encode(), "x")


@pytest.mark.parametrize("source", MARKED.values(), ids=list(MARKED))
@given(messages=st.lists(st.tuples(ROLES, st.text(st.sampled_from("ab .x"), min_size=1)), min_size=1, max_size=6))
@settings(max_examples=40)
def test_masks_are_those_of_transformers(source: str, messages: list[tuple[str, str]], rival: Any) -> None:
    theirs, ours = rival
    said = [{"role": role, "content": text} for role, text in messages]
    expected = theirs.apply_chat_template(
        said, chat_template=source, tokenize=True, return_dict=True, return_assistant_tokens_mask=True
    )
    assert learnt(ours, template(source, ours), said) == (expected["input_ids"], expected["assistant_masks"])


@pytest.mark.parametrize("name", ["hf-llama3", "hf-qwen2_5", "phi-3-mini"])
def test_published_templates_without_marks(shared: Any, name: str) -> None:
    config = json.loads((shared / "vocabs" / name / "tokenizer_config.json").read_text("utf-8"))
    expected = json.loads((shared / "expected" / "chat" / f"{name}.json").read_text("utf-8"))
    tokenizer = load(shared / "vocabs" / name / "tokenizer.json")
    names = {key: expected[key] for key in ("bos_token", "eos_token") if expected[key]}
    renderer = ChatTemplate(config["chat_template"], name, names)
    ends = {"hf-llama3": "<|eot_id|>", "hf-qwen2_5": "<|im_end|>", "phi-3-mini": "<|end|>"}
    first, last = shown(tokenizer, renderer, TALK)
    assert first.replace("▁", "").strip() == "hello" + ends[name]
    assert last.replace("▁", "").strip().startswith("farewell" + ends[name])
