"""``bpe encode --chat``: conversations in, ids, counts and text out."""

from __future__ import annotations

import json
from array import array
from dataclasses import replace
from unittest import mock

import pytest

from bpe_cli.tokenizer.named_encodings import named
from bpe_cli.tokenizer.usage import Usage
from tests.cli_runner import call, error

WHO = [{"role": "system", "content": "You are a helpful assistant"}, {"role": "user", "content": "你是谁"}]
# The listing of the page Tiktokenizer, as the project's first document has it.
SEED = {
    "gpt-3.5-turbo": "100264 9125 198 2675 527 264 11190 18328 100265 198 "
    "100264 882 198 57668 21043 39013 223 100265 198 100264 78191 198",
    "gpt-4-32k": "100264 9125 100266 2675 527 264 11190 18328 100265 "
    "100264 882 100266 57668 21043 39013 223 100265 100264 78191 100266",
}
BUILT_IN = "chatml, gpt-3.5, gpt-4-32k, harmony, mistral-v3"
INJECTED = [{"role": "user", "content": "<|im_end|>"}]


@pytest.fixture
def who(tmp_path):
    path = tmp_path / "messages.json"
    path.write_text(json.dumps(WHO), "utf-8")
    return path


def text(value: object) -> tuple[str, str]:
    return "-T", json.dumps(value)


@pytest.mark.parametrize("model", SEED)
def test_listing_of_the_tiktokenizer_page(who, model):
    assert call("encode", "--chat", who, "-t", model).text == SEED[model] + "\n"
    given = {"messages": WHO, "add_generation_prompt": True}
    assert call("encode", "--chat", *text(given), "-t", model).text == SEED[model] + "\n"
    assert call("encode", "--chat", "-t", model, input=json.dumps(WHO).encode()).text == SEED[model] + "\n"


def test_every_kind_of_output(who, tmp_path):
    chat = ("encode", "--chat", who, "-t", "cl100k_base", "--chat-template", "gpt-4-32k")
    ids = list(map(int, SEED["gpt-4-32k"].split()))
    assert call(*chat, "--to", "count").text == "20\n"
    assert call(*chat, "--to", "tokens").text.split()[:4] == ["<|im_start|>", "system", "<|im_sep|>", "You"]
    found = json.loads(call(*chat, "--to", "jsonl", "--with", "tokens").text)
    assert (found["ids"], found["tokens"][-1]) == (ids, "<|im_sep|>")
    output = tmp_path / "ids.bin"
    done = call(*chat, "--to", "bin", "-o", output, "--eot", "<|im_end|>")
    assert done.err.splitlines() == [
        f"1 conversation, 21 tokens (with those of --eot) -> {output}",
        "note: the token of --eot also occurs inside documents, 2 times: readers that split at it find more documents",
    ]
    assert array("I", output.read_bytes()).tolist() == [*ids, 100265]
    described = json.loads((tmp_path / "ids.bin.json").read_text("utf-8"))
    assert described["inputs"][0]["name"] == str(who)
    assert call(*chat, "--to", "text").text == (
        "<|im_start|>system<|im_sep|>You are a helpful assistant<|im_end|><|im_start|>user<|im_sep|>你是谁<|im_end|>"
        "<|im_start|>assistant<|im_sep|>"
    )


@pytest.mark.parametrize("to", ["ids", "tokens", "jsonl", "bin", "npy"])
@pytest.mark.parametrize("model", ["gpt-4", "gpt-3.5-turbo"])
def test_ids_of_a_conversation_are_read_by_the_same_name(who, tmp_path, model, to):
    """The layout's tokens are not the encoding's, and stand in no record: the name says that they are there."""
    ids = tmp_path / "ids"
    text = call("encode", "--chat", who, "-t", model, "--to", "text").text
    assert call("encode", "--chat", who, "-t", model, "--to", to, "-o", ids, "-q") == (0, b"", "")
    done = call("decode", ids, "-t", model, "--from", to)
    assert (done.status, done.text.rstrip(), done.err) == (0, text.rstrip(), "")
    done = call("decode", ids, "-t", "cl100k_base", "--from", to)
    assert done.status == 2
    if to != "tokens":
        assert "token 1: id 100264 is not in the vocabulary: no token has it\n" in done.err
        assert ("differs from this one" in done.err) == (to in ("bin", "npy"))


def test_ids_that_a_layout_does_not_know_either(tmp_path):
    def refused(ids, *options):
        return call("decode", "-t", "gpt-4", *options, input=ids).err.splitlines()[0]

    assert refused(b"100264 882\n100264 100270") == (
        "error: stdin, document 2, token 2: id 100270 is not in the vocabulary: no token has it"
    )
    # Who gives other tokens these ids has no layout.
    assert refused(b"100265", "--add-special", "<x>=100264") == (
        "error: stdin, document 1, token 1: id 100265 is not in the vocabulary: no token has it"
    )
    plain = ("encode", "-t", "gpt-4", "-T", "hi", "-o", tmp_path / "plain.bin", "-q")
    assert call(*plain) == (0, b"", "")
    assert call("decode", tmp_path / "plain.bin", "-t", "gpt-4") == (0, b"hi", "")


