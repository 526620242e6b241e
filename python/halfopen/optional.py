"""Libraries that are there if somebody installed them."""

from __future__ import annotations

import importlib
from typing import Any


def missing(library: str, extra: str, wish: str) -> ImportError:
    """The error for an optional library that is not there: says what to install."""
    return ImportError(f"{wish} needs {library}, which is not installed: pip install 'halfopen[{extra}]'")


def load(module: str, extra: str, wish: str) -> Any:
    """A module of an optional library; ImportError, with what to install for `wish`, if it is not there."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise missing(module.split(".")[0], extra, wish) from None
