"""Measure which tokens serve as steps of merging only, by the merges that a corpus runs through.

Three papers ask the same of a token: how much of it is left when all merging is done?

- LiteToken (arXiv:2602.04706): the *share that stays*, ``final / made``. Every time that a token is made it either
  stays, or a merge takes it. Tokens of which hardly any stays are residues.
- PickyBPE (arXiv:2409.04599): the *share taken* by one merge, of what there is of the token just before it
  ("intersection over self"). Its training takes a token back when that share is large. As in pchizhov/picky_bpe, it is
  the merge's count by the sum of that and what is left, so a merge of a token with itself counts each place once.
- Scaffold-BPE (arXiv:2404.17808): a token that others are built on and that stays less often than the next merge would
  occur is a *scaffold*. A finished tokenizer does not say which merge would come next; the last ones stand for it.

All three follow from how often each token stays. A token's text is merged alike wherever its edges are not crossed
(``merge_tree.py``), so a token that stays was made once, and each token of its tree with it. The share taken is that of
doing each merge everywhere in the corpus, one after the other, which is the same where no merge comes before one that
makes its parts. A piece that is looked up as a whole counts as if it had been merged.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bpe_cli.reports.tokenizer.contents import NamedToken

if TYPE_CHECKING:
    from bpe_cli.reports.tokenizer.merge_tree import MergeTree
    from bpe_cli.reports.tokenizer.structure import Anatomy

SHARE = 0.05
"""A token of which at most this part stays is a residue, if nothing else is asked for."""

LEAST_MADE = 100
"""And that is made at least so often, so that the part means something."""

STAYING = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)
"""Shares for which it is said of how many tokens no more than that stays."""

TAKEN = (0.6, 0.7, 0.8, 0.9)
"""Thresholds of PickyBPE for which it is said how many tokens one merge takes to such a part."""


@dataclass(frozen=True, slots=True)
class Residue:
    """A token that is made to be merged on.

    Attributes:
        final: How often it stays.
        made: How often it is made.
        ratio: ``final / made``.
        taken: The largest part that one merge takes of what there is of it, 0 to 1.
        mainly: What the merge makes that takes it most often.
        child_count: How many tokens are made of it directly.
        scaffold: Whether it stays less often than the last merges are made.
    """

    token: NamedToken
    final: int
    made: int
    ratio: float
    taken: float
    mainly: NamedToken
    child_count: int
    scaffold: bool


@dataclass(frozen=True, slots=True)
class Residues:
    """The residues of a vocabulary on a corpus, and how many tokens other measures find.

    Attributes:
        share: The largest share that stays of a residue.
        measured: Tokens that a merge makes, and this corpus at least ``LEAST_MADE`` times.
        vocabulary_share: Part of all ordinary tokens that are residues, 0 to 1.
        never_final: Residues that never stay.
        final_count: How often residues stay, all together.
        final_share: Part of all tokens of the corpus that this is, 0 to 1.
        staying: (share, how many of the measured tokens stay at most so often).
        taken: (share, of how many of them one merge takes at least so much).
        scaffold_limit: How often the last merges are made: the median over the last hundredth of them.
        scaffolds: Tokens that a merge makes, that others are made of, and that stay less often than that.
        tokens: The residues, by the share that stays, then the most often made first.
    """

    share: float
    measured: int
    vocabulary_share: float
    never_final: int
    final_count: int
    final_share: float
    staying: tuple[tuple[float, int], ...]
    taken: tuple[tuple[float, int], ...]
    scaffold_limit: int
    scaffolds: int
    tokens: tuple[Residue, ...]

    @property
    def count(self) -> int:
        """How many residues there are."""
        return len(self.tokens)


def find_residues(
    anatomy: Anatomy, tree: MergeTree, counts: Mapping[int, int], made: Sequence[int], token_count: int, share: float
) -> Residues:
    """Find the tokens that are made to be merged on.

    A single byte or character that hardly stays is no residue: everything is spelt with those.

    Args:
        anatomy: What tokens stand for.
        tree: What each is made of.
        counts: How often each ordinary token stays, by id.
        made: How often each token is made, by id, as ``tree.times_made`` counts it.
        token_count: Tokens of the corpus.
        share: The largest share that stays of a residue.

    Complexity: linear in the vocabulary.
    """
    taken, mainly = shares_taken(tree, made)
    limit = scaffold_limit(tree, made)
    merged = [token_id for token_id in counts if tree.parts(token_id)]
    measured = [token_id for token_id in merged if made[token_id] >= LEAST_MADE]
    stays = {token_id: counts[token_id] / made[token_id] for token_id in measured}
    found = sorted(
        (token_id for token_id in measured if stays[token_id] <= share and taken[token_id]),
        key=lambda token_id: (stays[token_id], -made[token_id], token_id),
    )
    final = sum(counts[token_id] for token_id in found)
    return Residues(
        share=share,
        measured=len(measured),
        vocabulary_share=len(found) / len(counts) if counts else 0.0,
        never_final=sum(not counts[token_id] for token_id in found),
        final_count=final,
        final_share=final / token_count if token_count else 0.0,
        staying=tuple((most, sum(each <= most for each in stays.values())) for most in STAYING),
        taken=tuple((least, sum(taken[each] >= least for each in measured)) for least in TAKEN),
        scaffold_limit=limit,
        scaffolds=sum(taken[token_id] > 0 and counts[token_id] < limit for token_id in merged),
        tokens=tuple(
            Residue(
                token=anatomy.named(token_id),
                final=counts[token_id],
                made=made[token_id],
                ratio=stays[token_id],
                taken=taken[token_id],
                mainly=anatomy.named(mainly[token_id]),
                child_count=len(tree.children[token_id]),
                scaffold=counts[token_id] < limit,
            )
            for token_id in found
        ),
    )


def shares_taken(tree: MergeTree, made: Sequence[int]) -> tuple[array[float], array[int]]:
    """Find the largest part that one merge takes of each token, and what it mainly becomes, by id.

    Nothing is taken of a token that no merge of the corpus uses. Of merges that take it equally often the first counts.
    """
    there, most = [*made], [0] * len(made)
    taken, mainly = array("d", bytes(8 * len(made))), array("I", bytes(4 * len(made)))
    for product in tree.order:
        times = made[product]
        if not times:
            continue
        left, right = tree.left[product], tree.right[product]
        for part in dict.fromkeys((left, right)):
            gone = times * (2 if left == right else 1)
            there[part] -= gone
            taken[part] = max(taken[part], times / (there[part] + times))
            if gone > most[part]:
                most[part], mainly[part] = gone, product
    return taken, mainly


def scaffold_limit(tree: MergeTree, made: Sequence[int]) -> int:
    """Return how often the last merges are made: the median over the last hundredth of them, the upper of two.

    It is 0 where a corpus is too small, or too unlike the text of the training, to make them.
    """
    last = sorted(made[product] for product in tree.order[-max(1, len(tree.order) // 100) :])
    return last[len(last) // 2] if last else 0
