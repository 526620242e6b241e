"""Runs the libFuzzer targets of a build over the corpora of the repository.

    tests/fuzz/run.py --build build/fuzz --seconds 10

Every target starts from tests/fuzz/corpus/<target> and from the files of the repository that are its kind of input; what it
finds new goes to <build>/fuzz/found/<target> and is used again the next time. A crash, a leak, a hang of 10 s or 2 GiB of
memory ends with exit status 1 and names the input, which belongs into tests/fuzz/corpus once it is understood.
"""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEEDS = {
    "scenario_json_fuzz": [ROOT / "tests/corpus/bad", ROOT / "scenarios"],
    "scenario_yaml_fuzz": [ROOT / "tests/corpus/bad_yaml", ROOT / "tests/corpus/bad", ROOT / "scenarios"],
}
# An answer's first line is cut off at 4,096 bytes: what lies on both sides of that edge must fit in.
LONGEST = {"status_line_fuzz": 5000}


def words(value):
    """Every key and every text of a JSON value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from words(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from words(inner)
    elif isinstance(value, str):
        yield value


def write_dictionary(path):
    """The words of the scenario language, so that the fuzzer need not guess them letter by letter."""
    schema = json.loads((ROOT / "scenarios/schema/scenario.schema.json").read_text())
    short = sorted({word for word in words(schema) if 1 < len(word) < 30 and word.isascii() and " " not in word})
    path.write_text("".join(f'"{word}"\n' for word in short if '"' not in word and "\\" not in word))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/fuzz", help="the build with the targets. Default: build/fuzz")
    parser.add_argument("--seconds", type=int, default=10, help="for each target. Default: 10")
    parser.add_argument("--seed", type=int, default=1, help="of the mutations; 0 is drawn anew each time. Default: 1")
    options = parser.parse_args()
    folder = pathlib.Path(options.build).resolve() / "fuzz"
    dictionary = folder / "words.dict"
    write_dictionary(dictionary)
    running = []
    for target in sorted(source.stem for source in (ROOT / "tests/fuzz").glob("*_fuzz.cpp")):
        found, crashes = folder / "found" / target, folder / "crashes" / target
        own = ROOT / "tests/fuzz/corpus" / target
        for place in (found, crashes):
            place.mkdir(parents=True, exist_ok=True)
        corpora = [found, *(place for place in (own, *SEEDS.get(target, [])) if place.is_dir())]
        command = [folder / target, f"-max_total_time={options.seconds}", f"-seed={options.seed}",
                   f"-max_len={LONGEST.get(target, 4096)}", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1",
                   f"-dict={dictionary}", f"-artifact_prefix={crashes}/", *corpora]
        log = (folder / f"{target}.log").open("w+")
        running.append((target, crashes, log, subprocess.Popen(command, stdout=log, stderr=log)))
    failed = False
    for target, crashes, log, process in running:
        status = process.wait()
        log.seek(0)
        text = log.read()
        runs = [line.split(":")[-1].strip() for line in text.splitlines() if "number_of_executed_units" in line]
        print(f"{target}: {runs[0] if runs else 'no'} inputs in {options.seconds} s, {'ok' if status == 0 else 'FAILED'}")
        if status != 0:
            failed = True
            print(text[-4000:])
            print(f"the input: {', '.join(map(str, sorted(crashes.iterdir())))}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
