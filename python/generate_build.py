"""Writes python/halfopen/build.py from the JSON Schema of scenarios, which is made from the C++ description.

`python python/generate_build.py SCHEMA > python/halfopen/build.py`; a test holds the committed file to the schema of
the installed package, so that no key can be forgotten.
"""

from __future__ import annotations

import json
import keyword
import sys
import textwrap
from typing import Any

ROOT = "scenario_keys"
WIDTH = 110
SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}

HEADER = '''"""Every object of a scenario as a typed dict: what an editor completes and a type checker checks.

Made by python/generate_build.py from the description that the C++ reader is held to; do not edit.

A call makes a plain dict, so the two spellings are one: `build.Health(eject_ms=5000)` is `{"eject_ms": 5000}`.

>>> from halfopen import Scenario, build
>>> scenario = Scenario.of(
...     duration_ms=60_000,
...     upstreams=[build.Upstream(name="api", endpoints=[build.Endpoint(address="10.0.0.1", port=8080)],
...                               health=build.Health(consecutive_failures=3))],
...     endpoints={"10.0.0.1:8080": build.Behaviour(faults=[build.Fault(from_ms=10_000, down=build.Down())])},
...     traffic=[build.Traffic(upstream="api", arrivals="poisson", rate_rps=50)])
"""

from __future__ import annotations

from typing import Any, Literal, Required, TypedDict
'''


def class_name(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def words(values: list[str]) -> str:
    return "Literal[" + ", ".join(json.dumps(value) for value in values) + "]"


def type_of(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return class_name(schema["$ref"].rsplit("/", 1)[1])
    if "allOf" in schema and "type" not in schema:
        return type_of(schema["allOf"][0])
    if "enum" in schema:
        return words(schema["enum"])
    if "const" in schema:
        return words([schema["const"]])
    if "oneOf" in schema:
        return " | ".join(dict.fromkeys(type_of(one) for one in schema["oneOf"]))
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join("None" if one == "null" else SCALARS[one] for one in kind)
    if kind == "array":
        items = schema.get("items", {})
        inner = [type_of(one) for one in items] if isinstance(items, list) else [type_of(items)]
        return f"list[{' | '.join(dict.fromkeys(inner))}]"
    if kind == "object":
        extra = schema.get("additionalProperties")
        return f"dict[str, {type_of(extra) if isinstance(extra, dict) else 'Any'}]"
    return SCALARS.get(str(kind), "Any")


def number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.17g}"


def sentence(schema: dict[str, Any]) -> str:
    """What a key means, its range and default."""
    out: list[str] = [schema["description"].strip()] if schema.get("description") else []
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    if low is not None and "maximum" in schema:
        opening = "(" if "exclusiveMinimum" in schema else "["
        out.append(f"In {opening}{number(low)}, {number(schema['maximum'])}].")
    if "default" in schema:
        out.append(f"Default: {json.dumps(schema['default'])}.")
    return " ".join(out)


def listing(keys: dict[str, Any], required: list[str]) -> str:
    """What help() shows, which does not see the texts below the keys: each key, and its default or that it is needed."""
    told = [
        key + (" (required)" if key in required else f" ({json.dumps(one['default'])})" if "default" in one else "")
        for key, one in keys.items()
    ]
    return f"Keys (and defaults): {', '.join(told)}." if told else ""


def docstring(text: str, indent: str, more: str = "") -> str:
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    if text.endswith('"'):
        text += " "
    lines = textwrap.wrap(text, WIDTH - len(indent) - 6)
    if more:
        lines += ["", *textwrap.wrap(more, WIDTH - len(indent)), ""]
    return (indent + '"""' + ("\n" + indent).join(lines) + '"""').replace(f"\n{indent}\n", "\n\n")


def is_attribute(key: str) -> bool:
    return key.isidentifier() and not keyword.iskeyword(key)


def field_type(key: str, schema: dict[str, Any], required: list[str]) -> str:
    return f"Required[{type_of(schema)}]" if key in required else type_of(schema)


def definition(name: str, schema: dict[str, Any]) -> str:
    required = schema.get("required", [])
    keys = schema.get("properties", {})
    base, out = "TypedDict", ""
    odd = {key: value for key, value in keys.items() if not is_attribute(key)}
    if odd:
        base = f"_{class_name(name)}Signs"
        lines = [f'    {json.dumps(key)}: {json.dumps(field_type(key, value, required))},' for key, value in odd.items()]
        out += f"\n\n{base} = TypedDict(\n    \"{base}\",\n    {{\n" + "\n".join("    " + line for line in lines) + "\n    },\n    total=False,\n)\n"
    about = schema.get("description") or f"Of `{name}`."
    out += f"\n\nclass {class_name(name)}({base}, total=False):\n" + docstring(about, "    ", listing(keys, required))
    for key, value in keys.items():
        if key in odd:
            continue
        out += f"\n\n    {key}: {field_type(key, value, required)}"
        if text := sentence(value):
            out += "\n" + docstring(text, "    ")
    return out + "\n"


def module(schema: dict[str, Any]) -> str:
    """The text of build.py."""
    definitions = {ROOT: schema, **schema["definitions"]}
    parts = [definition(name, one) for name, one in definitions.items()]
    names = sorted(class_name(name) for name in definitions)
    exported = "\n__all__ = [\n" + "".join(f'    "{name}",\n' for name in names) + "]\n"
    return HEADER + exported + "".join(parts)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        sys.stdout.write(module(json.load(file)))
