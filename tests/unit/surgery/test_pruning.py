"""What is least used goes, and everything that is left can still be reached."""

from __future__ import annotations

import json
from array import array
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_cli
from bpe_cli.errors import FormatError, TrainingError, UsageError
from bpe_cli.formats import dump, rehearse
from bpe_cli.formats.features import LOSSES
from bpe_cli.formats.sentencepiece import model as sentencepiece_model
from bpe_cli.stages import CharacterBpe, LongestMatch, MergeBpe, RankBpe, ScoredBpe, SpecialToken
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.surgery import Operation, prune, skeleton
from bpe_cli.surgery.merge_rules import MergeRules, composite
from bpe_cli.surgery.operation import count_tokens, renumbered_model, used_ids
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.usage import Padding, Usage
from bpe_cli.trainers import bbpe, sentencepiece, train, unigram, wordpiece
from bpe_cli.trainers.counts import new_counts
from bpe_cli.trainers.unmerged import NgramOptions, WordOptions
from tests import every_format
from tests.counted import at_least, compared
from tests.needs import needs

from .makers import WORDS, byte_level, characters, counted, counts_of


def without(tokenizer: Tokenizer, token: bytes) -> Tokenizer:
    """Take a token's text and merges away, leaving its id unused."""
    model = tokenizer.model
    tokens = [
        b"" if content == token else content for content in map(model.vocabulary.token, range(tokenizer.vocab_size))
    ]
    gone = model.vocabulary.id_of(token)
    merges = Merges.from_pairs(merge for merge in model.merges if merge[2] != gone)
    return replace(tokenizer, model=replace(model, vocabulary=Vocabulary.from_tokens(tokens), merges=merges))


def by_brute_force(tokenizer: Tokenizer, counts, number: int) -> list[bytes]:
    """Remove leaves one at a time, counting the whole corpus anew by the core for each: the definition."""
    for _ in range(number):
        model = tokenizer.model
        uses = count_tokens(model, counts)
        parts = {part for left, right, _ in model.merges for part in (left, right)}
        leaves = [each for each in composite(model) if each not in parts and each not in tokenizer.special_ids]
        least = min(leaves, key=lambda token_id: (uses.get(token_id, 0), -token_id))
        tokenizer = without(tokenizer, model.vocabulary.token(least))
    return sorted(token for _, token in tokenizer.model.vocabulary.items())


def is_whole(operation: Operation) -> bool:
    """Return whether ids are closed up in their old order."""
    new = [each for _, each in sorted(operation.old_to_new.items()) if each is not None]
    return new == list(range(len(new))) == used_ids(operation.tokenizer)


@at_least(10)
@given(WORDS, WORDS, st.integers(1, 12), st.integers(1, 12), st.booleans())
def test_bytes_against_the_definition(words, others, merges, number, ignore):
    whole = byte_level(words, merges)
    whole = replace(whole, model=replace(whole.model, ignore_merges=ignore))
    number = min(number, len(composite(whole.model)))
    if number == 0:
        return
    counts = counted(whole, " ".join(others))
    operation = prune(whole, counts, len(used_ids(whole)) - number)
    vocabulary = operation.tokenizer.model.vocabulary
    assert sorted(token for _, token in vocabulary.items()) == by_brute_force(whole, counts, number)
    assert is_whole(operation)
    bare = Tokenizer(operation.tokenizer.model)
    for token_id, content in vocabulary.items():  # whatever could be reached can be
        assert bare.encode(content) == [token_id]
    compared()


@at_least(14)
@given(WORDS, WORDS, st.integers(1, 12), st.integers(1, 12), st.sampled_from(["0.1", "0.2"]))
def test_characters_against_the_definition(words, others, merges, number, form):
    whole = characters(words, merges, suffix_form=form)
    number = min(number, len(composite(whole.model)))
    if number == 0:
        return
    counts = counted(whole, " ".join(others))
    operation = prune(whole, counts, len(used_ids(whole)) - number)
    kept = sorted(token for _, token in operation.tokenizer.model.vocabulary.items())
    assert kept == by_brute_force(whole, counts, number)
    assert is_whole(operation)
    compared()


