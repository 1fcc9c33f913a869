"""Built-in layouts: the seeds' listings, OpenAI's harmony and Mistral's instructions, id for id."""

from __future__ import annotations

import json
import re

import pytest

import bpe_cli
from bpe_cli.chat import LAYOUTS, ChatEncoder, Conversation, layout_of_model, read_conversation
from bpe_cli.errors import InputError, UsageError
from bpe_cli.formats import dump, load
from bpe_cli.stages import SpecialToken
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer.named_encodings import ENCODINGS, named

WHO = Conversation(
    ({"role": "system", "content": "You are a helpful assistant"}, {"role": "user", "content": "你是谁"})
)
SEED_35 = [100264, 9125, 198, 2675, 527, 264, 11190, 18328, 100265, 198, 100264, 882, 198, 57668, 21043, 39013, 223,
           100265, 198, 100264, 78191, 198]  # fmt: skip
SEED_4_32K = [100264, 9125, 100266, 2675, 527, 264, 11190, 18328, 100265, 100264, 882, 100266, 57668, 21043, 39013, 223,
              100265, 100264, 78191, 100266]  # fmt: skip
FITTING = {("cl100k_base", "gpt-3.5"), ("cl100k_base", "gpt-4-32k"), ("o200k_harmony", "harmony")}


def ids_of(tokenizer, name, conversation, *, prompt=True):
    layout = LAYOUTS[name]
    tokenizer = layout.fit(tokenizer, name)
    encoder = ChatEncoder(tokenizer)
    data = encoder.prepare(layout.render(conversation, add_generation_prompt=prompt), "x.json")
    return tokenizer.encode_block(Block.of([data]), encoder.matcher)[0].tolist()


def text_of(name, *messages, prompt=False):
    return LAYOUTS[name].render(Conversation(messages), add_generation_prompt=prompt)


@pytest.mark.parametrize(("name", "ids"), [("gpt-3.5", SEED_35), ("gpt-4-32k", SEED_4_32K)])
def test_listing_of_the_tiktokenizer_page(name, ids):
    assert ids_of(named("cl100k_base"), name, WHO) == ids


