"""The walls of the house, read from the sources: see CONTRIBUTING.md for what each is good for."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

from tests import syntax
from tests.needs import skip
from tests.syntax import written

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "bpe_cli"

# Every module or package of bpe_cli has a layer; imports go to the same unit or to a lower layer.
LAYERS = (
    {"_core"},
    {"support", "errors"},
    {"stages"},
    {"tokenizer"},
    {"views", "reports", "trainers", "surgery", "formats", "corpus", "sinks", "chat", "engines"},
    {"jobs"},
    {"compat", "results"},
    # What is served shows texts by views, and the command line opens it.
    {"calls", "training", "datasets", "playground"},
    # The command line and other programs' frames call the library, and nothing imports them.
    {"cli", "integrations"},
)
LAYER_OF = {unit: layer for layer, units in enumerate(LAYERS) for unit in units}
# What stands in one layer knows nothing of its neighbours, but:
ALSO_ALLOWED = {
    ("support", "errors"),
    ("views", "reports"),
    ("reports", "teaching"),
    ("views", "teaching"),
    ("cli", "teaching"),
    ("trainers", "teaching"),
    ("jobs", "teaching"),
    ("calls", "datasets"),  # inspect looks at data sets too
}
# The two imports that point up, which nothing else may do. ``tokenizer.save(path)`` and
# ``tokenizer.apply_chat_template(messages)`` are what programs expect of a tokenizer, and each is one line that calls
# what knows of formats or of chats, imported when it is called. A hook that the layer above sets would be set only
# where that was imported, and a tokenizer that comes out of a pickle in another process brings but its own module.
UPWARDS = {
    ("bpe_cli.tokenizer.text_methods", "bpe_cli.jobs.convert"),
    ("bpe_cli.tokenizer.text_methods", "bpe_cli.chat.encoding"),
}
# The textbook algorithms are the oracle: they share no code with what they judge, but two tables.
TEACHING_MAY_IMPORT = {"teaching", "errors", "stages"}
TABLES_OF_STAGES = ("bpe_cli.stages.patterns", "bpe_cli.stages.spelling")
ENTRANCES = {"__init__": "any unit but cli, lazily", "__main__": "cli"}

MODULES = sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def of_each(paths: Sequence[Path]) -> Callable[[Callable[[Path], None]], Callable[[], None]]:
    """Make one test of a law for files, which names every file that breaks it; thousands of tests take longer."""
    assert paths

    def one_test(law: Callable[[Path], None]) -> Callable[[], None]:
        def test() -> None:
            assert [f"{name_of(path)}: {fault}" for path in paths for fault in faults(law, path)] == []

        test.__name__, test.__doc__ = law.__name__, law.__doc__
        return test

    return one_test


def faults(law: Callable[[Path], None], path: Path) -> Iterator[str]:
    try:
        law(path)
    except AssertionError as error:
        yield str(error)


def unit_of(path: Path) -> str:
    """Return the module or sub-package directly under bpe_cli that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def nodes_of(path: Path) -> list[ast.AST]:
    """Return all nodes of a file, which each law looks through."""
    return syntax.nodes_of(syntax.tree_of(path))


@cache
def imports_of(path: Path) -> frozenset[str]:
    """Return the dotted names of all modules that a file imports, wherever in it the import stands."""
    found = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                folder = path.parent.parts[len(ROOT.parts) :]
                base = ".".join([*folder[: len(folder) - node.level + 1], *([base] if base else [])])
            found |= {f"{base}.{alias.name}" for alias in node.names} | {base}
    return frozenset(found)


def units_imported(path: Path) -> set[str]:
    return {name.split(".")[1] for name in imports_of(path) if name.startswith("bpe_cli.")} & (
        LAYER_OF.keys() | {"teaching"} | {path.stem for path in PACKAGE.glob("*.py")}
    )


def may_import(unit: str, other: str) -> bool:
    if unit == other or (unit, other) in ALSO_ALLOWED:
        return True
    if unit == "__main__":
        return other == "cli"
    if unit == "__init__":
        return other != "cli"
    if unit == "teaching":
        return other in TEACHING_MAY_IMPORT
    if unit not in LAYER_OF or other not in LAYER_OF:
        return False
    layer, other_layer = LAYER_OF[unit], LAYER_OF[other]
    return other_layer < layer


@of_each([path for path in MODULES if unit_of(path) == "teaching"])
def test_textbooks_take_only_tables_from_stages(path):
    taken = {name for name in imports_of(path) if name.startswith("bpe_cli.stages")}
    assert all(name.startswith(TABLES_OF_STAGES) for name in taken), taken


@cache
def calls_of(path: Path) -> list[tuple[str, int]]:
    """Return (dotted name, line) of every call by name."""
    return [(written(node.func), node.lineno) for node in nodes_of(path) if isinstance(node, ast.Call)]


def test_every_module_has_a_layer():
    known = LAYER_OF.keys() | ENTRANCES.keys() | {"teaching"}
    assert {unit_of(path) for path in MODULES} <= known, "give the new one a place in LAYERS"


