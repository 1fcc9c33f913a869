"""Proofs that go on as long as one likes: ``make proof``, or ``python -m tests.proof --only mutants --seconds 600``.

Each module of ``kinds`` that has a ``PROOF`` is one kind of proof. It tries one thing at a time, and what it tries
follows from a seed and a number alone, so that any attempt can be repeated without those before it. ``attempts`` is
what they have in common, ``running`` runs one for a time or a count, ``results`` keeps what was tried in results.json,
``render`` shows that in docs/reliability.md. tests/test_proof_samples.py runs a little of each with the tests.
"""
