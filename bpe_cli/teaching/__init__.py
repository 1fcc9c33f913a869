"""The textbook algorithms in plain Python, one step at a time: what ``--steps`` shows.

The tests hold the compiled core against them, and against ``tests/oracle``, where the algorithms are that no command
shows. Written to be read: everything is recounted at every step, nothing is fast.

- ``bpe``: learn merges; three ways to break ties.
- ``vetoes``: what a token may not be, whatever its frequency.
- ``maxmatch``: join neighbours in rounds; cut text by the longest words of a dictionary.
- ``characters``: vocabularies of characters, n-grams and whole words.
- ``spelling``: spell a piece in tokens of characters, before any merging.
- ``longest_match``: split a word by the longest token, without merges; two ways.
- ``longest_steps``: cut by the longest token, and tell every step.
- ``lattice``: all tokens that fit, the best sums, the best segmentations.
- ``unigram``: learn probabilities of tokens, round by round.
- ``wordpiece``: learn word pieces by the score of pairs; cut words by their longest tokens.
- ``top_down``: learn word pieces from the longest to the shortest.
"""
