"""Embeddings of a changed tokenizer: what stays is copied, what is new is made of what was there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import convert, extend, merge, prune, train
from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.integrations.embeddings import move_embeddings
from bpe_cli.surgery import pruning
from bpe_cli.surgery.embeddings import IdMap, by_pursuit, moved
from bpe_cli.surgery.safetensors import read_header, write_header
from bpe_cli.trainers.counts import counts_of
from tests.counted import at_least, compared
from tests.needs import needs

np = needs("numpy")
TEXT = "low lower lowest newer newest wide wider widest " * 3


def table(size: int, old_to_new: dict, made_of: dict, other: dict | None = None) -> IdMap:
    return IdMap(size, old_to_new, made_of, other or {})


def joined(old, id_map, **options):
    return np.concatenate([*moved(old, id_map, **options)])


def test_worked_example():
    """Id 1 is replaced by what 0 and 2 were, 3 is new without parts, and 2 has moved to 0."""
    old = np.array([[1, 1], [5, 5], [3, 7]], "f4")
    new = joined(old, table(4, {0: 2, 1: None, 2: 0}, {1: (0, 2), 3: ()}))
    assert new.tolist() == [[3, 7], [2, 4], [1, 1], [3, pytest.approx(13 / 3)]]
    assert new.dtype == old.dtype


def test_parts_are_those_of_the_old_rows():
    """A part that is replaced itself counts with the row that it had."""
    old = np.array([[1.0], [2.0], [4.0]])
    assert joined(old, table(3, {0: 0, 1: None, 2: None}, {1: (1, 2), 2: (0, 1)})).ravel().tolist() == [1, 3, 1.5]


def test_rows_of_padding_stay():
    old = np.arange(10.0).reshape(5, 2)
    assert joined(old, table(4, {0: 0, 1: 1, 2: 2}, {3: (0, 1)})).tolist() == [[0, 1], [2, 3], [4, 5], [1, 2], [8, 9]]
    assert joined(old, table(2, {0: 1, 1: None, 2: 0}, {})).tolist() == [[4, 5], [0, 1]]


def test_rows_at_the_end_go_with_their_tokens():
    old = np.arange(12.0).reshape(6, 2)  # 1 has no token, 4 and 5 are padding
    assert joined(old, table(3, {0: 0, 2: 2, 3: None}, {})).tolist() == [[0, 1], [2, 3], [4, 5]]
    assert joined(old, table(4, {0: 0, 2: None, 3: 3}, {})).tolist() == old.tolist()
    begun = train([TEXT], vocab_size=262)
    done = pruning.prune(begun, counts_of([(b"low", 1)]), 258, order="last")
    assert joined(np.arange(262.0), done).tolist() == [*range(258)]


def test_a_bias_is_a_vector():
    assert joined(np.array([1.0, 2.0]), table(3, {0: 0, 1: 1}, {2: (0, 1)})).tolist() == [1, 2, 1.5]


def test_an_operation_is_a_map():
    begun = train([TEXT], vocab_size=262)
    old = np.random.default_rng(0).normal(size=(262, 4)).astype("f4")
    done = extend(begun, ["xyz xyz xyz"], replace=2, counts_from=[TEXT[:20]])
    new = joined(old, done)
    assert new.shape == old.shape
    stay = [each for each, now in done.old_to_new.items() if now is not None]
    assert new[stay].tobytes() == old[stay].tobytes()
    for token_id, parts in done.made_of.items():
        assert np.allclose(new[token_id], old[[*parts]].astype("f8").mean(axis=0))
    assert len(done.made_of) == 2


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_pursuit_finds_a_sparse_combination(seed, sparsity):
    """A donor's row that is made of few orthogonal anchors is found, and gets the same weights."""
    generator = np.random.default_rng(seed)
    anchors = np.linalg.qr(generator.normal(size=(8, 8)))[0]
    weights = generator.uniform(1, 2, size=sparsity) * generator.choice([-1, 1], size=sparsity)
    places = generator.choice(8, size=sparsity, replace=False)
    donor = np.concatenate([anchors, [weights @ anchors[places]]])
    old = generator.normal(size=(8, 3))
    same = {each: each for each in range(8)}
    rows = by_pursuit(old, donor, table(9, same, {8: (0,)}, same | {8: 8}), sparsity=sparsity)
    assert np.allclose(rows[8], weights @ old[places])


