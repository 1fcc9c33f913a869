"""The textbook algorithms in plain Python, one step at a time.

They are what ``bpe train --steps`` shows, and what the tests hold the compiled core against. Written to
be read: everything is recounted at every step, nothing is fast.

- ``pre_tokenize``: cut text into words as BERT, GPT-2, T5 and XLNet do.
- ``bpe``: learn merges; three ways to break ties.
- ``vetoes``: what a token may not be, whatever its frequency.
- ``encode``: apply ranks or merges to a piece; turn ranks into merges.
- ``maxmatch``: join neighbours in rounds; cut text by the longest words of a dictionary.
- ``characters``: vocabularies of characters, n-grams and whole words.
- ``character_bpe``: spell a piece in characters and merge those, by a list or by scores.
- ``merging``: merge, and tell every merge; two formulations.
- ``scored_merging``: the same by scores, with pieces that serve merging only.
- ``dropout``: leave merges out at random.
- ``longest_match``: split a word by the longest token, without merges; two ways.
- ``longest_steps``: cut by the longest token, and tell every step.
- ``lattice``: all tokens that fit, the best sums, the best segmentations.
- ``normalize``: rewrite text as BERT and SentencePiece do before they cut it.
- ``wordpiece``: learn word pieces by the score of pairs; cut words by their longest tokens.
- ``top_down``: learn word pieces from the longest to the shortest.
- ``added_tokens``: find them in text.
- ``decoders``: make text of tokens again, ten ways.
- ``utf8``: get the most characters out of broken UTF-8.
- ``steps``: a training as lines of text.
"""
