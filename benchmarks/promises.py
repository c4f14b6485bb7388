"""Promises of a first third of a table, rechecked under the model and the data of the second.

    python benchmarks/promises.py [--only gmsc|physionet|kills] [--people 60] [--fresh 15]
                                  [--kills 1000] [--seed 0]

Tables are cut into thirds in the order of their rows; a model is fitted on each of the first two.
People of the first third whom its model refuses are promised what they are answered. Each
promise is rechecked under the second model and the second third, for people who have done
nothing, and for people who have come a part of their way. Verdicts are held against calls for one
promise alone, against the model itself and against an audit; repairs against what the person is
answered who asks today. Then writers of promises are killed, two at a time. Each line tells a
figure with its bar; the exit code is 1 where one is missed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from attack_promises import kill_writers, some_answers
from localface import LocalFACE, Promises, Search
from localface.analyses.promises.report import Recheck
from localface.analyses.promises.standing import stand_of
from localface.analyses.promises.verdict import PromiseStatus, RecheckedPromise
from localface.cases.moons import two_moons
from shape_tables import FOLDER

_NOT_FEATURES = (  # of PhysioNet: who it is, what became of them, and scores made of the rest
    "RecordID",
    "n_obs",
    "hosp_los_days",
    "survival_days",
    "saps1",
    "sofa",
    "airway_smooth",
)
_ROWS = 6_000  # of a third, that an explainer is given: the first of them


@dataclass(frozen=True, slots=True, eq=False)
class Thirds:
    """A table in the order of its rows, its labels (1 is wanted), and the score to reach."""

    frame: pd.DataFrame
    labels: Any
    min_score: float

    def explainer(self, third: int) -> LocalFACE:
        """An explainer for one third, with a model of that third."""
        rows = self.rows(third)
        model = HistGradientBoostingClassifier(max_iter=60, random_state=0)
        model.fit(self.frame.iloc[rows], self.labels[rows])
        return LocalFACE(
            model,
            self.frame.iloc[rows[:_ROWS]].reset_index(drop=True),
            groups=range(len(rows[:_ROWS])),
            min_score=self.min_score,
            search=Search(n_neighbors=50),
        )

    def rows(self, third: int) -> Any:
        """The numbers of the rows of one third."""
        return np.array_split(np.arange(len(self.frame)), 3)[third]


def gmsc() -> Thirds:
    """Give Me Some Credit, nothing imputed."""
    with zipfile.ZipFile(FOLDER / "gmsc" / "credit_data.zip") as archive:
        frame = pd.read_csv(archive.open("credit_data.csv"), index_col=0)
    labels = (frame.pop("SeriousDlqin2yrs") == 0).to_numpy(dtype=int)
    return Thirds(frame.reset_index(drop=True), labels, 0.95)


def physionet() -> Thirds:
    """PhysioNet 2012, one row an ICU stay; what nearly nobody has is left out."""
    frame = pd.read_csv(FOLDER / "physionet2012" / "cohort.csv.gz")
    labels = frame.pop("outcome").to_numpy(dtype=int)
    frame = frame.drop(columns=[name for name in _NOT_FEATURES if name in frame.columns])
    said = frame.notna().mean() > 0.5
    return Thirds(frame.loc[:, said & (frame.nunique() > 1)], labels, 0.85)


class Report:
    """Lines with a figure and its bar, and whether one was missed."""

    def __init__(self) -> None:
        self.missed = False

    def at_least(self, what: str, figure: int, bar: int) -> None:
        """Tell of how many something was measured: of too few it says nothing."""
        word = "held" if figure >= bar else "MISSED"
        self.missed |= figure < bar
        print(f"  {what}: {figure:,} (at least {bar:,}) {word}", flush=True)

    def line(self, what: str, figure: int, of: int, bar: int = 0) -> None:
        """Tell how many of something were found, at most ``bar`` of which may be."""
        word = "held" if figure <= bar else "MISSED"
        self.missed |= figure > bar
        print(f"  {what}: {figure:,} of {of:,} (at most {bar}) {word}", flush=True)


def measure(table: Thirds, folder: Path, asked: argparse.Namespace, report: Report) -> None:
    """Promise, and recheck under the second third."""
    first = table.explainer(0)
    second = table.explainer(1)
    people = _refused(table, first, asked.people, asked.seed)
    promises = Promises.open(folder)
    for number, answer in enumerate(first.explain_many(people, progress=False)):
        if answer.found:
            first.promise(answer, to=promises, person=number)
    report.at_least("promises given", len(promises), asked.people // 2)
    begun = time.process_time()
    same = first.recheck(promises, repairs="none", show_progress=False)
    changed = sum(one.status is not PromiseStatus.HOLDS for one in same)
    report.line("no longer hold under the same model and data", changed, len(same))
    found = second.recheck(promises, show_progress=False)
    print(f"  {time.process_time() - begun:.1f} s of processor time for two rechecks")
    print("  " + str(found).replace("\n", "\n  "))
    _hold_verdicts(second, promises, found, asked, report)
    news = _part_of_the_way(promises, asked.seed)
    moved = second.recheck(promises, news, repairs="all", show_progress=False)
    _hold_repairs(second, moved, asked, report)


def _refused(table: Thirds, explainer: LocalFACE, n: int, seed: int) -> pd.DataFrame:
    rows = table.rows(0)[:_ROWS]
    frame = table.frame.iloc[rows].reset_index(drop=True)
    scores = explainer.engine.model.predict_proba(frame)[:, 1]
    below = np.flatnonzero(scores < table.min_score)
    some = np.random.default_rng(seed).permutation(below)[:n]
    return frame.iloc[np.sort(some)]


def _hold_verdicts(
    explainer: LocalFACE,
    promises: Promises,
    found: Recheck,
    asked: argparse.Namespace,
    report: Report,
) -> None:
    """Hold the verdicts of a recheck against calls for one promise at a time."""
    alone = [explainer.recheck([one], repairs="none", show_progress=False)[0] for one in promises]
    pairs = list(zip(found, alone, strict=True))
    other = sum((a.status, a.measured) != (b.status, b.measured) for a, b in pairs)
    report.line("verdicts that differ from those of a recheck of one promise", other, len(found))
    scores = [explainer.score(one.promise.recourse.end) for one in found]
    wrong = sum(
        one.measured is None
        or one.measured.score != score
        or one.valid != one.promise.recourse.target.is_reached_by(score)
        for one, score in zip(found, scores, strict=True)
    )
    report.line("verdicts that differ from a call of the model", wrong, len(found))
    some = list(found)[: asked.fresh]
    audited = [_audited(explainer, one) for one in some]
    wrong = sum(
        (one.valid, round(one.measured.density, 6) if one.measured else None)
        != (audit.valid, round(audit.density or 0.0, 6))
        for one, audit in zip(some, audited, strict=True)
    )
    report.line("verdicts on the end that differ from an audit", wrong, len(some))


def _audited(explainer: LocalFACE, one: RecheckedPromise) -> Any:
    recourse = one.promise.recourse
    start = recourse.form.make_table(recourse.records[:1])
    end = recourse.form.make_table(recourse.with_actions_as_path().records[-1:])
    return explainer.audit(start, end, max_seconds=0.2, progress=False)[0]


def _part_of_the_way(promises: Promises, seed: int) -> dict[str, dict[str, Any]]:
    """Every other person has come some of their way, feature by feature."""
    rng = np.random.default_rng(seed)
    news: dict[str, dict[str, Any]] = {}
    for one in list(promises)[::2]:
        standing = stand_of(one, one.recourse.schema)
        record = {}
        for part in standing.progress:
            share = float(rng.uniform(0, 1.2))
            code = part.before + share * (part.promised - part.before)
            if part.feature.discrete:
                code = part.promised if share > 0.6 else part.before
            whole = part.feature.whole and not part.feature.discrete
            record[part.feature.name] = part.feature.value(float(np.rint(code)) if whole else code)
        news[str(one.person)] = record
    return news


def _hold_repairs(
    explainer: LocalFACE, moved: Recheck, asked: argparse.Namespace, report: Report
) -> None:
    """Hold the cheapest way on against finishing the plan, and against starting again."""
    open_ones = [one for one in moved if one.fresh is not None]
    dearer = sum(
        one.fresh.found and (one.cost is None or one.cost > one.fresh.effort + 1e-12)
        for one in open_ones
        if one.fresh is not None
    )
    report.line("ways on that cost more than starting again", dearer, len(open_ones))
    held = [one for one in moved if one.status is PromiseStatus.HOLDS]
    dearer = sum(one.cost is None or one.cost > one.measured.cost for one in held if one.measured)
    report.line("ways on that cost more than finishing a plan that holds", dearer, len(held))
    some = open_ones[: asked.fresh]
    other = 0
    for one in some:
        assert one.fresh is not None
        recourse = one.fresh
        person = recourse.form.make_table(recourse.records[:1])
        fresh = explainer.explain(person)
        other += [dict(a.changes) for a in fresh.actions] != [
            dict(a.changes) for a in recourse.actions
        ] or fresh.status is not recourse.status
    report.line("new plans that differ from what one person is answered", other, len(some))


def measure_kills(folder: Path, asked: argparse.Namespace, report: Report) -> None:
    """Kill writers of promises."""
    moons = two_moons(seed=0)
    explainer = LocalFACE(moons.model, moons.data, search=Search(n_neighbors=15))
    people = moons.data[explainer.engine.score(moons.data) < 0.5][:20]
    answers = some_answers(explainer, people)
    done, written, wrong = kill_writers(
        answers, folder, kills=asked.kills, seed=asked.seed, seconds=900.0
    )
    report.at_least("writers killed", done, asked.kills)
    report.at_least("promises that they wrote", written, asked.kills)
    report.line("lost, doubled or damaged", len(wrong), done)
    for one in wrong[:10]:
        print(f"    {one}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["gmsc", "physionet", "kills"])
    parser.add_argument("--people", type=int, default=60)
    parser.add_argument("--fresh", type=int, default=15, help="people asked one by one")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    tables: dict[str, Callable[[], Thirds]] = {"gmsc": gmsc, "physionet": physionet}
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        for name, read in tables.items():
            if asked.only in (None, name):
                print(f"{name}: thirds in the order of rows", flush=True)
                if not FOLDER.exists():
                    print(f"  not measured: there is no {FOLDER}")
                    continue
                measure(read(), Path(folder) / name, asked, report)
        if asked.only in (None, "kills"):
            print("kills", flush=True)
            measure_kills(Path(folder) / "kills", asked, report)
    return int(report.missed)


if __name__ == "__main__":
    sys.exit(main())
