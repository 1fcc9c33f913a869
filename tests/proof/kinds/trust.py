"""What nobody may trust: texts, templates, names, URLs and archives; none of them does more than it should."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from unittest import mock

from bpe_cli.chat import ChatTemplate, Conversation
from bpe_cli.corpus.objects import reading
from bpe_cli.errors import BpeError
from bpe_cli.tokenizer import named_encodings
from tests.cli_runner import COMMAND, call, surroundings
from tests.evil import EVIL
from tests.needs import needs
from tests.object_store import Shelf, environment
from tests.proof.attempts import Found, Proof
from tests.proof.child import Child, child
from tests.special_tokenizers import MODELS, case, ids_or_none, reserved, text_of
from tests.work import seconds

ROOM = 400 << 20
"""Bytes of memory that a template may take beyond what is there before."""

MOST_SECONDS = 10.0
"""Of a processor that a template may take before it is stopped."""

MOST_OUTPUT = 4 << 20
"""Characters that a template may write."""

MEMORY = 250_000
"""Kilobytes that a process may take that reads an archive, however much comes out of it."""

ESCAPES = (
    "''.__class__", "().__class__.__bases__[0]", "messages.__class__.__mro__", "cycler.__init__.__globals__",
    "lipsum.__globals__", "self._TemplateReference__context", "namespace.__init__", "loop.__class__", "self.__dict__",
    "(messages|map('upper'))|attr('gi_frame')", "'{0.__class__}'.format('')", "'%s'.__mod__(1)", "caller.__globals__",
    "messages|map(attribute='__class__')|list", "messages|groupby('__class__')|list", "''|attr('__class__')",
    "messages|sort(attribute='__class__')", "dict.__base__.__subclasses__()", "range.__doc__", "joiner()._used",
    "strftime_now.__globals__", "raise_exception.__code__", "[].append.__self__", "messages[0].__getitem__('role')",
    "'a'.join.__call__(['b'])", "{}.fromkeys.__self__", "1.0.__class__", "''['__class__']", "messages['__class__']",
    "''|map(attribute='__class__')|first", "messages|selectattr('__class__')|list", "('a'|e).__html__",
    "''.format_map(messages[0])", "'{a.__class__}'.format(a=1)", "namespace(a=1).__dict__",
)  # fmt: skip
"""Ways out of a sandbox that were published, or that are like them."""

GROWTH = (
    "'x' * 10**N", "[0] * 10**N", "10 ** 10 ** N", "range(10**N)|list", "'%' ~ 10**N ~ 'd' % 1",
    "'x'|indent(10**N, true)", "'x'|center(10**N)", "[1]|batch(10**N, 0)|list", "messages|tojson(indent=10**N)",
    "'{:>N000000}'.format(1)", "('x' * 9**N)|replace('x', 'x' * 9**N)", "('x ' * 9**N)|wordwrap(1)", "'a'|urlize",
    "'%0*d' % (10**N, 1)",
)  # fmt: skip
"""What makes much of little."""

AROUND = (
    "{{ X }}", "{% if X %}a{% endif %}", "{% for a in X %}{{ a }}{% endfor %}", "{% set a = X %}{{ a }}",
    "{% for m in messages %}{{ m.content }}{{ X }}{% endfor %}",
    "{% macro f(a) %}{{ a }}{% endmacro %}{{ f(X) }}",
    "{% filter replace('a', X) %}a{% endfilter %}", "{{ [X, X]|map('string')|join }}", "{{ {'a': X}|tojson }}",
    "{% for a in range(99999) %}{% if X %}{% endif %}{% endfor %}", "{% with a = X %}{{ a|string }}{% endwith %}",
    "{% call(a) (X) %}{% endcall %}", "{{ X|default(X, true) }}", "{{ (X)|list }}", "{{ (X) ~ '' }}",
)  # fmt: skip
"""Where an expression may stand in a template."""

CALLS = (
    "{{ '%s' % C }}", "{{ 'call %s(%s)' % ('f', C) }}", "{{ '%s' % [C] }}", "{{ '{}'.format(C) }}",
    "{{ '%s' | format(C) }}", "{{ C }}", "{{ C | tojson }}", "{{ '%a' % (C,) }}", "{{ '{0!r}'.format({'a': C}) }}",
    "{% for name in C %}{{ '%s' % [name] }}{{ '%r' % name }}{% endfor %}",
)  # fmt: skip
"""How a template writes what a tool is called with."""

SHOWS_PYTHON = re.compile(r"<(class|module|function|built-in|bound method|generator|code) |\bobject at 0x|<frame at")

CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What a terminal obeys, and what turns the direction of text; a carriage return is of them."""

