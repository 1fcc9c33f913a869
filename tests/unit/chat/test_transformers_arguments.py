"""What transformers' apply_chat_template takes beside a conversation: done as there, or refused by name."""

from __future__ import annotations

import pytest

import bpe_cli
from bpe_cli.errors import InputError, UsageError
from bpe_cli.stages import SpecialToken
from tests.needs import needs

GPT2 = bpe_cli.load("gpt2")
TEMPLATE = "{% for m in messages %}<{{ m.role }}>{{ m.content }}<|endoftext|>{% endfor %}"
STRIPPED = TEMPLATE.replace("m.content", "m.content | trim")
SAID = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Sure, "}]


@pytest.mark.parametrize("template", [TEMPLATE, STRIPPED])
def test_the_last_message_is_left_open_as_in_transformers(template):
    render = needs("transformers.utils.chat_template_utils").render_jinja_template
    (expected,), _ = render(conversations=[SAID], chat_template=template, continue_final_message=True)
    ours = {"chat_template": template, "continue_final_message": True}
    assert GPT2.apply_chat_template(SAID, tokenize=False, **ours) == expected
    ids = GPT2.apply_chat_template(SAID, **ours)
    assert (GPT2.decode(ids), ids.count(50256)) == (expected, 1)


def test_the_last_part_that_is_text_is_continued():
    template = "{% for m in messages %}{% for p in m.content %}[{{ p.text }}]{% endfor %}{% endfor %}"
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    given = [{"role": "assistant", "content": parts}]
    options = {"chat_template": template, "tokenize": False}
    assert GPT2.apply_chat_template(given, continue_final_message=True, **options) == "[a][b"
    thought = [{"role": "assistant", "content": "x", "thinking": "well"}]
    options["chat_template"] = "{{ messages[0].thinking }}</think>{{ messages[0].content }}"
    assert GPT2.apply_chat_template(thought, continue_final_message="thinking", **options) == "well"


@pytest.mark.parametrize("field", ["reasoning_content", "thinking"])
@pytest.mark.parametrize("read", ["reasoning_content", "thinking"])
@pytest.mark.parametrize("names", [["reasoning"], ["thinking"], ["thinking", "reasoning_content"]])
def test_reasoning_is_continued_by_any_of_its_names(field, read, names):
    template = f"<think>{{{{ messages[0].{read} }}}}</think>{{{{ messages[0].content }}}}"
    given = [{"role": "assistant", "content": "x", **dict.fromkeys(names, "Well, ")}]
    render = needs("transformers.utils.chat_template_utils").render_jinja_template
    (expected,), _ = render(conversations=[given], chat_template=template, continue_final_message=field)
    ours = {"chat_template": template, "continue_final_message": field, "tokenize": False}
    assert GPT2.apply_chat_template(given, **ours) == expected


def test_a_layout_continues_too():
    names = (b"<|im_start|>", b"<|im_end|>")
    chat = GPT2.with_special_tokens(SpecialToken(text, number) for number, text in enumerate(names, 50257))
    text = chat.apply_chat_template(SAID, chat_template="chatml", continue_final_message=True, tokenize=False)
    assert text == "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\nSure, "


def test_what_cannot_be_continued_is_said():
    with pytest.raises(UsageError, match="add_generation_prompt begins a new one"):
        GPT2.apply_chat_template(SAID, chat_template=TEMPLATE, continue_final_message=True, add_generation_prompt=True)
    for given in (
        [],
        [{"role": "assistant", "content": None}],
        [{"role": "assistant", "content": [{"type": "image"}]}],
    ):
        with pytest.raises(InputError, match="the last message has no content to continue"):
            GPT2.apply_chat_template(given, chat_template=TEMPLATE, continue_final_message=True)
    # Neither another message, nor the end of the text, nor another spelling of it.
    for other in ("{{ messages[0].content }}", "{{ messages[-1].content[1:] }}", "{{ messages[-1].content | upper }}"):
        with pytest.raises(InputError, match="does not write the text of the last message as it is"):
            GPT2.apply_chat_template(SAID, chat_template=other, continue_final_message=True)
    with pytest.raises(TypeError, match="continue_final_message must be a bool or a str"):
        GPT2.apply_chat_template(SAID, chat_template=TEMPLATE, continue_final_message=1)


@pytest.mark.parametrize(
    "asked",
    [
        {"max_length": 2}, {"truncation": True}, {"padding": "max_length"}, {"return_tensors": "pt"},
        {"return_dict": True}, {"return_assistant_tokens_mask": True}, {"tokenizer_kwargs": {"max_length": 2}},
    ],
)  # fmt: skip
def test_what_is_not_done_here_is_refused_by_name(asked):
    with pytest.raises(UsageError, match=f"does not know {next(iter(asked))}=") as caught:
        GPT2.apply_chat_template(SAID, chat_template=TEMPLATE, **asked)
    assert "cut the list" in caught.value.hint
    assert GPT2.apply_chat_template(SAID, chat_template=TEMPLATE, tokenize=False, **asked), "nothing about ids counts"


def test_what_asks_for_nothing_passes_and_is_no_variable():
    plain = GPT2.apply_chat_template(SAID, chat_template=TEMPLATE)
    usual = {"padding": True, "truncation": False, "max_length": None, "return_dict": False, "tokenizer_kwargs": {}}
    assert GPT2.apply_chat_template(SAID, chat_template=TEMPLATE + "{{ padding }}", **usual) == plain