@at_least(12)
@given(WORDS, WORDS, st.integers(1, 12), st.integers(1, 12))
def test_ranks_as_merges(words, others, merges, number):
    whole = byte_level(words, merges, compat="minbpe")
    ranks = Tokenizer(RankBpe(whole.model.vocabulary), whole.pre_tokenizer)
    number = min(number, len(composite(whole.model)))
    if number == 0 or len(whole.model.vocabulary) != 256 + len(whole.model.merges):
        return
    size = whole.vocab_size - number
    operations = [prune(each, counted(each, " ".join(others)), size) for each in (ranks, whole)]
    assert [operation.notes for operation in operations] == [(), ()]
    pruned, by_merges = (operation.tokenizer for operation in operations)
    assert isinstance(pruned.model, RankBpe)
    assert pruned.model.vocabulary == by_merges.model.vocabulary
    for text in words + others:
        assert pruned.encode(text) == by_merges.encode(text)
    compared()


@given(WORDS, st.integers(1, 12), WORDS)
def test_the_short_loop_merges_like_the_core(words, merges, others):
    tokenizer = byte_level(words, merges)
    rules = MergeRules(tokenizer.model.merges)
    spelt = Tokenizer(replace(tokenizer.model, merges=Merges.from_pairs(())))
    bare = Tokenizer(tokenizer.model)
    for text in [*others, "".join(words)]:
        assert rules.apply(spelt.encode(text)) == bare.encode(text)


def test_what_is_used_less_since_goes_next():
    """Without `ab`, `abcd` has `bc` in the place of `cd`, which is left with two uses where it had four."""
    vocabulary = Vocabulary.from_tokens([b"a", b"b", b"c", b"d", b"ab", b"bc", b"cd"])
    model = CharacterBpe(vocabulary, Merges.from_pairs([(0, 1, 4), (1, 2, 5), (2, 3, 6)]))
    counts = counts_of([b"abcd"] * 2 + [b"cd"] * 2 + [b"bc"] * 3)
    kept = prune(Tokenizer(model), counts, 5).tokenizer.model.vocabulary
    assert [*kept.tokens()] == [b"a", b"b", b"c", b"d", b"bc"]


def test_what_is_used_more_since_waits_with_its_new_count():
    """Without `ab`, `abc` has `bc`, which has five uses then where it had three: so `xy` goes, which has four."""
    vocabulary = Vocabulary.from_tokens([b"a", b"b", b"c", b"x", b"y", b"ab", b"bc", b"xy"])
    model = CharacterBpe(vocabulary, Merges.from_pairs([(0, 1, 5), (1, 2, 6), (3, 4, 7)]))
    counts = counts_of([b"abc"] * 2 + [b"bc"] * 3 + [b"xy"] * 4)
    kept = prune(Tokenizer(model), counts, 6).tokenizer.model.vocabulary
    assert [*kept.tokens()] == [b"a", b"b", b"c", b"x", b"y", b"bc"]


def test_what_a_run_as_a_whole_leaves_counts_for_its_parts():
    r"""Without ``\n\n\n\n`` each of 100 runs is ``\n\n`` twice: so ``ab`` goes, which has 150 uses."""
    vocabulary = Vocabulary.from_tokens([b"\n", b"a", b"b", b"\n\n", b"\n\n\n\n", b"ab"])
    model = CharacterBpe(vocabulary, Merges.from_pairs([(0, 0, 3), (3, 3, 4), (1, 2, 5)]), whole_runs_of="\n")
    whole, counts = Tokenizer(model), counts_of([b"\n\n\n\n"] * 100 + [b"ab"] * 150)
    kept = prune(whole, counts, 4).tokenizer.model
    assert sorted(kept.vocabulary.tokens()) == by_brute_force(whole, counts, 2) == [b"\n", b"\n\n", b"a", b"b"]
    assert sum(count_tokens(kept, counts).values()) == 500


