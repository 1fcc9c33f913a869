"""What tests need and do not find: a skip at home, a failure in CI."""

from __future__ import annotations

import json

import pytest

from tests.needs import needs


def test_a_missing_module_is_a_skip_at_home_and_a_failure_in_ci(monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    assert needs("json") is json
    with pytest.raises(pytest.skip.Exception, match="needs no_such_module_of_ours, which is not installed"):
        needs("no_such_module_of_ours")
    monkeypatch.setenv("CI", "true")
    assert needs("json") is json
    with pytest.raises(pytest.fail.Exception, match="needs no_such_module_of_ours, which CI has to install"):
        needs("no_such_module_of_ours")
