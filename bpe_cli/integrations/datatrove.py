"""Steps of a datatrove pipeline, for its executors of one machine, of Slurm and of Ray.

``PrepareParts`` makes a data set, each task its share of the parts: what ``bpe prepare --part`` does, with datatrove in
place of an array job. ``EncodeDocuments`` stands among other steps and adds ids to documents that pass.

Both can be pickled, and hold no tokenizer but its name.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from bpe_cli.calls import prepare
from bpe_cli.errors import UsageError
from bpe_cli.jobs.tokenizers import load_tokenizer

if TYPE_CHECKING:
    import os

    from bpe_cli.calls import AnyTokenizer, Files
    from bpe_cli.tokenizer import Tokenizer

try:
    from datatrove.pipeline.base import PipelineStep
except ImportError:  # its executors take what is called in this way

    class PipelineStep:  # type: ignore[no-redef]
        """As much of a step as is needed where datatrove is not installed."""

        def stat_update(self, *labels: str, value: int = 1, unit: str | None = None) -> None:
            """Count nothing."""

        def __call__(self, data: Any = None, rank: int = 0, world_size: int = 1) -> Any:
            """Run the step."""
            return self.run(data, rank, world_size)  # type: ignore[attr-defined]


class PrepareParts(PipelineStep):  # type: ignore[misc]
    """Make a share of the parts of a data set: a task makes each N-th part, where N is the number of tasks.

    The task that ends last writes the manifest. What is there and right is not made again, so that a task that is begun
    anew goes on where it was; the bytes are those of ``bpe prepare``, however many tasks there are. With ``shuffle``
    run it in two executors, one after the other: the second pass begins when all tasks have done the first.

        step = PrepareParts("gpt2", "shards/", "dataset/", documents="jsonl", to="datatrove", eot="auto")
        LocalPipelineExecutor([step], tasks=64, workers=8).run()
    """

    name = "🔤 bpe prepare"
    type = "🔢 - TOKENIZER"

    def __init__(
        self,
        tokenizer: AnyTokenizer,
        files: Files,
        folder: str | os.PathLike[str],
        **options: Any,
    ) -> None:
        """Keep what is asked for.

        Args:
            tokenizer: A tokenizer, or what ``bpe_cli.load`` takes.
            files: A file, a folder, a pattern with ``*``, or several; the same for each task.
            folder: Where the data set lies: on a disk that all tasks see.
            options: What else ``bpe_cli.prepare`` takes. A task is one process, if ``processes`` is not among them.

        Raises:
            UsageError: if ``share`` is among the options: the number of a task says which parts it makes.
        """
        super().__init__()
        if "share" in options:
            raise UsageError("the number of a task says which parts it makes", hint="leave it out")
        self.tokenizer, self.folder, self.options = tokenizer, folder, options
        self.files = files

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """Make the parts of a task; documents of earlier steps pass."""
        if data:
            yield from data
        share = None if world_size == 1 else (rank + 1, world_size)
        options = {"processes": 1, **self.options}
        done = prepare(self.tokenizer, self.files, self.folder, share=share, **options)
        self.stat_update("parts_made", value=done.made, unit="task")
        self.stat_update("parts_kept", value=done.kept, unit="task")


class EncodeDocuments(PipelineStep):  # type: ignore[misc]
    """Add to the metadata of each document its ids, ``input_ids``, and how many there are, ``token_count``."""

    name = "🔤 bpe encode"
    type = "🔢 - TOKENIZER"

    def __init__(self, tokenizer: AnyTokenizer, *, batch_size: int = 1000, ids: bool = True, **options: Any) -> None:
        """Keep what is asked for.

        Args:
            tokenizer: A tokenizer, or what ``bpe_cli.load`` takes.
            batch_size: How many documents are encoded at a time.
            ids: Whether the ids are added, and not only their count.
            options: What else ``Tokenizer.encode_batch`` takes.
        """
        super().__init__()
        self.tokenizer, self.batch_size, self.ids, self.options = tokenizer, batch_size, ids, options

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """Yield the documents as they come, in batches."""
        model: Tokenizer = load_tokenizer(self.tokenizer)
        documents = iter(data or ())
        while batch := list(islice(documents, self.batch_size)):
            encoded = model.encode_batch([each.text for each in batch], **{"threads": 1, **self.options})
            for document, ids in zip(batch, encoded.to_lists(), strict=True):
                if self.ids:
                    document.metadata["input_ids"] = ids
                document.metadata["token_count"] = len(ids)
                self.stat_update("tokens", value=len(ids))
                yield document