def test_a_piece_that_nothing_becomes_goes_before_one_that_nobody_uses():
    """`bc` merges first in `abcd`, so `ab` and `cd` never meet there: without it, they would."""
    texts = [b"", b"a", b"b", b"c", b"d", b"ab", b"cd", b"abcd", b"bc"]
    scores = array("d", [0.0, *[-9.0] * 4, -2.0, -2.0, -3.0, -1.0])
    whole = Tokenizer(ScoredBpe(Vocabulary.from_tokens(texts), scores, unk_id=0))
    kept = prune(whole, counts_of([b"ab", b"cd"]), 8).tokenizer.model.vocabulary
    assert [*kept.tokens()] == [b"", b"a", b"b", b"c", b"d", b"ab", b"cd", b"bc"]


def test_parts_that_are_freed_merge_with_their_neighbours():
    """Without "ab" the b of "abc" is free for "bc": its uses do not fall to its two parts."""
    alphabet = [bytes([byte]) for byte in range(256)]
    a, b, c = b"abc"
    model = MergeBpe(Vocabulary.from_tokens([*alphabet, b"ab", b"bc"]), Merges.from_pairs([(a, b, 256), (b, c, 257)]))
    tokenizer = Tokenizer(model)
    operation = prune(tokenizer, counted(tokenizer, "abc"), 257)
    assert operation.old_to_new[256] == 256  # "bc", which nothing uses, went
    operation = prune(
        tokenizer, counted(Tokenizer(model, pre_tokenizer=byte_level(["a"], 0).pre_tokenizer), "abc bc bc"), 257
    )
    assert operation.old_to_new == {**{each: each for each in range(256)}, 256: None, 257: 256}
    assert operation.tokenizer.encode("abc") == [a, 256]


@at_least(12)
@given(WORDS, st.integers(1, 12), st.booleans())
def test_the_skeleton_is_what_pruning_leaves_at_the_least(words, merges, by_bytes):
    whole = (byte_level if by_bytes else characters)(words, merges)
    least = skeleton(whole)
    if least != replace(whole, origin=None):
        assert prune(whole, counted(whole, " ".join(words)), len(used_ids(least))).tokenizer == least
        compared()


@at_least(1)
@pytest.mark.parametrize("kind", sorted(every_format.KINDS))
def test_a_format_that_holds_the_whole_holds_the_skeleton(kind):
    """So what is refused before the work would be refused after it; no proof refuses more, as ``test_proof`` sees."""
    whole = every_format.trained(kind)
    for name in every_format.FORMATS:
        try:
            rehearse(replace(whole, origin=None), name, LOSSES)
        except FormatError:
            continue
        assert rehearse(skeleton(whole), name, LOSSES), name
        compared()


def test_of_equals_the_higher_id_goes():
    tokenizer = byte_level(["ab", "cd", "ef"], 3)
    operation = prune(tokenizer, counted(tokenizer, "ab cd"), 257)
    assert [new for old, new in operation.old_to_new.items() if old >= 256] == [256, None, None]
    assert operation.made_of == {}
    assert operation.summary == ("2 pruned",)


def test_everything_that_names_an_id_is_renumbered():
    tokenizer = byte_level(["ab", "cd"], 2)
    post = {
        "type": "Sequence",
        "processors": [
            {"type": "BertProcessing", "sep": ["</s>", 261], "cls": ["<s>", 260]},
            {
                "type": "TemplateProcessing",
                "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
                "pair": [],
                "special_tokens": {"<s>": {"id": "<s>", "ids": [260], "tokens": ["<s>"]}},
            },
        ],
    }
    tokenizer = replace(
        tokenizer,
        special_tokens=(SpecialToken(b"<s>", 260), SpecialToken(b"</s>", 261)),
        post_processor=json.dumps(post),
        usage=Usage(padding=Padding(pad_id=261, pad_token="</s>"), roles=(("bos", 260), ("eos", 261))),
    )
    operation = prune(tokenizer, counted(tokenizer, "cd"), 259)
    changed = operation.tokenizer
    assert changed.special_tokens == (SpecialToken(b"<s>", 257), SpecialToken(b"</s>", 258))
    assert changed.usage.roles == (("bos", 257), ("eos", 258))
    assert changed.usage.padding.pad_id == 258
    first, second = json.loads(changed.post_processor)["processors"]
    assert (first["sep"], first["cls"]) == (["</s>", 258], ["<s>", 257])
    assert second["special_tokens"]["<s>"]["ids"] == [257]
    assert changed.vocab_size == 259
    broken = replace(tokenizer, post_processor='{"type": "BertProcessing", "sep": 1}')
    with pytest.raises(FormatError, match="post-processor is broken"):
        prune(broken, counted(tokenizer, "cd"), 259)


