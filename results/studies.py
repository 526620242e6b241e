"""What the four studies share: how one is run, kept, drawn, and how its page is held to its numbers.

A study is a folder `<n>_<name>` with

- `study.py`: STUDY, its question, its sweeps, its figure, and the claims that its page may make;
- `data.csv`: a row a run, numbers as the simulator answers them, nothing rounded. The same bytes wherever it is run;
- `manifest.json`: version, seeds, command, size and digest of the data;
- `figure.png`, and `README.md`: question, method, conclusions, limits. Each number in it is a setting of the study, or stands in a
  claim that `study.py` computes from `data.csv`.

Run n of every point has the same seed, and so the same arrivals and the same luck: what differs is the setting's doing, and
differences are taken run by run. Intervals are those of 95 % of `halfopen.stats`, by resampled means, as most of what is counted here is skewed.
"""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import halfopen
import numpy as np
import pandas as pd
from halfopen import build, stats
from matplotlib.figure import Figure

FOLDER = Path(__file__).resolve().parent
SMALL_REPLICATES = 2
STANDARD_ERRORS = 3.3
IDENTITY = ("part", "run", "seed")  # the first columns of every data.csv
PIXELS_PER_INCH = 110
NEVER = 4_294_967_295
"""As a count: a rule that never acts, since no window or streak gets so far. A ratio of 1.0 does not switch a ratio off: what has just
been emptied may well hold nothing but failures."""

Labels = Mapping[str, Any]


@dataclass(frozen=True)
class Point:
    """One setting of a sweep: `labels` as the data name it, `settings` as JSON pointers of the scenario."""

    labels: Labels
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class Claim:
    """A sentence or a row of a table, as the README of the study has it word for word, and whether the data bear it out."""

    text: str
    holds: bool = True


@dataclass(frozen=True)
class Part:
    """One sweep of a study. All parts of a study have the same labels and metrics."""

    name: str
    scenario: halfopen.Scenario
    points: Sequence[Point]
    replicates: int
    seed: int
    small: Callable[[Labels], bool]
    """Which points the small version runs, its first replicates only."""

    def sweep(self, metrics: Sequence[str]) -> halfopen.Sweep:
        return halfopen.Sweep(
            self.scenario, points=[point.settings for point in self.points], replicates=self.replicates, seed=self.seed, metrics=metrics
        )

    def small_runs(self) -> list[int]:
        first = [n * self.replicates for n, point in enumerate(self.points) if self.small(point.labels)]
        return [before + replicate for before in first for replicate in range(1, min(SMALL_REPLICATES, self.replicates) + 1)]


