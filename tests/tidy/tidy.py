"""The rules of the house as a test: `python tests/tidy/tidy.py [root]`. Exit 1 if anything was found."""

import sys
from pathlib import Path

import cases
import includes
import sizes
import words
from source import read_tree

RULES = (includes, words, sizes, cases)


def findings(root):
    sources = read_tree(root)
    return sorted({finding for rules in RULES for finding in rules.check(sources)})


def main(arguments):
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[2]
    found = findings(root)
    for finding in found:
        print(finding)
    print(f"tidy: {len(found)} finding(s)")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
