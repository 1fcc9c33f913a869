"""Describe how a tokenizer arrived at the tokens of one text: merge by merge, match by match, or over the lattice.

The steps are those of the textbook algorithms in ``teaching``, run on the tokenizer's own tables; the
tokens they end at are compared with what the tokenizer makes of the text.

- ``values``: what is told, frozen.
- ``pieces``: the pieces of a text, and the special tokens between them.
- ``merging``, ``longest``, ``looking_up``, ``lattice``: one family of models each.
- ``telling``: a text from piece to piece.
"""

from bpe_cli.reports.text.steps.limits import Limits
from bpe_cli.reports.text.steps.steps import tell, teller_of

__all__ = ["Limits", "tell", "teller_of"]
