"""What came out of a search: tables, the recommended block, how sure it is, and how to run it again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from halfopen.frame import Frame
from halfopen.params import Settings, key_of
from halfopen.stats import Estimate, Floats
from halfopen.tuning.bench import Bench, Candidate
from halfopen.tuning.healthy import Healthy
from halfopen.tuning.judge import Difference, Judge, on_front, told
from halfopen.tuning.words import pretty

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]
    from matplotlib.figure import Figure

    from halfopen.linting import Finding
    from halfopen.tuning.search import Search
    from halfopen.tuning.space import Asking


def changes(settings: Settings, now: Settings) -> Settings:
    """What of some settings is not as it is now."""
    return {
        name: value
        for name, value in settings.items()
        if name not in now or key_of({name: now[name]}) != key_of({name: value})
    }


class Tuning:
    """The result of `halfopen.tune`.

    Attributes
    ----------
    candidates : every setting that was tried, by number from 1, plainer forms of the best last; see `Candidate`.
    confirmed : those that ran again with fresh seeds, the present settings (number 0) first.
    recommended : one of these; None if none keeps the constraints.
    now : the present settings, as confirmed.
    runs : that the search took, all scenarios together, whether they were found in a store or not; of these
        `confirming` for the confirmation. `runs_in_full`: what the same settings would have taken with every replicate.
    """

    def __init__(
        self,
        bench: Bench,
        fresh: Bench,
        asking: Asking,
        candidates: tuple[Candidate, ...],
        searched_now: Candidate,
        confirmed: tuple[Candidate, ...],
        search: Search,
        left_out: Sequence[str],
        level: float,
        trials: int,
        batch: int,
    ) -> None:
        self.entrants, self.healths = tuple(bench.entrants), bench.healths
        self.scenarios = {one.name: one.scenario for one in bench.entrants}
        self.objectives, self.constraints = tuple(bench.objectives), tuple(bench.constraints)
        self.params, self.left_out, self.level = asking.parts, tuple(left_out), level
        self.trials, self.batch, self.replicates = trials, batch, bench.replicates
        self.seed, self.fresh_seed = bench.seed, fresh.seed
        self.candidates, self.confirmed, self.now = candidates, confirmed, confirmed[0]
        self.refused = tuple(search.refused)
        self.runs, self.confirming = bench.runs + fresh.runs, fresh.runs
        self.runs_in_full = (len(candidates) + 1) * bench.replicates * len(self.scenarios) + fresh.runs
        self.gateway: str | None = None
        """The name of the gateway's file that the scenarios were read with: it goes into commands."""
        self.search_command: list[str] = []
        """The command line that the search came from, if it did."""
        self.searched = (searched_now, *candidates)
        self._searched = Judge(bench.objectives, bench.constraints, searched_now, level)
        self._judge = Judge(bench.objectives, bench.constraints, self.now, level)
        good = [one for one in confirmed if self.keeps(one)]
        self.recommended = self._judge.recommended(good, lambda one: len(self.changes(one))) if good else None

    def changes(self, one: Candidate) -> Settings:
        """What of a setting is not as it is now, by pointer."""
        return changes(one.settings, self.now.settings)

    def keeps(self, one: Candidate) -> bool:
        """Whether a confirmed setting keeps every constraint, by its means over the fresh seeds."""
        return self._judge.feasible(one, one.replicates)

    def on_front(self, one: Candidate) -> bool:
        """Whether no confirmed setting that keeps the constraints beats it in everything."""
        return one.number in self._front

    @property
    def compared(self) -> list[Candidate]:
        """The front, the recommended setting, which may be off it by what can't be told apart, and the present ones."""
        return [one for one in self.confirmed if self.on_front(one) or one is self.recommended or one is self.now]

    @cached_property
    def _front(self) -> frozenset[int]:
        good = [one for one in self.confirmed if self.keeps(one)]
        leads = on_front([self._judge.signed(one, one.replicates) for one in good])
        return frozenset(one.number for one, leading in zip(good, leads, strict=True) if leading)

    def estimate(self, one: Candidate, k: int) -> Estimate:
        """Objective k of a confirmed setting, with its interval at `level`."""
        return told(self._judge.values(one, k, one.replicates), self.level)

    def limit(self, one: Candidate, c: int) -> Estimate:
        """The metric of constraint c of a confirmed setting, with its interval at `level`."""
        return told(self._judge.limit_values(one, c, one.replicates), self.level)

    def excess(self, one: Candidate, c: int) -> float:
        """By how much a confirmed setting breaks constraint c: see `Judge.excesses`."""
        return self._judge.excesses(one, one.replicates)[c]

    def reaches_beyond(self, one: Candidate, c: int) -> bool:
        """Whether a confirmed setting keeps constraint c on average, but with an interval that reaches beyond it."""
        return self._judge.reaches_beyond(one, c)

    def difference(self, one: Candidate, base: Candidate, k: int) -> Difference:
        """Of two confirmed settings in objective k; the intervals of all to one base hold together at `level`."""
        return self._judge.difference(one, base, k, (len(self.confirmed) - 1) * len(self.objectives))

    def part(self, one: Candidate, k: int, name: str) -> Estimate:
        """Objective k of a confirmed setting in the scenario of that name alone; n is 0 where it is not measured."""
        return told(self._parts(one, k, name), self.level)

    def part_difference(self, one: Candidate, base: Candidate, k: int, name: str) -> Difference:
        """The same of two; of all objectives and scenarios these intervals hold together at `level`."""
        values = self._parts(one, k, name) - self._parts(base, k, name)
        return self._judge.judged(values, k, len(self.scenarios) * len(self.objectives))

    def _parts(self, one: Candidate, k: int, name: str) -> Floats:
        place = list(self.scenarios).index(name)
        values: Floats = one.parts[k, place][~np.isnan(self.now.parts[k, place])]
        return values

    def healthy(self, one: Candidate) -> dict[str, tuple[Healthy, ...]]:
        """What `halfopen.analyze` says of a healthy endpoint of each upstream at some setting, by the scenario's name."""
        return {entrant.name: self.healths.of(entrant, self.changes(one)) for entrant in self.entrants}

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What should be known before anything is pasted: what the runs of these scenarios can't show."""
        from halfopen.tuning import advice

        return tuple(advice.warnings(self))

    @cached_property
    def findings(self) -> tuple[tuple[str, Finding], ...]:
        """What `halfopen.lint` says of the recommended setting, and does not say of what is there now: (scenario, finding)."""
        from halfopen.tuning import advice

        return () if self.recommended is None else tuple(advice.findings(self, self.recommended))

    def blocks(self, one: Candidate | None = None) -> dict[str, dict[str, Any]]:
        """{pointer of an upstream: its blocks that hold a setting that was searched}, ready to paste over what is there.

        `one`: a candidate in place of the recommended one. What was searched besides blocks of upstreams is under "", by
        its own pointer.
        """
        from halfopen.tuning import paste

        chosen = one or self.recommended
        return {} if chosen is None else paste.blocks(self, chosen)

    @property
    def block(self) -> str:
        """`blocks()` as JSON text: of a single upstream its blocks alone."""
        blocks = self.blocks()
        return pretty(next(iter(blocks.values())) if len(blocks) == 1 else blocks)

    def twins(self, one: Candidate) -> tuple[int, ...]:
        """Numbers of the settings that got every replicate and did the same as this one in every run of the search."""
        return self._twins.get(one.number, ())

    @cached_property
    def _twins(self) -> dict[int, tuple[int, ...]]:
        alike: dict[bytes, list[int]] = {}
        for one in self.searched:
            if one.replicates == self.replicates:
                alike.setdefault(one.outcome, []).append(one.number)
        return {number: tuple(n for n in same if n != number) for same in alike.values() for number in same}

    def searched_means(self, one: Candidate) -> dict[str, float]:
        """Of each objective of a candidate, over the replicates that it got in the search; NaN if it was not measured."""
        means = self._searched.means(one, one.replicates)
        return {goal.label: mean for goal, mean in zip(self.objectives, means, strict=True)}

    def searched_differences(self, one: Candidate, base: Candidate, comparisons: int) -> list[Difference]:
        """Of two settings in each objective, over the replicates of the search that both got."""
        return [self._searched.difference(one, base, k, comparisons) for k in range(len(self.objectives))]

    def searched_keeps(self, one: Candidate) -> bool:
        """Whether a candidate kept every constraint over the replicates that it got in the search."""
        return self._searched.feasible(one, one.replicates)

    def command(self, name: str, one: Candidate | None = None) -> list[str]:
        """The words of a command that runs a confirmed setting (the recommended one) again in the scenario of that name.

        It writes a row for each of the runs that the report is about. Files have the names by which they were read; that of
        a scenario made in code is its name with .json, for what `Scenario.to_json` says.
        """
        from halfopen.tuning import paste

        return paste.command(self, name, one or self.recommended or self.confirmed[-1])

    def commands(self) -> list[str]:
        """`command` for each scenario, as a shell reads it, and the search itself if it came from a command line."""
        search = [self.search_command] if self.search_command else []
        return [shlex.join(words) for words in (*search, *map(self.command, self.scenarios))]

    @cached_property
    def table(self) -> Frame:
        """Every setting that was tried, a row each, on the search's seeds.

        setting (0: as it is now), a column a pointer that was searched; plainer_than, of which setting it is a plainer
        form, or -1; the replicates that it got, whether it is feasible, and the mean of each objective, over those: settings
        with different replicates have had different luck.
        """
        from halfopen.tuning import tables

        return tables.tried(self, self.searched)

    @cached_property
    def pareto_table(self) -> Frame:
        """Settings that ran again with fresh seeds and keep the constraints, and that no other of them beats in everything; the
        recommended and the present ones besides.

        setting, a column a pointer that was searched; front, recommended; of each objective its mean, `… low` and `… high`,
        the ends of its interval, and `… verdict`, how it compares with the recommended setting: see `Difference`.
        """
        from halfopen.tuning import tables

        return tables.compared(self)

    @property
    def frame(self) -> pandas.DataFrame:
        """`table` as a `pandas.DataFrame`."""
        return self.table.to_pandas()

    @property
    def pareto(self) -> pandas.DataFrame:
        """`pareto_table` as a `pandas.DataFrame`."""
        return self.pareto_table.to_pandas()

    @cached_property
    def replicate_table(self) -> Frame:
        """A row a confirmed setting and replicate: setting, a column a pointer, seed, and each objective."""
        from halfopen.tuning import tables

        return tables.replicates(self)

    def plot(self, x: str | None = None, y: str | None = None, **options: Any) -> Figure:
        """Draw the confirmed settings in two objectives with the front of those two: the second objective across and the
        first one up, unless told otherwise. Settings go by their numbers; 0 is as it is now. `options`: of
        `halfopen.plots.pareto`.

        Raises ValueError if there is one objective alone, ImportError without matplotlib and pandas."""
        from halfopen.tuning import tables

        return tables.drawn(self, x, y, options)

    def report(self) -> str:
        """All of it as text for a person, some 80 columns wide; the same bytes for the same search."""
        from halfopen.tuning import text

        return text.report(self)

    def to_dict(self) -> dict[str, Any]:
        """All of it as what JSON has, halfopen.tuning/1; None where nothing was measured."""
        from halfopen.tuning import document

        return document.of(self)

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return pretty(self.to_dict()) + "\n"

    def __repr__(self) -> str:
        chosen = "none keeps the constraints" if self.recommended is None else f"setting {self.recommended.number} recommended"
        return f"<Tuning of {', '.join(self.scenarios)}: {len(self.candidates)} settings, {chosen}>"

    def _repr_html_(self) -> str:
        from halfopen.tuning import html

        return html.report(self)