def test_chatml():
    text = text_of("chatml", {"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}, prompt=True)
    expected = "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\nyo<|im_end|>\n<|im_start|>assistant\n"
    assert text == expected
    parts = {"role": "user", "content": [{"type": "text", "text": "h"}, {"type": "text", "text": "i"}]}
    assert text_of("chatml", parts, {"role": "assistant", "content": None}) == (
        "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n<|im_end|>\n"
    )


def test_special_tokens_are_the_tokenizers_or_the_layouts():
    with pytest.raises(UsageError, match=r"the layout chatml needs the special token <\|im_start\|>") as caught:
        LAYOUTS["chatml"].fit(named("cl100k_base"), "chatml")
    assert caught.value.hint == "`with_special_tokens` adds it"
    # The ids are those of one encoding, and mean nothing in another.
    with pytest.raises(UsageError, match=r"the layout gpt-3\.5 needs") as caught:
        LAYOUTS["gpt-3.5"].fit(named("o200k_base"), "gpt-3.5")
    assert caught.value.hint == "`tokenizer=cl100k_base` has it"
    added = [SpecialToken(b"<|im_start|>", 100264), SpecialToken(b"<|im_end|>", 100265)]
    own = named("cl100k_base").with_special_tokens(added)
    assert LAYOUTS["chatml"].fit(own, "chatml") is own
    # Who gives a token another id is asked for all of them.
    taken = named("cl100k_base").with_special_tokens([SpecialToken(b"<|im_sep|>", 100299)])
    with pytest.raises(UsageError, match="already has id 100299"):
        LAYOUTS["gpt-4-32k"].fit(taken, "gpt-4-32k")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_what_a_layout_writes_is_special_or_an_error(encoding, layout):
    """No tokenizer makes plain text of what a layout writes: o200k_base has harmony's ranks, not its tokens."""
    turns = ({"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo"})
    if (encoding, layout) not in FITTING:
        with pytest.raises(UsageError, match=f"the layout {layout} needs the special token"):
            LAYOUTS[layout].fit(named(encoding), layout)
    else:
        fitted = LAYOUTS[layout].fit(named(encoding), layout)
        text = LAYOUTS[layout].render(Conversation(turns), add_generation_prompt=True)
        special = {token.content.decode(): token.token_id for token in fitted.special_tokens}
        written = [special[token] for token in re.findall(r"<\|\w+\|>", text)]
        ids = ids_of(fitted, layout, Conversation(turns))
        assert [number for number in ids if number in fitted.special_ids] == written
        assert written


def test_ids_of_an_encoding_go_with_its_vocabulary_whatever_merges_it(tmp_path):
    for name, content in dump(named("cl100k_base"), "tokenizer.json").items():
        (tmp_path / (name or "t.json")).write_bytes(content)
    converted = load(tmp_path / "t.json")
    assert converted.model.kind == "bpe-merges"
    assert ids_of(converted, "gpt-4-32k", WHO) == SEED_4_32K


def test_a_layouts_tokens_that_do_not_come_with_its_ranks():
    with pytest.raises(UsageError, match=r"the layout harmony needs the special token <\|start\|>") as caught:
        LAYOUTS["harmony"].fit(named("o200k_base"), "harmony")
    assert caught.value.hint == "`tokenizer=o200k_harmony` has it"


@pytest.mark.parametrize("name", ["chatml", "gpt-4-32k", "mistral-v3"])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ('[{"role": "user", "name": "bob", "content": "x"}]', r"messages\[0\]\.name"),
        ('[{"role": "assistant", "tool_calls": [{}]}]', r"messages\[0\]\.tool_calls"),
        ('[{"role": "assistant", "content": "x", "reasoning_content": "hm"}]', r"messages\[0\]\.reasoning_content"),
        ('[{"role": "assistant", "refusal": "no"}]', r"messages\[0\]\.refusal"),
        ('[{"role": "tool", "content": "1", "tool_call_id": "c1"}]', r"messages\[0\]\.tool_call_id"),
        ('{"messages": [], "tools": [{}]}', "has no place for tools"),
        ('{"messages": [], "chat_template_kwargs": {"enable_thinking": false}}', "the argument enable_thinking"),
        ('[{"role": "user", "content": [{"type": "image_url"}]}]', r"content\[0\] is of type 'image_url'"),
    ],
)
def test_what_a_layout_cannot_write_is_an_error(name, given, message):
    with pytest.raises(InputError, match=message):
        LAYOUTS[name].render(read_conversation(given.encode(), "x.json"), add_generation_prompt=False)


@pytest.mark.parametrize("name", ["chatml", "gpt-4-32k", "harmony", "mistral-v3"])
def test_what_is_empty_or_about_a_message_is_no_error(name):
    plain = ({"role": "user", "content": "x"}, {"role": "assistant", "content": "y"})
    about = {"id": "m1", "weight": 1, "timestamp": 1, "metadata": {"a": 1}}
    empty = {"refusal": None, "tool_calls": None, "annotations": [], "prefix": False}
    arguments = {"return_dict": False, "continue_final_message": False, "tool_choice": None}
    fuller = Conversation(tuple({**message, **about, **empty} for message in plain), arguments=arguments)
    given = Conversation(plain)
    layout = LAYOUTS[name]
    assert layout.render(fuller, add_generation_prompt=False) == layout.render(given, add_generation_prompt=False)


def test_arguments_that_no_layout_knows_are_refused_by_name():
    for name in ("chatml", "gpt-4-32k", "harmony", "mistral-v3"):
        asked = Conversation(({"role": "user", "content": "x"},), arguments={"continue_final_message": True})
        with pytest.raises(InputError, match=f"the layout {name} has no place for the argument continue") as caught:
            LAYOUTS[name].render(asked, add_generation_prompt=False)
        assert caught.value.hint == "leave it out, or name a template that uses it: see `chat_template`"
    tokenizer = bpe_cli.load("cl100k_base")
    messages = [{"role": "user", "content": "x"}]
    with pytest.raises(InputError, match="has no place for the argument foo"):
        tokenizer.apply_chat_template(messages, chat_template="gpt-4-32k", foo=1)
    # What is about ids is refused, or let go, as for a template.
    with pytest.raises(UsageError, match="does not know return_dict=True"):
        tokenizer.apply_chat_template(messages, chat_template="gpt-4-32k", return_dict=True)
    plain = tokenizer.apply_chat_template(messages, chat_template="gpt-4-32k", tokenize=False)
    assert tokenizer.apply_chat_template(messages, chat_template="gpt-4-32k", tokenize=False, padding=True) == plain


