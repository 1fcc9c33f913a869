"""A change that ``convert`` makes on the way: what is asked for, and the texts that it reads."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as changed
from typing import TYPE_CHECKING

from bpe_cli.errors import UsageError
from bpe_cli.jobs.files import Streams
from bpe_cli.jobs.read_once import check_read_once
from bpe_cli.jobs.tokenizers import files_of
from bpe_cli.stages.patterns import NEVER_IN_RUNS, RUN_WORDS
from bpe_cli.support.listening import Listener, by_totals
from bpe_cli.support.messages import show_path
from bpe_cli.tokenizer import Tokenizer

if TYPE_CHECKING:
    from bpe_cli import _core
    from bpe_cli.corpus import Source
    from bpe_cli.surgery import Operation
    from bpe_cli.tokenizer import Specials


_SUPERWORDS = (
    f"the split pattern is that of superwords: new tokens are learnt within lines, have at most {RUN_WORDS} words, and "
    f"never contain {' or '.join(map(repr, NEVER_IN_RUNS))}"
)


@dataclass(frozen=True, slots=True)
class Change:
    """A change to a tokenizer; exactly one kind, or pruning and then extending.

    Attributes:
        add_tokens: A file of tokens to add; ``-`` is stdin.
        prune_to: How many tokens to keep, of those that ``counts_from`` uses most.
        extend_to: How many ids to end with, after BPE training has gone on on ``learn_from``.
        extend_by: In place of that, how many ids to add.
        replace: How many tokens, those that ``counts_from`` uses least, give their ids to what ``learn_from`` teaches.
        split_residues: The largest share of the times it is made that a token stays, by ``counts_from``, if it is to
            serve merging only.
        counts_from: The texts that say which tokens are used.
        learn_from: The texts to learn from.
        merge: Another tokenizer, whose tokens are added.
        id_map: Where to write which ids became which; None for beside the output.
        threads: How many to use for counting.
    """

    add_tokens: str | None = None
    prune_to: int | None = None
    extend_to: int | None = None
    extend_by: int | None = None
    replace: int | None = None
    split_residues: float | None = None
    counts_from: Source | None = None
    learn_from: Source | None = None
    merge: str | None = None
    id_map: str | None = None
    threads: int = 1

    @property
    def reads_texts(self) -> bool:
        """Whether texts are counted, which may take long."""
        return self.counts_from is not None or self.learn_from is not None

    @property
    def read_files(self) -> list[tuple[str, str]]:
        """What messages call the files that are read besides a corpus, and their paths."""
        listed = [] if self.add_tokens is None else [("the list of tokens", self.add_tokens)]
        merged = [] if self.merge is None else [path for _, path in files_of(self.merge)]
        return [*listed, *(("the tokenizer of `merge`", path) for path in merged)]

    def map_path(self, output: str) -> str:
        """Return the path of the map of ids: as given, else beside the output.

        Raises:
            UsageError: if no path is given and the output has no place beside it, or the path is the output's.
        """
        if self.id_map is not None:
            if os.path.realpath(self.id_map) == os.path.realpath(output):
                raise UsageError("`id_map` and `output` are the same file")
            return self.id_map
        try:
            mode = os.stat(output).st_mode
        except OSError:
            mode = stat.S_IFREG
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise UsageError(
                f"there is no place for the map of ids beside {show_path(output)}", hint="give `id_map=FILE`"
            )
        return (output.rstrip("/" + os.sep) or output) + ".ids.json"

    def check(self, tokenizer: Tokenizer) -> None:
        """Check that the tokenizer is of a kind that can be changed so: it is said before the texts are read.

        Raises:
            BpeError: if it is not.
        """
        from bpe_cli import surgery

        if self.learn_from is not None:
            surgery.check_extensible(tokenizer.model)
        if self.prune_to is not None:
            surgery.check_prunable(tokenizer.model)
        if self.split_residues is not None:
            from bpe_cli.surgery.residues import splittable

            splittable(tokenizer, self.split_residues)

    def apply(
        self, tokenizer: Tokenizer, outputs: Sequence[tuple[str, str | None]], listener: Listener, streams: Streams
    ) -> Operation:
        """Make the change.

        Args:
            tokenizer: What is changed.
            outputs: What will be written, and where: no corpus must be there.
            listener: Receives progress and notes.
            streams: The streams around the job.

        Raises:
            BpeError: as the operations of ``bpe_cli.surgery`` do.
        """
        from bpe_cli import surgery
        from bpe_cli.corpus.opening import read_whole
        from bpe_cli.formats.added_tokens import read_token_list

        if self.add_tokens is not None:
            given = read_token_list(read_whole(self.add_tokens, stdin=streams.read), show_path(self.add_tokens))
            operation = surgery.add_tokens(tokenizer, given.tokens)
            given.check(operation.tokenizer)
            return operation
        if self.merge is not None:
            return surgery.merge(tokenizer, self._other(tokenizer, self.merge, listener))
        self.check(tokenizer)
        counted = () if self.counts_from is None else self.counts_from.paths
        check_read_once(self.learn_from, [("what is counted", path) for path in counted], streams.read)
        used = self._counted(tokenizer, self.counts_from, (), outputs, listener, streams)
        by_line = self.learn_from is not None and surgery.learns_superwords(tokenizer)
        if by_line:
            listener.note(_SUPERWORDS)
        texts = self._counted(tokenizer, self.learn_from, "all", outputs, listener, streams, by_line=by_line)
        if self.split_residues is not None and used:
            from bpe_cli.reports.tokenizer.residues import LEAST_MADE

            return surgery.split_residues(tokenizer, used, self.split_residues, LEAST_MADE)
        present = len(surgery.used_ids(tokenizer))
        if self.replace is not None and used and texts:
            with listener.task("replacing", 2 * self.replace, "token") as advance:
                return surgery.replace_tokens(tokenizer, self.replace, used, texts, progress=by_totals(advance))
        if self.prune_to is not None and used and texts:
            size = self._size_from(self.prune_to)
            with listener.task("changing", present + size - 2 * self.prune_to, "token") as advance:
                return surgery.prune_and_extend(
                    tokenizer, used, self.prune_to, texts, size, progress=by_totals(advance)
                )
        if self.prune_to is not None and used:
            with listener.task("pruning", present - self.prune_to, "token") as advance:
                return surgery.prune(tokenizer, used, self.prune_to, progress=by_totals(advance))
        if texts:
            size = self._size_from(tokenizer.vocab_size)
            with listener.task("training", size, "token") as advance:
                return surgery.extend(tokenizer, texts, size, progress=by_totals(advance))
        raise UsageError("pruning, extending, replacing and splitting residues need a corpus")

    def _size_from(self, size: int) -> int:
        """Return how many ids training is to end with, from so many."""
        return self.extend_to or size + (self.extend_by or 0)

    def _counted(
        self,
        tokenizer: Tokenizer,
        source: Source | None,
        specials: Specials,
        outputs: Sequence[tuple[str, str | None]],
        listener: Listener,
        streams: Streams,
        *,
        by_line: bool = False,
    ) -> _core.Counts | None:
        """Count the pieces of texts; None if there are no texts."""
        if source is None:
            return None
        from bpe_cli import surgery
        from bpe_cli.jobs.count import reading_to_count
        from bpe_cli.trainers.counts import new_counts

        counts = new_counts()
        with reading_to_count(
            source, tokenizer.slow_patterns, outputs, tokenizer=tokenizer, otherwise="", listener=listener,
            streams=streams,
        ) as blocks:  # fmt: skip
            surgery.count_pieces(tokenizer, blocks, counts, self.threads, specials, by_line=by_line)
        return counts

    @staticmethod
    def _other(tokenizer: Tokenizer, spec: str, listener: Listener) -> Tokenizer:
        """Load the tokenizer to merge; the first one's pattern cuts the text, so its file needs none."""
        from bpe_cli.errors import NoPatternError
        from bpe_cli.formats import find_tokenizer

        try:
            return find_tokenizer(spec)
        except NoPatternError:
            listener.note(f"{spec} does not say how text is split, and nothing here depends on it")
            return changed(
                find_tokenizer(spec, "none"), normalizer=tokenizer.normalizer, pre_tokenizer=tokenizer.pre_tokenizer
            )
