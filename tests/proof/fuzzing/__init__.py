"""Fuzzing of what Python parses, guided by coverage: ``make fuzz-python``, the counterpart of core/fuzz.

``targets`` has what is called with bytes and the laws that hold, ``seeds`` what a search begins with, ``corpora`` one
file for each target of inputs that earlier searches kept. ``__main__`` runs searches with atheris, makes corpora small
and reports which lines they reach. tests/test_fuzz_targets.py calls the targets on seeds and corpora, without atheris.
"""