@of_each(MODULES)
def test_imports_point_one_way(path):
    unit = unit_of(path)
    upwards = {above.split(".")[1] for module, above in UPWARDS if module == module_of(path)}
    wrong = sorted(other for other in units_imported(path) - upwards if not may_import(unit, other))
    assert not wrong, f"{name_of(path)} must not import {', '.join(wrong)}"


ENDS_ITS_PROCESS = {"bpe_cli/engines/local.py"}
"""A worker process that it started ends when its parent has."""


@of_each([path for path in MODULES if unit_of(path) not in {"cli", "__main__"}])
def test_library_leaves_terminal_and_process_alone(path):
    heads = {name.split(".")[0] for name in imports_of(path)}
    assert not heads & {"typer", "click", "tqdm"}, "progress is a callback; options are the command line's"
    forbidden = {"print", "exit", "quit", "sys.exit", "os._exit", "os.abort", "input", "breakpoint"}
    allowed = {"os._exit"} if name_of(path) in ENDS_ITS_PROCESS else set()
    assert [call for call in calls_of(path) if call[0] in forbidden - allowed] == []


@of_each(MODULES)
def test_nothing_is_unpickled_or_evaluated(path):
    heads = {name.split(".")[0] for name in imports_of(path)}
    assert not heads & {"pickle", "marshal", "shelve", "dill"}
    calls = [call for call in calls_of(path) if call[0] in {"eval", "exec", "__import__"}]
    allow_pickle = "allow_pickle=True" in path.read_text(encoding="utf-8")
    assert (calls, allow_pickle) == ([], False)


# The first reads the URLs that a user names, by libraries that `optional` imports; the second listens to browsers.
MAY_USE_THE_NETWORK = ("bpe_cli/corpus/objects/", "bpe_cli/playground/")
NETWORK = {
    "aiohttp", "asyncio", "ftplib", "http", "httpx", "huggingface_hub", "obstore", "requests", "smtplib", "socket",
    "socketserver", "ssl", "urllib", "urllib3", "webbrowser", "xmlrpc",
}  # fmt: skip


@of_each([path for path in MODULES if not name_of(path).startswith(MAY_USE_THE_NETWORK)])
def test_nothing_else_uses_the_network(path):
    """Engines and integrations call their own libraries, which do; nobody else imports what could."""
    calls = [node for node in nodes_of(path) if isinstance(node, ast.Call)]
    named = {each.args[0] for each in calls if written(each.func) == "optional" and each.args}
    names = {*imports_of(path), *(str(each.value) for each in named if isinstance(each, ast.Constant))}
    assert not {name.split(".")[0] for name in names} & NETWORK


@of_each([path for path in MODULES if name_of(path) != "bpe_cli/support/cached.py"])
def test_no_property_holds_a_lock(path):
    """The one of ``functools`` does up to Python 3.11; a child of a fork would wait for it forever."""
    assert "functools.cached_property" not in imports_of(path)


# The app makes a message of it; the second speaks where the app cannot be imported; the third and the fourth hand
# whatever a thread raised to the one that waits for it; the fifth keeps what several attempts raised, and raises it as
# one; the sixth hands whatever a part raised to the process that waits for it.
MAY_CATCH_ALL = {
    "bpe_cli/cli/app.py",
    "bpe_cli/__main__.py",
    "bpe_cli/support/ordered_threads.py",
    "bpe_cli/corpus/objects/reading.py",
    "bpe_cli/support/messages.py",
    "bpe_cli/engines/base.py",
}


@of_each([path for path in MODULES if name_of(path) not in MAY_CATCH_ALL])
def test_only_the_app_turns_an_error_into_a_message(path):
    """Elsewhere one catches the kind of error one can do something about."""
    too_wide = {"BpeError", "errors.BpeError", "Exception", "BaseException"}
    wrong = []
    for node in nodes_of(path):
        if isinstance(node, ast.ExceptHandler):
            kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            names = {ast.unparse(kind) if kind else "BaseException" for kind in kinds}
            # Cleaning up and passing the error on is no handling.
            passes_on = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
            if names & too_wide and not passes_on:
                wrong.append((node.lineno, sorted(names)))
    assert wrong == []


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def modules_imported(path: Path, known: Collection[str]) -> set[str]:
    """Return the modules of the package that a file imports, for type checkers only and within functions too.

    ``from bpe_cli.tokenizer import engine`` imports the module, and not what its package's ``__init__`` holds besides.
    """
    modules = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute"
            for name in (f"{node.module}.{alias.name}" for alias in node.names):
                modules.add(name if name in known else str(node.module))
    return modules & set(known)


def circles_of(imports: Mapping[str, Collection[str]]) -> list[set[str]]:
    """Return the largest sets of modules each of which leads to all others of its set.

    >>> [sorted(circle) for circle in circles_of({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}})]
    [['b', 'c']]
    """
    reached = {}
    for module in imports:
        reached[module], waiting = set(), [module]
        while waiting:
            new = set(imports[waiting.pop()]) - reached[module]
            reached[module] |= new
            waiting += new
    sets = {frozenset(other for other in reached[each] if each in reached[other]) for each in imports}
    return sorted((set(members) for members in sets if members), key=sorted)