@pytest.mark.parametrize("scaled", [False, True])
@given(st.integers(0, 10**6))
def test_pursuit_against_the_definition(scaled, seed):
    """Each step solved anew by least squares over all anchors taken, which are long and short."""
    generator = np.random.default_rng(seed)
    lengths = generator.uniform(0.2, 5, (13, 1))
    donor, old = lengths * generator.normal(size=(13, 6)), generator.normal(size=(12, 5))
    same = {each: each for each in range(12)}
    rows = by_pursuit(old, donor, table(13, same, {12: ()}, same | {12: 12}), sparsity=4, scaled=scaled)
    chosen: list[int] = []
    residual = donor[12]
    for _ in range(4):
        scores = np.abs(donor[:12] @ residual)
        if scaled:
            scores /= np.linalg.norm(donor[:12], axis=1)
        scores[chosen] = -1
        chosen.append(int(scores.argmax()))
        weights = np.linalg.lstsq(donor[chosen].T, donor[12], rcond=None)[0]
        residual = donor[12] - weights @ donor[chosen]
    assert np.allclose(rows[12], weights @ old[chosen])


SMALL_DONOR = np.array([
    [8, 2, 3, 8, 1, 5], [6, -5, -8, -4, -4, 7], [8, -9, 0, 6, -7, 6], [-7, -1, 6, -4, -3, -4],
    [4, -5, 9, -1, 0, 0], [2, 1, 0, 9, 6, 6], [4, 2, -3, 9, -1, -5], [7, -6, 7, 2, -7, -9],
    [-1, -9, -7, 0, 9, -1], [6, 8, 6, 2, -1, 0], [-4, 0, -2, -5, 9, -9], [-8, -6, 9, 4, 7, -6],
    [4, -2, 0, -9, 2, 6], [3, -7, 1, -4, 9, 7],
], "f8")  # fmt: skip
"""Drawn at random: ten anchors, and four rows to be made of them."""

BY_THE_AUTHORS = [
    {2: -0.9067970490189214, 8: 0.6088890106080295, 7: 0.405203752930535, 1: 0.08894690578221837},
    {1: -1.0299238944477747, 8: 0.2505193349158729, 4: 0.684355932170552, 9: -0.6453585634260116},
    {1: 0.4790791901251305, 6: -0.8537827008712882, 9: 0.7619614588635123, 8: 0.4465351962560087},
    {8: 0.7559412876485476, 6: -1.068109707305598, 0: 0.795239218107168, 7: 0.09215636476893535},
]
"""Anchor -> weight, for four anchors a row, as ``batch_omp`` of mergekit's tokensurgeon gave them (commit 2a4c086c)."""


def test_pursuit_as_the_program_of_the_papers_authors():
    """Larger ones were the same too: 230 rows of up to 512 numbers, made of 4 to 300 of up to 8,000 anchors."""
    same = {each: each for each in range(10)}
    made = dict.fromkeys(range(10, 14), ())
    rows = by_pursuit(np.eye(10), SMALL_DONOR, table(14, same, made, same | {each: each for each in made}), sparsity=4)
    for token_id, weights in zip(made, BY_THE_AUTHORS, strict=True):
        expected = [weights.get(anchor, 0) for anchor in range(10)]
        assert rows[token_id] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("scaled", "expected"), [(False, 1.5 * 100 + 4 * 10), (True, 3 * 1 + 4 * 10)])
