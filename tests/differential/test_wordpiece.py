"""WordPiece and WordLevel give what Hugging Face's ``tokenizers`` gives, and so does training by frequency."""

from __future__ import annotations

import json
import random
from array import array
from collections import Counter
from itertools import accumulate, pairwise
from pathlib import Path

import pytest

from bpe_cli import _core
from bpe_cli.stages import WordLevel, WordPiece
from bpe_cli.stages.component_json import core_model
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.trainers import wordpiece
from tests.core_options import bpe_options
from tests.counted import at_least, compared
from tests.needs import needs

RECORDED = Path("expected", "train", "hf-tokenizers")
BERT = Path("vocabs", "bert-base-uncased", "vocab.txt")

Found = list[tuple[int, tuple[int, int]]]


def pipeline_of(model: WordPiece | WordLevel) -> _core.Encoder:
    stages = _core.Stages(json.dumps({"normalizers": [], "pre_tokenizers": []}))
    vocabulary = model.vocabulary
    return _core.Encoder(stages, core_model(model), (vocabulary.blob, vocabulary.ends))


def encode(pipeline: _core.Encoder, words: list[str]) -> list[Found]:
    """Return (id, span in bytes) of each token of each word."""
    found = []
    for word in words:
        ids, starts, ends = (memoryview(column).tolist() for column in pipeline.spans(word.encode(), None))
        found.append(list(zip(ids, zip(starts, ends, strict=True), strict=True)))
    encoded = [word.encode() for word in words]
    ids, ends = pipeline.encode(b"".join(encoded), array("Q", accumulate(map(len, encoded))), None, 2)
    bulk = [memoryview(ids)[start:end].tolist() for start, end in pairwise([0, *memoryview(ends)])]
    assert bulk == [[token_id for token_id, _ in tokens] for tokens in found]
    return found


def theirs(model, words: list[str]) -> list[Found]:
    return [[(token.id, tuple(token.offsets)) for token in model.tokenize(word)] for word in words]


def words_of(text: str, *, lowercase: bool = True) -> Counter[str]:
    """Normalize and cut text as their BERT does."""
    rival = needs("tokenizers")
    normalizer, cutter = rival.normalizers.BertNormalizer(lowercase=lowercase), rival.pre_tokenizers.BertPreTokenizer()
    counts: Counter[str] = Counter()
    for line in text.splitlines(keepends=True):
        counts.update(word for word, _ in cutter.pre_tokenize_str(normalizer.normalize_str(line)))
    return counts


def counted(words: Counter[str]) -> _core.Counts:
    encoded = [word.encode() for word in words]
    counts = _core.Counts(1 << 30)
    counts.add_pieces(b"".join(encoded), array("Q", accumulate(map(len, encoded))), array("Q", words.values()))
    return counts


# -- the models ------------------------------------------------------------------------------------


def test_random_vocabularies():
    rival = needs("tokenizers")
    random_ = random.Random(5)

    def text(longest: int) -> str:
        return "".join(random_.choices("ab#é你", k=random_.randint(1, longest)))

    for _ in range(400):
        tokens = list(dict.fromkeys(["[UNK]", *(text(5) for _ in range(random_.randint(3, 30)))]))
        prefix, longest = random_.choice(["##", "##", "#", "", "a"]), random_.choice([5, 100])
        model = WordPiece(Vocabulary.from_tokens(token.encode() for token in tokens), 0, prefix, longest)
        rivals = rival.models.WordPiece(
            {token: token_id for token_id, token in enumerate(tokens)},
            unk_token="[UNK]",
            continuing_subword_prefix=prefix,
            max_input_chars_per_word=longest,
        )
        words = [text(9) for _ in range(20)]
        assert encode(pipeline_of(model), words) == theirs(rivals, words), (tokens, prefix, longest)


def test_words_of_bert(shared):
    rival = needs("tokenizers")
    tokens = (shared / BERT).read_text(encoding="utf-8").splitlines()
    model = WordPiece(Vocabulary.from_tokens(token.encode() for token in tokens), tokens.index("[UNK]"))
    rivals = rival.models.WordPiece({token: i for i, token in enumerate(tokens)}, unk_token="[UNK]")
    bare = [token.removeprefix("##") for token in tokens]
    random_ = random.Random(6)
    words = [*bare, *("".join(random_.choices(bare, k=3)) for _ in range(3000))]
    words += ["a" * 100, "a" * 101, "é" * 100, "é" * 101, "##ing", "a##ing", "#", "##", "###"]
    for name in ("en-botchan.txt", "udhr-31-languages.txt"):
        words += words_of((shared / "corpora" / "default" / name).read_text(encoding="utf-8")[:60_000])
    assert encode(pipeline_of(model), words) == theirs(rivals, words)