@pytest.mark.parametrize(
    ("model", "layout"),
    [
        ("gpt-3.5-turbo", "gpt-3.5"), ("gpt-35-turbo", "gpt-3.5"), ("gpt-4", "gpt-4-32k"), ("gpt-4-32k", "gpt-4-32k"),
        ("gpt-oss-120b", "harmony"), ("o200k_harmony", "harmony"), ("gpt-4o", None), ("cl100k_base", None),
        ("text-embedding-3-small", None), ("davinci-002", None), ("nothing", None),
    ],
)  # fmt: skip
def test_models_whose_layout_is_known(model, layout):
    assert layout_of_model(model) == layout


# -- harmony: what openai-harmony 0.0.8 gives ---------------------------------------------------------------

USER = {"role": "user", "content": "Hi"}
THOUGHT = {"role": "assistant", "channel": "analysis", "content": "hm"}
FINAL = {"role": "assistant", "channel": "final", "content": "Yo"}
SYSTEM = (
    "<|start|>system<|message|>You are ChatGPT, a large language model trained by OpenAI.\nKnowledge cutoff: 2024-06"
    "{date}\n\nReasoning: {effort}\n\n# Valid channels: analysis, commentary, final. Channel must be included for "
    "every message.<|end|>"
)
HI = "<|start|>user<|message|>Hi<|end|>"
CALL = "<|start|>assistant to=functions.f<|channel|>commentary <|constrain|>json<|message|>{}<|call|>"
HARMONY = [
    ([USER, THOUGHT, FINAL], HI + "<|start|>assistant<|channel|>final<|message|>Yo<|end|>"),
    (
        [USER, THOUGHT, FINAL, USER, THOUGHT],
        HI + "<|start|>assistant<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Yo"
        "<|end|>" + HI + "<|start|>assistant<|channel|>analysis<|message|>hm<|end|>",
    ),
    (
        [USER, THOUGHT, FINAL, USER, THOUGHT, FINAL],
        HI + "<|start|>assistant<|channel|>final<|message|>Yo<|end|>" + HI + "<|start|>assistant<|channel|>analysis"
        "<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Yo<|end|>",
    ),
    ([{"role": "system", "content": "plain"}], "<|start|>system<|message|>plain<|end|>"),
    ([{"role": "system", "content": [{"type": "system_content"}]}], SYSTEM.format(date="", effort="medium")),
    (
        [{"role": "system", "content": [
            {"type": "system_content", "reasoning_effort": "High", "conversation_start_date": "2025-06-28"}]}],
        SYSTEM.format(date="\nCurrent date: 2025-06-28", effort="high"),
    ),
    (
        [{"role": "system", "content": [
            {"type": "system_content", "model_identity": None, "reasoning_effort": None, "knowledge_cutoff": None,
             "channel_config": {"valid_channels": [], "channel_required": True}}]}],
        "<|start|>system<|message|><|end|>",
    ),
    (
        [{"role": "developer", "content": [{"type": "developer_content", "instructions": "Be brief"}]}],
        "<|start|>developer<|message|># Instructions\n\nBe brief<|end|>",
    ),
    ([{"role": "developer", "content": [{"type": "developer_content"}]}], "<|start|>developer<|message|><|end|>"),
    (
        [{"role": "assistant", "channel": "commentary", "recipient": "functions.f", "content": "{}",
          "content_type": "<|constrain|>json"},
         {"role": "tool", "name": "functions.f", "channel": "commentary", "recipient": "assistant", "content": "1"}],
        CALL + "<|start|>functions.f to=assistant<|channel|>commentary<|message|>1<|end|>",
    ),
    (
        [{"role": "assistant", "recipient": "all", "content_type": "json", "content": "x"}],
        "<|start|>assistant json<|message|>x<|call|>",
    ),
    ([{"role": "user", "name": "bob", "content": "x"}], "<|start|>user:bob<|message|>x<|end|>"),
]  # fmt: skip


