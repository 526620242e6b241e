"""Libraries that are there if somebody installed them."""

from __future__ import annotations

import importlib
from typing import Any

from halfopen.table import missing


def load(module: str, extra: str, wish: str) -> Any:
    """A module of an optional library; ImportError, with what to install for `wish`, if it is not there."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise missing(module.split(".")[0], extra, wish) from None
