"""What a comparison measures, in plain Python: slow, and meant to be read."""

from __future__ import annotations

import math
import re
from collections import Counter

from bpe_cli.errors import InputError
from bpe_cli.reports.comparison.tallies import puts_space
from bpe_cli.reports.tokenizer.contents import fallback_ids

WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"


def words_of(document):
    """Return the byte range of each word."""
    text = document.decode("utf-8", "surrogateescape")
    for match in re.finditer(f"[^{WHITE_SPACE}]+", text):
        start, end = (len(text[:at].encode("utf-8", "surrogateescape")) for at in match.span())
        yield start, end


def measured(tokenizer, documents):
    """Return the fields of a measure, by name."""
    fallback = fallback_ids(tokenizer)
    spans = [tokenizer.tokens(document) for document in documents]
    counts = Counter(token.token_id for tokens in spans for token in tokens)
    total = counts.total()
    words = split = unknown_bytes = failed = 0
    ratios = []
    for document, tokens in zip(documents, spans, strict=True):
        for start, end in words_of(document):
            words += 1
            split += sum(max(token.start, start) < min(token.end, end) for token in tokens) > 1
        unknown = (token for token in tokens if token.token_id in fallback.unknown)
        unknown_bytes += len({byte for token in unknown for byte in range(token.start, token.end)})
        if tokens:
            ratios.append(len(document) / len(tokens))
        try:
            failed += tokenizer.decode_bytes([token.token_id for token in tokens]) != document
        except InputError:
            failed += 1
    types = {document[start:end] for document in documents for start, end in words_of(document)}
    before = b"" if puts_space(tokenizer) else b" "
    shares = [count / total for count in counts.values()]
    covered_tokens = rank = 0
    for _, count in counts.most_common():
        if covered_tokens >= 0.95 * total:
            break
        covered_tokens += count
        rank += 1
    return {
        "document_count": len(documents),
        "byte_count": sum(map(len, documents)),
        "character_count": sum(len(document.decode("utf-8", "surrogateescape")) for document in documents),
        "token_count": total,
        "word_count": words,
        "split_words": split,
        "type_count": len(types),
        "one_token_types": sum(_is_one(tokenizer, word, fallback) for word in types),
        "one_token_types_spaced": sum(_is_one(tokenizer, before + word, fallback) for word in types),
        "used_ids": len(counts),
        "unknown_tokens": sum(counts[token_id] for token_id in fallback.unknown),
        "unknown_bytes": unknown_bytes,
        "byte_tokens": sum(counts[token_id] for token_id in fallback.bytes),
        "checked_documents": len(documents),
        "failed_documents": failed,
        "shannon_entropy": -sum(p * math.log2(p) for p in shares) if total else None,
        "renyi_entropy": math.log2(sum(p**2.5 for p in shares)) / (1 - 2.5) if total else None,
        "mean_bytes_per_token": sum(ratios) / len(ratios) if ratios else None,
        "coverage_rank": rank or None,
    }


def _is_one(tokenizer, word, fallback):
    try:
        ids = tokenizer.encode(word)
    except InputError:
        return False
    return len(ids) == 1 and ids[0] not in fallback.unknown
