"""Words that must not be written: outside sources of time and luck, and leftovers."""

import re
from dataclasses import dataclass

from includes import is_cli, is_prober
from source import line_of

LIBM = (
    "log|log2|log10|log1p|exp|exp2|exp10|expm1|pow|cbrt|hypot|sin|cos|tan|asin|acos|atan|atan2"
    "|sinh|cosh|tanh|asinh|acosh|atanh|erf|erfc|tgamma|lgamma"
)
# Called free, as std::f or as ::f. A member (x.log) and a function of ours (real_math::log) are other names.
FREE = r"(?:\bstd::|(?<![\w.>:])(?:::)?)"


@dataclass(frozen=True)
class Ban:
    rule: str
    pattern: str
    what: str
    instead: str
    spared: object = lambda path: False  # files in which it may be written


def is_real_math(path):
    return path.parts[0] == "sim" and path.stem == "real_math"


# In the code of core and sim; comments and strings may say what they like.
IN_CODE = [
    Ban("clock", r"\b(?:system|steady|high_resolution|utc|tai|gps|file)_clock\b",
        "a clock of std::chrono", "a parameter `Instant now`; the caller reads the clock", is_prober),
    Ban("clock", r"\b(?:gettimeofday|clock_gettime|timespec_get|ftime|localtime\w*|gmtime\w*|mktime)\s*\(|\bstd::(?:time|clock)\b"
                 r"|(?<![\w.>:])time\s*\(\s*(?:nullptr|NULL|0|&\w+)\s*\)|\b__(?:DATE|TIME|TIMESTAMP)__\b",
        "the time of day", "a parameter `Instant now`; the caller reads the clock"),
    Ban("random", FREE + r"(?:s?rand|rand_r|random_shuffle)\s*\(|\b[dlm]rand48\b|\brandom_device\b"
                         r"|\b(?:mt19937\w*|minstd_rand0?|ranlux\w+|knuth_b|default_random_engine)\b|#\s*include\s*<random>",
        "a random source with a hidden or unportable state", "core/random: Philox by stream and index", is_prober),
    Ban("random", r"\bstd::(?:\w+_distribution\b|(?:ranges::)?(?:shuffle|sample)\b|generate_canonical\b)",
        "a distribution whose values each standard library chooses for itself", "our own, pinned by exact values"),
    Ban("unordered", r"\bunordered_(?:multi)?(?:map|set)\b",
        "an unordered container: its order reaches an output sooner or later",
        "std::map, or a sorted std::vector"),
    Ban("unordered", r"\bstd::hash\b",
        "a hash each standard library chooses for itself", "a hash that is written down, such as FNV-1a"),
    Ban("environment", r"\b(?:secure_)?getenv\b",
        "the environment, outside the command line", "an option that sim/cli fills in", is_cli),
    Ban("libm", FREE + rf"(?:{LIBM})[fl]?\s*\(",
        "a function of libm: its last bit differs between machines",
        "sim/real_math.hpp (sqrt, floor, ceil, fma are exact and allowed)", is_real_math),
]

# In the whole text of every file. Put together from halves, or this file would be the first finding.
LEFTOVER = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX)\b")
MACHINE_PATH = re.compile(r"(?<![\w./~-])/(?:wo" r"rk|ro" r"ot|ho" r"me|Us" r"ers)(?![\w-])")


def check(sources):
    for source in sources:
        if source.is_cpp and source.top in ("core", "sim"):
            for ban in IN_CODE:
                if ban.spared(source.path):
                    continue
                for match in re.finditer(ban.pattern, source.code):
                    # `#include <unordered_map>` and its use are one mistake each: both lines have to go.
                    yield source.finding(line_of(source.code, match.start()), ban.rule,
                                         f"`{match[0].strip(' (')}`, {ban.what}", ban.instead)
        for match in LEFTOVER.finditer(source.text):
            yield source.finding(line_of(source.text, match.start()), "leftover", f"`{match[0]}`",
                                 "the code, or an issue; a comment only says what is")
        for match in MACHINE_PATH.finditer(source.text):
            yield source.finding(line_of(source.text, match.start()), "machine-path",
                                 f"`{match[0]}`, a path of one machine", "a path from the root of the repository")
