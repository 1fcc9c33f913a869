"""Ray Data: a class for ``map_batches``.

    import ray
    from bpe_cli.integrations.ray import Encode

    texts = ray.data.read_parquet("texts/")
    ids = texts.map_batches(Encode("gpt2", eot="auto"), batch_format="pyarrow")

``batch_format="numpy"`` works too; Arrow's lists need no copies on their way into a Parquet file.
"""

from __future__ import annotations

from bpe_cli.integrations.batches import EncodeBatch as Encode

__all__ = ["Encode"]