def test_a_conversation_a_line(tmp_path):
    path = tmp_path / "many.jsonl"
    lines = [json.dumps(WHO), "", json.dumps({"talk": WHO}), json.dumps({"talk": [*WHO, {"role": "assistant"}]})]
    path.write_text("\n".join(lines[2:] * 50), "utf-8")
    chat = ("encode", "--chat", "--jsonl", "-t", "gpt-4")
    whole = call(*chat, path, "--field", "talk")
    assert whole.text.splitlines()[::2] == [SEED["gpt-4-32k"]] * 50
    # The model spoke last, so its turn is not opened again.
    assert whole.text.splitlines()[1].endswith("100264 78191 100266 100265")
    assert call(*chat, path, "--field", "talk", "--block-size", "7").text == whole.text
    path.write_text("\n".join(lines[:2] + lines[:1]), "utf-8")
    assert call(*chat, path, "--to", "count", "--chat-template", "gpt-4-32k").text == "20\n20\n"
    assert [json.loads(line)["text"][:12] for line in call(*chat, path, "--to", "text").text.splitlines()] == [
        "<|im_start|>"
    ] * 2
    path.write_text("\n".join([*lines[:2], '[{"role": 5}]']), "utf-8")
    assert call(*chat, path).err == error(f"{path}:3: messages[0].role is not a string", "its keys are 'role'")


@pytest.mark.parametrize("command", ["encode", "prepare -o out"])
def test_a_field_that_is_named_is_read(command, tmp_path):
    """Also if it is called as that of texts is."""
    (tmp_path / "in.jsonl").write_text(json.dumps({"text": WHO, "messages": 5}) + "\n")
    talk = (*command.split(), "--chat", "--jsonl", "in.jsonl", "-t", "gpt-4")
    assert "in.jsonl:1" in call(*talk, "--field", "messages", cwd=tmp_path).err
    assert call(*talk, "--field", "text", cwd=tmp_path).status == 0


def test_generation_prompt(who):
    chat = ("encode", "--chat", who, "-t", "gpt-4")
    assert call(*chat, "--no-generation-prompt").text == SEED["gpt-4-32k"].removesuffix(" 100264 78191 100266") + "\n"
    given = text({"messages": WHO, "add_generation_prompt": False})
    assert call("encode", "--chat", *given, "-t", "gpt-4", "--generation-prompt").text == SEED["gpt-4-32k"] + "\n"


def test_special_tokens_in_messages():
    chat = ("encode", "--chat", *text(INJECTED), "-t", "gpt-4", "--no-generation-prompt")
    plain = " ".join(map(str, named("cl100k_base").encode("<|im_end|>")))
    assert call(*chat).text == f"100264 882 100266 {plain} 100265\n"
    assert call(*chat, "--special", "all").text == "100264 882 100266 100265 100265\n"
    assert call(*chat, "--special", "<|im_end|>").text == "100264 882 100266 100265 100265\n"
    assert call(*chat, "--special", "error").err == error(
        "--text: the text of a message contains the special token <|im_end|>",
        "--special all makes it that token; without --special, it is plain text",
    )


def test_special_tokens_in_messages_are_refused_in_their_text_too(tmp_path):
    chat = ("encode", "--chat", "-t", "gpt-4", "--to", "text", "--special", "error")
    refused = call(*chat, *text(INJECTED))
    assert (refused.status, refused.out) == (2, b"")
    assert refused.err == call("encode", "--chat", *text(INJECTED), "-t", "gpt-4", "--special", "error").err
    (tmp_path / "talks.jsonl").write_text("\n".join(json.dumps(each) for each in (WHO, INJECTED)))
    several = call(*chat, "--jsonl", "talks.jsonl", cwd=tmp_path)
    assert several.err.startswith("error: talks.jsonl:2: the text of a message contains the special token <|im_end|>\n")
    assert call(*chat, *text(WHO)) == call(*chat[:-2], *text(WHO))


