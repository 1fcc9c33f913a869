"""Find the tokenizer that a user means by a name: a path, a place in a cache, a named encoding, or a model.

The caches are the folders where other programs keep what they have fetched; nothing is fetched here.

``hf:org/name`` (or ``hf:org/name@revision``) is a model in the cache of Hugging Face's hub, whose layout is::

    models--org--name/refs/main               the name of a commit
    models--org--name/snapshots/<commit>/...  its files, as links into blobs/

``tiktoken:NAME`` is an encoding in the cache of tiktoken, where a file's name is the SHA-1 of the address that it
came from. This module is the only one of the library that reads the environment:

    Hugging Face  $HF_HUB_CACHE, $HUGGINGFACE_HUB_CACHE, $HF_HOME/hub, $XDG_CACHE_HOME/huggingface/hub,
                  ~/.cache/huggingface/hub; the first that is set counts, as in huggingface_hub
    tiktoken      $TIKTOKEN_CACHE_DIR, $DATA_GYM_CACHE_DIR, data-gym-cache in the folder for temporary files;
                  the first that is set counts, and if that is empty tiktoken keeps nothing
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.formats.detect import files_of, locate
from bpe_cli.formats.files import load
from bpe_cli.formats.read_file import read
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.support.messages import cannot_read, did_you_mean, quote, reason_of
from bpe_cli.tokenizer import Tokenizer, named_encodings

_ENDING = r"\.(json|tiktoken|txt|model|bpe|gguf)$"
"""Of files that hold tokenizers."""

HUGGING_FACE = "hf:"
TIKTOKEN = "tiktoken:"

WANTED = (
    "*token*", "vocab*", "merges.txt", "encoder.json", "bpe.json", "tekken*.json", "rwkv_vocab*.txt",
    "*.model", "*.model.v*", "*.tiktoken", "*.vocab", "*.codes", "*.yttm",
    "chat_template.*", "additional_chat_templates/*",
)  # fmt: skip
"""What of a repository is fetched to have its tokenizer: all names that formats have, and what lies beside them.

But for ``*.gguf``: these are models with their weights, of many gigabytes, often a dozen of one model. And for
``*.json``, which is all else that a repository says of its model; a tokenizer's file has a name that tells.
"""

_BLOBS = "https://openaipublic.blob.core.windows.net/encodings/"
_RANKS = {"gpt2": "r50k_base", "p50k_edit": "p50k_base", "o200k_harmony": "o200k_base"}
"""Encodings that use another one's ranks (gpt2 is kept by tiktoken as two files of other formats)."""

