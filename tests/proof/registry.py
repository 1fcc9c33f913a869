"""The proofs by name: adding one takes a module and a line here."""

from __future__ import annotations

from tests.proof.attempts import Proof
from tests.proof.kinds import (
    commands,
    core_mutations,
    equality,
    failing,
    full_disk,
    fuzzing,
    kills,
    long,
    mutants,
    mutations,
    order,
    races,
    real,
    round_trips,
    starving,
    trust,
    worst,
)

PROOFS: dict[str, Proof] = {
    "equality": equality.PROOF,
    "real": real.PROOF,
    "round-trips": round_trips.PROOF,
    "mutants": mutants.PROOF,
    "mutations": mutations.PROOF,
    "core-mutations": core_mutations.PROOF,
    "commands": commands.PROOF,
    "kills": kills.PROOF,
    "failing": failing.PROOF,
    "full-disk": full_disk.PROOF,
    "order": order.PROOF,
    "starving": starving.PROOF,
    "long": long.PROOF,
    "worst": worst.PROOF,
    "races": races.PROOF,
    "trust": trust.PROOF,
    "fuzzing": fuzzing.PROOF,
}
"""Name -> proof, in the order of the page."""