SECRET = "s3cr3t-9f2c"

URLS = (
    f"http://name:{SECRET}@127.0.0.1:9/a.txt", f"http://{SECRET}@127.0.0.1:9/a.txt", f"https://a:{SECRET}@[::1]:9/b/",
    f"s3://name:{SECRET}@bucket/a.txt", f"az://{SECRET}@c/a.txt", f"gs://name:{SECRET}@bucket/a.txt",
    f"http://127.0.0.1:9/a.txt?X-Amz-Signature={SECRET}", f"http://127.0.0.1:9/a.txt?part=2&sig={SECRET}&x=3",
)  # fmt: skip
"""Addresses that hold what nobody may read in a message."""


def special_tokens(_: Desk, chance: Random) -> Counter[str]:
    """Compare the ids of texts with those of the same tokenizer without the texts of its special tokens."""
    found = case(chance, chance.choice(list(MODELS)))
    never = reserved(found)
    for _number in range(8):
        text = text_of(chance, found).encode()
        ids = ids_or_none(found.with_special, text)
        if ids != ids_or_none(found.without, text) or not never.isdisjoint(ids or ()):
            raise Found(f"the text {text!r} becomes {ids}, of {found.with_special!r}", {"text": text})
    return Counter({"texts that spell special tokens": 8})


def messages(desk: Desk, chance: Random) -> Counter[str]:
    """Let messages spell the special tokens that the template writes: only the template's become ids of theirs."""
    tokenizer = named_encodings.named(chance.choice(("gpt2", "cl100k_base", "o200k_base", "o200k_harmony")))
    special = {token.token_id: token.content.decode() for token in tokenizer.special_tokens}
    written = chance.choice(sorted(special.values()))
    template = "{% for m in messages %}TOKEN{{ m.role }}: {{ m.content }}TOKEN{% endfor %}".replace("TOKEN", written)
    contents = [hostile(chance, list(special.values())) for _ in range(chance.randint(1, 4))]
    said = [{"role": chance.choice(("user", "assistant", "system")), "content": content} for content in contents]
    ids = tokenizer.apply_chat_template(said, chat_template=template)
    found = [token_id for token_id in ids if token_id in special]
    if [special[token_id] for token_id in found] != [written] * (2 * len(said)):
        raise Found(f"messages forge special tokens: {said!r} by {template!r} gives {found}")
    return Counter({"messages that spell special tokens": len(said)})


def calls(desk: Desk, chance: Random) -> Counter[str]:
    """Let what a tool is called with spell special tokens, in its names and values: none is made by any template."""
    tokenizer = named_encodings.named("cl100k_base")
    special = [token.content.decode() for token in tokenizer.special_tokens]
    names = (hostile(chance, special) for _ in range(chance.randint(1, 3)))
    said: dict[str, object] = {name: chance.choice((1, None, True, [], {name: 0.5}, name)) for name in names}
    written = chance.choice(CALLS).replace("C", "messages[0].arguments")
    try:
        ids = tokenizer.apply_chat_template(
            [{"role": "assistant", "content": "", "arguments": said}], chat_template=written
        )
    except BpeError:  # it cannot be told who wrote it
        return Counter({"calls refused": 1})
    if not {token.token_id for token in tokenizer.special_tokens}.isdisjoint(ids):
        raise Found(f"a call forges special tokens: {said!r} by {written!r} gives {ids}")
    return Counter({"calls that spell special tokens": 1})


