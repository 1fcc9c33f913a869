"""The textbook algorithms in plain Python, one step at a time: what ``--steps`` shows.

The tests hold the compiled core against them, and against ``tests/oracle``, where the algorithms are that no command
shows. docs/learn/en/teaching.md has the listings of well-known tutorials by them. Written to be read: everything is
recounted at every step, nothing is fast.

- ``bpe``: spell words, learn merges (three ways to break ties); what a token may not be, whatever its frequency.
- ``maxmatch``: join neighbours in rounds.
- ``longest_match``: cut a word by the longest token, without merges; two ways.
- ``unigram``: learn probabilities of tokens, round by round; all tokens that fit, the best segmentations.
- ``wordpiece``: learn word pieces by the score of pairs, or from the longest to the shortest; cut words by them.
- ``steps``: what trainings have to show.
- ``frontier``: what research found since 2023, as the code of its papers has it.
"""