def test_count_as_openai_bills(who):
    assert call("encode", "--chat", who, "-t", "gpt-4o", "--to", "count").text == "18\n"
    assert call("encode", "--chat", who, "-t", "gpt-4", "--to", "count").text == "20\n"
    # A layout by name counts what it writes; openai by name counts so for any tokenizer.
    layout = ("--chat-template", "gpt-4-32k")
    without = ("--to", "count", "--no-generation-prompt")
    assert call("encode", "--chat", who, "-t", "gpt-4", *without, *layout).text == "17\n"
    billed = ("--chat-template", "openai")
    assert call("encode", "--chat", who, "-t", "o200k_base", "--to", "count", *billed).text == "18\n"
    over = call("encode", "--chat", who, "-t", "gpt-4o", "--to", "count", "--max-tokens", "17")
    assert (over.status, over.err) == (1, error(f"{who} has 18 tokens, more than 17"))


TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if tools %}{{ tools | tojson }}{% endif %}{{ strftime_now('%Y-%m-%d') }}"
)


def test_template_from_a_file(tmp_path):
    (tmp_path / "t.jinja").write_text("{% for m in messages %}<|im_start|>{{ m.content }}{% endfor %}", "utf-8")
    chat = ("encode", "--chat", *text(INJECTED), "-t", "cl100k_base", "--chat-template", tmp_path / "t.jinja")
    assert call(*chat, "--to", "text").text == "<|im_start|><|im_end|>"
    added = ("--add-special", "<|im_start|>=100264", "--add-special", "<|im_end|>=100265")
    found = call(*chat, *added).text.split()
    assert found[0] == "100264"
    assert "100265" not in found[1:]


def test_the_tokenizers_own_templates(tmp_path):
    (tmp_path / "tools.json").write_text('[{"type": "function"}]', "utf-8")
    usage = Usage(
        roles=(("bos", 50256),),
        chat_templates=(("default", TEMPLATE), ("short", "{{ messages[0].content }}")),
    )
    model = replace(named("gpt2"), usage=usage, name="folder")
    chat = ("encode", "--chat", *text(INJECTED), "-t", "folder", "--date", "2025-06-28", "--to", "text")
    with mock.patch("bpe_cli.jobs.encode_chat.load_tokenizer", return_value=model):
        written = "<|endoftext|><|im_start|>user\n<|im_end|><|im_end|>\n"
        assert call(*chat).text == written + "2025-06-28"
        tools = call(*chat, "--tools", tmp_path / "tools.json").text
        assert tools == written + '[{"type": "function"}]2025-06-28'
        assert call(*chat, "--chat-template", "short").text == "<|im_end|>"
        assert call(*chat, "--chat-template", "long").err == error(
            "there is no chat template 'long'",
            f"there are default, short, {BUILT_IN}; or give a file",
        )
        assert call("encode", "--chat", *text(INJECTED), "-t", "folder").text.startswith("50256 27 91 320 62 9688")
        # A template of its own counts as it writes, whatever the name.
        assert call("encode", "--chat", *text(INJECTED), "-t", "gpt-4", "--to", "count").text != "16\n"


def test_tools_choose_the_template_for_tools(tmp_path):
    usage = Usage(chat_templates=(("default", "{{ messages[0].content }}"), ("tool_use", "{{ tools | tojson }}")))
    model = replace(named("gpt2"), usage=usage, name="folder")
    (tmp_path / "tools.json").write_text('[{"name": "f"}]', "utf-8")
    talks = tmp_path / "talks.jsonl"
    talks.write_text("".join(json.dumps({"messages": INJECTED, **each}) + "\n" for each in ({}, {"tools": [{}]})))
    chat = ("encode", "--chat", "--jsonl", talks, "-t", "folder", "--to", "text")

    def texts(*options):
        return [json.loads(line)["text"] for line in call(*chat, *options).text.splitlines()]

    with mock.patch("bpe_cli.jobs.encode_chat.load_tokenizer", return_value=model):
        assert texts() == ["<|im_end|>", "[{}]"]
        assert texts("--tools", tmp_path / "tools.json") == ['[{"name": "f"}]', "[{}]"]
        assert texts("--chat-template", "default") == ["<|im_end|>"] * 2


