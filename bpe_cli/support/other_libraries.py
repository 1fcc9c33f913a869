"""What other libraries call our functions and methods: whoever asks for their names is told ours."""

from __future__ import annotations

_LOAD = "`bpe_cli.load` reads a file or finds a name"
_TIKTOKEN = "`bpe_cli.load` finds it, and `bpe_cli.compat.tiktoken` has this function too"
_METHOD = "it is a method: `bpe_cli.load(name).{}`"

FUNCTIONS = {
    "AutoTokenizer": f"{_LOAD}, and `bpe_cli.compat.transformers` runs transformers' classes on this core",
    "SentencePieceProcessor": _LOAD,
    "SentencePieceTrainer": '`bpe_cli.train` with `compat="sentencepiece"`',
    "apply_bpe": "`bpe_cli.segment_files`",
    "count": _METHOD.format("count"),
    "decode": _METHOD.format("decode"),
    "encode": _METHOD.format("encode"),
    "encoding_for_model": _TIKTOKEN,
    "from_file": _LOAD,
    "from_pretrained": _LOAD,
    "get_encoding": _TIKTOKEN,
    "learn_bpe": '`bpe_cli.train` with `algorithm="bpe"`',
    "list_encoding_names": "`bpe_cli.compat.tiktoken` has this function",
    "open": _LOAD,
    "read": _LOAD,
    "save": _METHOD.format("save"),
    "tokenize": _METHOD.format("tokens"),
}
"""What other libraries have in their modules, and where it is done."""

METHODS = {
    "add_special_tokens": "`bpe_cli.add_tokens`",
    "add_tokens": "`bpe_cli.add_tokens`",
    "batch_decode": "`decode_batch`",
    "batch_encode_plus": "`encode_batch`, or `model_inputs` with masks",
    "convert_ids_to_tokens": "`id_to_token`",
    "convert_tokens_to_ids": "`token_to_id`",
    "decode_single_token_bytes": "`decode_bytes([id])`",
    "decode_tokens_bytes": "`decode_bytes([id])` for each id",
    "encode_as_ids": "`encode`",
    "encode_as_pieces": "`tokens`",
    "encode_ordinary": "`encode`, which takes special tokens for plain text unless `specials` says otherwise",
    "encode_ordinary_batch": "`encode_batch`",
    "encode_plus": "`model_inputs`",
    "encode_single_token": "`token_to_id`",
    "eos_token_id": '`usage.role("eos")`',
    "eot_token": '`token_to_id("<|endoftext|>")`, or what the end of a text is called',
    "get_piece_size": "`vocab_size`",
    "get_vocab": "`vocab`",
    "get_vocab_size": "`vocab_size`",
    "id_to_piece": "`id_to_token`",
    "n_vocab": "`vocab_size`",
    "piece_to_id": "`token_to_id`",
    "save_model": "`save`",
    "save_pretrained": '`save(folder, "huggingface")`',
    "to_str": "`save`",
    "tokenize": "`tokens`",
    "train": "`bpe_cli.train`",
    "train_from_iterator": "`bpe_cli.train`",
}
"""What the tokenizers of other libraries have, and what ours is called."""


def here(names: dict[str, str], asked: str) -> str:
    """Return what is added to the sentence that there is no such attribute: nothing, or where it is done.

    >>> here(METHODS, "get_vocab"), here(METHODS, "fly")
    ('; here it is `vocab`', '')
    """
    ours = names.get(asked)
    return "" if ours is None else f"; {'' if ours.startswith('it is') else 'here it is '}{ours}"
