"""Files over 300 lines and functions over 70, by counting braces."""

import re

from source import line_of

MAX_FILE, MAX_FUNCTION = 300, 70

TEMPLATE = re.compile(r"^\s*template\s*<")
ATTRIBUTE = re.compile(r"\[\[[^\]]*\]\]")
LEAD = re.compile(r"(?:\s*(?:public|private|protected)\s*:(?!:))*\s*")
SCOPE = re.compile(r"^\s*(?:(?:class|struct|union|enum)\b|TEST_SUITE\b)|\b(?:namespace|class|struct|union|enum)\b[^()]*$")
EXTERN_C = re.compile(r'^\s*extern\s+"[^"]*"')
# What may stand between the parameters and the body.
BEFORE_BODY = re.compile(r"\)[\w\s:<>,*&()-]*$")
INITIALISERS = re.compile(r"\)\s*(?:noexcept\s*(?:\([^)]*\))?\s*)?:(?!:)")
NAME = re.compile(r"(operator\s*[^\s\w(]+|operator\s*\(\s*\)|[~\w:]+)\s*\(")


def close_of(code, opening):
    """Offset of the brace that closes the one at `opening`, or the end of the text."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(code, opening):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.start()
    return len(code)


def strip_template(header):
    while TEMPLATE.match(header):
        depth = 0
        for offset in range(header.index("<"), len(header)):
            depth += {"<": 1, ">": -1}.get(header[offset], 0)
            if depth == 0:
                break
        header = header[offset + 1:]
    return header


def kind_of(header):
    """What a brace after this text opens: a scope, a function, or only a value."""
    header = ATTRIBUTE.sub("", header)
    header = EXTERN_C.sub("", strip_template(header))
    if not header.strip() or SCOPE.search(header):
        return "scope"
    if INITIALISERS.search(header) and header.rstrip()[-1] not in ")}":
        return "value"  # Foo() : a_{1}
    if BEFORE_BODY.search(header) or INITIALISERS.search(header):
        return "function"
    if re.search(r"\]\s*(?:mutable\s*)?$", header) and "=" in header:
        return "function"  # auto f = [] { ... }
    return "value"


def functions(code):
    """(name, first offset, last offset) of every outermost function; lambdas count to the one around them."""
    mark = re.compile(r"[{};()]")
    start, parentheses, position = 0, 0, 0
    while match := mark.search(code, position):
        at, position = match.start(), match.end()
        if match[0] in "()":
            parentheses += 1 if match[0] == "(" else -1
        elif match[0] == "{":
            first = LEAD.match(code, start, at).end()
            header = code[first:at]
            kind = "value" if parentheses > 0 else kind_of(header)
            if kind == "scope":
                start = position
                continue
            end = close_of(code, at)
            if kind == "function":
                name = NAME.search(ATTRIBUTE.sub("", header))
                yield (name[1] if name else "lambda"), first, end
                start = end + 1
            position = end + 1
        elif parentheses == 0:
            start = position


def check(sources):
    for source in sources:
        if not source.is_cpp or source.top not in ("core", "sim", "tests", "python"):
            continue
        lines = len(source.text.splitlines())
        if lines > MAX_FILE:
            yield source.finding(lines, "file-size", f"{lines} lines, over {MAX_FILE}",
                                 "two files, each with one subject: one file, one room")
        code = source.code_without_directives
        for name, first, last in functions(code):
            length = code.count("\n", first, last) + 1
            if length > MAX_FUNCTION:
                yield source.finding(line_of(code, first), "function-size",
                                     f"`{name}` is {length} lines, over {MAX_FUNCTION}",
                                     "a function a step, named after what the step achieves")
