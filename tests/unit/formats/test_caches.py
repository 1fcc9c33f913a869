"""Tokenizers in the caches of other programs: found, never fetched, and no way out of the cache."""

from __future__ import annotations

import hashlib
import os
import tempfile
from fnmatch import fnmatchcase

import pytest

from bpe_cli import formats
from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.formats import find
from bpe_cli.formats.huggingface import companions
from bpe_cli.tokenizer import named_encodings
from tests.cli_runner import call
from tests.counted import at_least, compared
from tests.needs import needs

COMMIT = "0123456789abcdef0123456789abcdef01234567"
OTHER = "f" * 40
VARIABLES = ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "TIKTOKEN_CACHE_DIR",
             "DATA_GYM_CACHE_DIR")  # fmt: skip


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """Return a home with nothing in it, and no variables that lead elsewhere."""
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def hub(home, make):
    """Make a cache as huggingface_hub does: files by hash in blobs/, and links to them by name."""
    folder = home / ".cache" / "huggingface" / "hub"
    blobs = folder / "models--org--name" / "blobs"
    blobs.mkdir(parents=True)
    for commit, tokenizer, files in (
        (COMMIT, make(), ("tokenizer.json", "config.json")),
        (OTHER, make(specials_first=["<s>"]), ("tokenizer.json",)),
    ):
        snapshot = folder / "models--org--name" / "snapshots" / commit
        snapshot.mkdir(parents=True)
        for file in files:
            content = formats.dump(tokenizer, "tokenizer.json")[""] if file == "tokenizer.json" else b'{"x": "y"}'
            (blobs / f"{commit}-{file}").write_bytes(content)
            (snapshot / file).symlink_to(os.path.join("..", "..", "blobs", f"{commit}-{file}"))
    for ref, content in (("main", COMMIT), ("v2", OTHER + "\n"), ("refs/pr/1", OTHER), ("bad", "../../../x")):
        path = folder / "models--org--name" / "refs" / ref
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


# -- Hugging Face ----------------------------------------------------------------------------------


def test_the_main_branch_is_meant(hub, make):
    tokenizer = formats.find_tokenizer("hf:org/name")
    assert tokenizer == make()
    assert tokenizer.name == "hf:org/name"


@pytest.mark.parametrize("revision", ["v2", "refs/pr/1", OTHER])
def test_revisions(hub, make, revision):
    assert formats.find_tokenizer(f"hf:org/name@{revision}") == make(specials_first=["<s>"])


def test_the_hubs_own_library_finds_the_same_file(hub):
    library = needs("huggingface_hub")
    for reference, revision in (("org/name", None), ("org/name@v2", "v2"), ("org/name@refs/pr/1", "refs/pr/1")):
        expected = library.try_to_load_from_cache("org/name", "tokenizer.json", cache_dir=hub, revision=revision)
        found = find.snapshot(reference) / "tokenizer.json"
        # A file that ends in a line end, which the library does not write, is read all the same.
        assert str(found) == expected or revision == "v2"


def test_name_without_organization(hub, make):
    (hub / "models--org--name").rename(hub / "models--gpt2")
    assert formats.find_tokenizer("hf:gpt2") == make()


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({}, "{home}/.cache/huggingface/hub"),
        ({"XDG_CACHE_HOME": "{home}/xdg"}, "{home}/xdg/huggingface/hub"),
        ({"XDG_CACHE_HOME": "{home}/xdg", "HF_HOME": "{home}/hf"}, "{home}/hf/hub"),
        ({"HF_HOME": "~/hf"}, "{home}/hf/hub"),
        ({"HF_HOME": "{home}/hf", "HUGGINGFACE_HUB_CACHE": "{home}/old"}, "{home}/old"),
        ({"HF_HUB_CACHE": "$HOME/cache", "HUGGINGFACE_HUB_CACHE": "{home}/old"}, "{home}/cache"),
        ({"HF_HUB_CACHE": "", "HF_HOME": ""}, "{home}/.cache/huggingface/hub"),
    ],
)
def test_the_environment_says_where_the_cache_is(monkeypatch, home, variables, folder):
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value.format(home=home))
    assert str(find.hugging_face_folder()) == folder.format(home=home)


@pytest.mark.parametrize(
    "reference",
    ["", "../../etc", "org/../x", "/etc/passwd", "org/name/x", "org\\name", "org/na me", "a--b", "..", ".x", "org/.x",
     "org/", "/name", "org/name\n", "é", "x" * 97, "\0", "@main"],
)  # fmt: skip
def test_names_that_lead_elsewhere_are_refused(hub, reference):
    with pytest.raises(UsageError, match="names no model"):
        find.snapshot(reference)
    assert not find.has_model(reference)


