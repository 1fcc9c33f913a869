"""Small GGUF files, written by the library `gguf`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bpe_cli.stages.spelling import CHAR_TO_BYTE
from tests.needs import needs

library = needs("gguf")


def written(path: Path, fill: Callable[[library.GGUFWriter], None], architecture: str = "llama", **options) -> bytes:
    """Return the content of a file with what ``fill`` puts into it."""
    writer = library.GGUFWriter(path, architecture, **options)
    fill(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path.read_bytes()


BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def fill_llama(writer: library.GGUFWriter) -> None:
    """Put in a model of SentencePiece's kind: three special tokens, bytes, one of a user's own, some merges."""
    pieces = ["▁", "a", "b", "c", "ab", "▁ab", "abc"]
    texts = ["<unk>", "<s>", "</s>", *BYTES, "<own>", *pieces]
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(texts)
    writer.add_token_scores([0.0] * 260 + [-float(number) for number in range(len(pieces))])
    writer.add_token_types([2, 3, 3, *[6] * 256, 4, *[1] * len(pieces)])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template([{"name": "default", "template": "{{ x }}"}, {"name": "tools", "template": "{{ y }}"}])


def fill_gpt2(writer: library.GGUFWriter, pre: str | None = "gpt-2", **more: object) -> None:
    """Put in byte-level BPE over a few letters, with a special token and an added one."""
    texts = ["a", "b", "Ġ", ".", "1", "ab", "Ġab", "<|endoftext|>", "<own>", "[PAD9]", "c"]
    writer.add_tokenizer_model("gpt2")
    if pre is not None:
        writer.add_tokenizer_pre(pre)
    writer.add_token_list(texts)
    writer.add_token_types([1] * 7 + [3, 4, 5, 1])
    writer.add_token_merges(["a b", "Ġ ab"])
    for key, value in more.items():
        writer.add_bool(f"tokenizer.ggml.{key}", value)
    writer.add_bos_token_id(7)
    writer.add_eos_token_id(7)
    writer.add_name("tiny")


def fill_bert(writer: library.GGUFWriter) -> None:
    writer.add_tokenizer_model("bert")
    writer.add_token_list(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[unused1]", "▁un", "able", "▁able", "▁[", "▁."])
    writer.add_token_types([3, 3, 3, 3, 1, 1, 1, 1, 1, 1])
    writer.add_unk_token_id(1)
    writer.add_sep_token_id(3)
    writer.add_uint32("tokenizer.ggml.cls_token_id", 2)
    writer.add_bos_token_id(2)
    writer.add_pad_token_id(0)


def fill_t5(writer: library.GGUFWriter) -> None:
    writer.add_tokenizer_model("t5")
    texts = ["<pad>", "</s>", "<unk>", "▁", "a", "b", "▁a", "ab", "<own>"]
    writer.add_token_list(texts)
    writer.add_token_scores([0.0, 0.0, 0.0, -2.0, -3.0, -3.5, -2.5, -2.25, -9.0])
    writer.add_token_types([3, 3, 2, 1, 1, 1, 1, 1, 4])
    writer.add_add_space_prefix(True)
    writer.add_remove_extra_whitespaces(True)


def fill_plain_text(writer: library.GGUFWriter, merges: tuple[str, ...] = ("a b",)) -> None:
    """Put in byte-level BPE whose added tokens are letters that spell bytes besides."""
    texts = ["a", "b", "Ġ", "ab", "õ", "é", "ļ", "£", "Ã", "µ", "xa"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(texts)
    writer.add_token_types([4 if text in "õé" else 1 for text in texts])
    writer.add_token_merges([*merges])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)


def fill_gemma4(
    writer: library.GGUFWriter, *, model: str = "gemma4", pre: str | None = None, threes: bool = True,
    without: str = "", merges: tuple[str, ...] = (), bos: bool = True,
) -> None:  # fmt: skip
    """Put in BPE over characters with marks for blanks; three line feeds are a token that merges do not make."""
    texts = ["<bos>", "<eos>", "<own>", *BYTES, "▁", "a", "b", "ab", "▁ab", "\n", "\n\n", *["\n\n\n"] * threes]
    writer.add_tokenizer_model(model)
    if pre is not None:
        writer.add_tokenizer_pre(pre)
    texts = [text for text in texts if text != without]
    writer.add_token_list(texts)
    types = {"<bos>": 3, "<eos>": 3, "<own>": 4} | dict.fromkeys(BYTES, 6)
    writer.add_token_types([types.get(text, 1) for text in texts])
    writer.add_token_merges(["a b", "▁ ab", "\n \n", *merges])
    if bos:
        writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)


def fill_whitespace(writer: library.GGUFWriter, *, model: str = "whitespace") -> None:
    """Put in BPE over the characters of words."""
    writer.add_tokenizer_model(model)
    writer.add_tokenizer_pre("whitespace")
    writer.add_token_list(["<s>", "a", "b", "ab"])
    writer.add_token_types([3, 1, 1, 1])
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)


def fill_plamo2(
    writer: library.GGUFWriter, *, tokens: dict[str, float] | None = None,
    more: tuple[tuple[str, float, int], ...] = (), without: str = "", first: bool = True,
) -> None:  # fmt: skip
    """Put in a unigram model whose scores are rounded: four special tokens, bytes, pieces, one of a user's own."""
    tokens = {"a": -3.0, "b": -3.2, "ab": -6.2, "ba": -5.5, " a": -4.0, " ": -2.5} if tokens is None else tokens
    control = [(f"<|plamo:{name}|>", 0.0, 2 if name == "unk" else 3) for name in ("unk", "bos", "eos", "pad")]
    entries = [*control, *((text, 0.0, 6) for text in BYTES), ("<own>", -9.0, 4)]
    entries += [*((text, score, 1) for text, score in tokens.items()), *more]
    entries = [entry for entry in entries if entry[0] != without]
    entries = entries if first else entries[4:]
    writer.add_tokenizer_model("plamo2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([text for text, _, _ in entries])
    writer.add_token_scores([score for _, score, _ in entries])
    writer.add_token_types([kind for _, _, kind in entries])
    if first:
        writer.add_bos_token_id(1)
        writer.add_eos_token_id(2)
        writer.add_pad_token_id(3)
    writer.add_add_bos_token(True)
    writer.add_add_space_prefix(False)


def fill_rwkv(writer: library.GGUFWriter, *, more: tuple[str, ...] = ()) -> None:
    r"""Put in longest match over bytes: all of them, ``ab``, a blank with ``ab``, and ``é`` as bytes."""
    plain = {byte: chr(byte) for byte in range(0x20, 0x7F)} | {0x0A: "\\n", 0x09: "\\t", 0x0D: "\\r", 0x5C: "\\\\"}
    single = [plain.get(byte, f"\\x{byte:02x}") for byte in range(256)]
    texts = ["<s>", *single, "ab", " ab", "\\xc3\\xa9", *more]
    writer.add_tokenizer_model("rwkv")
    writer.add_token_list(texts)
    writer.add_token_types([3, *[1] * (len(texts) - 1)])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)


