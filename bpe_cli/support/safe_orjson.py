"""Import orjson so that an interrupt during the import stays an interrupt.

When orjson is imported, its compiled code imports these modules, and does not look whether that succeeds: an exception
there, as an interrupt is, crashes the process. Once they are here, orjson runs no Python code.
"""

# ruff: noqa: F401  # they are imported to be there
from __future__ import annotations

import dataclasses
import datetime
import enum
import inspect
import json
import uuid

import orjson as orjson
