"""Validator, JSON Schema and reference say the same of every key.

The schema refuses nothing that the validator takes. What the schema lets pass and the validator refuses is a rule between
several values, which no schema of this size can say; the sentences of those rules are listed here.
"""

import copy
import json
import pathlib
import re
import subprocess

import jsonschema
import jsonc
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "scenarios"
BASE = SCENARIOS / "reference.json"
FILES = sorted(path for path in SCENARIOS.glob("*.json") if not path.name.endswith(".timeline.json"))
GOLDEN = sorted(SCENARIOS.glob("*.timeline.json"))
BAD = sorted((ROOT / "tests" / "corpus" / "bad").glob("*.json"))

# Rules between values, or about files, names and sizes: the validator's alone.
BEYOND_A_SCHEMA = re.compile("|".join((
    # one value against another
    "it must be after from_ms", "it must be at least (min_ms|timeout_ms|jitter_ms|backoff_base_ms)", "it must be above p50_ms",
    "it must be at most (mean_rps|every_ms)", r"the first \(included\) before the second",
    # names: of upstreams and endpoints, unique and known; what they may look like
    "the name of an upstream of some generation", "is no endpoint of any generation", "as is that of", "must not be empty",
    "must have a name that is not empty", "is listed twice", "stands twice in this object", "the weights add up to",
    "must begin with / and hold no blanks",
    # what a patch makes of the configuration
    "after this change", "there is nothing at",
    # files and sizes
    "can't be opened", "line [0-9]+ must hold", "arrivals are expected", "all entries together expect",
    "active probes are expected", "would change some", "are expected to change some", "would have some",
    # nan and infinity, which Python's reader takes for numbers
    "is no JSON number")))


@pytest.fixture(scope="module")
def schemas(binary):
    return {of: subprocess.run([binary, "schema", of], capture_output=True, text=True, check=True).stdout
            for of in ("scenario", "timeline", "reference")}


@pytest.fixture(scope="module")
def judge(schemas):
    schema = json.loads(schemas["scenario"])
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def test_the_files_in_the_repository_are_what_the_command_prints(schemas):
    assert (SCENARIOS / "schema" / "scenario.schema.json").read_text() == schemas["scenario"]
    assert (SCENARIOS / "schema" / "timeline.schema.json").read_text() == schemas["timeline"]
    assert (SCENARIOS / "REFERENCE.md").read_text() == schemas["reference"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_scenario_names_the_schema_and_keeps_it(path, judge):
    document = jsonc.loads(path.read_text())
    assert document["$schema"] == "schema/scenario.schema.json"
    assert [error.message for error in judge.iter_errors(document)] == []


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name.removesuffix(".timeline.json"))
def test_every_golden_timeline_keeps_its_schema(path, schemas):
    schema = json.loads(schemas["timeline"])
    jsonschema.Draft7Validator.check_schema(schema)
    errors = jsonschema.Draft7Validator(schema).iter_errors(json.loads(path.read_text()))
    assert [error.message for error in errors] == []


