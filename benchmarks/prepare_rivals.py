"""Make a data set as other programs do: ``python prepare_rivals.py NAME TOKENIZER OUT SHARD...``, for ``prepare.py``.

Runs in the environment of the program, with one process, and needs nothing of ours. TOKENIZER is a folder with the same
tokenizer as tokenizer.json and as ranks.tiktoken. Prints the CPU and wall seconds from the first shard to the last
byte, imports and loading not counted, as JSON.
"""

from __future__ import annotations

import base64
import io
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

PATTERN = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|"""
    r"""\s+(?!\S)|\s"""
)
"""That of cl100k_base, as tiktoken has it."""
EOT = 100257


def lines(path: str) -> Iterator[bytes]:
    """Yield the lines of a shard."""
    import zstandard

    with open(path, "rb") as file:
        yield from io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(file), 1 << 20)


def datatrove(tokenizer: Path, out: str, shards: list[str]) -> object:
    """Datatrove's reader and its tokenizing step, shuffling nothing, in this process."""
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.tokens import DocumentTokenizer

    names = Path(out).parent / "shards.txt"
    names.write_text("\n".join(os.path.basename(shard) for shard in shards))
    pipeline = [
        JsonlReader(os.path.dirname(shards[0]), paths_file=str(names)),
        DocumentTokenizer(out, str(tokenizer / "tokenizer.json"), eos_token="<|endoftext|>", shuffle_documents=False),
    ]
    executor = LocalPipelineExecutor(pipeline, tasks=1, workers=1, logging_dir=f"{out}/logs")
    return executor.run


def megatron(tokenizer: Path, out: str, shards: list[str]) -> object:
    """Do what tools/preprocess_data.py does, which the package does not have, with tiktoken; its writer is its own.

    Written after its documentation: each line is parsed by ``json``, encoded, ended by an eod, and added as a document.
    """
    import tiktoken
    import torch
    from megatron.core.datasets.indexed_dataset import DType, IndexedDatasetBuilder

    parts = (line.split() for line in (tokenizer / "ranks.tiktoken").read_bytes().splitlines() if line)
    ranks = {base64.b64decode(token): int(rank) for token, rank in parts}
    encoding = tiktoken.Encoding(
        "cl100k_base", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={"<|endoftext|>": EOT}
    )

    def run() -> None:
        builder = IndexedDatasetBuilder(f"{out}/data.bin", dtype=DType.optimal_dtype(EOT + 1))
        for shard in shards:
            for line in lines(shard):
                ids = encoding.encode_ordinary(json.loads(line)["text"])
                ids.append(EOT)
                builder.add_document(torch.IntTensor(ids), [len(ids)])
        builder.finalize(f"{out}/data.idx")

    return run


def gigatoken(tokenizer: Path, out: str, shards: list[str]) -> object:
    """A script around gigatoken: lines are parsed by orjson, encoded 1,000 at a time, and written as int32."""
    import awkward
    import numpy
    import orjson
    from gigatoken import BytesSource, Tokenizer

    model = Tokenizer.from_tiktoken(str(tokenizer / "ranks.tiktoken"), pretokenizer="gpt4", special_tokens={})
    awkward.flatten(model.encode_batch(BytesSource([]), parallel=False))

    def run() -> None:
        with open(f"{out}/data.bin", "wb") as file:
            lengths: list[object] = []

            def write(held: list[bytes]) -> None:
                encoded = model.encode_batch(BytesSource(held), parallel=False)
                lengths.append(numpy.asarray(awkward.num(encoded), dtype=numpy.int32))
                ends = numpy.cumsum(lengths[-1])
                ids = numpy.asarray(awkward.flatten(encoded), dtype=numpy.int32)
                file.write(numpy.insert(ids, ends, EOT).tobytes())

            for shard in shards:
                held: list[bytes] = []
                for line in lines(shard):
                    held.append(orjson.loads(line)["text"].encode())
                    if len(held) == 1000:
                        write(held)
                        held = []
                if held:
                    write(held)
            numpy.concatenate(lengths).tofile(f"{out}/lengths.bin")

    return run


PROGRAMS = {"datatrove": datatrove, "megatron": megatron, "gigatoken": gigatoken}


def main() -> None:
    """Run one of them."""
    name, tokenizer, out, *shards = sys.argv[1:]
    run = PROGRAMS[name](Path(tokenizer), out, shards)
    cpu, wall = sum(os.times()[:4]), time.perf_counter()
    run()
    tokens = max((path.stat().st_size for path in Path(out).rglob("*") if path.suffix in (".bin", ".ds")), default=0)
    taken = {"cpu": sum(os.times()[:4]) - cpu, "wall": time.perf_counter() - wall, "tokens": tokens // 4}
    print(json.dumps(taken))


if __name__ == "__main__":
    main()
