"""What GitHub, pre-commit, Docker and man read: pinned, valid, and its shell parts run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli_runner import COMMAND
from tests.needs import needs, skip
from tests.test_docs import generate

ROOT = Path(__file__).resolve().parent.parent
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
ACTION = GITHUB / "actions" / "tokens" / "action.yml"
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
yaml = needs("yaml", "pyyaml")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def read(path: Path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def tool(name: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a tool of the development group."""
    program = Path(sys.executable).with_name(name)
    if not program.exists():
        skip(f"needs {name}, which is not installed: make setup")
    command = [str(program), *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


# -- workflows -------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [*WORKFLOWS, ACTION], ids=name_of)
def test_actions_are_pinned_by_commit_with_the_version_beside_it(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        if "uses:" in line:
            assert re.search(r"uses: [\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line


def test_one_action_has_one_version():
    text = "".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    pins = set(re.findall(r"uses: (\S+)@(\S+) # (\S+)", text))
    assert len({name for name, *_ in pins}) == len(pins)


@pytest.mark.parametrize("path", WORKFLOWS, ids=name_of)
def test_jobs_state_their_rights_and_their_time(path):
    workflow = read(path)
    assert workflow["permissions"] == {}
    for name, job in workflow["jobs"].items():
        assert {"permissions", "timeout-minutes", "runs-on"} <= job.keys(), name
        for step in job["steps"]:
            assert "${{" not in step.get("run", ""), "what stands in an expression is code there: use env"
            if "actions/checkout" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] is False


def test_every_push_runs_what_must_pass():
    workflow = read(GITHUB / "workflows" / "ci.yml")
    assert "push" in workflow[True]  # YAML reads `on` so
    assert ".ci/run" in [step.get("run") for job in workflow["jobs"].values() for step in job["steps"]]


def test_only_a_tag_publishes_and_with_attestations():
    job = read(GITHUB / "workflows" / "release.yml")["jobs"]["publish"]
    assert "refs/tags/v" in job["if"]
    assert job["permissions"] == {"contents": "read", "id-token": "write", "attestations": "write"}
    assert {*job["needs"]} == {"wheels", "source"}
    assert "attest-build-provenance" in job["steps"][2]["uses"]
    assert job["steps"][3]["with"]["attestations"] is True


def test_wheels_are_made_for_all_platforms():
    jobs = read(GITHUB / "workflows" / "release.yml")["jobs"]
    built = {each["build"] for each in jobs["wheels"]["strategy"]["matrix"]["include"]}
    assert built >= {
        "*-manylinux_x86_64", "*-manylinux_aarch64", "*-musllinux_x86_64", "*-musllinux_aarch64",
        "*-macosx_arm64", "*-macosx_x86_64", "*-win_amd64",
    }  # fmt: skip


def test_zizmor_finds_nothing():
    done = tool("zizmor", "--offline", "--no-progress", "--quiet", ".github")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("schema", "paths"),
    [("vendor.github-workflows", WORKFLOWS), ("vendor.github-actions", [ACTION]),
     ("vendor.dependabot", [GITHUB / "dependabot.yml"])],
)  # fmt: skip
def test_files_fit_their_schemas(schema, paths):
    done = tool("check-jsonschema", "--builtin-schema", schema, *paths)
    assert done.returncode == 0, done.stdout


def scripts_of(path: Path) -> list[tuple[str, str]]:
    found = read(path)
    jobs = found.get("jobs", {"action": found.get("runs")}).values()
    steps = [step for job in jobs for step in job["steps"]]
    return [(step.get("name", step["run"][:30]), step["run"]) for step in steps if "run" in step]


@pytest.mark.parametrize("path", [*WORKFLOWS, ACTION], ids=name_of)
def test_shellcheck_finds_nothing(path, tmp_path):
    for name, script in scripts_of(path):
        (tmp_path / "step.sh").write_text(f"#!/bin/bash\n{script}\n", encoding="utf-8")
        done = tool("shellcheck", tmp_path / "step.sh")
        assert done.returncode == 0, f"{name}\n{done.stdout}"


@pytest.mark.parametrize("path", FORMS, ids=name_of)
def test_forms_are_complete(path):
    form = read(path)
    assert {"name", "description", "body"} <= form.keys()
    inputs = [each for each in form["body"] if each["type"] != "markdown"]
    assert {each["type"] for each in inputs} <= {"input", "textarea", "dropdown", "checkboxes"}
    assert len({each["id"] for each in inputs}) == len(inputs)
    assert all(each["attributes"]["label"] for each in inputs)


def test_the_policies_are_where_github_finds_them():
    for name in ("SECURITY.md", "CODE_OF_CONDUCT.md", "pull_request_template.md"):
        assert (GITHUB / name).stat().st_size > 200


# -- the action ------------------------------------------------------------------------------------


class Steps:
    """The steps of the action, run one after the other as GitHub does."""

    def __init__(self, folder: Path, **inputs: str) -> None:
        self.folder, self.action = folder, read(ACTION)
        declared = {name: str(each.get("default", "")) for name, each in self.action["inputs"].items()}
        self.values = {f"inputs.{name}": value for name, value in declared.items()}
        self.values |= {f"inputs.{name.replace('_', '-')}": value for name, value in inputs.items()}
        assert {name.removeprefix("inputs.") for name in self.values} == {*declared}
        self.messages = ""
        (folder / "runner").mkdir()
        (folder / "bin").mkdir()
        bpe = folder / "bin" / "bpe"
        bpe.write_text(f'#!/bin/sh\nexec {" ".join(COMMAND)} "$@"\n', encoding="utf-8")
        bpe.chmod(0o755)

    def run(self, name: str) -> int:
        """Run a step and return its status; what it sets can be read by later ones."""
        (step,) = (each for each in self.action["runs"]["steps"] if each["name"] == name)
        output, summary = self.folder / "output", self.folder / "summary.md"
        output.write_text("")
        values = {
            key: re.sub(r"\$\{\{ (.*?) \}\}", lambda match: self.values.get(match[1], ""), str(value))
            for key, value in step.get("env", {}).items()
        }
        environment = values | {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}", "LC_ALL": "C.UTF-8",
            "GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary),
            "RUNNER_TEMP": str(self.folder / "runner"),
        }  # fmt: skip
        script = self.folder / "script.sh"
        script.write_text(step["run"], encoding="utf-8")
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)], cwd=self.folder, env=environment,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.messages += done.stdout + done.stderr
        for line in output.read_text().splitlines():
            key, _, value = line.partition("=")
            self.values[f"steps.{step.get('id', name)}.outputs.{key}"] = value
        return done.returncode

    @property
    def summary(self) -> str:
        return (self.folder / "summary.md").read_text(encoding="utf-8")


