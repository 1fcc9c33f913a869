"""Pruning and extending as tokenizer-extension does it (arXiv:2512.03989): the same merges, orders and ids."""

from __future__ import annotations

import json
import lzma
from functools import cached_property

import pytest

from bpe_cli.formats.huggingface import tokenizer_json
from bpe_cli.stages.spelling import to_visible
from bpe_cli.support.blocks import Block
from bpe_cli.surgery import count_pieces, extend, prune
from bpe_cli.surgery.merge_rules import composite
from bpe_cli.surgery.operation import protected_ids
from bpe_cli.surgery.pruning import choose_leaves
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers.counts import new_counts
from tests.counted import at_least, compared

CASES = ("botchan700-ru500", "shakespeare1200-botchan-code800-max8")


class Case:
    """A reference case: the base tokenizer, the corpus, and what their code made of both."""

    def __init__(self, shared, name: str) -> None:
        folder = shared / "expected" / "frontier"
        self.data = json.loads(lzma.decompress((folder / "tokenizer-extension" / f"{name}.json.xz").read_bytes()))
        suite = json.loads((shared / "expected" / "suite.json").read_bytes())
        extra = json.loads((folder / "extra_texts.json").read_bytes())
        self.texts = {each["id"]: each["text"] for each in suite["cases"]} | extra
        self.base = tokenizer_json.loads(self._file(self.data["base_vocab"], self.data["base_merges"]))
        used = [(shared / part["file"]).read_bytes()[: part["used_bytes"]] for part in self.data["extension_inputs"]]
        self.corpus: list[str] = []
        for part in used:
            lines = part.decode().split("\n")
            documents = ("\n".join(lines[at : at + 10]) for at in range(0, len(lines), 10))
            self.corpus += [document for document in documents if document]

    def _file(self, vocab: list[str], merges: list[list[str]]) -> bytes:
        regex = {"Regex": self.data["pretokenizer_regex"]}
        split = {"type": "Split", "pattern": regex, "behavior": "Isolated", "invert": False}
        byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
        return json.dumps(
            {
                "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
                "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]},
                "post_processor": None, "decoder": byte_level,
                "model": {
                    "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                    "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                    "vocab": {token: token_id for token_id, token in enumerate(vocab)}, "merges": merges,
                },
            }
        ).encode()  # fmt: skip

    def counts(self, tokenizer: Tokenizer):
        counts = new_counts()
        count_pieces(tokenizer, [Block.of([text.encode() for text in self.corpus])], counts, specials="all")
        return counts

    @cached_property
    def extended(self) -> Tokenizer:
        return extend(
            self.base, self.counts(self.base), self.data["extended_vocab_size"],
            tie="smallest-text", max_token_length=self.data["params"].get("max_token_length"),
        ).tokenizer  # fmt: skip


@pytest.fixture(scope="module", params=CASES)
def case(request, shared) -> Case:
    return Case(shared, request.param)


def test_the_corpus_is_theirs(case):
    assert len(case.corpus) == case.data["extension_docs"]


@at_least(300)
def test_continued_training(case):
    extended = case.extended
    vocabulary, first = extended.model.vocabulary, len(case.data["base_merges"])
    learnt = [[to_visible(vocabulary.token(part)) for part in merge[:2]] for merge in extended.model.merges][first:]
    assert learnt == case.data["extension_merges"]
    size = len(case.data["base_vocab"])
    new = [to_visible(vocabulary.token(token_id)) for token_id in range(size, extended.vocab_size)]
    assert new == case.data["extension_vocab"]
    for name, ids in case.data["encodings"].items():
        assert extended.encode(case.texts[name]) == ids, name
        compared()


@pytest.mark.parametrize(("theirs", "ours"), [("leaf_frequency", "inherited"), ("leaf_last_n", "last")])
def test_orders_of_leaves(case, theirs, ours):
    whole = case.base if case.data["pruning_of"] == "base" else case.extended
    model = whole.model
    removable = composite(model) - protected_ids(whole)
    order = choose_leaves(model, case.counts(whole), removable, len(removable), order=ours)
    assert order == case.data["pruning_orders"][theirs]
    number = case.data["params"]["prune_n"]
    pruned = prune(whole, case.counts(whole), whole.vocab_size - number, order=ours)
    gone = {old for old, new in pruned.old_to_new.items() if new is None}
    assert gone == {*case.data["pruning_orders"][theirs][:number]}
    if theirs == "leaf_frequency":
        vocabulary = pruned.tokenizer.model.vocabulary
        left = [to_visible(vocabulary.token(token_id)) for token_id in range(vocabulary.size)]
        assert left == case.data["leaf_frequency_pruned"]["vocab"]


def test_our_own_order_counts_exactly(case):
    """A leaf that goes does not always become its two parts, so exact counts come to other leaves in the end."""
    whole = case.base if case.data["pruning_of"] == "base" else case.extended
    removable = composite(whole.model)
    ours = choose_leaves(whole.model, case.counts(whole), removable, len(removable))
    theirs = case.data["pruning_orders"]["leaf_frequency"]
    assert sorted(ours) == sorted(theirs)
    assert (ours == theirs) == (case.data["pruning_of"] == "base")  # hardly any of whose leaves the corpus uses
