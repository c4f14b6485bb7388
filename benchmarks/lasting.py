"""Do answers last? Held against models fitted again that no search has seen.

    python benchmarks/lasting.py [--tables german ...] [--people 40] [--unseen 60] [--seed 0]
    python benchmarks/lasting.py --people 400 --wishes 0.7 0.9 --peer-people 0  # for calibration

For each table: how many of the unseen models agree with the ends of answers as they come and with
lasting=0.7, 0.9 and 0.97, at what effort, and how many are refused because nothing keeps the wish;
whether of answers that say p about p hold, in five bins, beside what chance makes of as many
people and models; and whether some setting is as valid as each peer at no more effort, for the
same people (--peer-people 0 leaves peers out). A table with few people who do not reach the
target is asked about all of them.
Rows are at most 3,000 a table and forests have 50 trees, so that a table takes some minutes.
The folder of the tables is named by LOCALFACE_DATA; a table that is not there is left out.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from lasting_bins import BINS, REFITS, WITHIN, Bin, bins_of, share_within, typical_error
from lasting_tables import TABLES, UNSEEN, Array, Trial, make_trial
from localface import LocalFACE, Status
from localface.analyses.lasting import learnt_lasting
from localface.answers.robustness import Lasting
from localface.data.read import read_records
from localface.evaluation.baselines import FACE, NICE, NearestUnlike, Task, Wachter
from localface.evaluation.baselines.peers import PEERS, available

WISHES = (0.7, 0.9, 0.97)  # beside answers as they come
HELD_TO = 0.9  # the wish of which it is asked whether it comes true
VALID = 0.88  # of answers with lasting=0.9
LEVEL = 0.005  # by which a peer's validity may be higher and still count as the same
SLOW = 4  # times fewer people are asked of by peers that take long


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """The ends that a method gave, by the number of the person; the share of models that agree.

    ``stated`` is what the answers themselves say; ``refused`` how many are refused for a wish.
    """

    name: str
    asked: int
    length: dict[int, float]
    votes: dict[int, Array]
    stated: dict[int, Lasting]
    features: dict[int, int]
    seconds: float = 0.0
    refused: int = 0

    @property
    def holds(self) -> dict[int, float]:
        """The share of the unseen models that agree with each end."""
        return {i: float(one.mean()) for i, one in self.votes.items()}

    def valid(self, some: Sequence[int] | None = None) -> float:
        """The share of (end, model) pairs that agree."""
        return float(np.mean([self.holds[i] for i in (some or self.holds)] or [np.nan]))

    def middle(self, some: Sequence[int] | None = None) -> float:
        """The median length of what is changed, in standard deviations."""
        return float(np.median([self.length[i] for i in (some or self.length)] or [np.nan]))


def main() -> None:
    """Measure table by table and print as it goes; the exit status is 1 where a bar is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", nargs="+", choices=tuple(TABLES), default=list(TABLES))
    parser.add_argument("--people", type=int, default=40, help="as many as are held out, at most")
    parser.add_argument("--wishes", nargs="*", type=float, default=list(WISHES))
    parser.add_argument("--peer-people", type=int, default=20)
    parser.add_argument("--refits", type=int, default=REFITS, help="models that answers learn from")
    parser.add_argument("--unseen", type=int, default=UNSEEN, help=f"models that judge ({UNSEEN})")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    missed = 0
    for name in chosen.tables:
        try:
            trial = make_trial(name, people=chosen.people, unseen=chosen.unseen, seed=chosen.seed)
        except FileNotFoundError as error:
            print(f"\n## {name}: left out ({error})", flush=True)
            continue
        missed += report(trial, [None, *chosen.wishes], chosen.peer_people, chosen.refits)
    raise SystemExit(int(missed > 0))


