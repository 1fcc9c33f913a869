"""Mutants of the program that no test can notice, each with the reason."""

from __future__ import annotations

ASKED_SOONER = "only how soon a cut is sought again: that costs time, and changes no cut"
FASTER = "the lines below give the same numbers for any width: this way is faster"
SIZE = "how many go into the core at once"

POSITIVE = "not number.signed or view[3 * high :: 4].tobytes().isascii()"
IN_FOUR_BYTES = f"if number.width == 4 and ({POSITIVE})::"

REASONS: dict[tuple[str, str], str] = {
    (
        "bpe_cli/sinks/sidecar.py", "if len(inputs) <= _FEW:: len(inputs) <= _FEW -> len(inputs) < _FEW",
    ): "both libraries write the same bytes: one is there already, the other is faster for many",
    (
        "bpe_cli/support/blocks.py", "most = last + longest + _LONGEST_MARK: last + longest -> last - longest",
    ): ASKED_SOONER,
    (
        "bpe_cli/support/blocks.py", "_LONGEST_MARK = 1 << 16: 16 -> 17",
    ): "a text of 4 GiB would be needed",
    (
        "bpe_cli/support/blocks.py", "if cut or len(ends) > 1:: 1 -> 2",
    ): ASKED_SOONER,
    (
        "bpe_cli/support/blocks.py", "if cut or len(ends) > 1:: cut or len(ends) > 1 -> cut and len(ends) > 1",
    ): ASKED_SOONER,
    (
        "bpe_cli/support/blocks.py",
        "next_try = 2 * held_bytes if most is None else min(2 * held_bytes, most + 1): 1 -> 2",
    ): ASKED_SOONER,
    (
        "bpe_cli/support/blocks.py", "if cut or len(ends) > 1:: len(ends) > 1 -> len(ends) >= 1",
    ): ASKED_SOONER,
    (
        "bpe_cli/sinks/numbers.py", "if number.width == 4:: 4 -> 5",
    ): FASTER,
    (
        "bpe_cli/sinks/numbers.py", "if number.width == 2:: 2 -> 3",
    ): FASTER,
    (
        "bpe_cli/sinks/numbers.py",
        f"{IN_FOUR_BYTES} 4 -> 5",
    ): FASTER,
    (
        "bpe_cli/sinks/numbers.py",
        f"{IN_FOUR_BYTES} {POSITIVE} -> {POSITIVE.replace(' or ', ' and ').replace(' :: ', '::')}",
    ): FASTER,
    (
        "bpe_cli/sinks/numbers.py",
        f"{IN_FOUR_BYTES} 3 * high -> 3 // high",
    ): "3 in both cases, where the mutants run: there the high byte comes last",
    (
        "bpe_cli/sinks/numbers.py", "if number.width == 2 and not number.signed:: 2 -> 3",
    ): FASTER,
    (
        "bpe_cli/sinks/numbers.py",
        'if number.width == 8 and not view.cast("I")[high::2].tobytes().strip(b"\\0"):: 8 -> 9',
    ): FASTER,
    (
        "bpe_cli/sinks/numbers.py", "output.reserve_start(header(self.dtype, 0)): 0 -> 1",
    ): "what stands there is written again at the end, when the number is known",
    (
        "bpe_cli/sinks/numbers.py", "if len(ids) <= _AT_ONCE:: len(ids) <= _AT_ONCE -> len(ids) < _AT_ONCE",
    ): "ids are packed to the same bytes in one part and in several",
    (
        "bpe_cli/stages/vocabulary.py",
        "if size > _core.MAX_TOKENS or min(ids.values(), default=0) < 0:: 0 -> 1",
    ): "what is not negative where there are no ids at all is as good as 0",
    (
        "bpe_cli/support/blocks.py",
        "most = last + longest + _LONGEST_MARK: last + longest + _LONGEST_MARK -> last + longest - _LONGEST_MARK",
    ): ASKED_SOONER,
    (
        "bpe_cli/sinks/sidecar.py", "_FEW = 500: 500 -> 501",
    ): "both libraries write the same bytes: one is there already, the other is faster for many",
    (
        "bpe_cli/support/json_files.py", "_LARGEST = 1 << 30: 1 -> 2",
    ): "a file of a gigabyte would be needed",
    (
        "bpe_cli/support/json_files.py", "_LARGEST = 1 << 30: 30 -> 31",
    ): "a file of a gigabyte would be needed",
    (
        "bpe_cli/trainers/counts.py", "for batch in _batched(items, 1 << 16):: 16 -> 17",
    ): SIZE,
    (
        "bpe_cli/trainers/counts.py", "for batch in _batched(items, 1 << 16):: 1 -> 2",
    ): SIZE,
    (
        "bpe_cli/trainers/counts.py", "for batch in _batched(items_of(counts), 1 << 16):: 1 -> 2",
    ): SIZE,
    (
        "bpe_cli/surgery/pruning.py", "for text, number, end in zip(texts, numbers, ends, strict=True):: True -> False",
    ): "the core gives as many ends as it is given texts: the check is for a mistake of ours",
    (
        "bpe_cli/surgery/pruning.py",
        "if progress is not None and len(gone) % 64 == 0:: 64 -> 65",
    ): "how often a listener hears of the progress",
    (
        "bpe_cli/surgery/pruning.py", "uses.update(dict.fromkeys(unreachable, -1)): 1 -> 2",
    ): "either is less than any count",
    (
        "bpe_cli/sinks/numbers.py",
        "highest = max(tokenizer.vocab_size - 1, options.edges.eot or 0, options.edges.bos or 0): 0 -> 1",
    ): "0 and 1 fit alike into whatever is chosen",
    (
        "bpe_cli/support/blocks.py", "next_try = 0: 0 -> 1",
    ): "it is asked for once something is held, which has a byte or more; and it is set before",
    (
        "bpe_cli/support/blocks.py",
        "size, last = stretches(rest) if stretches is not None else (held_bytes, 0): 0 -> 1",
    ): "without stretches the text is refused there, and nobody asks where the last begins",
    (
        "bpe_cli/trainers/counts.py", "step = 1 << 16: 1 -> 2",
    ): SIZE,
    (
        "bpe_cli/trainers/counts.py", "step = 1 << 16: 16 -> 17",
    ): SIZE,
}  # fmt: skip
"""(Module, change) -> why nothing is another then."""

APART = "the parts have no bit in common"

CORE_REASONS: dict[tuple[str, str], str] = {
    (
        "memory/huge_pages", "true: replace comes_soon -> bool with false",
    ): "compiled for other systems than Linux, on which the mutants run",
    (
        "memory/huge_pages",
        "ask_for_large(page);: replace comes_soon -> bool with true",
    ): "only how long memory takes to come, where it comes slowly",
    (
        "memory/huge_pages",
        "own_time().saturating_sub(began) < SLOW: replace < with <= in comes_soon",
    ): "a nanosecond",
    (
        "text/utf8", "2 => (first & 0x1F) << 6 | low(1),: replace | with ^ in read_char",
    ): APART,
    (
        "text/utf8", "3 => (first & 0xF) << 12 | low(1) << 6 | low(2),: replace | with ^ in read_char",
    ): APART,
    (
        "text/utf8", "_ => (first & 7) << 18 | low(1) << 12 | low(2) << 6 | low(3),: replace | with ^ in read_char",
    ): APART,
}  # fmt: skip
"""The same of the core: (module, change) -> why."""
