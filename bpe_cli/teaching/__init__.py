"""The textbook algorithms in plain Python, one step at a time: what ``--steps`` shows.

The tests compare the compiled core with them, and with ``tests/oracle``, which has the algorithms that no command
shows. docs/learn/en/teaching.md reproduces the listings of well-known tutorials with them. They are written to be read:
everything is recounted at every step, and nothing is fast.

- ``bpe``: spell words, learn merges (with three ways to break ties), and restrict what a token may contain.
- ``maxmatch``: join neighbours in rounds.
- ``longest_match``: cut a word at its longest tokens, without merges, in two ways.
- ``unigram``: learn the probabilities of tokens, round by round; find all tokens that fit, and the best segmentations.
- ``wordpiece``: learn word pieces by the score of pairs, or from the longest to the shortest, and cut words with them.
- ``steps``: the steps of a training run as values.
- ``frontier``: what research has found since 2023, as the code of its papers does it.
"""