def test_the_action_holds_files_to_a_budget(tmp_path):
    (tmp_path / "prompts" / "deep").mkdir(parents=True)
    (tmp_path / "prompts" / "a.txt").write_text("hello world")
    (tmp_path / "prompts" / "deep" / "b, 100%|`.txt").write_text("one two three four five")
    steps = Steps(tmp_path, files="prompts/**/*.txt", max_tokens="3", tokenizer="gpt2")
    assert steps.run("budget") == 0
    assert steps.summary.splitlines()[2:] == [
        "| file | tokens | of 3 |",
        "|---|--:|--:|",
        "| `prompts/a.txt` | 2 | 66% |",
        "| `prompts/deep/b, 100%\\|'.txt` | 5 | 166% **over** |",
        "| all 2 | 7 | |",
        "",
    ]
    annotation = "::error file=prompts/deep/b%2C 100%25|`.txt,title=token budget::5 tokens, more than 3\n"
    assert steps.messages == annotation
    assert steps.run("judge") == 1
    assert steps.values["steps.judge.outputs.passed"] == "false"


def test_the_action_is_content_within_the_budget(tmp_path):
    (tmp_path / "a.txt").write_text("hello world")
    steps = Steps(tmp_path, files="*.txt none/*.md", max_tokens="2", tokenizer="gpt2")
    assert (steps.run("budget"), steps.run("judge"), steps.messages) == (0, 0, "")
    assert steps.values["steps.judge.outputs.passed"] == "true"


@pytest.mark.parametrize("patterns", ["*.md", "missing.txt"])
def test_the_action_says_that_there_are_no_files(tmp_path, patterns):
    steps = Steps(tmp_path, files=patterns)
    assert steps.run("budget") == 0
    assert "no file fits" in steps.messages
    assert steps.run("judge") == 1


