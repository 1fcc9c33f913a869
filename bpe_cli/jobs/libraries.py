"""Other libraries as readers of tokenizers, where they are installed: for checks that a port is right."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bpe_cli.errors import UsageError
from bpe_cli.jobs.tokenizers import TokenizerChoice, name_of

if TYPE_CHECKING:
    from bpe_cli.jobs.tokenizers import AnyTokenizer
    from bpe_cli.reports.comparison.ids import Ids, Reader
    from bpe_cli.tokenizer import Tokenizer


class LibraryReader:
    """A tokenizer in another library.

    Attributes:
        name: Its name in messages.
        takes_bytes: Whether it takes bytes that are not UTF-8.
    """

    def __init__(
        self, name: str, encode: Callable[[str], Sequence[int]], token: Callable[[int], str | bytes | None]
    ) -> None:
        """Take what encodes a text, and what names a token."""
        self.name = name
        self.takes_bytes = False
        self._encode = encode
        self._token = token

    def encode(self, texts: Sequence[bytes]) -> list[Ids]:
        """Return the ids of texts."""
        return [self._ids(text.decode()) for text in texts]

    def _ids(self, text: str) -> Ids:
        try:
            return tuple(self._encode(text))
        except (ValueError, KeyError, RuntimeError):  # what libraries raise for a text that they cannot encode
            return None

    def token(self, token_id: int) -> bytes:
        """Return what a token reads as: its bytes, or what the library writes for them."""
        found = self._token(token_id) or f"no token {token_id}"
        return found if isinstance(found, bytes) else found.encode("utf-8", "surrogateescape")


def finds_specials(library: str) -> bool:
    """Return whether a library finds special tokens in any text."""
    return library == "transformers"


def reader_of(library: str, tokenizer: AnyTokenizer, model: Tokenizer, name: str) -> Reader:
    """Load a tokenizer with another library.

    Raises:
        UsageError: if there is no such library, it is not installed, or it cannot read the file.
    """
    if library not in LIBRARIES:
        raise UsageError(f"there is no reader {library!r}", hint=f"there are {', '.join(LIBRARIES)}")
    path = _path_of(tokenizer)
    try:
        return LIBRARIES[library](path, model, f"{name} in {library}")
    except ImportError as error:
        raise UsageError(
            f"{library} is not installed here: {error}", hint=f"pip install {_PACKAGES[library]}"
        ) from error
    except UsageError:
        raise
    except (OSError, ValueError, KeyError, RuntimeError, TypeError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise UsageError(f"{library} cannot read {name}: {reason}") from error


def _path_of(tokenizer: AnyTokenizer) -> str | None:
    """Return the file or folder of a tokenizer; None if it has none."""
    name = tokenizer.name if isinstance(tokenizer, TokenizerChoice) else name_of(tokenizer)  # no label
    return name if name and os.path.exists(name) else None


def _file(path: str | None, library: str, *endings: str) -> str:
    """Return the path of a file that a library reads.

    Raises:
        UsageError: if it is another.
    """
    if path is None:
        raise UsageError(f"{library} reads files, and this tokenizer is not in one", hint="bpe convert writes one")
    if os.path.isdir(path):
        inside = [os.path.join(path, each) for each in sorted(os.listdir(path)) if each.endswith(endings)]
        if len(inside) == 1:
            return inside[0]
    elif path.endswith(endings):
        return path
    raise UsageError(
        f"{library} reads {' or '.join(endings)} files, and {path} is not one",
        hint=f"bpe convert {path} -o x{endings[0]}",
    )


def _transformers(path: str | None, model: Tokenizer, name: str) -> Reader:  # noqa: ARG001
    if path is not None and os.path.isdir(path):
        import transformers

        loaded: Any = transformers.AutoTokenizer.from_pretrained(path, local_files_only=True)
        return LibraryReader(
            name,
            lambda text: loaded.encode(text, add_special_tokens=False),
            lambda token_id: loaded.convert_ids_to_tokens(token_id),
        )
    import tokenizers

    fast = tokenizers.Tokenizer.from_file(_file(path, "transformers", ".json"))
    fast.no_truncation()
    fast.no_padding()
    return LibraryReader(
        name, lambda text: fast.encode(text, add_special_tokens=False).ids, lambda token_id: fast.id_to_token(token_id)
    )


def _sentencepiece(path: str | None, model: Tokenizer, name: str) -> Reader:  # noqa: ARG001
    import sentencepiece

    loaded = sentencepiece.SentencePieceProcessor(model_file=_file(path, "sentencepiece", ".model"))
    return LibraryReader(name, lambda text: loaded.encode(text, out_type=int), lambda each: loaded.id_to_piece(each))


def _tiktoken(path: str | None, model: Tokenizer, name: str) -> Reader:
    import tiktoken
    from tiktoken.load import load_tiktoken_bpe

    if len(model.patterns) != 1 or model.normalizer:
        raise UsageError(
            "tiktoken splits by one expression and rewrites no text; this tokenizer works differently",
            hint="compare it with another library",
        )
    if path is not None and path.endswith(".tiktoken"):
        ranks = load_tiktoken_bpe(path)
    elif model.has_bytes:
        ranks = {token: token_id for token_id, token in model.model.vocabulary.items()}
    else:
        raise UsageError("tiktoken merges bytes, and this tokenizer does not")
    loaded = tiktoken.Encoding("port", pat_str=model.patterns[0], mergeable_ranks=ranks, special_tokens={})
    return LibraryReader(name, loaded.encode_ordinary, loaded.decode_single_token_bytes)


def _llama(path: str | None, model: Tokenizer, name: str) -> Reader:
    file = _file(path, "llama.cpp", ".gguf")

    def token(token_id: int) -> str | None:
        return model.id_to_token(token_id)

    try:
        import llama_cpp
    except ImportError:
        program = shutil.which("llama-tokenize")
        if program is None:
            raise
        found = program

        def by_program(text: str) -> Sequence[int]:
            return _tokenized(found, file, text)

        return LibraryReader(name, by_program, token)
    loaded: Any = llama_cpp.Llama(model_path=file, vocab_only=True, verbose=False)
    return LibraryReader(
        name, lambda text: loaded.tokenize(text.encode(), add_bos=False, special=False) if text else [], token
    )


def _tokenized(program: str, file: str, text: str) -> list[int]:
    """Run llama.cpp's own program on a text."""
    words = [program, "-m", file, "--stdin", "--ids", "--no-bos", "--no-parse-special", "--log-disable"]
    done = subprocess.run(words, input=text.encode(), capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.decode("utf-8", "replace").strip())
    listed = done.stdout.decode().strip().strip("[]")
    return [int(each) for each in listed.split(",") if each.strip()]


LIBRARIES: dict[str, Callable[[str | None, Tokenizer, str], Reader]] = {
    "transformers": _transformers,
    "sentencepiece": _sentencepiece,
    "tiktoken": _tiktoken,
    "llama.cpp": _llama,
}
"""What loads a tokenizer, from its file and from what we read of it."""

_PACKAGES = {
    "transformers": "transformers",
    "sentencepiece": "sentencepiece",
    "tiktoken": "tiktoken",
    "llama.cpp": "llama-cpp-python",
}
