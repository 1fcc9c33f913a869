"""Fuzzing of what Python parses, guided by coverage: ``make fuzz-python``, the counterpart of core/fuzz.

``targets`` has what is called with bytes and the laws that hold, ``seeds`` what a search begins with, ``corpora`` one
file for each target of inputs that earlier searches kept, ``finds`` those that broke a law once. ``__main__`` runs
searches with atheris, makes corpora small and reports which lines they reach; ``small_core`` makes those of the core
small. ``sides`` says how a search of either side is called, ``libfuzzer`` what is asked of it and what it says, for the
proof of fuzzing (kinds/fuzzing.py), which counts what was searched. tests/test_fuzz_targets.py calls the targets on
seeds and corpora, without atheris.
"""