def test_words_level(shared):
    rival = needs("tokenizers")
    words = list(words_of((shared / "corpora" / "default" / "en-botchan.txt").read_text(encoding="utf-8")[:60_000]))
    tokens = ["<unk>", *words[::2]]
    model = WordLevel(Vocabulary.from_tokens(token.encode() for token in tokens), 0)
    rivals = rival.models.WordLevel({token: i for i, token in enumerate(tokens)}, unk_token="<unk>")
    assert encode(pipeline_of(model), words) == theirs(rivals, words)


# -- training by frequency -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "files", "lowercase"),
    [
        ("wordpiece.botchan.1000", ["en-botchan.txt"], True),
        ("wordpiece.multi.3000", ["en-botchan.txt", "zh-hongloumeng.txt", "ru-prestuplenie.txt"], False),
    ],
)
def test_recorded_training(shared, name, files, lowercase):
    """Their ids of letters inside a word are in random order, and ties go by ids: so theirs are given."""
    content = json.loads((shared / RECORDED / name / "tokenizer.json").read_text(encoding="utf-8"))
    expected = sorted(content["model"]["vocab"], key=content["model"]["vocab"].__getitem__)
    special = [token["content"] for token in content["added_tokens"]]
    words: Counter[str] = Counter()
    for file in files:
        words += words_of((shared / "corpora" / "default" / file).read_text(encoding="utf-8"), lowercase=lowercase)
    letters = [token for token in expected if len(token) == 1]
    inside = [token for token in expected if len(token) == 3 and token.startswith("##")]
    initial = [*special, *letters, *inside]
    assert expected[: len(initial)] == initial
    trained = _core.train_bpe(
        counted(words),
        bpe_options(
            [token.encode() for token in initial],
            range(len(special), len(special) + len(letters)),
            vocab_size=len(expected),
            min_frequency=2,
            by_character=True,
            continuing_subword_prefix="##",
        ),
    )
    blob, ends = trained.tokens()
    assert [blob[start:end].decode() for start, end in pairwise([0, *memoryview(ends)])] == expected


def learnt_by_theirs(words: dict[str, int], options: wordpiece.Options) -> list[str]:
    """Return the tokens of their trainer, by id."""
    rival = needs("tokenizers")
    tokenizer = rival.Tokenizer(rival.models.WordPiece(unk_token=options.unk_token))
    tokenizer.pre_tokenizer = rival.pre_tokenizers.WhitespaceSplit()
    trainer = rival.trainers.WordPieceTrainer(
        vocab_size=options.vocab_size,
        min_frequency=options.minimum,
        limit_alphabet=options.most_letters,
        special_tokens=list(options.special_tokens),
        show_progress=False,
    )
    tokenizer.train_from_iterator([" ".join([word] * count) for word, count in words.items()], trainer)
    vocabulary = tokenizer.get_vocab()
    return sorted(vocabulary, key=vocabulary.__getitem__)


def learnt_by_ours(counts: _core.Counts, options: wordpiece.Options) -> list[str]:
    tokenizer = wordpiece.TRAINER.train(counts, options).tokenizer
    return [tokenizer.token_bytes(token_id).decode() for token_id in range(tokenizer.vocab_size)]


@at_least(300)
def test_special_tokens_of_one_letter(monkeypatch):
    """Where the special letters are beyond the limited alphabet; ties go by the order of their initial tokens."""
    draw, order = random.Random(8), wordpiece.initial_tokens
    for _ in range(1000):
        letters = draw.choice(["abcd", "aé你😀", "abcdeé"])
        made = ("".join(draw.choices(letters, k=draw.randint(1, 8))) for _ in range(draw.randint(1, 8)))
        words = {word: draw.randint(1, 9) for word in made}
        special = ["[UNK]", *draw.sample(letters, draw.randint(1, 3)), *draw.choice([(), ("ab",), ("##a",)])]
        draw.shuffle(special)
        limit = draw.randint(1, 4)
        options = wordpiece.Options(len(special) + draw.randint(5, 30), compat="hf", limit_alphabet=limit,
                                    min_frequency=draw.randint(0, 3), special_tokens=tuple(special))  # fmt: skip
        counts = counted(Counter(words))
        found = _core.character_counts(counts)
        if len(found) <= limit or found[limit - 1][1] == found[limit][1]:
            continue  # nothing is beyond the alphabet, or a hash table decides what is
        if not {letter for letter, *_ in found[limit:]} & set(special):
            continue
        initial = order(options, wordpiece.alphabet_of(counts, options))
        if options.vocab_size < len(initial):
            continue  # they give more tokens than asked for
        expected = learnt_by_theirs(words, options)
        first = expected[: len(initial)]
        assert sorted(first) == sorted(initial), (words, options)
        monkeypatch.setattr(wordpiece, "initial_tokens", lambda *_, first=first: first)
        assert learnt_by_ours(counts, options) == expected, (words, options)
        compared()