@dataclass(frozen=True)
class Study:
    """See the module. `held`: whether the number of expectations that held is a column."""

    question: str
    parts: Sequence[Part]
    metrics: Sequence[str]
    draw: Callable[[pd.DataFrame], Figure]
    claims: Callable[[pd.DataFrame], Iterator[Claim]]
    held: bool = False
    folder: Path = field(default=FOLDER)

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def labels(self) -> list[str]:
        return list(self.parts[0].points[0].labels)

    @property
    def columns(self) -> list[str]:
        return [*IDENTITY, *self.labels, *self.metrics, *(["held"] if self.held else []), "fingerprint"]

    def run(self, small: bool = False, threads: int = 0) -> str:
        """The text of data.csv: all runs, or those of the small version."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        for part in self.parts:
            sweep = part.sweep(self.metrics)
            table = sweep.run(part.small_runs() if small else None, threads=threads, progress=False).table
            names = ["point", "run", "seed", *self.columns[len(IDENTITY) + len(self.labels) :]]
            for point, run, seed, *measured in zip(*(table[name].tolist() for name in names), strict=True):
                labels = part.points[point].labels
                cells = [part.name, run, seed, *(labels[name] for name in self.labels), *measured]
                writer.writerow([_cell(value) for value in cells])
        return out.getvalue()

    def data(self, text: str | None = None) -> pd.DataFrame:
        """data.csv, or some text of its kind, as a frame."""
        return pd.read_csv(io.StringIO(text) if text is not None else self.folder / "data.csv", dtype={"fingerprint": str, "seed": str})

    def manifest(self, text: str) -> dict[str, Any]:
        """What manifest.json says of this data."""
        return {
            "study": self.name,
            "question": self.question,
            "version": halfopen.__version__,
            "command": f"make results study={self.name}",
            "small": f"python results {self.name} --small --into FOLDER",
            "parts": {
                part.name: {
                    "scenario_digest": part.scenario.digest,
                    "points": len(part.points),
                    "replicates": part.replicates,
                    "seeds": [part.seed, part.seed + part.replicates - 1],
                }
                for part in self.parts
            },
            "rows": text.count("\n") - 1,
            "data_sha256": digest(text),
            "figure": "figure.png",
        }

    def readme(self) -> str:
        return (self.folder / "README.md").read_text(encoding="utf-8")

    def unsaid(self, data: pd.DataFrame) -> list[str]:
        """What is wrong between the data, the claims and the page, as sentences; empty if nothing is."""
        claims = list(self.claims(data))
        page = words(self.readme())
        wrong = [f"the data do not bear out: {claim.text}" for claim in claims if not claim.holds]
        return wrong + [f"README.md does not say: {claim.text}" for claim in claims if words(claim.text) not in page]

    def save_figure(self, data: pd.DataFrame, folder: Path) -> None:
        self.draw(data).savefig(folder / "figure.png", dpi=PIXELS_PER_INCH, metadata={"Software": None})


def studies() -> dict[str, Study]:
    """All of them by name, in order."""
    return {path.parent.name: load(path) for path in sorted(FOLDER.glob("[0-9]_*/study.py"))}


def load(path: Path) -> Study:
    spec = importlib.util.spec_from_file_location(f"study_{path.parent.name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    study: Study = module.STUDY
    return study


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def manifest_text(manifest: Mapping[str, Any]) -> str:
    return json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"


def words(text: str) -> str:
    """Text without its line breaks: where a page breaks its lines is its own affair."""
    return " ".join(text.split())


def _cell(value: Any) -> str:
    """Whole numbers whole, other numbers as the shortest text that reads back, nothing for what was not measured."""
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value)


# ---- what draw and claims are made of ---------------------------------------------------------------


def rows(data: pd.DataFrame, **labels: Any) -> pd.DataFrame:
    """The runs with these labels; raises KeyError where there are none."""
    for name, value in labels.items():
        data = data[data[name] == value]
    if data.empty:
        raise KeyError(f"no run has {labels}")
    return data


def mean(values: pd.Series) -> stats.Estimate:
    """Mean and interval of some runs."""
    return stats.estimate(values.to_numpy(dtype=np.float64), method="bootstrap")


def difference(more: pd.DataFrame, less: pd.DataFrame, metric: str) -> stats.Estimate:
    """Mean and interval of more - less, run by run: both must have the same seeds, each once."""
    pairs = more.set_index("seed")[metric] - less.set_index("seed")[metric].reindex(more["seed"])
    if len(more) != len(less) or pairs.isna().all():
        raise ValueError(f"{metric}: {len(more)} and {len(less)} runs are no pairs")
    return mean(pairs)


def reach(estimates: Sequence[stats.Estimate]) -> list[list[float]]:
    """Of intervals, below and above the means, as `errorbar` takes it."""
    return [[one.mean - one.low for one in estimates], [one.high - one.mean for one in estimates]]


def agrees(estimate: stats.Estimate, low: float, high: float) -> bool:
    """Whether the mean of some runs may well be one between these bounds: 999 of 1000 means that are lie within so many standard errors."""
    error = STANDARD_ERRORS * estimate.std / math.sqrt(estimate.n)
    return low <= estimate.mean + error and estimate.mean - error <= high


def said(value: float, digits: int = 0) -> str:
    """A number as a page has it: thousands apart, no minus before nought."""
    text = f"{value:,.{digits}f}"
    return text.lstrip("-") if not text.strip("-0.,") else text


def between(estimate: stats.Estimate, digits: int = 0, factor: float = 1.0) -> str:
    """`12 (10 to 14)`; only the mean where the interval has no width at these digits."""
    middle, low, high = (said(factor * number, digits) for number in (estimate.mean, estimate.low, estimate.high))
    return middle if low == high == middle or math.isnan(estimate.low) else f"{middle} ({low} to {high})"


def endpoints(count: int) -> list[build.Endpoint]:
    """`10.0.0.1:8080` and so on, as an upstream lists them."""
    return [build.Endpoint(address=f"10.0.0.{n}", port=8080) for n in range(1, count + 1)]


def names(count: int) -> list[str]:
    """The first of them, as faults name them."""
    return [f"{one['address']}:{one['port']}" for one in endpoints(count)]
