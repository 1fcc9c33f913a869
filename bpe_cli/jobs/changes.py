"""What a conversion does to a tokenizer on its way: add tokens, prune, extend, merge."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bpe_cli.errors import UsageError
from bpe_cli.support.listening import Listener

if TYPE_CHECKING:
    from bpe_cli.corpus import Source
    from bpe_cli.jobs.outputs import Streams
    from bpe_cli.surgery import Operation
    from bpe_cli.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Change:
    """State what is changed; one of the four things.

    Attributes:
        add_tokens: A file of tokens to add; ``-`` is stdin.
        prune_to: How many tokens to keep, of those that the corpus uses most.
        extend_to: How many ids to end with, after BPE training has gone on on the corpus.
        corpus: The texts for that.
        merge: Another tokenizer, whose tokens are added.
        id_map: Where to write which ids became which; None for beside the output.
        threads: How many to use for counting.
    """

    add_tokens: str | None = None
    prune_to: int | None = None
    extend_to: int | None = None
    corpus: Source | None = None
    merge: str | None = None
    id_map: str | None = None
    threads: int = 1

    @property
    def read_files(self) -> list[tuple[str, str]]:
        """What messages call the files that are read besides a corpus, and their paths."""
        files = {"the list of tokens": self.add_tokens, "the tokenizer of --merge": self.merge}
        return [(what, path) for what, path in files.items() if path is not None]

    def map_path(self, output: str) -> str:
        """Return where the map of ids goes: beside the output, unless it is said.

        Raises:
            UsageError: if it is not, and the output has no place beside it; or it is the output.
        """
        if self.id_map is not None:
            if os.path.abspath(self.id_map) == os.path.abspath(output):
                raise UsageError("--id-map and --output are the same file")
            return self.id_map
        try:
            mode = os.stat(output).st_mode
        except OSError:
            mode = stat.S_IFREG
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise UsageError(f"there is no place for the map of ids beside {output}", hint="give --id-map FILE")
        return (output.rstrip("/" + os.sep) or output) + ".ids.json"

    def apply(
        self, tokenizer: Tokenizer, outputs: Sequence[tuple[str, str | None]], listener: Listener, streams: Streams
    ) -> Operation:
        """Make the change.

        Args:
            tokenizer: What is changed.
            outputs: What will be written, and where: no corpus must be there.
            listener: Who hears how it goes on.
            streams: The streams around the job.

        Raises:
            BpeError: as the operations of ``bpe_cli.surgery`` do.
        """
        from bpe_cli import surgery
        from bpe_cli.corpus.opening import read_whole
        from bpe_cli.formats import token_list
        from bpe_cli.support.messages import show_path

        if self.add_tokens is not None:
            given = token_list.loads(read_whole(self.add_tokens, stdin=streams.read), show_path(self.add_tokens))
            operation = surgery.add_tokens(tokenizer, given.tokens)
            given.check(operation.tokenizer)
            return operation
        if self.merge is not None:
            return surgery.merge(tokenizer, self._other(tokenizer, self.merge, listener))
        if self.corpus is None:
            raise UsageError("a tokenizer is pruned or extended by a corpus, and there is none")
        from bpe_cli.jobs.count import count_by_tokenizer

        size = self.prune_to or self.extend_to or 0
        counts = count_by_tokenizer(
            self.corpus, tokenizer, () if self.prune_to else "all", threads=self.threads, outputs=outputs,
            listener=listener, streams=streams,
        )  # fmt: skip
        total = size if self.prune_to is None else len(surgery.used_ids(tokenizer)) - size
        with listener.task("training" if self.prune_to is None else "pruning", total, "token") as advance:
            done = 0

            def on_progress(reached: int, _: int) -> None:
                nonlocal done
                advance(reached - done)
                done = reached

            change = surgery.prune if self.prune_to is not None else surgery.extend
            return change(tokenizer, counts, size, progress=on_progress)

    @staticmethod
    def _other(tokenizer: Tokenizer, spec: str, listener: Listener) -> Tokenizer:
        """Load what is to be merged; text is cut as the first one does, so a file that lacks a pattern needs none."""
        from bpe_cli.errors import NoPatternError
        from bpe_cli.formats import find_tokenizer

        try:
            return find_tokenizer(spec)
        except NoPatternError:
            listener.note(f"{spec} does not say how text is split, and nothing here depends on it")
            return replace(
                find_tokenizer(spec, "none"), normalizer=tokenizer.normalizer, pre_tokenizer=tokenizer.pre_tokenizer
            )
