"""The tidy test's own test: every rule finds its violation, and nothing beside it.

Lines of the fixtures that break a rule name it in `expect: rule`; the findings must be exactly those.
Sizes are tried one line before, at and after their edge, on text made here.
"""

import re
import tempfile
import unittest
from collections import Counter
from pathlib import Path, PurePosixPath

import sizes
import tidy
from source import Source, read_tree

FIXTURES = Path(__file__).resolve().parent / "fixtures"
EXPECT = re.compile(r"expect: ([\w-]+(?:, [\w-]+)*)")
RULES = {
    "include-core", "include-machine", "include-sim", "include-json", "include-yaml", "include-cli",
    "include-prober", "include-tests", "include-arrow", "include-root", "clock", "random", "unordered", "environment",
    "libm", "leftover", "machine-path", "case-name", "case-twice",
}  # fmt: skip


def expected():
    for source in read_tree(FIXTURES):
        for number, line in enumerate(source.text.splitlines(), 1):
            if match := EXPECT.search(line):
                for rule in match[1].split(", "):
                    yield str(source.path), number, rule


def body(lines):
    """The inside of a function, with braces where a careless counter would stumble over them."""
    noise = ['  if (x) { y("}"); }', "  char c = '}'; // }", '  auto l = [&] { return T{1}; };']
    return "\n".join((noise * lines)[:lines]) + "\n" if lines else ""


def long_functions(text):
    found = sizes.check([Source(PurePosixPath("core/x.cpp"), text)])
    return [(f.line, f.what) for f in found if f.rule == "function-size"]


class Fixtures(unittest.TestCase):
    def test_exactly_what_the_fixtures_mark_is_found(self):
        found = Counter((f.path, f.line, f.rule) for f in tidy.findings(FIXTURES))
        marked = Counter(expected())
        # `expect: x, x` stands for two different words on one line; a set keeps the findings apart.
        self.assertEqual(marked - found, Counter(), "marked, but not found")
        self.assertEqual(found - marked, Counter(), "found, but not marked")

    def test_every_rule_has_a_fixture(self):
        self.assertEqual({rule for _, _, rule in expected()}, RULES)

    def test_a_finding_teaches(self):
        for finding in tidy.findings(FIXTURES):
            self.assertRegex(str(finding), r"^[\w./]+:\d+: .+; write instead: .+$")

    def test_the_exit_code_says_whether_anything_was_found(self):
        with tempfile.TemporaryDirectory() as empty:
            self.assertEqual(tidy.main([empty]), 0)
        self.assertEqual(tidy.main([str(FIXTURES)]), 1)


class Sizes(unittest.TestCase):
    def test_a_file_of_300_lines_passes_and_one_of_301_does_not(self):
        for lines, findings in ((299, 0), (300, 0), (301, 1)):
            source = Source(PurePosixPath("sim/x.hpp"), "int x;\n" * lines)
            self.assertEqual(len(list(sizes.check([source]))), findings, lines)

    def test_a_function_of_70_lines_passes_and_one_of_71_does_not(self):
        headers = (
            "void Breaker::report(Outcome o) noexcept {",
            "auto operator<=>(const T& a, const T& b) -> bool {",
            "template <class T, class U = std::map<T, int>> T pick(T a = {}) const {",
            "Breaker::Breaker(int a) : a_{a}, b_(a), c_{[] { return 1; }()} {",
            'TEST_CASE("breaker: opens {") {',
            "const auto table = [](int x) {",
            "[[nodiscard]] static constexpr std::vector<int> f() {",
            'extern "C" void f() {',
        )
        for header in headers:
            for wrap in ("%s", "namespace a {\nclass B final : C<int> {\n public:\n%s\n};\n}\n"):
                for lines, findings in ((69, 0), (70, 0), (71, 1)):
                    text = "#define X(a) { \\\n  {\nint v{1};\n" + wrap % (header + "\n" + body(lines - 2) + "};\n")
                    self.assertEqual(len(long_functions(text)), findings, (header, wrap, lines))

    def test_the_line_and_the_name_of_a_long_function_are_told(self):
        text = "int f() { return 1; }\n\nint C::g(\n    int a) {\n" + body(80) + "}\n"
        [(line, what)] = long_functions(text)
        self.assertEqual(line, 3)
        self.assertIn("`C::g` is 83 lines", what)

    def test_a_long_class_or_table_is_not_a_function(self):
        rows = "  {1, f(2)},\n" * 100
        methods = "  int f() const { return 1; }\n" * 100
        for text in (f"constexpr T table[] = {{\n{rows}}};\n", f"struct S {{\n{methods}}};\n",
                     f"enum class E : int {{\n{'  a,' * 9}\n}};\n", f"std::map<int, T> m = make({{\n{rows}}});\n"):
            self.assertEqual(long_functions(text), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