def test_anchors_that_say_nothing_are_passed_over(scaled, expected):
    """A zero row, and one that repeats another: the longer one counts, or the first of equals."""
    donor = np.array([[0, 0], [1, 0], [2, 0], [0, 1], [3, 4]], "f8")
    old = np.array([[9.0], [1], [100], [10]])
    same = {each: each for each in range(4)}
    rows = by_pursuit(old, donor, table(5, same, {4: ()}, same | {4: 4}), sparsity=4, scaled=scaled)
    assert rows[4] == pytest.approx([expected])
    zero = by_pursuit(old, np.zeros((5, 2)), table(5, same, {4: ()}, same | {4: 4}), scaled=scaled)
    assert zero[4].tolist() == [0]


@pytest.fixture
def model(tmp_path) -> Path:
    """Return a file as the library writes it, with two tables and what no change may touch."""
    save = needs("safetensors.numpy", "safetensors").save_file
    generator = np.random.default_rng(1)
    arrays = {
        "model.embed_tokens.weight": generator.normal(size=(262, 6)).astype("f4"),
        "lm_head.weight": generator.normal(size=(262, 6)).astype("f2"),
        "model.norm.weight": generator.normal(size=7).astype("f8"),
        "nothing": np.zeros((0, 3), "f4"),
        "steps": np.arange(5),
    }
    save(arrays, tmp_path / "model.safetensors", metadata={"format": "pt"})
    return tmp_path / "model.safetensors"


def test_a_file(model, tmp_path):
    """The library reads what is written; what was not named is as it was."""
    safetensors = needs("safetensors", "safetensors")
    load = needs("safetensors.numpy", "safetensors").load_file
    begun = train([TEXT], vocab_size=262)
    done = extend(begun, ["xyz xyz xyz"], add=2)
    shapes = move_embeddings(model, tmp_path / "new.safetensors", done)
    assert shapes == {"model.embed_tokens.weight": (264, 6), "lm_head.weight": (264, 6)}
    old, new = load(model), load(tmp_path / "new.safetensors")
    assert old.keys() == new.keys()
    for name, array in old.items():
        if name in shapes:
            assert new[name][:262].tobytes() == array.tobytes()
            expected = array[[*done.made_of[263]]].astype("f8").mean(axis=0).astype(array.dtype)
            assert new[name][263].tobytes() == expected.tobytes()
        else:
            assert (new[name].tobytes(), new[name].shape, new[name].dtype) == (
                array.tobytes(),
                array.shape,
                array.dtype,
            )
    with safetensors.safe_open(tmp_path / "new.safetensors", "np") as file:
        assert file.metadata() == {"format": "pt"}
    convert(done, tmp_path / "t.json")
    move_embeddings(str(model), str(tmp_path / "same.safetensors"), tmp_path / "t.json.ids.json")
    assert (tmp_path / "same.safetensors").read_bytes() == (tmp_path / "new.safetensors").read_bytes()
    move_embeddings(model, model, done)  # in place: it is read to the end before it has the name
    assert model.read_bytes() == (tmp_path / "new.safetensors").read_bytes()


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [({"sparsity": 0}, UsageError, "sparsity must be 1 or more, not 0"),
     ({"sparsity": "x"}, TypeError, "sparsity must be an int, not str"),
     ({"scaled": "no"}, TypeError, "scaled must be a bool, not str")],
)  # fmt: skip
def test_options_are_checked_without_a_donor_too(model, tmp_path, wrong, error, message):
    done = extend(train([TEXT], vocab_size=262), ["xyz xyz xyz"], add=2)
    with pytest.raises(error, match=f"^{message}$"):
        move_embeddings(model, tmp_path / "new.safetensors", done, **wrong)
    assert not (tmp_path / "new.safetensors").exists()


