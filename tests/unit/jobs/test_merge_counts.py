"""Counts are added up in a tree of files in their order; test_count_parts.py has what they are then."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.jobs.merge_counts import merge_in_tree, remove_merged


@given(sizes=st.lists(st.integers(1, 3), max_size=200), fan_in=st.integers(2, 9))
def test_the_tree_keeps_the_order(sizes: list[int], fan_in: int) -> None:
    leaves = [f"{number}" for number in range(len(sizes))]
    made: dict[str, tuple[str, ...]] = {}

    class Noting:
        processes = None

        def run(self, work, parts, advance, note):
            made.update({group.target: group.files for group in parts})
            return iter([None] * len(parts))

    def under(file: str) -> list[str]:
        return [leaf for each in made[file] for leaf in under(each)] if file in made else [file]

    with pytest.MonkeyPatch.context() as patched, TemporaryDirectory() as place:
        patched.setattr("bpe_cli.jobs.merge_counts.FAN_IN", fan_in)
        patched.setattr("os.path.getsize", lambda _: 1)
        left = merge_in_tree(f"{place}/merged", leaves, leaves, 1 << 30, Noting())
    assert len(left) <= fan_in
    assert [leaf for file in left for leaf in under(file)] == leaves


def test_only_sums_are_removed(tmp_path: Path) -> None:
    """A folder called ``merged`` may be anybody's."""
    remove_merged(str(tmp_path))
    (tmp_path / "merged").mkdir()
    (tmp_path / "merged/mine.txt").write_text("precious")
    (tmp_path / "merged" / f"{'0a' * 16}.counts").write_text("a sum")
    (tmp_path / "merged/part-0123456789abcdef.counts").write_text("a part of other counts")
    remove_merged(str(tmp_path))
    left = {path.name for path in (tmp_path / "merged").iterdir()}
    assert left == {"mine.txt", "part-0123456789abcdef.counts"}