def report(
    trial: Trial, wishes: Sequence[float | None], peer_people: int, n_refits: int = REFITS
) -> int:
    """Print what one table shows; return how many bars are missed."""
    print(f"\n## {trial.name}: {len(trial.data):,} rows, {len(trial.people)} people\n")
    print("| method | answered | not lasting | unseen agree | length | features | CPU s a person |")
    print("|---|---|---|---|---|---|---|", flush=True)
    own = []
    for one in ours(trial, wishes, n_refits):
        own.append(one)
        print(line(one), flush=True)
    theirs = list(peers(trial, peer_people)) if peer_people else []
    for one in theirs:
        print(line(one), flush=True)
    failed = [
        *calibration_bar(own, n_refits),
        *(kept for wish, one in zip(wishes, own, strict=True) for kept in validity_bar(wish, one)),
        *effort_bar(own, theirs),
    ]
    return sum(failed)


def line(one: Ends) -> str:
    """One method as a row of the table."""
    many = np.mean(list(one.features.values()) or [np.nan])
    return (
        f"| {one.name} | {len(one.holds)} of {one.asked} | {one.refused} | {one.valid():.1%} | "
        f"{one.middle():.2f} | {many:.1f} | {one.seconds / max(one.asked, 1):.2f} |"
    )


def ours(trial: Trial, wishes: Sequence[float | None], n_refits: int) -> Iterator[Ends]:
    """LocalFACE as it comes and with wishes; what is learnt once is not in a person's time."""
    explainer = LocalFACE(
        trial.model,
        trial.data,
        y=trial.labels,
        n_refits=n_refits,
        schema=trial.schema,
        min_score=trial.min_score,
    )
    started = time.process_time()
    learnt_lasting(explainer.engine)
    print(f"<!-- learnt in {time.process_time() - started:.1f} CPU s -->", flush=True)
    for wish in wishes:
        name = "localface" if wish is None else f"localface lasting={wish}"
        started = time.process_time()
        answers = explainer.explain_many(trial.people, lasting=wish, progress=False)
        spent = time.process_time() - started
        found = {i: one for i, one in enumerate(answers) if one.found}
        told = {i: one.robustness.lasting for i, one in found.items()}
        many = {i: len({n for a in one.actions for n in a.changes}) for i, one in found.items()}
        ends = {i: one.end for i, one in found.items()}
        refused = sum(one.status is Status.NOT_LASTING for one in answers)
        made = judged(trial, name, ends, (told, many), seconds=spent)
        yield replace(made, refused=refused)


