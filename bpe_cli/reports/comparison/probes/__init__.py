"""Ask tokenizers what nobody's own texts ask evenly: languages, code, data, numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.probes.code import CodeProbe
    from bpe_cli.reports.comparison.probes.data import DataProbe
    from bpe_cli.reports.comparison.probes.languages import LanguageProbe
    from bpe_cli.reports.comparison.probes.numbers import NumberProbe


@dataclass(frozen=True, slots=True)
class Probes:
    """What was asked; None for what was not.

    Attributes:
        languages: The same sentences in several languages.
        code: Indentation, operators and white space.
        data: The same objects as JSON and as YAML.
        numbers: How numbers are cut.
    """

    languages: LanguageProbe | None = None
    code: CodeProbe | None = None
    data: DataProbe | None = None
    numbers: NumberProbe | None = None