TEXT = "low lower lowest newer newest wide wider widest " * 3 + "strong stronger strongest"


@pytest.mark.parametrize(
    "options",
    [
        unigram.Options(vocab_size=40),
        wordpiece.Options(vocab_size=60),
        WordOptions(vocab_size=12),
        NgramOptions(vocab_size=40),
        sentencepiece.Options(vocab_size=50, model="bpe"),
        sentencepiece.Options(vocab_size=45, model="unigram"),
    ],
    ids=lambda options: f"{type(options).__module__.rpartition('.')[2]}-{getattr(options, 'model', '')}",
)
def test_other_models(options):
    whole = train([TEXT], options)
    counts = counted(whole, TEXT)
    removable = composite(whole.model) - whole.special_ids.keys()
    number = len(removable) // 2
    operation = prune(whole, counts, len(used_ids(whole)) - number)
    assert is_whole(operation)
    gone = {old for old, new in operation.old_to_new.items() if new is None}
    assert len(gone) == number
    assert gone <= removable
    text = "newest lowest strong"
    pruned = operation.tokenizer
    if not isinstance(options, (WordOptions, NgramOptions)):
        assert pruned.decode(pruned.encode(text)) == whole.decode(whole.encode(text))
    everything = prune(whole, counts, len(used_ids(whole)) - len(removable))
    assert is_whole(everything)


def test_ids_far_away_cost_nothing():
    far = train([TEXT], WordOptions(vocab_size=12))
    model = replace(far.model, unk_id=(1 << 32) - 2)
    far = replace(far, model=model, special_tokens=(SpecialToken(b"<unk>", (1 << 32) - 2),))
    operation = prune(far, counted(far, "low low newest"), 3)
    assert operation.tokenizer.model.unk_id == 2
    assert operation.tokenizer.encode("low wide") == [operation.tokenizer.model.vocabulary.id_of(b"low"), 2]


def test_rounds_take_what_is_not_used_first():
    whole = train([TEXT], WordOptions(vocab_size=20))
    counts = counted(whole, "low low newest wider wider wider")
    size = len(whole.special_tokens) + 2
    operation = prune(whole, counts, size)
    assert {token for _, token in operation.tokenizer.model.vocabulary.items()} >= {b"wider", b"low"}


def test_scores_as_merges():
    """Each step alone, which counts anew by the core, gives what all steps at once give; as does the library."""
    theirs = needs("sentencepiece").SentencePieceProcessor()
    whole = train([TEXT], sentencepiece.Options(vocab_size=60, model="bpe"))
    counts = counted(whole, TEXT)
    size = len(used_ids(whole))
    step = whole
    for smaller in range(size - 1, size - 12, -1):
        step = prune(step, counts, smaller).tokenizer
        assert prune(whole, counts, smaller).tokenizer == step
        theirs.LoadFromSerializedProto(sentencepiece_model.dump(step)[""])
        for line in (TEXT, "lowest widest", "strong newer"):
            assert step.encode(line) == theirs.encode(line)
        for token_id in composite(step.model):
            text = step.token_bytes(token_id)
            assert Tokenizer(step.model).encode(text) == [token_id]
    unused = replace(whole.model, kinds=whole.model.kinds[:-1] + b"\x05")
    with pytest.raises(FormatError, match="unused pieces"):
        prune(replace(whole, model=unused), counts, size - 1)


