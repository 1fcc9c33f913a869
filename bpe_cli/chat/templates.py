"""Render conversations with a tokenizer's own chat template, as Hugging Face's ``apply_chat_template`` does.

The template is Jinja and comes from a file, so it runs where it can do no harm (``sandbox``). Jinja2 is an
optional extra; only this module asks for it, when a template is compiled.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bpe_cli.chat.messages import ASSISTANTS, ROLE, Conversation, as_transformers_gives_it
from bpe_cli.chat.provenance import ASSISTANT, MESSAGE, TEMPLATE, Meter, TooMuch, Traced
from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.support.cached import cached_property
from bpe_cli.tokenizer import Tokenizer

if TYPE_CHECKING:
    import jinja2

    from bpe_cli.chat.sandbox import Sandbox

MAX_CHARACTERS = 1 << 17
"""A template is no longer; those of real models have up to some thirty thousand."""

TOOL_USE = "tool_use"
"""What a tokenizer's template for conversations with tools is called, if that is not its usual one."""


class ChatTemplate:
    """A chat template, compiled when it is first used; not for several threads at once.

    Args:
        source: The template.
        name: Its name in messages.
        names: What it finds beside the conversation: ``bos_token`` and the like.
        date: What day ``strftime_now`` gives; None for this moment.
    """

    def __init__(
        self, source: str, name: str, names: Mapping[str, str] | None = None, date: datetime.date | None = None
    ) -> None:
        self._source = source
        self._name = name
        self._names = dict(names or {})
        self._date = date

    @cached_property
    def _sandbox(self) -> Sandbox:
        try:
            from jinja2.sandbox import SandboxedEnvironment

            from bpe_cli.chat.sandbox import Sandbox
        except ModuleNotFoundError as error:
            if error.name not in ("jinja2", "markupsafe"):
                raise
            raise UsageError(
                f"{self._name} is written in Jinja, which is not installed", hint="pip install 'bpe-cli[chat]'"
            ) from error
        if not hasattr(SandboxedEnvironment, "wrap_str_format"):  # Jinja2 asks it for ``str.format`` since 3.1.5
            raise UsageError(
                f"{self._name} is written in Jinja, and the Jinja2 that is installed is too old to run it safely",
                hint="pip install 'jinja2>=3.1.6'",
            )
        return Sandbox(self._date)

    @cached_property
    def _template(self) -> jinja2.Template:
        if len(self._source) > MAX_CHARACTERS:
            raise FormatError(f"{self._name} has {len(self._source):,} characters; it may have {MAX_CHARACTERS:,}")
        self._sandbox.meter.start(len(self._source))
        from jinja2 import TemplateError

        try:
            return self._sandbox.from_string(self._source)
        except TemplateError as error:
            line = getattr(error, "lineno", None)
            where = f"{self._name}, line {line}" if line else self._name
            raise FormatError(f"{where}: {str(error).splitlines()[0].rstrip('.')}") from error
        except (RecursionError, MemoryError, SyntaxError, OverflowError, ValueError, TooMuch) as error:
            raise FormatError(f"{self._name} is nested too deeply, or too large, to be compiled") from error

    @property
    def marks_generation(self) -> bool:
        """Whether the template says what the model generates.

        Raises:
            FormatError: if it is broken.
            UsageError: if Jinja2 is not installed, or too old.
        """
        _ = self._template  # compiling it shows
        return self._sandbox.marks_generation

    def render(self, conversation: Conversation, *, add_generation_prompt: bool) -> Traced:
        """Return the text of a conversation, and who wrote which of its characters.

        Raises:
            FormatError: if the template is broken; or if with this conversation it does what it must not, or does not
                come to an end.
            InputError: if the template refuses this conversation, or misses something in it.
            UsageError: if Jinja2 is not installed, or too old.
        """
        template, sandbox = self._template, self._sandbox
        from jinja2 import TemplateError, UndefinedError

        from bpe_cli.chat.sandbox import RefusedByTemplateError, SecurityError

        where = conversation.where
        sandbox.meter.start(conversation.size)
        meter = sandbox.meter
        given: dict[str, Any] = {name: Traced.of(text, TEMPLATE, meter) for name, text in self._names.items()}
        given |= {str(key): _traced(value, meter) for key, value in conversation.arguments.items()}
        given |= {
            "messages": [_traced_message(message, meter) for message in conversation.messages],
            "tools": _traced(conversation.tools, meter),
            "documents": _traced(conversation.documents, meter),
            "add_generation_prompt": add_generation_prompt,
        }
        try:
            return sandbox.concatenated(template.generate(given))
        except RefusedByTemplateError as error:
            raise InputError(f"{where}: {self._name} refuses this conversation: {error}") from error
        except UndefinedError as error:
            raise InputError(f"{where}: {self._name} misses something in this conversation: {_plain(error)}") from error
        except SecurityError as error:
            what = "does something that chat templates may not do"
            raise FormatError(f"{where}: {self._name} {what}: {error}") from error
        except TooMuch as error:
            raise FormatError(f"{where}: {self._name} is stopped: {error}") from error
        except (RecursionError, MemoryError) as error:
            raise FormatError(f"{where}: {self._name} is stopped: it goes too deep") from error
        except (
            TemplateError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RuntimeError, NameError
        ) as error:  # fmt: skip
            raise InputError(f"{where}: {self._name} fails on this conversation: {error}") from error


def _plain(error: Exception) -> str:
    """Return one of Jinja's messages without the traces of strings."""
    return str(error).replace(f"{Traced.__module__}.{Traced.__qualname__} object", "str object")


def _traced(value: Any, meter: Meter, origin: bytes = MESSAGE) -> Any:
    """Return a JSON value whose strings are the message's, or the assistant's."""
    if isinstance(value, str):
        return Traced.of(value, origin, meter)
    if isinstance(value, list):
        return [_traced(each, meter, origin) for each in value]
    if isinstance(value, dict):
        return {Traced.of(key, origin, meter): _traced(each, meter, origin) for key, each in value.items()}
    return value


def _traced_message(message: Mapping[str, Any], meter: Meter) -> dict[str, Any]:
    """Return a message as transformers gives it to a template; its role, if it is a word, counts as the template's.

    Templates make special tokens of roles, as in ``'<|' + message.role + '|>'``. Who chooses the role of a
    message says whose turn it is anyway.
    """
    role = message.get("role")
    origin = ASSISTANT if role in ASSISTANTS else MESSAGE
    traced: dict[str, Any] = _traced(as_transformers_gives_it(message), meter, origin)
    if isinstance(role, str) and ROLE.fullmatch(role):
        traced["role"] = Traced.of(role, TEMPLATE, meter)
    return traced


_NAMES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")


def special_names(tokenizer: Tokenizer) -> dict[str, str]:
    """Return the names that a template finds for a tokenizer's special tokens, such as ``bos_token``.

    >>> from dataclasses import replace
    >>> from bpe_cli.tokenizer.named_encodings import named
    >>> from bpe_cli.tokenizer.usage import Usage
    >>> special_names(replace(named("gpt2"), usage=Usage(roles=(("eos", 50256),))))
    {'eos_token': '<|endoftext|>'}
    """
    return {
        f"{role}_token": tokenizer.token_bytes(token_id).decode("utf-8", "replace")
        for role, token_id in tokenizer.usage.roles
        if role in _NAMES
    }