@pytest.mark.parametrize("revision", ["", "..", "../main", "a/../../b", "/etc", "a//b", "a/", "x\n", "-x", "a b"])
def test_revisions_that_lead_elsewhere_are_refused(hub, revision):
    with pytest.raises(UsageError, match="is no revision"):
        find.snapshot(f"org/name@{revision}")


def test_what_is_not_there_is_said_with_the_command_that_fetches_it(hub):
    with pytest.raises(InputError) as caught:
        formats.find_tokenizer("hf:org/other@v1")
    assert caught.value.message == f"org/other is not in the cache {hub}"
    assert caught.value.hint.startswith('fetch it: hf download org/other --revision v1 --include "*token*" --include ')
    with pytest.raises(InputError, match=r'has no revision "v9": it has bad, main, refs/pr/1, v2'):
        find.snapshot("org/name@v9")
    with pytest.raises(InputError, match=f"has no files of commit {'0' * 40}"):
        find.snapshot("org/name@" + "0" * 40)


def test_the_command_is_one_that_the_hubs_program_takes():
    library = needs("huggingface_hub")
    assert library.__version__
    from huggingface_hub.utils import filter_repo_objects

    files = ["tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.json",
             "merges.txt", "vocab.txt", "vocab.bpe", "encoder.json", "tokenizer.model", "spiece.model",
             "tokenizer.model.v3", "qwen.tiktoken", "tekken.json", "chat_template.jinja", "chat_template.json",
             "additional_chat_templates/tools.jinja", "original/tokenizer.model",
             "config.json", "model.safetensors", "pytorch_model.bin", "model-q4.gguf"]  # fmt: skip
    assert list(filter_repo_objects(files, allow_patterns=list(find.WANTED))) == files[:-4]


NOT_FETCHED = {"*.gguf", "*.json"}
"""Endings that a repository has for much else too."""


READ = {name for module in formats.FORMATS.values() for name in module.FILES} | companions.NAMES


@pytest.mark.parametrize("name", sorted(READ | {f"{companions.TEMPLATES}/*.jinja"}))
def test_every_name_that_is_read_is_fetched(name):
    """A name with ``*`` stands for one of its kind: what it becomes is to be matched too."""
    fetched = any(fnmatchcase(name.replace("*", "x"), pattern) for pattern in find.WANTED)
    assert fetched == (name not in NOT_FETCHED)


def test_broken_refs(hub):
    with pytest.raises(FormatError, match=r'is to hold a commit\'s 40 digits, not "\.\./\.\./\.\./x"'):
        find.snapshot("org/name@bad")
    (hub / "models--org--name" / "refs" / "main").write_bytes(b"\xff" * 5000)
    with pytest.raises(FormatError, match="5,000 bytes"):
        find.snapshot("org/name")


def test_missing_snapshot(hub):
    (hub / "models--org--name" / "refs" / "main").write_text("1" * 40)
    with pytest.raises(InputError, match=f"has no files of commit {'1' * 40}"):
        formats.find_tokenizer("hf:org/name")


def test_folder_without_tokenizer(hub):
    folder = hub / "models--org--name" / "snapshots" / COMMIT
    (folder / "tokenizer.json").unlink()
    with pytest.raises(FormatError) as caught:
        formats.find_tokenizer("hf:org/name")
    assert caught.value.hint.startswith("fetch it: hf download org/name --include")
    (folder / "config.json").unlink()
    with pytest.raises(FormatError, match="holds no tokenizer, it is empty"):
        formats.find_tokenizer("hf:org/name")


def test_links_that_lead_nowhere_or_in_circles(hub):
    folder = hub / "models--org--name"
    link = folder / "snapshots" / COMMIT / "tokenizer.json"
    link.unlink()
    link.symlink_to("tokenizer.json")
    with pytest.raises((InputError, FormatError), match=r"cannot read|holds no tokenizer"):
        formats.find_tokenizer("hf:org/name")
    link.unlink()
    link.symlink_to("../../blobs/gone")
    with pytest.raises((InputError, FormatError), match=r"no such file|holds no tokenizer"):
        formats.find_tokenizer("hf:org/name")
    (folder / "snapshots" / ("2" * 40)).symlink_to("2" * 40)
    with pytest.raises(InputError, match="has no files of commit"):
        find.snapshot("org/name@" + "2" * 40)
    (folder / "refs" / "main").unlink()
    (folder / "refs" / "main").symlink_to("main")
    with pytest.raises(InputError, match='has no revision "main"'):
        find.snapshot("org/name")