@pytest.mark.parametrize(("messages", "text"), HARMONY)
def test_harmony_is_as_the_reference_writes_it(messages, text):
    assert text_of("harmony", *messages) == text
    assert text_of("harmony", *messages, prompt=True) == text + "<|start|>assistant"


def test_harmony_ids():
    message = Conversation(({"role": "user", "content": "a<|end|>b<|im|> "},))
    expected = [200006, 1428, 200008, 64, 27, 91, 419, 91, 29, 65, 27, 91, 321, 91, 29, 220, 200007]
    assert ids_of(named("o200k_harmony"), "harmony", message, prompt=False) == expected


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"role": "tool", "content": "x"}, "name is missing"),
        ({"role": "robot", "content": "x"}, "role is 'robot'"),
        ({"role": "user"}, "content is missing"),
        ({"role": "user", "content": "x", "channel": 5}, "channel is not a string"),
        ({"role": "assistant", "content": "x", "tool_calls": [{}]}, "a message of its own"),
        (
            {"role": "assistant", "content": "x", "thinking": "hm"},
            r"messages\[0\]\.thinking: the layout harmony has no",
        ),
        ({"role": "user", "content": [{"type": "image"}]}, r"content\[0\] is not text"),
        ({"role": "developer", "content": [{"type": "developer_content", "tools": {"f": 1}}]}, "does not describe"),
        ({"role": "system", "content": [{"type": "system_content", "channel_config": 5}]}, "names no valid_channels"),
        ({"role": "system", "content": [{"type": "system_content", "model_identity": 5}]}, "model_identity is no"),
    ],
)
def test_harmony_refuses(message, said):
    with pytest.raises(InputError, match=said):
        text_of("harmony", message)


# -- Mistral ------------------------------------------------------------------------------------------------

MISTRAL = [
    ([("system", "S"), ("user", "a"), ("assistant", "b  "), ("user", "c")], "[INST]a[/INST]b</s>[INST]S\n\nc[/INST]"),
    ([("user", "a"), ("user", ""), ("user", "b")], "[INST]a\n\nb[/INST]"),
    ([("user", "a"), ("system", "S"), ("user", "b"), ("system", "T")], "[INST]a[/INST][INST]S\n\nT\n\nb[/INST]"),
    ([("assistant", "b")], "[INST][/INST]b</s>"),
    ([("system", "S")], "[INST]S\n\n[/INST]"),
    ([], "[INST][/INST]"),
]


@pytest.mark.parametrize(("turns", "text"), MISTRAL)
def test_mistral_is_as_the_reference_writes_it(turns, text):
    """As mistral-common 1.13.1 has them."""
    messages = [{"role": role, "content": content} for role, content in turns]
    assert text_of("mistral-v3", *messages) == "<s>" + text


@pytest.mark.parametrize("turn", [("tool", "x"), ("assistant", "")])
def test_mistral_refuses(turn):
    with pytest.raises(InputError, match=r"mistral-v3 has no place"):
        text_of("mistral-v3", {"role": turn[0], "content": turn[1]})


@pytest.mark.parametrize(
    ("name", "file"), [("mistral-spm-v3", "mistral_instruct_tokenizer_240323.model.v3"),
                       ("tekken-240718", "tekken_240718.json")],
)  # fmt: skip
def test_ids_of_mistral_common(shared, name, file):
    tokenizer = load(shared / "vocabs" / name / file)
    expected = json.loads((shared / "expected" / "mistral" / f"chat-{name}.json").read_text("utf-8"))
    for case in expected["cases"].values():
        assert ids_of(tokenizer, "mistral-v3", Conversation(tuple(case["messages"]))) == case["ids"]