def fill_hybrid_dna(
    writer: library.GGUFWriter, *, words: tuple[str, ...] = ("ACGTAC", "CCCCCC", "TTTAAA", "NAAAAA", "A\u00e91AA"),
    without: str = "", types: dict[str, int] | None = None, pre: str = "qwen2", model: str = "hybriddna",
) -> None:  # fmt: skip
    """Put in byte-level BPE of all bytes beside words of DNA, of which one is a token of its own besides."""
    merges = ("C C", "CC CC", "CCCC CC", "a b", "Ġ ab", "< d", "<d n", "<dn a", "< / ", "A C", "o o", "<dna >")
    merges = tuple(merge for merge in merges if merge.count(" ") == 1)
    texts = [*CHAR_TO_BYTE, *(merge.replace(" ", "") for merge in merges if merge != "<dna >")]
    texts += ["<|endoftext|>", "<own>", "[PAD9]", "<dna>", "</dna>", "<oov>", *(word + "\ue000" for word in words)]
    types = {"<|endoftext|>": 3, "<own>": 4, "[PAD9]": 5} | (types or {})
    texts = [text for text in texts if text != without]
    writer.add_tokenizer_model(model)
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(texts)
    writer.add_token_types([types.get(text, 1) for text in texts])
    writer.add_token_merges([merge for merge in merges if without != "<dna>" or merge != "<dna >"])
    writer.add_bos_token_id(texts.index("<|endoftext|>"))
    writer.add_eos_token_id(texts.index("<|endoftext|>"))
    writer.add_add_bos_token(False)


FILLS = {"llama": fill_llama, "gpt2": fill_gpt2, "bert": fill_bert, "t5": fill_t5, "plamo2": fill_plamo2}
