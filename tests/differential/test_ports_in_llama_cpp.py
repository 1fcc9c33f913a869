"""``bpe compare --ids --against llama.cpp``, where llama.cpp is installed."""

from __future__ import annotations

import bpe_cli
from tests.differential.texts import corpus
from tests.needs import needs


def test_a_port_is_verified_in_the_program_itself(tmp_path):
    """``bpe compare OTHER PORT.gguf --ids --against llama.cpp``: of the tokenizer ported, and of another one."""
    needs("llama_cpp")
    lines, german = corpus()["corpora/languages/th.txt"].splitlines(), corpus()["corpora/languages/de.txt"]
    ported, other = (bpe_cli.train(lines, vocab_size=size, target="llama.cpp") for size in (600, 500))
    ported.save(tmp_path / "port.gguf")
    verified = bpe_cli.compare([ported, tmp_path / "port.gguf"], german, ids=True, library="llama.cpp").value
    assert (verified.same, verified.different) == (True, 0)
    assert verified.count > 1000
    assert not bpe_cli.compare([other, tmp_path / "port.gguf"], lines, ids=True, library="llama.cpp").value.same