def test_the_action_fails_where_a_file_cannot_be_counted(tmp_path):
    (tmp_path / "a.txt").write_text("hi")
    steps = Steps(tmp_path, files="*.txt", tokenizer="nosuch")
    assert steps.run("budget") == 2
    assert 'error: unknown tokenizer "nosuch"' in steps.messages


def test_the_action_holds_a_tokenizer_to_its_report(tmp_path, corpora):
    (tmp_path / "texts").mkdir()
    shutil.copy(corpora / "languages" / "en.txt", tmp_path / "texts")
    stored = [*COMMAND, "compare", "texts/en.txt", "-t", "t.json", "--json", "-o", "tokenizer-report.json"]
    train = [*COMMAND, "train", "texts/en.txt", "-o", "t.json", "-q", "-s"]
    subprocess.run([*train, "900"], cwd=tmp_path, check=True)
    subprocess.run(stored, cwd=tmp_path, check=True)
    same = Steps(tmp_path, corpus="texts/*.txt", tokenizer="t.json")
    assert (same.run("comparison"), same.run("judge")) == (0, 0), same.messages
    assert same.summary.startswith("### Tokenizer\n")
    subprocess.run([*train, "400"], cwd=tmp_path, check=True)
    shutil.rmtree(tmp_path / "bin")
    shutil.rmtree(tmp_path / "runner")
    worse = Steps(tmp_path, corpus="texts/*.txt", tokenizer="t.json")
    assert (worse.run("comparison"), worse.run("judge")) == (0, 1)
    assert "::error title=tokenizer::t.json on texts/en.txt: tokens " in worse.messages
    assert re.search(r"::error .*%25 worse", worse.messages)


def test_the_action_comments_with_what_there_is(tmp_path):
    (tmp_path / "a.txt").write_text("hello")
    steps = Steps(tmp_path, files="*.txt", comment="true", tokenizer="gpt2")
    steps.values["github.event.number"] = "7"
    gh = tmp_path / "bin" / "gh"
    gh.write_text('#!/bin/sh\necho "$@" > said\ncat "$5" > body\n', encoding="utf-8")
    gh.chmod(0o755)
    assert (steps.run("budget"), steps.run("comment")) == (0, 0), steps.messages
    assert (tmp_path / "said").read_text().startswith("pr comment 7 --body-file ")
    assert (tmp_path / "body").read_text() == steps.summary


# -- pre-commit ------------------------------------------------------------------------------------


