"""Write and read a folder as Hugging Face's ``save_pretrained`` lays it out: ``tokenizer.json`` and companions.

The tokenizer is in ``tokenizer.json``; ``tokenizer_config.json`` and ``special_tokens_map.json`` say what
its special tokens are for, and how a chat is written down. Settings that came from such a folder and are
part of no tokenizer's value, such as ``model_max_length``, are written again as they were.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bpe_cli.errors import FormatError
from bpe_cli.formats.added_tokens import special_text
from bpe_cli.formats.huggingface import companions
from bpe_cli.formats.huggingface import tokenizer_json as hf_json
from bpe_cli.formats.huggingface.tokenizer_json import sniff
from bpe_cli.stages import ByteLevel
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.usage import Origin

__all__ = ["FILES", "HOLDS", "MODELS", "NAME", "belongs", "dump", "load", "sniff"]

NAME = "huggingface"
FILES = ("tokenizer.json",)
MODELS = hf_json.MODELS
HOLDS = hf_json.HOLDS | {"roles", "chat-templates"}

_ENDLESS = 1000000000000000019884624838656
"""What ``transformers`` writes as ``model_max_length`` where there is no limit: the integer of 1e30."""


def belongs(path: Path) -> bool:
    """Return whether a file is the ``tokenizer.json`` of a folder with companions: of that very name, as there."""
    return path.name == FILES[0] and companions.are_in(path.parent)


def load(path: Path, pattern: str | None = None) -> Tokenizer:
    """Read a folder, given by its path or by that of its ``tokenizer.json``."""
    file = path / FILES[0] if path.is_dir() else path
    tokenizer = hf_json.load(file, pattern)
    beside = companions.find(file.parent)
    # A tokenizer.json says itself what is put around a text, whatever a class does.
    tokenizer = companions.apply(tokenizer, beside, str(file), by_class=False)
    facts, carried = (tokenizer.origin.facts, tokenizer.origin.carried) if tokenizer.origin else ((), ())
    carried += () if beside.config_data is None else ((companions.CONFIG, beside.config_data),)
    return replace(tokenizer, origin=Origin(NAME, facts, carried))


def dump(tokenizer: Tokenizer, allow_loss: frozenset[str] = frozenset()) -> dict[str, bytes]:
    """Write the three files of a folder."""
    return {
        "tokenizer.json": hf_json.dump(tokenizer, allow_loss)[""],
        companions.CONFIG: _json(_config(tokenizer)),
        companions.SPECIAL_TOKENS: _json(companions.special_tokens_map(tokenizer)),
    }


def _config(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return ``tokenizer_config.json``: what was carried from one, and what the tokenizer is."""
    import json

    carried = tokenizer.origin.kept(NAME, companions.CONFIG) if tokenizer.origin else None
    config: dict[str, Any] = {
        "clean_up_tokenization_spaces": False,  # where nothing is said, decoding would take blanks away
        "model_max_length": _ENDLESS,
        "tokenizer_class": "PreTrainedTokenizerFast",
    }
    if carried is not None:
        try:
            stated = json.loads(carried)  # keeps integers of any length, as model_max_length is one
        except (RecursionError, ValueError) as error:  # an integer of thousands of digits
            raise FormatError(f"{companions.CONFIG} cannot be written again: {error}") from error
        config = {key: value for key, value in stated.items() if key not in companions.HELD_ELSEWHERE}
    _keep_special(config, {special_text(token) for token in tokenizer.special_tokens})
    if tokenizer.has_bytes or ByteLevel() in tokenizer.pre_tokenizer:
        # Classes in Python put this into the ByteLevel that they have read.
        config["add_prefix_space"] = tokenizer.prefix_space
    return config | companions.config_of(tokenizer)


def _keep_special(config: dict[str, Any], texts: set[str]) -> None:
    """Drop from the lists of special tokens those that the tokenizer no longer has, or has as roles."""
    for key in companions.LISTS:
        listed = config.get(key)
        if isinstance(listed, list):
            config[key] = [each for each in listed if _text(each) in texts]
        elif isinstance(listed, dict):
            kept = {name: each for name, each in listed.items() if name not in companions.ROLE_KEYS}
            config[key] = {name: each for name, each in kept.items() if _text(each) in texts}


def _text(listed: str | dict[str, Any]) -> str:
    return listed if isinstance(listed, str) else str(listed.get("content"))


def _json(content: dict[str, Any]) -> bytes:
    import json

    try:
        return (json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()
    except (RecursionError, UnicodeEncodeError) as error:
        raise FormatError(f"the folder's settings cannot be written as JSON: {error}") from error
