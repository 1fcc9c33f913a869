"""The textbook algorithms in plain Python, one step at a time.

They are what ``bpe train --steps`` shows, and what the tests hold the compiled core against. Written to
be read: everything is recounted at every step, nothing is fast.

- ``bpe``: learn merges; three ways to break ties.
- ``encode``: apply ranks or merges to a piece; turn ranks into merges.
- ``longest_match``: split a word by the longest token first, without merges.
- ``maxmatch``: join neighbours in rounds; cut text by the longest words of a dictionary.
- ``characters``: vocabularies of characters, n-grams and whole words.
- ``utf8``: get the most characters out of broken UTF-8.
- ``steps``: a training as lines of text.
"""
