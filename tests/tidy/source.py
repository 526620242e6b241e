"""Reads the tree: which files there are, and C++ text with comments and literals blanked out."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

CPP = {".hpp", ".cpp"}
TEXT = CPP | {".py", ".pyi", ".md", ".json", ".jsonl", ".cmake", ".txt", ".toml", ".sh", ".ipynb"}
TEXT_NAMES = {"Makefile", ".clang-format", ".clang-tidy", ".editorconfig", ".gitignore"}
NOT_OURS = re.compile(r"build.*|dist|\.git|\.venv|\.cache|__pycache__|\.\w+_cache")

# Numbers and identifiers are tokens too, or the ' of 1'000 and the R of FOR"" would be mistaken.
TOKEN = re.compile(
    r"""(?P<comment>//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z))
      | (?P<literal>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
                  | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])+')
      | \d(?:'?[\w.])* | [A-Za-z_]\w*""",
    re.DOTALL | re.VERBOSE,
)
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)


@dataclass(frozen=True, order=True)
class Finding:
    path: str
    line: int
    rule: str
    what: str
    instead: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.what}; write instead: {self.instead}"


def blank(text):
    """The same text in spaces, line for line."""
    return re.sub(r"[^\n]", " ", text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


@dataclass(frozen=True)
class Source:
    path: PurePosixPath  # from the root of the tree
    text: str

    @property
    def top(self):
        return self.path.parts[0]

    @property
    def is_cpp(self):
        return self.path.suffix in CPP

    @cached_property
    def without_comments(self):
        return TOKEN.sub(lambda m: blank(m[0]) if m["comment"] else m[0], self.text)

    @cached_property
    def code(self):
        """Without comments, and with the inside of every string and character blanked."""

        def replace(match):
            if match["comment"]:
                return blank(match[0])
            if match["literal"]:
                return match[0][0] + blank(match[0][1:-1]) + match[0][-1]
            return match[0]

        return TOKEN.sub(replace, self.text)

    @cached_property
    def code_without_directives(self):
        return DIRECTIVE.sub(lambda m: blank(m[0]), self.code)

    def finding(self, line, rule, what, instead):
        return Finding(str(self.path), line, rule, what, instead)


def is_text(path):
    return path.suffix in TEXT or path.name in TEXT_NAMES or path.parent.name == ".ci"


def read_tree(root):
    """Every text file of ours below root, in a fixed order; the fixtures of this test are not ours."""
    pending, sources = [root], []
    while pending:
        for path in pending.pop().iterdir():
            relative = PurePosixPath(path.relative_to(root).as_posix())
            if path.is_dir():
                if not NOT_OURS.fullmatch(path.name) and str(relative) != "tests/tidy/fixtures":
                    pending.append(path)
            elif is_text(Path(relative)):
                sources.append(Source(relative, path.read_text(encoding="utf-8", errors="replace")))
    return sorted(sources, key=lambda source: source.path)
