"""Chat templates: the same text as plain Jinja set up as transformers does, and nothing a hostile one could do."""

from __future__ import annotations

import datetime
import json
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2.exceptions import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment

from bpe_cli.chat import ChatTemplate, Conversation, provenance, read_conversation, special_names
from bpe_cli.chat.provenance import Meter
from bpe_cli.errors import FormatError, InputError, UsageError
from tests.counted import at_least, compared
from tests.needs import NO_LIMITS, needs, posix
from tests.thorough import more
from tests.work import cost

# Ours, in the ways that published ones go: each exercises other parts of the language.
TEMPLATES = {
    "chatml": "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
    "blocks": """{{- bos_token }}
{%- for message in messages %}
    {%- if loop.first and message.role == 'system' %}
        {%- set system = message.content %}
    {%- elif message.role in ['user', 'assistant'] %}
        {{- '<|' ~ message.role ~ '|>' ~ message.content | trim ~ '<|end|>' }}
    {%- else %}
        {{- raise_exception('no role ' + message.role) }}
    {%- endif %}
{%- endfor %}
""",
    "namespace": """{% set ns = namespace(found=false, last=-1) %}
{% for message in messages %}
    {% if message.role == 'user' %}
        {% set ns.found = true %}
        {% set ns.last = loop.index0 %}
    {% endif %}
{% endfor %}
{% for message in messages[::-1] %}{% if not ns.found %}{% continue %}{% endif %}
[{{ loop.revindex }}/{{ loop.length }}] {{ message['content'].split('</think>')[-1].lstrip('\n') }}
{% if loop.index0 == 3 %}{% break %}{% endif %}
{% endfor %}{{ ns.last }}""",
    "macro": """{% macro turn(role, text='') -%}
<start_of_turn>{{ 'model' if role == 'assistant' else role }}
{{ text | replace('<|', '< |') | upper }}<end_of_turn>
{% endmacro %}
{% for m in messages %}{{ turn(m.role, m.content) }}{% else %}nothing{% endfor %}""",
    "call": "{% macro box() %}[{{ caller() }}]{% endmacro %}"
    "{% for m in messages %}{% call box() %}{{ m.content }}{% endcall %}{% endfor %}",
    "filters": "{{ messages | map(attribute='content') | join(' | ') }} {{ messages | length }} "
    "{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | list }} "
    "{% set parts %}{% for m in messages %}{{ m.content | title }},{% endfor %}{% endset %}{{ parts | indent(2) }}"
    "{{ messages | map(attribute='role') | unique | sort | join }}{{ missing | default('none') }}"
    "{{ (messages | first | default({}, true)).get('content', '') | string | capitalize }}{{ [1, 2] | sum }}"
    "{{ [3, 1] | max }}{{ 2.5 | round | int }}{{ [1, 2, 3] | batch(2) | list }}{{ {'b': 1, 'a': 2} | dictsort }}",
    "json": "{% for m in messages %}{{ m | tojson }}{{ m.content | tojson(ensure_ascii=true) }}"
    "{{ {'role': m.role, 'n': [1, 2.5, none, true]} | tojson(indent=4) }}{% endfor %}{{ '%s=%d' % ('x', 3) }}"
    "{{ '{}-{}'.format('a', messages | length) }}{% generation %}{{ eos_token }}{% endgeneration %}",
    "strings": "{% for m in messages %}{% if m.content.startswith('a') or 'b' in m.content %}yes{% endif %}"
    "{{ m.content[1:-1] }}{{ m.content.strip('ab') }}{{ m.content | length }}{{ m.content == 'ab' }}"
    "{{ m.content.replace('a', 'xyz') }}{{ '|'.join(m.content.split()) }}{{ m.content * 2 }}{{ m.content | list }}"
    "{{ m.content.rstrip() ~ loop.index ~ loop.cycle('odd', 'even') }}{{ m.content | reverse }}{% endfor %}",
}
NAMES = {"bos_token": "<s>", "eos_token": "</s>"}
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(["system", "user", "assistant", "tool"]),
            "content": st.text('ab <|>/\n"\\中ß😀', max_size=12) | st.sampled_from(["<|im_end|>", "x</think>\n y"]),
        }
    ),
    max_size=4,
)