def hostile(chance: Random, parts: list[str]) -> str:
    """Return a text that spells special tokens, whole and in parts, beside what may hide them."""
    made = []
    for _ in range(chance.randint(1, 6)):
        part = chance.choice(parts)
        cut = chance.randrange(len(part) + 1)
        between = chance.choice((" ", "\n", "\u200b", "\0", "{{", "}}", "{% raw %}", "a"))
        made.append(chance.choice((part, part[:cut], part[cut:], between)))
    return "".join(made)


def templates(desk: Desk, chance: Random) -> Counter[str]:
    """Render a template that tries to get out of its sandbox, or to make much of little."""
    expression = chance.choice((chance.choice(ESCAPES), chance.choice(GROWTH).replace("N", str(chance.randint(1, 12)))))
    source = chance.choice(AROUND).replace("X", expression)
    files = {"template.jinja": source.encode()}
    end, text, took = desk.child.ask(rendered, source, files=files)
    if found := SHOWS_PYTHON.search(text):
        raise Found(f"a template sees Python: {source!r} writes {text[found.start() : found.start() + 60]!r}", files)
    if took > MOST_SECONDS or len(text) > MOST_OUTPUT:
        raise Found(f"a template takes {took:.1f} s and writes {len(text):,} characters: {source[:200]!r}", files)
    return Counter({"templates": 1, f"templates {end}": 1})


def rendered(source: str) -> tuple[str, str, float]:
    """Return how a template ended, what it wrote or what is said of it, and seconds of a processor."""
    conversation = Conversation(({"role": "user", "content": "hi"},))
    done: list[tuple[str, str]] = []

    def render() -> None:
        try:
            text = ChatTemplate(source, "t").render(conversation, add_generation_prompt=False)
            done.append(("rendered", text.encode("utf-8", "replace").decode()))  # a plain string
        except BpeError as error:
            done.append(("refused", error.message.replace(repr(source), "")))

    took = seconds(render)
    return *done[-1], took


def pages(desk: Desk, chance: Random) -> Counter[str]:
    """Show a hostile text in every way there is: nothing of it is obeyed by a terminal or a browser."""
    text = "\n".join(chance.sample(EVIL, 3)).replace("\0", "")
    (desk.folder / "evil.txt").write_bytes(text.encode("utf-8", "surrogatepass"))
    ways = {
        "terminal": ("inspect", "evil.txt", "-t", "gpt2"),
        "markdown": ("compare", "evil.txt", "-t", "gpt2", "--markdown"),
        "json": ("inspect", "evil.txt", "-t", "gpt2", "--json"),
        "html": ("inspect", "evil.txt", "-t", "gpt2", "--html", "-"),
        "svg": ("inspect", "evil.txt", "-t", "gpt2", "--svg", "-"),
    }
    for name, words in ways.items():
        done = call(*words, cwd=desk.folder)
        shown = done.out.decode(errors="replace")
        evidence = {"evil.txt": text.encode("utf-8", "surrogatepass"), f"shown.{name}": done.out}
        if done.status != 0:
            raise Found(f"`bpe {' '.join(words)}`: status {done.status}, {done.err[-300:]!r}", evidence)
        if name != "json" and (found := CONTROLS.search(shown)):
            raise Found(f"as {name} a text's {found[0]!r} is shown as it is", evidence)
        if name in ("html", "svg", "markdown") and any(line in shown for line in tags(text)):
            raise Found(f"as {name} a text's markup is shown as it is", evidence)
    return Counter({"hostile texts shown": len(ways)})


def tags(text: str) -> list[str]:
    """Return the elements in a text that a browser would obey."""
    return [each for each in re.findall(r"<[a-z!/][^<>]*>", text) if "alert" in each or "evil" in each]


