"""Read and write JSON whose integers are exact, however large: orjson makes floats of those beyond 64 bits.

Only what has a long number is read by the standard library, and nothing that orjson refuses.
"""

from __future__ import annotations

import json
import re
from typing import Any

from bpe_cli.support.safe_orjson import orjson

_LONG_NUMBER = re.compile(rb"[0-9]{19}")


def loads(data: bytes) -> Any:
    """Return the value of JSON.

    >>> loads(b"[100000000000000000001]")
    [100000000000000000001]

    Raises:
        orjson.JSONDecodeError: if the data is no JSON, a number is too large for a double, or there are long numbers
            where values are too deep in each other.
    """
    value = orjson.loads(data)
    if not _LONG_NUMBER.search(data):
        return value
    text = data.decode()
    try:
        return json.loads(text)
    except RecursionError as error:
        raise orjson.JSONDecodeError("nested too deeply", text, 0) from error


def dumps(value: object) -> bytes:
    """Return the JSON of a value.

    >>> dumps([100000000000000000001])
    b'[100000000000000000001]'

    Raises:
        orjson.JSONEncodeError: if JSON cannot hold the value, or it would not be read back.
    """
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError as error:
        if "64-bit" not in str(error):
            raise
    try:
        data = json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        orjson.loads(data)
    except (TypeError, ValueError, RecursionError) as error:
        raise orjson.JSONEncodeError(str(error)) from error
    return data
