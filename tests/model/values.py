"""Reading the values of an operation (semantics, "Validation" and "step").

A refused value raises `Refused` before anything has been changed.
"""

from dataclasses import replace

U16 = 2**16 - 1
U32 = 2**32 - 1
U64 = 2**64 - 1
DURATION = 10**12
RATIO = "ratio"


class Refused(Exception):
    """The operation is an error: it is answered as one and changes nothing."""


def add(a, b):
    """Conventions: additions saturate at the end of 64 bits."""
    return min(a + b, U64)


def elapsed(now, then):
    """EndpointHealth, `report`: `now - t` is 0 when t > now."""
    return max(0, now - then)


def whole(record, key, low, high, default=None):
    """A whole number in `low..high`; required when there is no default."""
    value = record.get(key, default)
    if type(value) is not int or not low <= value <= high:
        raise Refused(f"{key} is {value!r}: it must be a whole number in {low}..{high}")
    return value


def flag(record, key):
    """A required boolean."""
    value = record.get(key)
    if type(value) is not bool:
        raise Refused(f"{key} is {value!r}: it must be true or false")
    return value


def ratio(record, key):
    """Validation: ratios in (0, 1]."""
    value = record[key]
    if type(value) not in (int, float) or not 0 < value <= 1:
        raise Refused(f"{key} is {value!r}: it must be above 0 and at most 1")
    return float(value)


def text(record, key, allowed=None, default=None):
    """A string, if need be out of a few; required when there is no default."""
    value = record.get(key, default)
    if type(value) is not str or (allowed is not None and value not in allowed):
        raise Refused(f"{key} is {value!r}: it must be a string, one of {allowed or 'any'}")
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise Refused(f"{key} holds half a surrogate pair")
    return value


def read_params(record, limits, current):
    """Any subset of a machine's parameters, over those in force; all or none."""
    found = {}
    for key, limit in limits.items():
        if key in record:
            found[key] = ratio(record, key) if limit == RATIO else whole(record, key, *limit)
    return replace(current, **found) if found else current
