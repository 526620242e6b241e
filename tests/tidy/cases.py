"""Names of test cases: ctest knows a case by its name alone, and finds it through CMake and doctest."""

import re

from source import line_of

CASE = re.compile(r'\bTEST_CASE(?:_FIXTURE\s*\(\s*[\w:]+\s*,|\s*\(|_TEMPLATE\s*\()\s*(?P<name>(?:"(?:\\.|[^"\\\n])*"\s*)+)')
# ; and [] are CMake's, * is doctest's wildcard, a backslash would be read three times.
UNSAFE = re.compile(r"[;\[\]*\\]")


def check(sources):
    seen = {}
    for source in sources:
        if not source.is_cpp or source.top != "tests":
            continue
        for match in CASE.finditer(source.without_comments):
            line = line_of(source.without_comments, match.start())
            name = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', match["name"])).replace('\\"', '"')
            if UNSAFE.search(name):
                yield source.finding(line, "case-name", f"'{name}' cannot be handed to ctest (; [ ] * \\)",
                                     "the same in words")
            earlier = seen.setdefault(name, f"{source.path}:{line}")
            if earlier != f"{source.path}:{line}":
                yield source.finding(line, "case-twice", f'"{name}" is also the name of {earlier}',
                                     "what sets this case apart; ctest would run both for each")
