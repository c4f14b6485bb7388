"""How fast the peers are on the people of a shape, and how many of their answers are sound."""

from __future__ import annotations

import signal
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from localface import LocalFACE
from localface.data.read import read_records
from localface.evaluation.baselines import FACE, NICE, NearestUnlike, StraightLine, Task
from localface.evaluation.baselines.peers import PEERS as PACKAGED
from localface.evaluation.baselines.peers import available
from localface.evaluation.metrics import Judge, measure_many
from localface.types import Array
from shapes import Shape, scores
from timing import Spent, timed

States = Array | None
"""The states that are proposed to one person, themselves first; None for nothing."""
Answer = Callable[[Any], States]
"""From a person to what is proposed to them."""
OURS = ("ours, path only", "ours, with actions")
LOOK = 0.1  # seconds between looks at how long a peer has taken
DICE = ("dice-random", "dice-genetic", "dice-kdtree")


class OutOfPatience(BaseException):
    """A call took longer than it may; no peer takes this for an error of its own."""


@dataclass(frozen=True, slots=True, eq=False)
class Peer:
    """What one method took on some people, and how many of its answers were sound."""

    name: str
    spent: list[Spent]
    found: int
    sound: int | None  # None where nobody could judge
    note: str = ""

    @property
    def median(self) -> float:
        """Median seconds of the processor; NaN where it gave no answer at all."""
        return float(np.median([one.worked for one in self.spent])) if self.spent else float("nan")

    @property
    def share_sound(self) -> float:
        """Of the people it was asked about; NaN where nobody could judge."""
        if self.sound is None:
            return float("nan")
        return self.sound / len(self.spent) if self.spent else 0.0


def ours(explainer: LocalFACE, *, actions: bool) -> Answer:
    """Ourselves: the path, or the states that the actions lead through."""

    def answer(person: Any) -> States:
        told = explainer.explain(person, actions=actions)
        if not told.found:
            return None
        return np.asarray((told.with_actions_as_path() if actions else told).records)

    return answer


def other(method: Callable[..., Any], **options: Any) -> Callable[[Task], Answer]:
    """A baseline or a peer, made once and asked person by person."""

    def made(task: Task) -> Answer:
        asked = method(task, **options)
        getattr(asked, "density", None)  # fitted at set-up, as ours is

        def answer(person: Any) -> States:
            told = asked.explain(person)
            return np.asarray(told.states) if told.found else None

        return answer

    return made


def face_afresh(task: Task) -> Answer:
    """FACE as it is mostly used: the graph is built again for each person."""

    def answer(person: Any) -> States:
        few = min(50, len(task.records) - 1)
        told = FACE(task, graph="knn", n_neighbors=few).explain(person)
        return np.asarray(told.states) if told.found else None

    return answer


PEERS: dict[str, Callable[[Task], Answer]] = {
    "nearest row that will do": other(NearestUnlike),
    "straight line": other(StraightLine),
    "NICE": other(NICE, reward="sparsity"),
    "FACE, built per person": face_afresh,
    **{
        name: other(PACKAGED[name])
        for name in ("treecf", *DICE)
        if available()[PACKAGED[name].package] is not None
    },
}
"""By the name that is printed; whoever has another adds it here."""


def measure_peers(at: Shape, people: int, seconds: float) -> list[Peer]:
    """Ask everyone about the same people, each for so many seconds at most, and judge all."""
    explainer = at.explainer().prescore()
    judge = judge_of(at, explainer)
    explainer.explain_many(at.warm, progress=False)
    found = [
        ask(name, ours(explainer, actions=name == OURS[1]), at, people, seconds) for name in OURS
    ]
    for name, make in PEERS.items():
        try:
            with limited(seconds + 20), quietly():
                task = Task.of(at.model, at.data, schema=explainer.schema, min_score=at.min_score)
                answer = make(task)
        except (Exception, OutOfPatience) as error:
            found.append((name, [], [], f"cannot be set up: {type(error).__name__}"))
            continue
        found.append(ask(name, answer, at, people, seconds))
    return [judged(*one, at, explainer, judge) for one in found]


Asked = tuple[str, list[Spent], list[States], str]


def ask(name: str, answer: Answer, at: Shape, people: int, seconds: float) -> Asked:
    """Ask one method about people, until its time is up."""
    spent = list[Spent]()
    told = list[States]()
    ends = time.process_time() + seconds
    for i in range(min(people, len(at.people))):
        left = ends - time.process_time()
        if left <= 0:
            break
        try:
            with limited(left + seconds), quietly():
                states, took = timed(answer, at.people.iloc[[i]])
        except (Exception, OutOfPatience) as error:
            return name, spent, told, f"{type(error).__name__} at person {i + 1}"
        spent.append(took)
        told.append(states)
    return name, spent, told, ""


def judged(
    name: str,
    spent: list[Spent],
    told: list[States],
    note: str,
    at: Shape,
    explainer: LocalFACE,
    judge: Judge | None,
) -> Peer:
    """Judge what was proposed by the evaluation's own measures, which share no code with us."""
    if not told:
        return Peer(name, spent, 0, 0, note)
    found = sum(one is not None for one in told)
    if judge is None:
        return Peer(name, spent, found, None, note)
    records = read_records(at.people.iloc[: len(told)], explainer.schema)
    boxes = [explainer.schema.box(record) for record in records]
    sound = sum(one.sound_personal for one in measure_many(judge, told, boxes))
    return Peer(name, spent, found, sound, note)


def judge_of(at: Shape, explainer: LocalFACE) -> Judge | None:
    """A judge with the rows of the shape, fresh calls of the model, and the rule of the floor.

    None where values are missing: the evaluation's judge compares finite points only.
    """
    if at.data.isna().any(axis=None):
        return None
    form = explainer.engine.form
    return Judge.of(
        explainer.engine.space,
        read_records(at.data, explainer.schema),
        lambda records: scores(at.model, form.make_table(records)),
        min_score=at.min_score,
        density=explainer.density,
    )


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Stop what takes longer, by the processor's time.

    A timer by the clock looks at it now and then: while a timer of the processor's own
    (ITIMER_PROF) is set, Linux tells the processor's time in ticks of 4 ms only, and whatever
    takes less would be measured as nothing.
    """
    ends = time.process_time() + seconds

    def look(*_: Any) -> None:
        if time.process_time() > ends:
            raise OutOfPatience

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, LOOK, LOOK)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def quietly() -> Iterator[None]:
    """Let nobody's warnings stand between the tables."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