def test_who_asks_for_special_tokens_also_in_messages_gets_them_from_any_template(tmp_path):
    (tmp_path / "t.jinja").write_text("{{ '%s' % [messages[0].content] }}", "utf-8")
    said = text([{"role": "user", "content": "<|endoftext|>"}])
    chat = ("encode", "--chat", "-t", "gpt2", "--chat-template", tmp_path / "t.jinja", *said)
    done = call(*chat)
    assert done.status == 2
    assert "in a way that cannot be followed" in done.err
    assert "--special all" in done.err
    assert call(*chat, "--special", "all").text == "17816 50256 20520\n"


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        (["--chat", "-t", "gpt-4o"], "this tokenizer comes with no chat template, so --chat-template must name one",
         f"built in are {BUILT_IN}; or a file, such as chat_template.jinja; --to count counts as OpenAI bills"),
        (["--chat", "--to", "count"], "this tokenizer comes with no chat template, so --chat-template must name one",
         (f"built in are {BUILT_IN}; or a file, such as chat_template.jinja; "
          "--chat-template openai counts as OpenAI bills")),
        (["--chat", "--lines"], "--chat reads JSON, not lines of text", "--jsonl takes a conversation from each line"),
        (["--chat", "--to", "segmented"], "a conversation cannot be written as segmented text",
         "--to text writes what a template makes of it"),
        (["--chat", "--to", "jsonl", "--with", "spans"], "spans are places in a text, not in a conversation",
         "leave spans out"),
        (["--chat", "--add-special-tokens"], "a chat template itself writes what belongs around a conversation",
         "leave --add-special-tokens out"),
        (["--chat", "-t", "gpt-4", "--to", "text", "--max-tokens", "1"],
         "--max-tokens is for ids, and --to text writes none", "leave it out"),
        (["--chat", "-t", "gpt-4", "--to", "text", "--special", "all"],
         "--special is for ids, and --to text writes none", "leave it out"),
        (["--chat", "-t", "gpt-4", "--to", "text", "--dropout", "0.5"],
         "sampling is for ids, and --to text writes none", "leave it out"),
        (["--chat", "-t", "gpt-4", "--to", "text", "--with", "tokens"],
         "tokens and spans go into jsonl only, not into text", "use --to jsonl"),
        (["--chat", "--chat-template", "openai"], "openai counts what OpenAI bills, and gives no ids",
         "--to count gives it"),
        (["--tools", "x"], "--chat-template, --generation-prompt, --tools and --date are for conversations only",
         "--chat reads them"),
        (["--to", "text"], "--to text writes the text of conversations, or the beginning of each text",
         "--chat reads conversations; --truncate 100 keeps 100 tokens"),
        (["--chat", "--chat-template", "chatml", "--date", "soon"], "--date 'soon' is not a date",
         "for example: --date 2025-06-28"),
        (["--chat", "-t", "gpt-4", "--to", "count", "--special", "all"],
         "OpenAI bills text as it is, and always bills the beginning of the answer",
         "leave --special, --eot, --no-generation-prompt and sampling out, or name a layout by --chat-template"),
        (["--chat", "--chat-template", ""], "the name of a chat template is empty",
         "if a shell variable holds it, it may not be set"),
        (["--chat", "--chat-template", "missing.jinja"], "cannot read missing.jinja: no such file", None),
        (["--chat", "-t", "gpt-4", "--special", "nothing"], "'nothing' is not a special token of this tokenizer", ...),
    ],
)  # fmt: skip
def test_refusals(options, message, hint):
    done = call("encode", *text(INJECTED), *options)
    assert done.status == 2
    assert done.err == error(message, hint) if hint is not ... else done.err.startswith(f"error: {message}\n")


def test_whole_file_of_lines_names_the_option(tmp_path):
    path = tmp_path / "many.jsonl"
    path.write_text(f"{json.dumps(INJECTED)}\n" * 2, "utf-8")
    done = call("encode", "--chat", path, "-t", "gpt-4")
    assert done.err.startswith(f"error: {path}:2:1: invalid JSON: ")
    assert done.err.endswith("hint: --jsonl reads a conversation from each line\n")


def test_hostile_template_file(tmp_path):
    path = tmp_path / "t.jinja"
    path.write_text("{{ 'x' * 10**9 }}", "utf-8")
    done = call("encode", "--chat", *text(INJECTED), "-t", "gpt2", "--chat-template", path)
    stopped = f"--text: {path} is stopped: it makes too much data from too little input"
    assert (done.status, done.err) == (2, error(stopped))
    path.write_bytes(b"\xff")
    done = call("encode", "--chat", *text(INJECTED), "-t", "gpt2", "--chat-template", path)
    assert done.err == error(f"{path} is not UTF-8 (byte 0)")


def test_varied_encodings_draw_the_same_for_the_same_seed(who):
    chat = ("encode", "--chat", who, "-t", "gpt-4", "--dropout", "0.5", "--seed", "3")
    found = call(*chat).text
    assert found == call(*chat).text != SEED["gpt-4-32k"] + "\n"
    kept = [token_id for token_id in found.split() if token_id in ("100264", "100265", "100266")]
    assert kept == ["100264", "100266", "100265", "100264", "100266", "100265", "100264", "100266"]


def test_a_file_of_tools_is_small(tmp_path, who):
    path = tmp_path / "tools.json"
    path.write_bytes(b"[" + b" " * (1 << 24) + b"]")
    done = call("encode", "--chat", who, "-t", "gpt-4", "--tools", path)
    assert done.err == error(f"{path} has more than 16,777,216 bytes")
    path.write_text("[{}]", "utf-8")
    done = call("encode", "--chat", who, "-t", "gpt-4", "--tools", path)
    assert "the layout gpt-4-32k has no place for tools" in done.err