def verdicts(binary, tmp_path, documents):
    """{name: (good, sentences)} by `halfopen validate`, all in one call."""
    for name, document in documents.items():
        (tmp_path / name).write_text(json.dumps(document))
    done = subprocess.run([binary, "validate", *documents], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 2), done.stderr[-2000:]
    good = set(re.findall(r"^ok (.*)$", done.stdout, re.M))
    sentences = {}
    for line in done.stderr.splitlines():
        sentences.setdefault(line.split(":", 1)[0], []).append(line)
    return {name: (name in good, sentences.get(name, [])) for name in documents}


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_what_the_validator_refuses_the_schema_refuses_too(path, binary, judge):
    try:
        document = jsonc.loads(path.read_bytes().decode("utf-8"))
    except ValueError:
        return  # no JSON at all
    done = subprocess.run([binary, "validate", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    if not any(judge.iter_errors(document)):
        assert BEYOND_A_SCHEMA.search(done.stderr), done.stderr


# ---- the reference ------------------------------------------------------------------------------------------------

def examples():
    text = (SCENARIOS / "REFERENCE.md").read_text()
    found, section = [], ""
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif line.startswith("- **`"):
            key = line.split("`")[1]
        elif line.startswith("  `--set '"):
            sets = re.findall(r"--set '([^']*)'", line)
            found.append((f"{section}.{key}", sets))
    return found


EXAMPLES = examples() if (SCENARIOS / "REFERENCE.md").exists() else []


def apply(document, change):
    pointer, value = change.split("=", 1)
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    at = document
    for step in steps[:-1]:
        at = at[int(step)] if isinstance(at, list) else at[step]
    try:
        value = json.loads(value)
    except ValueError:
        pass
    if isinstance(at, list):
        if steps[-1] == "-":
            at.append(value)
            steps[-1] = str(len(at) - 1)
        else:
            at[int(steps[-1])] = value
    else:
        at[steps[-1]] = value
    return steps


def test_every_key_of_the_schema_stands_in_the_reference(schemas):
    schema = json.loads(schemas["scenario"])
    keys = {f"scenario.{key}" for key in schema["properties"]}
    for name, definition in schema["definitions"].items():
        keys |= {f"{name}.{key}" for key in definition["properties"]}
    blocks = {f"upstream.{block}" for block in
              ("endpoints", "health", "active_health", "breaker", "retries", "timeouts")}
    assert keys - blocks == {name for name, _ in EXAMPLES}
    assert len(EXAMPLES) > 130


@pytest.mark.parametrize("name,sets", EXAMPLES, ids=[name for name, _ in EXAMPLES])
def test_every_example_runs_and_has_its_key_in_it(name, sets, binary):
    words = [word for change in sets for word in ("--set", change)]
    done = subprocess.run([binary, "run", str(BASE), "--format", "json", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    key = name.split(".", 1)[1]
    assert any(f'"{key}"' in change or key in change.split("=", 1)[0].split("/") for change in sets), \
        "the example does not use its key"
    timeline = json.loads(done.stdout)
    assert timeline["meta"]["name"]
    for expectation in timeline["expectations"]:
        assert "can't be evaluated" not in expectation["got"], expectation


# ---- mutants: the same verdict, value by value ----------------------------------------------------------------------

ODD_VALUES = (None, True, -1, 0, 0.5, 1, 1e11, 1e13, 1e20, "zzz", "", [], {}, [0, 1], [1, 0])


def below(document, steps):
    """Every place in the value at `steps`, itself included."""
    at = document
    for step in steps:
        at = at[int(step)] if isinstance(at, list) else at[step]
    yield steps
    inner = at.items() if isinstance(at, dict) else enumerate(at) if isinstance(at, list) else ()
    for step, _ in inner:
        yield from below(document, [*steps, str(step)])


def mutants():
    base = jsonc.loads(BASE.read_text())
    number = 0
    for name, sets in EXAMPLES:
        document = copy.deepcopy(base)
        for change in sets:
            steps = apply(document, change)
        for place in below(document, steps):
            for value in ODD_VALUES:
                mutant = copy.deepcopy(document)
                apply(mutant, "/" + "/".join(step.replace("~", "~0").replace("/", "~1") for step in place)
                      + "=" + json.dumps(value))
                number += 1
                yield f"{number}.json", f"{name}: /{'/'.join(place)} = {value!r}", mutant
        mutant = copy.deepcopy(document)
        at = mutant
        for step in steps[:-1]:
            at = at[int(step)] if isinstance(at, list) else at[step]
        if isinstance(at, dict) and steps[0] != "endpoints" or len(steps) > 2:
            (at if isinstance(at, dict) else at[int(steps[-1])] if isinstance(at[int(steps[-1])], dict) else mutant)["zzz"] = 1
            number += 1
            yield f"{number}.json", f"{name}: an unknown key", mutant


def test_validator_and_schema_agree_on_odd_values(binary, judge, tmp_path):
    all_mutants = list(mutants())
    assert len(all_mutants) > 2000
    data = tmp_path / "data"
    data.symlink_to(SCENARIOS / "data")
    told = {}
    for start in range(0, len(all_mutants), 1000):
        told |= verdicts(binary, tmp_path, {file: document for file, _, document in all_mutants[start:start + 1000]})
    wrong = []
    for file, what, document in all_mutants:
        good, sentences = told[file]
        refused = next(judge.iter_errors(document), None)
        if good and refused is not None:
            # A name that does not exist makes an expectation one that has not held, not a bad file.
            if list(refused.absolute_path)[:1] != ["expect"]:
                wrong.append(f"{what}: only the schema refuses it: {refused.message[:120]}")
        if not good and refused is None and not all(BEYOND_A_SCHEMA.search(line) for line in sentences):
            wrong.append(f"{what}: only the validator refuses it: {sentences[0]}")
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:60])
