"""Textbook versions of what research has found since 2023, each exactly like the code of its paper, if there is code.

Where a paper and its code differ, a module says so and follows the code, because others measured with the code. The
tests compare each module with the output of that code, except for ``scaffold``, whose authors published none, and
``mingram``, which has rules of our own.

- ``words``: words whose pairs are counted once, and then kept up to date.
- ``parity``: merges that the worst-compressed language chooses (Parity-aware BPE).
- ``path_piece``: the fewest tokens that a text can be cut into (PathPiece).
- ``mingram``: tokens for segmentations into the fewest (MinGram), with two rules of our own, which it names.
- ``picky``: merges that take tokens back once they are hardly used except inside longer ones (PickyBPE).
- ``scaffold``: merges, without the tokens that only help to make others (Scaffold-BPE).
- ``boundless``: merges that also join whole pieces (BoundlessBPE).
- ``greedy_cover``: tokens by how much of the words they cover, without merges (GreedTok).
- ``superwords``: merges inside words, and then across the spaces between them (SuperBPE).
- ``extension``: merges learnt after those of a given tokenizer, and orders of pruning (tokenizer-extension).
"""