@given(
    st.lists(
        st.tuples(st.text("ab", min_size=2, max_size=5), st.integers(-4, 0)),
        min_size=1,
        max_size=9,
        unique_by=lambda each: each[0],
    ),
    WORDS,
)
def test_scores_in_any_order_and_equal_ones(pieces, words):
    """One step at a time, each counting anew by the core, or all at once; and nothing gets out of reach."""
    texts = [b"", *(bytes([letter]) for letter in b"abcd"), *(text.encode() for text, _ in pieces)]
    scores = array("d", [0.0, *[-9.0] * 4, *(float(score) for _, score in pieces)])
    whole = Tokenizer(ScoredBpe(Vocabulary.from_tokens(texts), scores, unk_id=0))
    counts = counts_of(word.encode() for word in words)

    def reached(tokenizer: Tokenizer) -> set[bytes]:
        return {text for token_id, text in tokenizer.model.vocabulary.items() if tokenizer.encode(text) == [token_id]}

    step = whole
    for smaller in range(len(texts) - 1, 4, -1):
        following = prune(step, counts, smaller).tokenizer
        assert prune(whole, counts, smaller).tokenizer.model == following.model
        kept = {text for _, text in following.model.vocabulary.items()}
        assert reached(step) & kept == reached(following)
        step = following


def test_like_the_tokenizers_library(corpora):
    hf = needs("tokenizers")
    text = (corpora / "languages" / "en.txt").read_text(encoding="utf-8")
    whole = train([text], bbpe.Options(vocab_size=600, special_tokens=("<s>",)))
    pruned = prune(whole, counted(whole, text), 450).tokenizer
    theirs = hf.Tokenizer.from_str(dump(pruned, "tokenizer.json")[""].decode())
    assert theirs.get_vocab_size() == 450
    for line in text.splitlines():
        assert theirs.encode(line, add_special_tokens=False).ids == pruned.encode(line)


def test_threads_change_nothing(corpora):
    text = (corpora / "languages" / "en.txt").read_text(encoding="utf-8")
    whole = train([text], bbpe.Options(vocab_size=500))
    assert prune(whole, counted(whole, text, 1), 400) == prune(whole, counted(whole, text, 4), 400)


def test_what_cannot_be():
    whole = byte_level(["ab"], 1, special_tokens=("<s>",))
    counts = counted(whole, "ab")
    with pytest.raises(UsageError, match="has 258 tokens: it cannot be pruned to 258"):
        prune(whole, counts, 258)
    with pytest.raises(TrainingError, match="257 of the 258 tokens must stay") as raised:
        prune(whole, counts, 256)
    assert raised.value.hint == "ask for 257 or more"
    with pytest.raises(TrainingError, match="no text"):
        prune(whole, new_counts(), 257)
    sure = train([TEXT], WordOptions(vocab_size=13, unk_token=None))
    with pytest.raises(FormatError, match="word-level without an unknown token"):
        prune(sure, counted(sure, TEXT), 5)


def test_frequencies_of_longest_match_follow_their_tokens():
    made = LongestMatch(Vocabulary.from_tokens([b"a", b"b", b"ab"]), frequencies=array("d", [5, 6, 7]))
    kept = renumbered_model(made, {0: None, 1: 1, 2: 0})
    assert [kept.frequencies[kept.vocabulary.id_of(token)] for token in (b"b", b"ab")] == [6, 7]


def test_pruning_says_how_far_it_is():
    words = " ".join(f"{first}{second}" for first in "abcdefghij" for second in "klmnopqrst")
    whole = bpe_cli.train([words], vocab_size=256 + 90)
    said: list[tuple[int, int]] = []
    prune(whole, counted(whole, words), 256, progress=lambda gone, excess: said.append((gone, excess)))
    assert said == [(64, 90)]


def test_rounds_take_half_of_what_is_left_to_go_and_say_so():
    """Of 8 words 7 are to go, of which one is not used: 4, the half, then the half of 3, and the last."""
    words = "a a a b b c c d d e e f f g g"
    whole = train([f"{words} h h"], WordOptions(vocab_size=20))
    said: list[tuple[int, int]] = []
    size = len(used_ids(whole)) - 7
    prune(whole, counted(whole, words), size, progress=lambda gone, excess: said.append((gone, excess)))
    assert said == [(4, 7), (6, 7), (7, 7)]