def test_a_smaller_file(model, tmp_path):
    load = needs("safetensors.numpy", "safetensors").load_file
    done = prune(train([TEXT], vocab_size=262), ["low"], 258)
    shapes = move_embeddings(model, tmp_path / "new", done, tensors=["lm_head.weight"])
    assert shapes == {"lm_head.weight": (258, 6)}
    new, old = load(tmp_path / "new"), load(model)
    assert new["model.embed_tokens.weight"].shape == (262, 6)
    kept = [old_id for old_id, now in sorted(done.old_to_new.items()) if now is not None]
    assert new["lm_head.weight"].tobytes() == old["lm_head.weight"][kept].tobytes()
    begun = train([TEXT], vocab_size=262)
    done = pruning.prune(begun, counts_of([(b"low", 1)]), 258, order="last")
    assert move_embeddings(model, tmp_path / "last", done, tensors=["lm_head.weight"]) == {"lm_head.weight": (258, 6)}
    assert load(tmp_path / "last")["lm_head.weight"].tobytes() == old["lm_head.weight"][:258].tobytes()


def test_bfloat16_is_rounded_to_the_nearest(tmp_path):
    bits = np.array([[0x3F80], [0x3F81], [0x3F84], [0x7FC1]], "<u2")  # 1, 1 + 1/128, 1 + 4/128, no number
    path = tmp_path / "bf16"
    path.write_bytes(write_header([("e", "BF16", (4, 1), 8)], {}) + bits.tobytes())
    ids = {str(each): each for each in range(4)}
    made = {"4": [0, 1], "5": [0, 2], "6": [1, 2, 2, 2], "7": [3]}
    (tmp_path / "map").write_text(json.dumps({"schema": "bpe.id-map/1", "size": 8, "old_to_new": ids, "made_of": made}))
    move_embeddings(path, tmp_path / "new", tmp_path / "map", tensors=["e"])
    data = (tmp_path / "new").read_bytes()
    header = read_header(memoryview(data))
    new = np.frombuffer(data, "<u2", 8, header.data)
    assert new.tolist() == [0x3F80, 0x3F81, 0x3F84, 0x7FC1, 0x3F80, 0x3F82, 0x3F83, 0x7FC0]


def test_any_number_of_anchors_may_be_asked_for():
    """As many are taken as there are, and no memory for more."""
    same = {0: 0, 1: 1}
    ids = table(3, same, {2: ()}, same | {2: 2})
    rows = by_pursuit(np.eye(2), np.array([[1, 0], [0, 2], [3, 4]], "f8"), ids, sparsity=10**12)
    assert rows[2] == pytest.approx([3, 2])


def test_what_a_pursuit_cannot_be():
    same = {0: 0, 1: 1}
    ids, donor = table(3, same, {2: ()}, same | {2: 2}), np.eye(3)
    for wrong, error, message in (
        ({"sparsity": 0}, UsageError, "sparsity must be 1 or more, not 0"),
        ({"sparsity": 1.5}, TypeError, "sparsity must be an int, not float"),
        ({"scaled": "no"}, TypeError, "scaled must be a bool, not str"),
        ({"donor": np.ones(3)}, UsageError, "this tensor has one number per id"),
        ({"donor": np.eye(2)}, UsageError, "the donor has 2 rows, and its ids run to 2"),
    ):
        with pytest.raises(error, match=message):
            by_pursuit(np.eye(2), **{"donor": donor, "id_map": ids} | wrong)


@pytest.mark.parametrize("scaled", [False, True])
def test_a_donor(model, scaled, tmp_path):
    """A union's new tokens are approximated in the donor, table by table."""
    save, load = (getattr(needs("safetensors.numpy", "safetensors"), name) for name in ("save_file", "load_file"))
    first, second = train([TEXT], vocab_size=262), train(["xyz xyz xyz"], vocab_size=258)
    done = merge(first, second)
    generator = np.random.default_rng(2)
    names = ("model.embed_tokens.weight", "lm_head.weight")
    types = {"model.embed_tokens.weight": "f4", "lm_head.weight": "f2"}
    donors = {name: generator.normal(size=(258, 4)).astype(types[name]) for name in names}
    save(donors, tmp_path / "donor")
    move_embeddings(model, tmp_path / "new", done, donor=tmp_path / "donor", sparsity=3, scaled=scaled)
    old, new = load(model), load(tmp_path / "new")
    table_of_ids = IdMap.of(done)
    assert len(done.made_of) == 2
    for name in names:
        rows = by_pursuit(old[name], donors[name], table_of_ids, sparsity=3, scaled=scaled)
        assert rows.keys() == done.made_of.keys()
        for token_id, row in rows.items():
            assert new[name][token_id].tobytes() == row.astype(types[name]).tobytes()


