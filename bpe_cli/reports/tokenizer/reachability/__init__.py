"""Find out which tokens any text can become: the layers, witnesses and proofs of docs/reachability.md."""

from bpe_cli.reports.tokenizer.reachability.examine import examine
from bpe_cli.reports.tokenizer.reachability.searching import LAYERS, REACHABLE, Layer, Reachability, Verdict

__all__ = ["LAYERS", "REACHABLE", "Layer", "Reachability", "Verdict", "examine"]
