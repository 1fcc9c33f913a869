"""Textbooks of what research found since 2023, each exactly as the code of its paper has it, where there is code.

Where a paper and its code differ, a module says so and follows the code: what others measured was made by that. The
tests compare each with what the code itself gave, but for ``scaffold``, whose authors published none, and ``mingram``,
which has rules of our own.

- ``words``: words whose pairs are counted once, and then kept up to date.
- ``parity``: merges that the worst-compressed language chooses (Parity-aware BPE).
- ``path_piece``: the fewest tokens that a text can be (PathPiece).
- ``mingram``: tokens for segmentations into the fewest (MinGram), with two rules of our own, which it names.
- ``picky``: merges that take back tokens which are hardly used without what was made of them (PickyBPE).
- ``scaffold``: merges, without the tokens that only help to make others (Scaffold-BPE).
- ``boundless``: merges of whole pieces too (BoundlessBPE).
- ``greedy_cover``: tokens by how much of the words they cover, without merges (GreedTok).
- ``superwords``: merges inside words, and then across the spaces between them (SuperBPE).
- ``extension``: merges learnt after those of a given tokenizer, and orders of pruning (tokenizer-extension).
"""
