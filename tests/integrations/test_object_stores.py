"""Object stores as inputs: a server of S3 that is not ours, and a proxy before it that fails every tenth request."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bpe_cli.corpus import Source, read_blocks
from bpe_cli.corpus.objects import stores
from bpe_cli.corpus.opening import NO_STDIN
from bpe_cli.errors import InputError, UsageError
from bpe_cli.jobs.prepare import PrepareOptions, check, prepare
from tests.failing_proxy import failing
from tests.needs import needs_reader
from tests.object_store import environment

pytestmark = pytest.mark.filterwarnings("ignore")  # theirs
OPTIONS = PrepareOptions(to="megatron", eot="auto", part_bytes=20_000)
DOCUMENTS = [f"document {number} " + "naïve 日本\n" * (number % 25) for number in range(3000)]


class Store:
    """A server of S3 with a bucket.

    Attributes:
        client: What speaks to it.
        address: Where it listens.
    """

    def __init__(self, client: Any, address: tuple[str, int]) -> None:
        self.client, self.address = client, address

    def put(self, key: str, data: bytes) -> None:
        """Put an object into the bucket."""
        self.client.put_object(Bucket="bucket", Key=key, Body=data)


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return what makes an address that of S3."""

    class Endpoint:
        url = ""

    def at(url: str) -> None:
        Endpoint.url = url
        for name, value in environment(Endpoint).items():  # type: ignore[arg-type]
            monkeypatch.setenv(name, value)
        stores._store.cache_clear()

    yield at
    stores._store.cache_clear()


@pytest.fixture
def store(use: Any) -> Iterator[Store]:
    """Start a server, and fill its bucket: plain lines, compressed ones, names of all kinds."""
    server = needs_reader("moto.server", "moto").ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    boto3 = needs_reader("boto3", "moto")
    needs_reader("obstore")
    server.start()
    address = server.get_host_and_port()
    try:
        use(f"http://{address[0]}:{address[1]}")
        client = boto3.client("s3", endpoint_url=f"http://{address[0]}:{address[1]}")
        client.create_bucket(Bucket="bucket")
        there = Store(client, address)
        lines = [json.dumps({"text": text}).encode() + b"\n" for text in DOCUMENTS]
        for number in range(4):
            there.put(f"data/plain-{number}.jsonl", b"".join(lines[500 * number : 500 * (number + 1)]))
        there.put("data/x y #%20ü.jsonl.gz", gzip.compress(b"".join(lines[2000:2500])))
        there.put("data/z/deep.jsonl", b"".join(lines[2500:]))
        there.put("data/z/", b"")
        there.put("data/.hidden.jsonl", b"not read")
        yield there
    finally:
        server.stop()


def everything(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


SOURCE = Source(("s3://bucket/data/",), documents="jsonl")


def test_a_store_that_fails_every_tenth_request_changes_no_byte(store: Store, use: Any, tmp_path: Path) -> None:
    """The undisturbed run reads the same URLs from the same server, without the proxy, on one process."""
    calm = prepare(SOURCE, "gpt2", OPTIONS, folder=tmp_path / "calm", processes=1)
    assert (calm.documents, calm.is_whole) == (len(DOCUMENTS), True)
    assert calm.parts > 20
    with failing(store.address) as proxy:
        use(proxy.url)
        stormy = prepare(SOURCE, "gpt2", OPTIONS, folder=tmp_path / "stormy", processes=2)
    assert proxy.requests > 60
    assert len(proxy.failed) == 3, "a 500, a reset and a body that is cut"
    assert sum(proxy.failed.values()) == proxy.requests // 10
    assert stormy.made == calm.parts
    assert everything(tmp_path / "stormy") == everything(tmp_path / "calm")
    assert check(tmp_path / "stormy").tokens == calm.tokens


def test_it_is_the_data_set_of_the_same_files(store: Store, tmp_path: Path) -> None:
    keys = [row["Key"] for row in store.client.list_objects_v2(Bucket="bucket")["Contents"]]
    for key in keys:
        if not key.endswith("/"):
            (tmp_path / key).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / key).write_bytes(store.client.get_object(Bucket="bucket", Key=key)["Body"].read())
    local = Source((str(tmp_path / "data"),), documents="jsonl")
    prepare(SOURCE, "gpt2", OPTIONS, folder=tmp_path / "objects", processes=1)
    prepare(local, "gpt2", OPTIONS, folder=tmp_path / "files", processes=1)
    for folder in ("objects", "files"):
        for path in (tmp_path / folder).glob("*.json"):
            path.unlink()  # it names the inputs
    assert everything(tmp_path / "objects") == everything(tmp_path / "files") != {}


def test_tables(store: Store, use: Any, tmp_path: Path) -> None:
    pyarrow, parquet = needs_reader("pyarrow"), needs_reader("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"text": DOCUMENTS, "id": range(len(DOCUMENTS))}), tmp_path / "a.parquet",
                        row_group_size=400)  # fmt: skip
    store.put("tables/a.parquet", (tmp_path / "a.parquet").read_bytes())
    source = Source(("s3://bucket/tables/*.parquet",))
    prepare(source, "gpt2", OPTIONS, folder=tmp_path / "calm", processes=1)
    with failing(store.address, every=3) as proxy:
        use(proxy.url)
        prepare(source, "gpt2", OPTIONS, folder=tmp_path / "stormy", processes=1)
    assert proxy.failed.total() >= 2
    assert everything(tmp_path / "stormy") == everything(tmp_path / "calm")


def test_an_object_that_changes_is_noticed(store: Store, tmp_path: Path) -> None:
    prepare(SOURCE, "gpt2", OPTIONS, folder=tmp_path / "out", processes=1)
    inputs = SOURCE.inputs()
    store.put("data/plain-0.jsonl", b'{"text": "another"}\n')
    with pytest.raises(UsageError, match="was made of other inputs"):
        prepare(SOURCE, "gpt2", OPTIONS, folder=tmp_path / "out", processes=1)
    with pytest.raises(InputError, match=r"plain-0\.jsonl: it has changed since it was listed"):
        list(read_blocks(SOURCE, stdin=NO_STDIN, inputs=inputs))


def test_what_is_not_there_is_said_at_once(store: Store) -> None:
    for url, said in (("s3://bucket/none.txt", "no such object"), ("s3://no-such-bucket/a.txt", "no such bucket"),
                      ("s3://bucket/none/", "no such object"), ("s3://bucket/*.txt", "no object matches")):  # fmt: skip
        with pytest.raises(InputError, match=said):
            Source((url,)).inputs()


def test_the_command_reads_urls(store: Store, tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([sys.executable, "-m", "bpe_cli", *arguments], capture_output=True, check=False)

    encoded = run("encode", "s3://bucket/data/", "--jsonl", "-t", "gpt2", "--to", "jsonl")
    assert encoded.returncode == 0, encoded.stderr
    assert len(encoded.stdout.splitlines()) == len(DOCUMENTS)
    trained = run("train", "s3://bucket/data/*.jsonl", "--jsonl", "-s", "300", "-o", str(tmp_path / "tokenizer.json"))
    assert trained.returncode == 0, trained.stderr
    compared = run("compare", "s3://bucket/data/", "--jsonl", "-t", "gpt2", "-t", "cl100k_base", "--json")
    assert compared.returncode == 0, compared.stderr
    failed = run("prepare", "s3://bucket/data/", "--jsonl", "-t", "gpt2", "-o", "s3://bucket/out/")
    assert (failed.returncode, b"written into a folder on disk" in failed.stderr) == (2, True)