@at_least(1)
@given(st.binary(max_size=60), st.integers(0, 200), st.sampled_from([0, 1, 7, 8, 40]))
def test_damaged_files_are_refused(noise, place, cut):
    whole = write_header([("a", "F32", (2, 2), 16), ("b", "U8", (3,), 3)], {"x": "y"}) + bytes(range(19))
    header = read_header(memoryview(whole))
    assert [*header.tensors] == ["a", "b"]
    place %= len(whole)
    damaged = whole[:place] + noise + whole[place + cut :]
    try:
        found = read_header(memoryview(damaged))
    except FormatError:
        return
    assert sum(each.end - each.start for each in found.tensors.values()) == len(damaged) - found.data
    compared()


@pytest.mark.parametrize("metadata", [[1], [], {"a": 1}, "a", 0, False])
def test_metadata_that_is_not_text_is_refused(metadata, tmp_path):
    header = json.dumps({"__metadata__": metadata}).encode()
    (tmp_path / "odd").write_bytes(len(header).to_bytes(8, "little") + header)
    done = extend(train([TEXT], vocab_size=262), ["xyz xyz"], add=1)
    with pytest.raises(FormatError, match="the header of the safetensors file is broken"):
        move_embeddings(tmp_path / "odd", tmp_path / "new", done)
    assert not (tmp_path / "new").exists()


def test_metadata_may_be_null_as_for_the_library():
    header = json.dumps({"__metadata__": None}).encode()
    found = read_header(memoryview(len(header).to_bytes(8, "little") + header))
    assert (found.metadata, found.tensors) == ({}, {})


def test_what_cannot_be(model, tmp_path):
    done = extend(train([TEXT], vocab_size=262), ["xyz xyz"], add=1)
    out = tmp_path / "new"
    with pytest.raises(UsageError, match="there is no tensor 'x'"):
        move_embeddings(model, out, done, tensors=["x"])
    with pytest.raises(UsageError, match="the embeddings have 7 rows, and the old ids run to 261"):
        move_embeddings(model, out, done, tensors=["model.norm.weight"])
    with pytest.raises(FormatError, match="'steps' has the type I64"):
        move_embeddings(model, out, done, tensors=["steps"])
    with pytest.raises(UsageError, match="a donor needs the map of a union"):
        move_embeddings(model, out, done, donor=model)
    with pytest.raises(InputError, match="no such file"):
        move_embeddings(tmp_path / "none", out, done)
    (tmp_path / "empty").touch()
    with pytest.raises(FormatError, match="empty is empty"):
        move_embeddings(tmp_path / "empty", out, done)
    (tmp_path / "plain").write_bytes(write_header([("x", "F32", (1,), 4)], {}) + bytes(4))
    with pytest.raises(UsageError, match="no tensor has the usual name"):
        move_embeddings(tmp_path / "plain", out, done)
    for text in (
        '{"schema": "other"}', "[]", '{"schema": "bpe.id-map/1", "size": 1, "old_to_new": {"0": -1}}',
        '{"schema": "bpe.id-map/1", "size": null, "old_to_new": {"0": 0}}',
        '{"schema": "bpe.id-map/1", "size": 1, "old_to_new": {}, "made_of": {"0": [null]}}',
    ):  # fmt: skip
        (tmp_path / "map").write_text(text)
        with pytest.raises(FormatError, match="not a map of ids"):
            move_embeddings(model, out, tmp_path / "map")
    with pytest.raises(TypeError, match="source"):
        move_embeddings(3, out, done)
    assert not out.exists()
