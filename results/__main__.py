"""`python results [STUDY …]`: run studies and write their data, manifests and figures.

STUDY is a name or the number it begins with; all of them without one. Exit status 1 if a page says other than the data.
"""

import argparse
import sys
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import studies  # noqa: E402  (after the choice of a backend)


def arguments(texts: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python results", description="Run the studies and write what they measure.")
    parser.add_argument("study", nargs="*", help="a name or its number; all without one")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--small", action="store_true", help="a few of the runs, in seconds: rows of data.csv, no figure")
    kind.add_argument("--draw", action="store_true", help="only the figure and the claims anew, from data.csv as it is")
    parser.add_argument("--into", type=Path, help="a folder for what is written, in place of the study's own")
    chosen = parser.parse_args(texts)
    if chosen.small and chosen.into is None:
        parser.error("--small needs --into FOLDER: a part of the data must not take the place of all of it")
    return chosen


def chosen_of(asked: list[str]) -> list[studies.Study]:
    every = studies.studies()
    found = []
    for text in asked or every:
        names = [name for name in every if text in (name, name.split("_")[0])]
        if not names:
            sys.exit(f"python results: there is no study {text!r}; there are {', '.join(every)}")
        found += [every[name] for name in names]
    return found


def make(study: studies.Study, asked: argparse.Namespace) -> list[str]:
    """Writes; answers what is wrong with the page."""
    folder = study.folder if asked.into is None else asked.into / study.name
    folder.mkdir(parents=True, exist_ok=True)
    if not asked.draw:
        text = study.run(small=asked.small)
        (folder / "data.csv").write_text(text, encoding="utf-8", newline="\n")
        (folder / "manifest.json").write_text(studies.manifest_text(study.manifest(text)), encoding="utf-8")
    if asked.small:
        return []
    data = study.data((folder / "data.csv").read_text(encoding="utf-8"))
    study.save_figure(data, folder)
    return study.unsaid(data)


def main() -> int:
    asked = arguments()
    status = 0
    for study in chosen_of(asked.study):
        started = time.monotonic()
        wrong = make(study, asked)
        print(f"{study.name}: {time.monotonic() - started:.0f} s", *wrong, sep="\n  ")
        status |= bool(wrong)
    return status


if __name__ == "__main__":
    sys.exit(main())