def plain_jinja(source: str, **given: object) -> str:
    """Render as transformers 5.23 does, with the extension for ``generation`` taken out of the text."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )

    def refuse(message: str) -> None:
        raise TemplateError(message)

    def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    environment.filters["tojson"] = to_json
    environment.globals["raise_exception"] = refuse
    source = source.replace("{% generation %}", "").replace("{% endgeneration %}", "")
    return environment.from_string(source).render(**given)


COMPILED = {name: ChatTemplate(source, name, NAMES) for name, source in TEMPLATES.items()}


@at_least(2)
@pytest.mark.parametrize("name", TEMPLATES)
@settings(max_examples=20)
@given(messages=MESSAGES, prompt=st.booleans())
def test_text_is_that_of_plain_jinja(name, messages, prompt):
    given_names = {"messages": messages, "tools": None, "documents": None, "add_generation_prompt": prompt, **NAMES}
    try:
        expected = plain_jinja(TEMPLATES[name], **given_names)
    except TemplateError:
        with pytest.raises(InputError, match="refuses this conversation: no role"):
            COMPILED[name].render(Conversation(tuple(messages)), add_generation_prompt=prompt)
        return
    found = COMPILED[name].render(Conversation(tuple(messages)), add_generation_prompt=prompt)
    assert found == expected
    assert len(found.origins) == len(found)
    compared()


@pytest.mark.parametrize("name", ["hf-llama3", "hf-qwen2_5", "phi-3-mini"])
def test_text_is_that_of_transformers(shared, name):
    config = json.loads((shared / "vocabs" / name / "tokenizer_config.json").read_text("utf-8"))
    expected = json.loads((shared / "expected" / "chat" / f"{name}.json").read_text("utf-8"))
    names = {key: expected[key] for key in ("bos_token", "eos_token") if expected[key]}
    template = ChatTemplate(config["chat_template"], name, names)
    for case in expected["cases"].values():
        conversation = Conversation(tuple(case["messages"]))
        found = template.render(conversation, add_generation_prompt=case["add_generation_prompt"])
        assert found == case["rendered"]


@pytest.fixture(scope="module")
def rival():
    """Return a tokenizer of transformers."""
    tokenizers, transformers = needs("tokenizers"), needs("transformers")
    words = tokenizers.models.WordLevel({"a": 0}, unk_token="a")
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer(words))


OPTIONAL = ("content", "reasoning_content", "thinking", "reasoning", "tool_calls", "name")
SPARSE = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant"])},
    optional=dict.fromkeys(OPTIONAL, st.none() | st.text("ab ", max_size=3)),
)


@settings(max_examples=50)
@given(messages=st.lists(SPARSE, min_size=1, max_size=3))
def test_messages_are_given_as_transformers_gives_them(messages, rival):
    """Nothing is null, and reasoning has the names that templates look for."""
    source = "{% for m in messages %}{{ m | tojson }}{{ m.content }}{{ m.thinking }}{{ m.name is none }};{% endfor %}"
    expected = rival.apply_chat_template(messages, chat_template=source, tokenize=False)
    conversation = Conversation(tuple(messages))
    assert ChatTemplate(source, "t").render(conversation, add_generation_prompt=False) == expected
    assert len(conversation.messages[0]) == len(messages[0]), "it is as it was"


def test_integers_are_exact():
    data = b'[{"role": "assistant", "tool_calls": [{"arguments": {"wei": 100000000000000000001}}]}]'
    template = ChatTemplate("{{ messages[0].tool_calls[0].arguments | tojson }}", "t")
    found = template.render(read_conversation(data, "x.json"), add_generation_prompt=False)
    assert found == '{"wei": 100000000000000000001}'


def test_origins_of_a_rendering():
    template = ChatTemplate("<{{ messages[0].role }}>{{ messages[0].content }}{{ bos_token }}", "t", NAMES)
    found = template.render(Conversation(({"role": "user", "content": "<s>"},)), add_generation_prompt=False)
    assert (found, found.origins) == ("<user><s><s>", b"ttttttmmmttt")
    # A role that is not a word is none.
    found = template.render(Conversation(({"role": "u<s>", "content": ""},)), add_generation_prompt=False)
    assert (found, found.origins) == ("<u<s>><s>", b"tmmmmtttt")


def test_tools_documents_and_arguments_reach_the_template():
    conversation = read_conversation(
        b'{"messages": [], "tools": [{"a": 1}], "documents": [{"b": "c"}], "chat_template_kwargs": {"think": false}}',
        "x.json",
    )
    template = ChatTemplate("{{ tools[0] | tojson }} {{ documents[0].b }} {{ think }}", "t")
    assert template.render(conversation, add_generation_prompt=False) == '{"a": 1} c False'


def test_date():
    template = ChatTemplate("{{ strftime_now('%d %b %Y %H:%M') }}", "t", date=datetime.date(2025, 6, 28))
    assert template.render(Conversation(()), add_generation_prompt=False) == "28 Jun 2025 00:00"
    now = ChatTemplate("{{ strftime_now('%Y') }}", "t").render(Conversation(()), add_generation_prompt=False)
    assert int(now) in range(datetime.date.today().year - 1, datetime.date.today().year + 1)


def test_names_come_from_the_roles(tmp_path):
    from dataclasses import replace

    from bpe_cli.tokenizer.named_encodings import named
    from bpe_cli.tokenizer.usage import Usage

    tokenizer = replace(named("gpt2"), usage=Usage(roles=(("eos", 50256), ("fim_pre", 5))))
    assert special_names(tokenizer) == {"eos_token": "<|endoftext|>"}


def test_without_jinja_the_way_out_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    for module in ("sandbox", "compiler"):
        monkeypatch.delitem(sys.modules, f"bpe_cli.chat.{module}", raising=False)
    with pytest.raises(UsageError) as caught:
        ChatTemplate("x", "x.jinja").render(Conversation(()), add_generation_prompt=False)
    assert caught.value.message == "x.jinja is written in Jinja, which is not installed"
    assert caught.value.hint == "pip install 'bpe-cli[chat]'"


def test_a_jinja_that_does_not_ask_the_sandbox_about_formatting(monkeypatch):
    """Before Jinja2 3.1.5, a template could make a text of any size by ``str.format``."""
    monkeypatch.delattr(SandboxedEnvironment, "wrap_str_format")
    with pytest.raises(UsageError) as caught:
        ChatTemplate("{{ '{:>9}'.format(1) }}", "x.jinja").render(Conversation(()), add_generation_prompt=False)
    assert caught.value.message.startswith("x.jinja is written in Jinja, and the Jinja2 that is installed is too old")
    assert caught.value.hint == "pip install 'jinja2>=3.1.6'"


LOOP = "{% set ns = namespace(x=START) %}{% for i in range(100) %}{% set ns.x = NEXT %}{% endfor %}{{ ns.x }}"
# What it is, and what is said of it. Each must end by itself, at once and in little memory.
LONG = "{% set x = 'x' * 299999 %}{% set y = 'x' * 299999 %}"
MANY = "{% set l = [x, y] * 9 %}"
OFTEN = "{% for a in range(99999) %}WHAT{% endfor %}"
IDLE = "{% if 1 - 1 %}{% endif %}"
HOSTILE = {
    "{{ ''.__class__.__mro__ }}": "does something that chat templates may not do: it uses '__class__' of a str",
    "{{ ().__class__.__bases__[0].__subclasses__() }}": "chat templates may not do",
    "{{ cycler.__init__.__globals__.os }}": "chat templates may not do",
    "{{ '{0.__class__.__mro__}'.format('') }}": "chat templates may not do",
    "{{ messages | map(attribute='__class__.__mro__') | list }}": "chat templates may not do",
    "{{ messages.append(1) }}": "it uses 'append' of a list",
    "{{ messages[0].update({}) }}": "it uses 'update' of a dict",
    "{% block a %}{{ self.a() }}{% endblock %}": "it calls a BlockReference",
    "{{ ''|attr('__class__') }}": "No filter named 'attr'",
    "{% include '/etc/passwd' %}": "no other templates beside it",
    "{% import 'os' as os %}": "no other templates beside it",
    "{% from 'os' import system %}": "no other templates beside it",
    "{% extends 'x' %}": "no other templates beside it",
    "{{ 'x' * 10**9 }}": "makes too much data from too little",
    "{{ [0] * 10**9 }}": "makes too much data from too little",
    "{{ 10 ** 10 ** 10 }}": "very large numbers",
    LOOP.replace("START", "7").replace("NEXT", "ns.x * ns.x"): "very large numbers",
    "{{ 5 | round(-1000000000) }}": "very many digits",
    "{{ '%1000000000d' % 1 }}": "very large width",
    "{{ '%*d' % (1000000000, 1) }}": "very large width",
    "{{ '{:>1000000000}'.format(1) }}": "very large width",
    "{{ '{:>{w}}'.format(1, w=1000000000) }}": "very large width",
    "{{ strftime_now('%1000000000d') }}": "very large width",
    "{{ 'x' | indent(1000000000, true) }}": "indents very far",
    "{{ messages | tojson(indent=1000000000) }}": "indents very far",
    "{{ range(1000000000) }}": "counts very far",
    "{{ [1] | batch(100000000, 0) | list }}": "makes too much data from too little",
    "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}": "takes too long",
    "{% set r = range(99999) | list %}{% for a in r %}{% if 'x' in r %}{% endif %}{% endfor %}": "takes too long",
    "{% for a in range(99999) %}{% for b in range(99) %}{{ 'xxxxxxxxxxxx' }}{% endfor %}{% endfor %}": "takes too long",
    OFTEN.replace("WHAT", IDLE * 999): "takes too long",
    "{% macro f() %}" + IDLE * 999 + "{% endmacro %}" + OFTEN.replace("WHAT", "{{ f() }}"): "takes too long",
    LONG + OFTEN.replace("WHAT", "{% if x.count('ab') %}{% endif %}"): "takes too long",
    LONG + OFTEN.replace("WHAT", "{% if x == y %}{% endif %}"): "takes too long",
    LONG + OFTEN.replace("WHAT", "{% if 'ab' in x %}{% endif %}"): "takes too long",
    LONG + OFTEN.replace("WHAT", "{% if x is eq(y) %}{% endif %}"): "takes too long",
    LONG + MANY + OFTEN.replace("WHAT", "{% set m = l | sort(case_sensitive=true) %}"): "takes too long",
    LONG + MANY + OFTEN.replace("WHAT", "{% if l.count(y) %}{% endif %}"): "takes too long",
    "{% set r = range(99999) | list %}{% for a in r %}{% set q = r[1:] %}{% endfor %}": "takes too long",
    "{% set r = range(99999) %}{% for a in r %}{% if 'x' in r %}{% endif %}{% endfor %}": "takes too long",
    "{% set r = range(99999) | list %}{% for a in r %}{% if 'x' is in r %}{% endif %}{% endfor %}": "takes too long",
    LOOP.replace("START", "'aaaa'").replace("NEXT", "ns.x + ns.x"): "makes too much data from too little",
    LOOP.replace("START", "'aaaa'").replace("NEXT", "ns.x ~ ns.x"): "makes too much data from too little",
    LOOP.replace("START", "'aaaa'").replace("NEXT", "ns.x | replace('a', ns.x)"): "makes too much data from too little",
    LOOP.replace("START", "'aaaa'").replace("NEXT", "ns.x.join([ns.x] * 1000)"): "makes too much data from too little",
    LOOP.replace("START", "[1]").replace("NEXT", "[ns.x, ns.x]"): "makes too much data from too little",
    LOOP.replace("START", "[1]").replace("NEXT", "ns.x + ns.x"): "makes too much data from too little",
    LOOP.replace("START", "{}").replace("NEXT", "dict(a=ns.x, b=ns.x)"): "makes too much data from too little",
    LOOP.replace("START", "{'a': 1}").replace("NEXT", "dict(a=ns.x.items(), b=ns.x.items())"): "too much data from",
    "{% set x = 'x' * 99999 %}{{ [x] * 99999 }}": "makes too much data from too little",
    "{% set x = 'x' * 99999 %}{% set l = [x, x, x, x, x, x, x, x, x] %}{{ [l, l, l, l, l, l, l] * 99 }}": "too much",
    "{% set x = 'x' * 9999 %}{% set l = [x, x, x, x, x, x, x, x, x] %}{{ {'a': [l] * 9999} | tojson }}": "too much",
    "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}": "goes too deep",
    "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(99) }}": "takes too long",
    "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}": "recursive loop",
    "{% set ns = namespace() %}{% set ns.x = [ns] %}{{ ns.x }}": "a Namespace cannot be written out",
    "{{ " + "(" * 50_000 + "1" + ")" * 50_000 + " }}": "nested too deeply",
    "{% if true %}" * 4000 + "{% endif %}" * 4000: "nested too deeply",
    "{{ 1" + "+1" * 10_000 + " }}": "nested too deeply",
    "x" * 200_000: "has 200,000 characters; it may have 131,072",
    "{{ messages[0].nothing.more }}": "misses something in this conversation: 'dict object' has no attribute 'nothing'",
    "{{ messages[0].content.foo.bar }}": "misses something in this conversation: 'str object' has no attribute 'foo'",
    "{% if %}": "line 1: Expected an expression",
    "{{ raise_exception('no') }}": "refuses this conversation: no",
}  # fmt: skip


@pytest.fixture
def stopped_clock(monkeypatch):
    """Stop the clock: what is refused is refused for what is counted, on every machine."""
    monkeypatch.setattr(provenance, "time", SimpleNamespace(thread_time=lambda: 0.0))


@pytest.mark.usefixtures("stopped_clock")
@pytest.mark.parametrize("source", HOSTILE, ids=lambda source: source[:40])
def test_hostile_template_is_refused_at_once(source, monkeypatch):
    resource = posix("resource", NO_LIMITS)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    refusals = []
    most = 800
    if HOSTILE[source] == "takes too long":
        # A tenth of the steps is enough to see what they cost; how many there are is tried below.
        monkeypatch.setattr(Meter, "STEPS", Meter.STEPS // more(10, 1))
        most //= more(10, 1)

    def refuse():
        with pytest.raises((FormatError, InputError)) as caught:
            render_one(source)
        refusals.append(caught.value.message)

    assert cost(refuse, 1 << 20, most) <= most  # steps that cost much are counted as many
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < 100
    for message in refusals:
        assert HOSTILE[source] in message
        assert message.startswith(("t ", "t,", "the conversation: t "))


def render_one(source):
    conversation = Conversation(({"role": "user", "content": "x"},))
    return ChatTemplate(source, "t").render(conversation, add_generation_prompt=False)


@pytest.mark.usefixtures("stopped_clock")
def test_steps_are_counted_as_the_docs_say():
    """A round of an empty loop is a step or two; then a million of them end it, wherever it runs."""
    rounds = "{% for a in range(100) %}{% for b in range(ROUNDS) %}{% endfor %}{% endfor %}"
    assert Meter.STEPS == 1_000_000
    assert render_one(rounds.replace("ROUNDS", "4900")) == ""
    with pytest.raises(FormatError, match="t is stopped: it takes too long"):
        render_one(rounds.replace("ROUNDS", "10100"))


def test_the_clock_stops_what_is_not_counted(monkeypatch):
    clock = iter(range(10**6))
    monkeypatch.setattr(provenance, "time", SimpleNamespace(thread_time=lambda: next(clock)))
    with pytest.raises(FormatError, match="t is stopped: it takes too long"):
        render_one("{% for a in range(1000) %}{% endfor %}")
    assert Meter.SECONDS <= next(clock) <= Meter.SECONDS + 5


def test_a_long_conversation_is_no_attack():
    messages = tuple({"role": "user", "content": "word " * 1000} for _ in range(300))
    conversation = Conversation(messages)
    assert len(COMPILED["chatml"].render(conversation, add_generation_prompt=False)) > 1_500_000
    collecting = (
        "{% set ns = namespace(all=[]) %}{% for m in messages %}{% set ns.all = ns.all + [m] %}{% endfor %}"
        "{% for m in ns.all %}{{ m.content | trim ~ '.' }}{% endfor %}"
    )
    text = ChatTemplate(collecting, "t").render(conversation, add_generation_prompt=False)
    assert len(text) == 300 * 5000