_NAME = re.compile(r"(?:\w[\w.-]{0,95}/)?\w[\w.-]{0,95}", re.ASCII)
_REVISION = re.compile(r"\w[\w./+-]{0,255}", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_LONGEST_REF = 1 << 10


def find_tokenizer(spec: str, pattern: str | None = None) -> Tokenizer:
    """Return the tokenizer that a user means: a path, a place in a cache, a named encoding, or a model.

    >>> find_tokenizer("gpt-4o").name
    'o200k_base'

    Raises:
        UsageError: if the name is none of these; the message suggests similar names.
        InputError, FormatError: as for ``load``.
    """
    if _is_path(spec):
        return load(spec, pattern)
    if spec.startswith(HUGGING_FACE):
        return _from_hugging_face(spec, pattern)
    if spec.startswith(TIKTOKEN):
        if pattern is not None:
            raise UsageError(f"{spec} has a split pattern of its own; no pattern can be given with it")
        return replace(tiktoken_encoding(spec.removeprefix(TIKTOKEN)), name=spec)
    named = named_encodings.find(spec)
    if named is None:
        if re.search(rf"[/\\]|{_ENDING}", spec):
            has_ending = re.search(_ENDING, spec) and not has_model(spec)
            raise cannot_read(spec, FileNotFoundError(), None if has_ending else hint_of_name(spec))
        error = named_encodings.unknown(spec)
        raise UsageError(error.message, hint=hint_of_name(spec) or error.hint)
    if pattern is not None:
        raise UsageError(f"{named.name} has a split pattern of its own; no pattern can be given with it")
    return named


def files_meant(spec: str) -> list[str]:
    """Return the files that a tokenizer is read from, which ``find_tokenizer`` finds by the same name.

    >>> files_meant("gpt-4o")
    []
    """
    try:
        if _is_path(spec):
            return list(map(str, files_of(Path(spec))))
        if spec.startswith(HUGGING_FACE):
            return list(map(str, files_of(snapshot(spec.removeprefix(HUGGING_FACE)))))
    except (FormatError, InputError, UsageError, OSError):  # whoever reads it says so
        return []
    return []


def _is_path(spec: str) -> bool:
    """Return whether there is a file or folder of this name, or may be one in an unreadable folder."""
    try:
        os.stat(spec)
    except PermissionError:
        return os.path.dirname(spec) != ""
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return False
    return True


def _from_hugging_face(spec: str, pattern: str | None) -> Tokenizer:
    """Read a tokenizer from the cache of Hugging Face's hub."""
    reference = spec.removeprefix(HUGGING_FACE)
    folder = snapshot(reference)
    try:
        locate(folder)
    except FormatError as error:  # perhaps only the model's weights have been fetched
        raise FormatError(error.message, hint=fetch_hint(reference)) from None
    return replace(load(folder, pattern), name=spec)


# -- Hugging Face ------------------------------------------------------------------------------


def hugging_face_folder() -> Path:
    """Return the folder of the hub's cache, whether it is there or not."""
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if os.environ.get(variable):
            return _expanded(os.environ[variable])
    if os.environ.get("HF_HOME"):
        return _expanded(os.environ["HF_HOME"]) / "hub"
    return _expanded(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface" / "hub"


def _expanded(path: str) -> Path:
    return Path(os.path.expandvars(os.path.expanduser(path)))


def snapshot(reference: str) -> Path:
    """Return the folder with the files of a model, ``org/name`` or ``org/name@revision``.

    The revision is a branch, a tag or a whole commit; without one it is ``main``.

    Raises:
        UsageError: if this is not a name that a model can have.
        InputError: if the cache does not have it; the hint says how to fetch it.
        FormatError: if the cache's record of it is broken.
    """
    name, revision = _checked(reference)
    model = _model_folder(name)
    if not model.is_dir():
        raise InputError(f"{name} is not in the cache {hugging_face_folder()}", hint=fetch_hint(reference))
    commit = revision if _COMMIT.fullmatch(revision) else _commit_of(model, reference, revision)
    folder = model / "snapshots" / commit
    if not folder.is_dir():
        raise InputError(f"the cache {model} has no files of commit {commit}", hint=fetch_hint(reference))
    return folder


def _checked(reference: str) -> tuple[str, str]:
    """Split a reference into its parts, and check that none of them leads out of the cache."""
    name, at, revision = reference.partition("@")
    if not _NAME.fullmatch(name) or ".." in name or "--" in name:
        raise UsageError(
            f"{quote(HUGGING_FACE + reference)} names no model",
            hint="for example: hf:openai-community/gpt2, or hf:openai-community/gpt2@main with a branch, tag or commit",
        )
    if at and (not _REVISION.fullmatch(revision) or {"", ".", ".."} & set(revision.split("/"))):
        raise UsageError(f"{quote(revision)} is no revision", hint="it is a branch, a tag, or a commit's 40 digits")
    return name, revision or "main"


def _model_folder(name: str) -> Path:
    return hugging_face_folder() / f"models--{name.replace('/', '--')}"


def _commit_of(model: Path, reference: str, revision: str) -> str:
    """Read the commit that a branch or a tag pointed to when it was fetched."""
    path = model / "refs" / revision
    if not path.is_file():
        refs = model / "refs"
        known = sorted(str(each.relative_to(refs)) for each in refs.rglob("*") if each.is_file())[:5]
        has = f"it has {', '.join(known)}" if known else "it has none"
        raise InputError(f"the cache {model} has no revision {quote(revision)}: {has}", hint=fetch_hint(reference))
    content = read(path, _LONGEST_REF).decode("utf-8", "replace").strip()
    if not _COMMIT.fullmatch(content):
        raise FormatError(f"{path} is to hold a commit's 40 digits, not {quote(content)}", hint=fetch_hint(reference))
    return content


def fetch_hint(reference: str) -> str:
    """Return the command that fetches the tokenizer of a model into the cache."""
    name, revision = _checked(reference)
    at = "" if revision == "main" else f" --revision {revision}"
    includes = " ".join(f'--include "{pattern}"' for pattern in WANTED)
    return f"fetch it: hf download {name}{at} {includes} (once: huggingface-cli download {name}{at})"


def hint_of_name(name: str) -> str | None:
    """Describe how to get the tokenizer of a name that may be a hub's: ``org/name``, or one that was fetched."""
    if has_model(name):
        return f"there is a model of this name in Hugging Face's cache: {HUGGING_FACE}{name}"
    organisation, slash, model = name.partition("/")
    if not slash or "@" in name or os.path.lexists(organisation):
        return None
    if named_encodings.find(model) is not None:
        return did_you_mean([model])
    try:
        _checked(name)
    except UsageError:  # no model can have this name
        return None
    return f"for a model on Hugging Face's hub: {HUGGING_FACE}{name}, once it is fetched"


def has_model(name: str) -> bool:
    """Return whether the hub's cache has a model of this name."""
    try:
        _checked(name)
        return "@" not in name and (_model_folder(name) / "snapshots").is_dir()
    except (UsageError, OSError, ValueError):
        return False


# -- tiktoken ----------------------------------------------------------------------------------


def tiktoken_folder() -> Path | None:
    """Return the folder of tiktoken's cache, whether it is there or not; None if it is turned off.

    Raises:
        FileNotFoundError: if it would be in the folder for temporary files, and there is none.
    """
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if variable in os.environ:
            return Path(os.environ[variable]) if os.environ[variable] else None
    import tempfile

    return Path(tempfile.gettempdir()) / "data-gym-cache"


def tiktoken_encoding(name: str) -> Tokenizer:
    """Read an encoding of tiktoken's, by its name or a model's, from tiktoken's cache.

    A file is used only if its SHA-256 is the published one.

    Raises:
        UsageError: if there is no encoding of this name.
        InputError: if the cache does not have it; the hint says how to fetch it.
        FormatError: if the file there is another.
    """
    import hashlib

    from bpe_cli.formats.byte_level import tiktoken_ranks

    encoding_name = named_encodings.encoding_of(name)
    if encoding_name is None:
        raise named_encodings.unknown(name)
    encoding = named_encodings.ENCODINGS[encoding_name]
    ranks = _RANKS.get(encoding_name, encoding_name)
    fetch = f"fetch it: python -c \"import tiktoken; tiktoken.get_encoding('{ranks}')\""
    try:
        folder = tiktoken_folder()
    except FileNotFoundError as error:
        raise InputError(
            f"tiktoken's cache has no place: {reason_of(error)}",
            hint=f"it is built in: {encoding_name}",
        ) from error
    if folder is None:
        raise InputError(
            "tiktoken's cache is turned off: TIKTOKEN_CACHE_DIR or DATA_GYM_CACHE_DIR is empty",
            hint=f"it is built in: {encoding_name}",
        )
    path = folder / tiktoken_file_name(ranks)
    if not path.is_file():
        raise InputError(
            f"{ranks} is not in tiktoken's cache ({path})",
            hint=f"{fetch}; or use the one that is built in: {encoding_name}",
        )
    data = read(path)
    if hashlib.sha256(data).hexdigest() != encoding.sha256:
        raise FormatError(f"{path} is not the published file of {ranks}", hint=f"remove it, and {fetch}")
    return replace(tiktoken_ranks.loads(data, str(path)), special_tokens=encoding.tokens())


def tiktoken_file_name(encoding: str) -> str:
    """Return the file name of an encoding's ranks in tiktoken's cache.

    >>> tiktoken_file_name("cl100k_base")
    '9b5ad71b2ce5302211f9c61530b329a4922fc6a4'
    """
    import hashlib

    return hashlib.sha1(f"{_BLOBS}{encoding}.tiktoken".encode(), usedforsecurity=False).hexdigest()
