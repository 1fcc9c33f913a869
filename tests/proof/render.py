"""Show results.json in docs/reliability.md: ``python -m tests.proof.render``; with ``--check``, say whether it does.

Nothing is measured or judged here. Until there are results there is no page either, and ``--check`` is content.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.results import replace_file
from tests.proof import results
from tests.proof.attempts import ROOT, Proof

PAGE = ROOT / "docs" / "reliability.md"

HEAD = """\
<!-- Made by tests/proof/render.py from tests/proof/results.json (make proof): not to be edited. -->
# How we try to break bpe

`make proof` runs the checks below, each for as long as you like, and stops at the first failure. Each attempt follows
from its number and a seed, so you can repeat any of them, or the whole page; only fuzzing also starts from inputs that
earlier searches kept. The numbers count what was compared; each section names the commits and the machines.
A check that found nothing shows how much was tried, not that there is nothing to find.

"""

UNKNOWN = "A commit that was not noted"
OVER_LIFE = "Each round continued from what earlier ones kept, so all of them count, those of older commits too"

REPEAT = """\
## Repeat it

```sh
make proof PROOF_SECONDS=600                                  # ten minutes for each proof
python -m tests.proof --only mutants --seconds 600 --seed 7   # one proof, with other random numbers
```

Findings are written to `build/proof/`, each with the command that repeats it. Runs with other seeds add to the figures
as long as the program is the same; those of fuzzing always do. A small sample of every proof runs with the tests.
"""


def duration(seconds: float) -> str:
    """Return a time in the unit that it is long in.

    >>> duration(59.7), duration(600), duration(90_000)
    ('60 s', '10 min', '25.0 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def escaped(text: str) -> str:
    """Return text for a cell of a table: on one line, as code, whatever is in it.

    >>> escaped("a|b`c")
    "`a\\\\|b'c`"
    """
    shown = "".join(character if character.isprintable() else "?" for character in text)
    return "`" + shown.replace("`", "'").replace("|", "\\|") + "`"


def summary(parts: Mapping[str, Any], proofs: Mapping[str, Proof]) -> str:
    """Return the table of all proofs that ran."""
    rows = ["| proof | attempts | time | findings | commit |", "|---|--:|--:|--:|---|"]
    for name, proof in proofs.items():
        if name in parts:
            rounds = parts[name]["rounds"]
            attempts = sum(each["attempts"] for each in rounds)
            took = duration(sum(each["seconds"] for each in rounds))
            found = len(results.findings(parts[name]))
            title = f"[{proof.title}](#{anchor(proof.title)})"
            rows.append(f"| {title} | {attempts:,} | {took} | {found} | {program_of(proof, parts[name])} |")
    return "\n".join(rows) + "\n"


def shown_program(program: str | None) -> str:
    """Return a commit as the page shows it."""
    return f"`{program}`" if program else "not noted"


def programs_of(part: dict[str, Any]) -> list[str]:
    """Return the commits that last changed the programs that were tried, the oldest first."""
    return list(dict.fromkeys(shown_program(each["program"]) for each in results.rounds_of(part)))


def program_of(proof: Proof, part: dict[str, Any]) -> str:
    """Return what the table says of the program that was tried, or of the programs."""
    older = len(programs_of(part)) - 1 if proof.over_life else 0
    return shown_program(part["program"]) + (f" and {older} older" if older else "")


def anchor(title: str) -> str:
    """Return the anchor of a heading as git hosts make it.

    >>> anchor("Equality, counted")
    'equality-counted'
    """
    kept = "".join(each for each in title.lower() if each.isalnum() or each in " -_")
    return kept.replace(" ", "-")


def machines(part: Mapping[str, Any]) -> str:
    """Return what the rounds of a part ran on."""
    seen = {f"{each['machine']['cpu']}, {each['machine']['cores']} cores, {each['machine']['system']}"
            for each in part["rounds"]}  # fmt: skip
    return "; ".join(sorted(seen))


def section(proof: Proof, part: dict[str, Any]) -> str:
    """Return what the page says of one proof."""
    rows = ["| tried | number |", "|---|--:|"]
    rows += [f"| {kind} | {number:,} |" for kind, number in sorted(results.totals(part).items())]
    noted = sorted(results.notes(part).items())
    rows += [f"| {name}: {escaped(text)} | {number:g} |" for name, (number, text) in noted]
    head = [f"## {proof.title}", "", proof.claim, "", f"{tried_on(proof, part)}; {machines(part)}.", ""]
    more = proof.more()
    return "\n".join([*head, *rows, *shown_findings(proof, part)]) + "\n" + (f"\n{more}" if more else "")


def tried_on(proof: Proof, part: dict[str, Any]) -> str:
    """Return which programs were tried, and with which seeds."""
    seeds = "seeds " + ", ".join(dict.fromkeys(str(each["seed"]) for each in part["rounds"]))
    if not proof.over_life:
        return f"Commit {shown_program(part['program'])}; {seeds}" if part["program"] else f"{UNKNOWN}; {seeds}"
    return f"{OVER_LIFE}: {', '.join(programs_of(part))}; {seeds}"


def shown_findings(proof: Proof, part: dict[str, Any]) -> list[str]:
    """Return the lines that tell what was found; over the life of a project, of which program."""
    rows = []
    for each in results.rounds_of(part):
        of = f", commit {shown_program(each['program'])}" if proof.over_life else ""
        rows += [f"| {escaped(found['what'])}{of} | `{found['repeat']}` |" for found in each["findings"]]
    return ["", "| found | repeat it with |", "|---|---|", *rows] if rows else ["", "Nothing was found."]


def page_of(found: results.Results, proofs: Mapping[str, Proof]) -> str | None:
    """Return the page; None while there is nothing to show."""
    parts = found["proofs"]
    if not parts:
        return None
    sections = [section(proof, parts[name]) for name, proof in proofs.items() if name in parts]
    return HEAD + "\n".join([summary(parts, proofs), *sections, REPEAT])


def main(arguments: list[str] | None = None) -> int:
    """Write the page, or check it."""
    from tests.proof.registry import PROOFS

    parser = argparse.ArgumentParser(prog="python -m tests.proof.render", description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if the page is not up to date")
    parser.add_argument("--results", type=Path, default=results.PATH, help="default: tests/proof/results.json")
    parser.add_argument("--page", type=Path, default=PAGE, help="default: docs/reliability.md")
    asked = parser.parse_args(arguments)
    try:
        page = page_of(results.load(asked.results), PROOFS)
    except ValueError as error:
        print(f"error: {error}\n\nhint: remove it, and run make proof", file=sys.stderr)
        return 2
    there = asked.page.read_text(encoding="utf-8") if asked.page.exists() else None
    if asked.check and page != there:
        print(f"error: {asked.page.name} is not what {asked.results.name} says\n\n"
              "hint: run python -m tests.proof.render", file=sys.stderr)  # fmt: skip
        return 1
    if page is None and not asked.check:
        print(f"note: there is no {asked.results.name} yet: run make proof", file=sys.stderr)
    elif page is not None and page != there:
        replace_file(asked.page, page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
