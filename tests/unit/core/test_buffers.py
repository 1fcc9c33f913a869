"""What is lent to the core cannot change under it, and what it lends follows the buffer protocol."""

import ctypes
import json
import mmap
import threading

import pytest

from bpe_cli import _core
from tests.needs import needs

STAGES = json.dumps({})
ONE, OTHER = b"one two " * 20_000, b"six ten " * 20_000


def changing_buffers(memory):
    """Return read-only views of memory that changes."""
    numpy = needs("numpy")
    shown = numpy.frombuffer(memory, dtype=numpy.uint8)
    shown.flags.writeable = False
    return [memoryview(memory).toreadonly(), shown]


@pytest.mark.parametrize("kind", [0, 1], ids=["bytearray", "numpy"])
def test_memory_that_changes_is_copied(kind):
    memory = bytearray(ONE)
    buffer = changing_buffers(memory)[kind]
    stages = _core.Stages(STAGES)
    stop = threading.Event()

    def write():
        while not stop.is_set():
            for text in (OTHER, ONE):  # each in one step, with the lock held
                memory[:] = text

    writer = threading.Thread(target=write)
    writer.start()
    try:
        found = {bytes(stages.normalize(buffer)[0]) for _ in range(60)}
    finally:
        stop.set()
        writer.join()
    assert found <= {ONE, OTHER}, "a text was read while it changed"


def test_mapped_files_are_copied(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(ONE)
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert _core.Stages(STAGES).normalize(mapped)[0] == ONE


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview, lambda text: memoryview(memoryview(text))[8:-8]])
def test_every_buffer_is_read(wrap):
    buffer = wrap(ONE)
    assert _core.Stages(STAGES).normalize(buffer)[0] == bytes(buffer)


def test_a_subclass_of_bytes_is_read():
    class Text(bytes):
        pass

    assert _core.Stages(STAGES).normalize(Text(ONE))[0] == ONE


class View(ctypes.Structure):
    """The fields of a ``Py_buffer``."""

    _fields_ = (
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    )


def test_a_view_that_cannot_be_had_has_no_owner():
    starts = _core.Stages(STAGES).normalize(b"a b")[1]
    view = View(obj=1)
    get = ctypes.pythonapi.PyObject_GetBuffer
    get.argtypes = (ctypes.py_object, ctypes.c_void_p, ctypes.c_int)
    writable = 1
    with pytest.raises(BufferError, match="the array is read-only"):
        get(starts, ctypes.byref(view), writable)
    assert view.obj is None
    assert memoryview(starts).tolist() == [0, 1, 2]