def test_circles_are_found():
    assert circles_of({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"e"}}) == [{"b", "c"}, {"e"}]


def test_no_imports_go_in_a_circle():
    paths = {module_of(path): path for path in MODULES} | {"bpe_cli._core": PACKAGE / "_core.pyi"}
    imports = {module: modules_imported(path, paths) for module, path in paths.items()}
    assert len(imports["bpe_cli.tokenizer"]) > 8
    for module, above in UPWARDS:
        imports[module].remove(above)  # it is there: what is listed is needed
    assert circles_of(imports) == []


@of_each(MODULES)
def test_what_is_imported_by_name_is_of_the_same_package(path):
    """The tests above read imports: a module by its name is one that they would not see."""
    calls = [node for node in nodes_of(path) if isinstance(node, ast.Call)
             and written(node.func).split(".")[-1] in {"Modules", "import_module"}]  # fmt: skip
    named = [f"{ast.unparse(node.args[0]).removeprefix('f')[1:-1]}." for node in calls]
    means = module_of(path) in {"bpe_cli", "bpe_cli.support.lazy_modules"}  # the public names, and the means itself
    assert means or [name for name in named if not name.startswith(f"bpe_cli.{unit_of(path)}.")] == []


VIEWS = [path for path in MODULES if unit_of(path) == "views" and path.name != "on_console.py"]


@of_each(VIEWS)
def test_views_are_blocks_that_one_module_draws_with_rich(path):
    """Others ask how many columns a text takes, and that is all."""
    assert {name for name in imports_of(path) if name.split(".")[0] == "rich"} <= {"rich.cells", "rich.cells.cell_len"}


@of_each([path for path in MODULES if unit_of(path) != "tokenizer"])
def test_nobody_asks_which_way_the_engine_goes(path):
    """Whoever needs to know gets an answer from ``tokenizer.engine.compiled.Engine``."""
    asked = [ast.unparse(node) for node in nodes_of(path) if isinstance(node, ast.Call)
             and written(node.func) in {"isinstance", "type", "hasattr", "getattr"}
             and "engine" in ast.unparse(node.args[0]).split(".")]  # fmt: skip
    assert asked == []


@of_each(MODULES)
def test_what_a_model_may_have_is_declared(path):
    """``stages.models.AnyModel`` has a default for it: types do not see what ``getattr`` and ``hasattr`` ask for."""
    wrong = [
        (node.lineno, ast.unparse(node))
        for node in nodes_of(path)
        if isinstance(node, ast.Call)
        and written(node.func) in {"getattr", "hasattr"}
        and ast.unparse(node.args[0]).endswith("model")
        and isinstance(node.args[1], ast.Constant)
    ]
    assert wrong == []


# -- all files -------------------------------------------------------------------------------------

RUST = sorted(path for path in (ROOT / "core").rglob("*.rs") if "target" not in path.relative_to(ROOT).parts)
SOURCES = [*RUST, *(path for folder in (PACKAGE, ROOT / "tests", ROOT / "docs", ROOT / "benchmarks")
                    for path in sorted(folder.rglob("*.py")))]  # fmt: skip


@of_each(SOURCES)
def test_long_file_says_why(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 400 or any("Length:" in line for line in lines[:15]), (
        f"{len(lines)} lines: split it, or give the reason after 'Length:' at its top"
    )


@pytest.fixture(scope="module")
def tracked() -> list[Path]:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        skip("needs a git checkout: it asks git which files belong to the project")
    listing = subprocess.run([git, "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    return [path for name in listing.decode().split("\0") if name and (path := ROOT / name).is_file()]


def text_files(paths: list[Path]) -> list[tuple[str, str]]:
    """Return (name, text) of the files that people wrote here; cargo writes its lock itself, corpora are data."""
    return [
        (name_of(path), path.read_text(encoding="utf-8", errors="replace"))
        for path in paths
        if path.name != "Cargo.lock" and not path.is_relative_to(ROOT / "corpora")
    ]


def test_no_registry_is_named(tracked):
    """Whoever installs uses the registries that their pip and cargo are set up with."""
    hosts = re.compile("|".join(re.escape(".".join(parts)) for parts in (
        ("pypi", "org"), ("crates", "io"), ("files", "pythonhosted"), ("proxy", "golang"))))  # fmt: skip
    assert [(name, hosts.search(text)[0]) for name, text in text_files(tracked) if hosts.search(text)] == []


def test_no_path_of_one_machine_is_named(tracked):
    machine = re.compile(r"(?<![\w.:/*~-])/(?:" + "|".join(["work", "root", "home", "Users"]) + r")/\w")
    assert [(name, machine.search(text)[0]) for name, text in text_files(tracked) if machine.search(text)] == []


def test_nothing_generated_or_licensed_by_others_is_tracked(tracked):
    suffixes = {".tiktoken", ".model", ".gguf", ".so", ".pyd", ".whl", ".pyc"}
    assert [name_of(path) for path in tracked if path.suffix in suffixes] == []