def git(folder: Path, *words: str) -> None:
    settings = ("-c", "user.name=x", "-c", "user.email=x@example.invalid", "-c", "init.defaultBranch=main",
                "-c", "commit.gpgsign=false")  # fmt: skip
    subprocess.run(["git", *settings, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def hooks(tmp_path) -> Path:
    """Return a repository that has our hooks, as a commit of a repository."""
    needs("pre_commit", "pre-commit")
    if shutil.which("git") is None:
        skip("needs a git checkout: it asks git which files belong to the project")
    source, user = tmp_path / "source", tmp_path / "user"
    for folder in (source, user):
        folder.mkdir()
        git(folder, "init", "-q")
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", source)
    git(source, "add", "-A")
    git(source, "commit", "-q", "-m", "hooks")
    return user


def pre_commit(user: Path, *hooks: dict[str, object]) -> subprocess.CompletedProcess[str]:
    """Run hooks on all files."""
    source = user.parent / "source"
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=source, capture_output=True, text=True, check=True)
    config = {"repos": [{"repo": str(source), "rev": head.stdout.strip(), "hooks": [*hooks]}]}
    (user / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    git(user, "add", "-A")
    folder = user.parent / "bin"
    folder.mkdir(exist_ok=True)
    (folder / "bpe").write_text(f'#!/bin/sh\nexec {" ".join(COMMAND)} "$@"\n', encoding="utf-8")
    (folder / "bpe").chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"PRE_COMMIT_HOME": str(user.parent / "cache"), "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, "-m", "pre_commit", "run", "--all-files", "--color", "never", "--verbose"]
    return subprocess.run(command, cwd=user, env=environment, capture_output=True, text=True, check=False)


def test_the_hook_of_the_budget(hooks):
    (hooks / "short.txt").write_text("hello world\n")
    hook = {"id": "bpe-token-budget", "args": ["--max-tokens", "4", "--tokenizer", "gpt2"], "types_or": ["text"],
            "files": r"\.txt$"}  # fmt: skip
    fine = pre_commit(hooks, hook)
    assert (fine.returncode, "Passed" in fine.stdout) == (0, True), fine.stdout
    (hooks / "long.txt").write_text("one two three four five six\n")
    over = pre_commit(hooks, hook)
    assert (over.returncode, "Failed" in over.stdout) == (1, True), over.stdout
    assert "long.txt" in over.stdout


def test_the_hook_of_the_tokenizer(hooks, corpora):
    (hooks / "corpus").mkdir()
    shutil.copy(corpora / "languages" / "en.txt", hooks / "corpus")
    train = [*COMMAND, "train", "corpus", "-o", "tokenizer.json", "-q", "-s"]
    stored = [*COMMAND, "compare", "corpus", "-t", "tokenizer.json", "--json", "-o", "tokenizer-report.json"]
    subprocess.run([*train, "900"], cwd=hooks, check=True)
    subprocess.run(stored, cwd=hooks, check=True)
    fine = pre_commit(hooks, {"id": "bpe-tokenizer-regression"})
    assert fine.returncode == 0, fine.stdout
    subprocess.run([*train, "400"], cwd=hooks, check=True)
    worse = pre_commit(hooks, {"id": "bpe-tokenizer-regression"})
    assert (worse.returncode, "worse, more than 1%" in worse.stdout) == (1, True), worse.stdout


def test_our_own_configuration_is_valid():
    done = tool("pre-commit", "validate-config", ROOT / ".pre-commit-config.yaml")
    assert done.returncode == 0, done.stdout
    done = tool("pre-commit", "validate-manifest", ROOT / ".pre-commit-hooks.yaml")
    assert done.returncode == 0, done.stdout


# -- Docker ----------------------------------------------------------------------------------------


def test_hadolint_finds_nothing():
    done = tool("hadolint", "tools/Dockerfile")
    assert done.returncode == 0, done.stdout


def test_the_dockerfile_has_the_rust_that_is_needed():
    lowest = re.search(r'^rust-version = "(.*)"$', (ROOT / "core" / "Cargo.toml").read_text("utf-8"), re.MULTILINE)[1]
    text = (ROOT / "tools" / "Dockerfile").read_text(encoding="utf-8")
    assert f"FROM rust:{lowest}-" in text
    for path in re.findall(r"^COPY (?!--)(.*) \S+$", text, re.MULTILINE):
        assert all((ROOT / each).exists() for each in path.split())


# -- man pages -------------------------------------------------------------------------------------


def man_pages():
    sys.path.insert(0, str(generate.DOCS))
    try:
        import man_pages
    finally:
        sys.path.pop(0)
    return man_pages


def test_man_pages_are_what_the_code_says():
    pages = man_pages().pages()
    assert {path.name for path in pages} == {path.name for path in man_pages().FOLDER.iterdir()}
    assert {path.name: path.read_text(encoding="utf-8") for path in pages} == {
        path.name: text for path, text in pages.items()
    }, "run make docs"


def test_man_pages_have_every_option():
    from bpe_cli.cli.app import COMMANDS, load
    from bpe_cli.cli.options import Option, parameters_of

    for command in COMMANDS:
        text = (man_pages().FOLDER / f"bpe-{command}.1").read_text(encoding="utf-8")
        for _, each in parameters_of(load(command).run).values():
            names = each.names if isinstance(each, Option) else ()
            assert all(rf"\fB{name}\fR".replace("-", r"\-") in text for part in names for name in part.split("/"))


def test_man_shows_the_pages():
    groff = shutil.which("mandoc") or shutil.which("groff")
    if groff is None:
        skip("needs mandoc or groff, which are not installed")
    words = ["-T", "utf8"] if groff.endswith("mandoc") else ["-man", "-Tutf8"]
    for path in man_pages().FOLDER.iterdir():
        done = subprocess.run([groff, *words, path], capture_output=True, check=True)
        shown = re.sub(r".\x08", "", done.stdout.decode())
        assert path.stem.upper() in shown
        assert "SEE ALSO" in shown