def peers(trial: Trial, n_people: int) -> Iterator[Ends]:
    """Each peer that is installed, asked about the first few people."""
    task = Task.of(trial.model, trial.data, schema=trial.schema, min_score=trial.min_score)
    made: dict[str, Any] = {
        "nearest row": NearestUnlike(task),
        "FACE": FACE(task, graph="knn"),
        "NICE": NICE(task, reward="sparsity"),
        "Wachter": Wachter(task),
    }
    if available()["dice-ml"] is not None:
        made["DiCE"] = PEERS["dice-random"](task)
    for name, method in made.items():
        slow = name in ("Wachter", "DiCE")
        some = trial.people.iloc[: max(1, n_people // SLOW) if slow else n_people]
        started = time.process_time()
        ends: dict[int, Any] = {}
        for number in range(len(some)):
            proposal = method.explain(some.iloc[[number]])
            if proposal.found:
                ends[number] = proposal.path.iloc[[-1]]
        spent = time.process_time() - started
        yield judged(trial, name, ends, seconds=spent, asked=len(some))


def judged(
    trial: Trial,
    name: str,
    ends: dict[int, pd.DataFrame],
    told: tuple[dict[int, Lasting], dict[int, int]] = ({}, {}),
    *,
    seconds: float,
    asked: int | None = None,
) -> Ends:
    """Hold ends against the unseen models, and measure how far they are."""
    stated, features = told
    asked = len(trial.people) if asked is None else asked
    if not ends:
        return Ends(name, asked, {}, {}, {}, {}, seconds)
    space = Task.of(trial.model, trial.data, schema=trial.schema, min_score=trial.min_score).space
    table = pd.concat(list(ends.values()), ignore_index=True)
    start = read_records(trial.people.iloc[list(ends)], trial.schema)
    finish = read_records(table, trial.schema)
    far = np.linalg.norm(space.points(finish) - space.points(start), axis=1)
    votes = trial.hold(table).T
    changed = dict(zip(ends, (start != finish).sum(axis=1), strict=True))
    return Ends(
        name,
        asked,
        dict(zip(ends, far.tolist(), strict=True)),
        dict(zip(ends, votes, strict=True)),
        stated,
        features or changed,
        seconds,
    )


def calibration_bar(own: Sequence[Ends], n_refits: int) -> Iterator[bool]:
    """Of answers that say p, do about p hold? In five bins with as many answers each."""
    whose = [(one, i) for one in own for i in one.stated]
    if len(whose) < 2 * BINS:
        print(f"\ncalibration: too few answers to tell ({len(whose)})")
        yield True
        return
    told = [one.stated[i] for one, i in whose]
    stated = np.array([lasting.probability for lasting in told])
    votes = np.array([one.votes[i] for one, i in whose], dtype=float)
    bins = bins_of(stated, votes, np.array([i for _, i in whose]), n_refits=n_refits)
    print("\n| stated | held | apart | standard error | with the refits' own | answers | people |")
    print("|---|---|---|---|---|---|---|")
    for one in bins:
        print(bin_line(one))
    worst = max(bins, key=lambda one: abs(one.apart))
    reached = abs(worst.apart) <= WITHIN
    sure = sum(one.is_off for one in bins)
    print(
        f"\n- calibration within 5 points in each bin: {said(reached)} "
        f"({100 * abs(worst.apart):.1f}); further off than chance explains: {sure} of {BINS} bins"
    )
    print(single_line(told, votes, n_refits))
    yield not reached


def single_line(told: Sequence[Lasting], votes: Array, n_refits: int) -> str:
    """How far off single answers are, and whether their intervals are wide enough."""
    stated = np.array([lasting.probability for lasting in told])
    intervals = np.array([lasting.interval for lasting in told])
    seen, due = share_within(stated, intervals, votes, n_refits=n_refits)
    return (
        f"- one answer is off by {100 * typical_error(stated, votes):.1f} points; what is seen is "
        f"within the interval of {seen:.0%}, due are {due:.0%}"
    )


def bin_line(one: Bin) -> str:
    """One bin as a row of the table."""
    return (
        f"| {one.stated:.1%} | {one.held:.1%} | {100 * one.apart:+.1f} | "
        f"{100 * one.error:.1f} | {100 * one.error_with_learnt:.1f} | "
        f"{one.n_answers} | {one.n_people} |"
    )


def validity_bar(wish: float | None, one: Ends) -> Iterator[bool]:
    """Do enough unseen models agree with the answers that are given, with the wish held to?"""
    if wish != HELD_TO:
        return
    reached = bool(one.valid() >= VALID)
    print(
        f"- {one.name}: {one.valid():.1%} of unseen models agree with the {len(one.holds)} answers "
        f"given, {one.refused} are refused: {said(reached)}"
    )
    yield not reached


def effort_bar(own: Sequence[Ends], theirs: Sequence[Ends]) -> Iterator[bool]:
    """Is some setting as valid as each peer, at no more effort, for the same people?"""
    if not theirs:
        return
    ahead = [one.name for one in theirs if is_ahead(one, own)]
    reached = not ahead
    print(f"- validity at equal effort at least every peer's: {said(reached)}", *ahead)
    yield not reached


def is_ahead(peer: Ends, own: Sequence[Ends]) -> bool:
    """Whether a peer that answers half is more valid than every setting of ours as cheap."""
    if 2 * len(peer.holds) < peer.asked:
        return False
    for one in own:
        both = sorted(set(one.holds) & set(peer.holds))
        if not both or 2 * len(both) < len(peer.holds):
            continue
        cheap = one.middle(both) <= peer.middle(both) + 1e-9
        if cheap and one.valid(both) >= peer.valid(both) - LEVEL:
            return False
    return True


def said(reached: bool) -> str:
    """In words."""
    return "reached" if reached else "NOT reached"


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # peers warn a lot; ours are tested elsewhere
    main()