def test_a_name_in_the_cache_is_suggested(hub):
    for spec, kind in (("org/name", InputError), ("name", UsageError)):
        if kind is UsageError:
            (hub / "models--org--name").rename(hub / "models--name")
        with pytest.raises(kind) as caught:
            formats.find_tokenizer(spec)
        assert caught.value.hint == f"there is a model of this name in Hugging Face's cache: hf:{spec}"
    with pytest.raises(InputError) as caught:
        formats.find_tokenizer("org/other")
    assert caught.value.hint == "for a model on Hugging Face's hub: hf:org/other, once it is fetched"
    with pytest.raises(InputError, match="org/other") as caught:
        formats.find_tokenizer("hf:org/other")
    assert caught.value.hint.startswith("fetch it: hf download org/other ")


def test_command_line(hub, make):
    done = call("encode", "-T", "hello wo!", "-t", "hf:org/name", env={"HF_HUB_CACHE": str(hub)})
    assert done.out.split() == [str(number).encode() for number in make().encode("hello wo!")]
    done = call("inspect", "-t", "hf:org/name@v2", env={"HF_HUB_CACHE": str(hub)})
    assert b"hf:org/name@v2" in done.out


# -- tiktoken --------------------------------------------------------------------------------------


@pytest.fixture
def ranks(monkeypatch, tmp_path):
    """Make tiktoken's cache with one encoding in it."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    path = tmp_path / find.tiktoken_file_name("r50k_base")
    path.write_bytes(formats.dump(named_encodings.named("r50k_base"), "tiktoken")[""])
    return path


@pytest.mark.parametrize("name", ["r50k_base", "gpt2"])
def test_encodings_are_those_that_are_built_in(ranks, name):
    tokenizer = formats.find_tokenizer(f"tiktoken:{name}")
    assert tokenizer == named_encodings.named(name)
    assert tokenizer.name == f"tiktoken:{name}"


def test_tiktoken_looks_at_the_same_place(ranks, monkeypatch):
    load = needs("tiktoken.load")
    public = needs("tiktoken_ext.openai_public")
    monkeypatch.setattr(load, "read_file", lambda path: pytest.fail(f"it would fetch {path}"))
    assert len(public.r50k_base()["mergeable_ranks"]) == 50256


@at_least(4)
def test_every_encoding_has_the_place_that_tiktoken_gives_it(monkeypatch, tmp_path):
    load = needs("tiktoken.load")
    public = needs("tiktoken_ext.openai_public")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    asked = []
    monkeypatch.setattr(load, "read_file", lambda path: asked.append(path) or b"")
    for name in named_encodings.ENCODINGS:
        if name == "gpt2":  # two files of another format there
            continue
        with pytest.raises(ValueError, match="Hash mismatch"):
            public.ENCODING_CONSTRUCTORS[name]()
        with pytest.raises(InputError) as caught:
            find.tiktoken_encoding(name)
        assert hashlib.sha1(asked[-1].encode()).hexdigest() in caught.value.message
        compared()


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({}, os.path.join(tempfile.gettempdir(), "data-gym-cache")),
        ({"DATA_GYM_CACHE_DIR": "/a"}, "/a"),
        ({"DATA_GYM_CACHE_DIR": "/a", "TIKTOKEN_CACHE_DIR": "/b"}, "/b"),
        ({"TIKTOKEN_CACHE_DIR": ""}, None),
    ],
)
def test_where_tiktokens_cache_is(monkeypatch, variables, folder):
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    found = find.tiktoken_folder()
    assert (None if found is None else str(found)) == folder


def test_what_tiktokens_cache_lacks(monkeypatch, ranks):
    with pytest.raises(InputError) as caught:
        formats.find_tokenizer("tiktoken:gpt-4o")
    assert caught.value.message.startswith("o200k_base is not in tiktoken's cache (")
    assert "python -c \"import tiktoken; tiktoken.get_encoding('o200k_base')\"" in caught.value.hint
    assert caught.value.hint.endswith("; or use the one that is built in: o200k_base")
    with pytest.raises(UsageError, match='unknown tokenizer "none"'):
        formats.find_tokenizer("tiktoken:none")
    with pytest.raises(UsageError, match="has a split pattern of its own"):
        formats.find_tokenizer("tiktoken:r50k_base", "gpt2")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    with pytest.raises(InputError, match="is turned off"):
        formats.find_tokenizer("tiktoken:r50k_base")


def test_tiktokens_cache_has_no_place(monkeypatch):
    def nowhere():
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(tempfile, "gettempdir", nowhere)
    with pytest.raises(InputError, match="tiktoken's cache has no place: no usable temporary directory"):
        formats.find_tokenizer("tiktoken:r50k_base")


def test_another_file_in_its_place_is_not_used(ranks):
    ranks.write_bytes(ranks.read_bytes()[:-2] + b"7\n")
    with pytest.raises(FormatError, match="is not the published file of r50k_base"):
        formats.find_tokenizer("tiktoken:r50k_base")