def secrets(desk: Desk, chance: Random) -> Counter[str]:
    """Name addresses with secrets in them: no message and no file of a run that fails has them."""
    url = chance.choice(URLS)
    words = chance.choice((
        ("encode", url), ("train", url, "-s", "300", "-o", "out"), ("inspect", url, "-t", "gpt2"),
        ("compare", url, "-t", "gpt2"), ("prepare", url, "-t", "gpt2", "--to", "bin", "-o", "set/"),
    ))  # fmt: skip
    debug = ("--debug",) if chance.random() < 0.3 else ()
    done = call(*words, *debug, cwd=desk.folder, env=dict(environment(Shelf(url="http://127.0.0.1:9"))))
    written = b"".join(path.read_bytes() for path in desk.folder.rglob("*") if path.is_file())
    if SECRET in done.err + done.out.decode(errors="replace") or SECRET.encode() in written:
        raise Found(f"`bpe {' '.join((*words, *debug))}` shows what is secret", {"stderr.txt": done.err.encode()})
    return Counter({"addresses with secrets": 1})


MEASURED = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:])
_, status, usage = os.wait4(process.pid, 0)
process.returncode = os.waitstatus_to_exitcode(status)
print(usage.ru_maxrss, file=sys.stderr)
sys.exit(process.returncode)
"""
"""Run a command and say how much memory it took. A small process asks: what the one that starts it has counts, too."""


def archives(desk: Desk, chance: Random) -> Counter[str]:
    """Read what expands a thousand times, in memory that does not grow with it."""
    unit, times = chance.choice((b"a b\n", b"0\n")), chance.choice((1, 4, 16)) << 20
    path = desk.folder / "large.txt.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        for _ in range(times >> 20):
            file.write(unit * (1 << 20))
    command = [*COMMAND, "encode", str(path), "-t", "gpt2", "--to", "count", "-q"]
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *command], env=surroundings(None), stdin=subprocess.DEVNULL,
        capture_output=True, check=False,
    )  # fmt: skip
    expected = times * len(named_encodings.named("gpt2").encode(unit))
    if done.returncode != 0 or int(done.stdout.split()[0]) != expected:
        raise Found(f"{times:,} times {unit!r}, compressed: status {done.returncode}, {done.stdout[:100]!r}")
    memory = int(done.stderr.split()[-1])
    if memory > MEMORY:
        raise Found(f"{times * len(unit):,} bytes out of {path.stat().st_size:,} take {memory >> 10} MB")
    path.unlink()
    return Counter({"bytes out of archives": times * len(unit)})


# -- the proof -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Desk:
    """What all attempts share: a folder to work in, and a process in which templates are rendered."""

    folder: Path
    child: Child


KINDS = (
    special_tokens, special_tokens, messages, messages, calls, templates, templates, templates, pages, secrets,
)  # fmt: skip

ARCHIVES = 50
"""One in so many attempts reads an archive, which takes seconds."""


def warm() -> None:
    """Load what renders templates."""
    rendered("{{ messages[0].content | tojson }}")


@contextmanager
def begin(folder: Path) -> Iterator[Desk]:
    """Start the process; what fails over HTTP is tried again at once."""
    needs("jinja2")
    with mock.patch.multiple(reading, FIRST_PAUSE=0.001, LONGEST_PAUSE=0.002), child(warm, room=ROOM) as process:
        yield Desk(folder, process)


def attempt(desk: Desk, chance: Random, number: int) -> Counter[str]:
    """Try one thing that somebody might."""
    if number % ARCHIVES == 0:
        return archives(desk, chance)
    return KINDS[number % len(KINDS)](desk, chance)


PROOF = Proof(
    title="Trust",
    claim="No text becomes a special token unless the user asks, whatever the flags, normalizers and models; no "
    "message of a conversation forges a token that its template writes. Templates that try the published sandbox "
    "escapes reach no Python object, and a template that makes far more text than its input explains is stopped. "
    "Hostile text is shown without anything that a terminal or a browser would obey. No message shows the password "
    "in a URL. Decompressing an archive takes the same memory however much it holds.",
    begin=begin,
    attempt=attempt,
)
