"""Which tensors of a file have a row for each id: told by their names, and held to the numbers of their rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from bpe_cli import extend, merge, train
from bpe_cli.errors import UsageError
from bpe_cli.integrations.embeddings import move_embeddings
from bpe_cli.surgery.safetensors import read_header, write_header
from tests.needs import needs

np = needs("numpy")
TEXT = "low lower lowest newer newest wide wider widest " * 3


def model_of(path: Path, *shapes: tuple[str, tuple[int, ...]]) -> Path:
    """Write a file of tensors whose numbers count on."""
    arrays = {name: np.arange(np.prod(shape), dtype="<f4").reshape(shape) for name, shape in shapes}
    header = write_header(((name, "F32", each.shape, each.nbytes) for name, each in arrays.items()), {})
    path.write_bytes(header + b"".join(each.tobytes() for each in arrays.values()))
    return path


def array_of(path: Path, name: str):
    data = path.read_bytes()
    header = read_header(memoryview(data))
    tensor = header.tensors[name]
    count = int(np.prod(tensor.shape))
    return np.frombuffer(data, "<f4", count, header.data + tensor.start).reshape(tensor.shape)


def grown_by_one():
    """Return a change whose new id 258 was the ids of "xy"."""
    return extend(train([TEXT], vocab_size=258), ["xy xy xy"], add=1)


@pytest.mark.parametrize(
    ("moves", "stays"),
    [
        (["shared.weight", "encoder.embed_tokens.weight", "lm_head.weight"], ["encoder.final_layer_norm.weight"]),
        (["transformer.word_embedding.weight", "lm_loss.weight"], ["transformer.layer.0.rel_attn.q"]),
        (["tok_embeddings.weight", "output.weight"], ["layers.0.attention.wo.weight"]),
        (["lm_head.weight"], ["rwkv.blocks.0.attention.output.weight", "position_embedding.weight"]),
        (["language_model.output.weight"], ["encoder.3.embedding.weight", "my_lm_head.weight", "head.output_weight"]),
    ],
)
def test_the_usual_names(moves, stays, tmp_path):
    model = model_of(tmp_path / "m", *((name, (258, 2)) for name in moves), *((name, (7, 2)) for name in stays))
    assert move_embeddings(model, tmp_path / "new", grown_by_one()) == dict.fromkeys(moves, (259, 2))
    for name in stays:
        assert array_of(tmp_path / "new", name).tolist() == array_of(model, name).tolist()


def test_biases_are_moved_along(tmp_path):
    """They have one number for each id, in BART's model in one row; a donor has nothing to say about them."""
    shapes = {"shared.weight": (258, 2), "lm_head.bias": (258,), "final_logits_bias": (1, 258), "dense.bias": (1, 2)}
    model = model_of(tmp_path / "m", *shapes.items())
    mean = np.mean(train([TEXT], vocab_size=258).encode("xy"))
    for change in ({}, {"tensors": [name for name in shapes if name != "dense.bias"]}):
        shapes_now = move_embeddings(model, tmp_path / "new", grown_by_one(), **change)
        assert shapes_now == {"shared.weight": (259, 2), "lm_head.bias": (259,), "final_logits_bias": (1, 259)}
        assert array_of(tmp_path / "new", "lm_head.bias").tolist() == [*range(258), mean]
        assert array_of(tmp_path / "new", "final_logits_bias").tolist() == [[*range(258), mean]]
        assert array_of(tmp_path / "new", "dense.bias").tolist() == [[0, 1]]
    united = merge(train([TEXT], vocab_size=258), train(["xy xy xy"], vocab_size=257))
    donor = model_of(tmp_path / "donor", ("shared.weight", (257, 3)))
    move_embeddings(model, tmp_path / "new", united, donor=donor)
    assert array_of(tmp_path / "new", "lm_head.bias").tolist() == [*range(258), mean]


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ({"lm_head.weight": (258, 2), "audio.embed_tokens.weight": (7, 2)},
         r"different numbers of rows: lm_head\.weight \(258\), audio\.embed_tokens\.weight \(7\)$"),
        ({"lm_head.weight": (258, 2), "head.weight": (258, 2), "score": (258,)},
         r"^head\.weight, score may have a row for each id as well: as many as lm_head\.weight$"),
        ({"wte.weight": (258, 2), "other_bias": (1, 258)}, "^other_bias may have a row"),
        ({"wte.weight": (258, 2)} | {f"{each}.w": (258, 2) for each in range(6)},
         r"^0\.w, 1\.w, 2\.w, 3\.w and 2 more may have"),
    ],
)  # fmt: skip
def test_names_that_do_not_tell_are_refused(shapes, message, tmp_path):
    model = model_of(tmp_path / "m", *shapes.items())
    with pytest.raises(UsageError, match=message) as caught:
        move_embeddings(model, tmp_path / "new", grown_by_one())
    assert caught.value.hint == "name those that have a row for each id: tensors=[...]"
    assert not (tmp_path / "new").exists()
    first = next(iter(shapes))
    assert move_embeddings(model, tmp_path / "new", grown_by_one(), tensors=[first]) == {first: (259, 2)}
