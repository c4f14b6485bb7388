"""One worked patient on the page: who they are, what changes in which order, and what the criteria say."""

from __future__ import annotations

from localface.answers.page import page_of
from localface.answers.recourse import Recourse
from localface.cases.readiness.codebook import CRITERIA, criterion_of, shown
from localface.cases.readiness.document import Beside, Block, Figure, Heading, Paragraph, Table
from localface.cases.readiness.journeys import Group, TestedPatient
from localface.cases.readiness.summary import percent, words_of
from localface.cases.readiness.way import readiness_scores, score_shown, way

_GLUE = "\N{NO-BREAK SPACE}"
_MEANING: dict[str, str] = {
    "true negative": "was not ready, and the forest agrees. What would have to change for it to call them ready?",
    "false negative": "was ready, left well, and the forest disagrees. What is it that worries the forest?",
    "false positive": "was not ready, though the forest thinks so. How far are they from being called not ready?",
}


def worked_patient(group: Group, person: TestedPatient) -> list[Block]:
    """Show one patient."""
    answer = person.answer
    scores = readiness_scores(person)
    who = f"{_who(answer)} {_MEANING[group]}"
    left = Figure(
        way(person, group.replace(" ", "-")),
        "The way in clinical units; shaded where a discharge criterion is met.",
    )
    alerts = [Paragraph(line, "alert") for line in page_of(answer).alerts]
    right: tuple[Block, ...] = (
        *alerts,
        _actions(person, scores),
        *_others(answer),
        Paragraph(
            f"Discharge criteria met: {person.before} of 18 now, {person.after} after. {_unmet(person)}"
        ),
        Paragraph(f"{_closing(answer)} Seen: {answer.disclosure.sentence}.", "note"),
    )
    return [Heading(3, group.capitalize()), Paragraph(who), Beside((left,), right)]


def _who(answer: Recourse) -> str:
    said = {
        name: shown(answer.schema[name], answer.records[0][i])
        for i, name in enumerate(answer.schema.names)
    }
    day = int(answer.records[0][answer.schema.index("los")] // 24) + 1
    return f"A {said['sex']} patient of {said['age']}, day {day} of the stay,"


def _actions(person: TestedPatient, scores: list[float]) -> Table:
    """The actions in order, each with the criterion it touches."""
    plan = person.answer.schema
    rows = [("now", "", "", score_shown(person, scores[0]))]
    for place, action in enumerate(person.answer.actions):
        for i, (name, value) in enumerate(action.changes.items()):
            before, after = plan[name].code(action.before[name]), plan[name].code(value)
            first, last = i == 0, i == len(action.changes) - 1
            number = f"{place + 1}" if first else f"{place + 1}, together"
            change = (
                f"{words_of(name)}: {shown(plan[name], before)} →{_GLUE}{shown(plan[name], after)}"
            )
            change += _order(action.follows) if first else ""
            rows.append(
                (
                    number,
                    change,
                    _marked(name, before, after),
                    score_shown(person, scores[place + 1]) if last else "",
                )
            )
    return Table(
        "Actions in order, the criterion each touches, and the score for being ready after it",
        ("action", "change", "criterion", "score"),
        tuple(rows),
    )


def _others(answer: Recourse) -> list[Paragraph]:
    """What people over time did in the like situation, where there are any to ask."""
    told = [
        (place, one.evidence.sentence)
        for place, one in enumerate(answer.actions, 1)
        if one.evidence is not None
    ]
    return [Paragraph(f"Action {place}: {sentence}", "note") for place, sentence in told]


def _order(follows: tuple[int, ...]) -> str:
    return f" (after action {', '.join(str(one + 1) for one in follows)})" if follows else ""


def _marked(name: str, before: float, after: float) -> str:
    test = criterion_of(name)
    if test is None:
        return "no criterion"
    was, now = (bool(test.holds(value)) for value in (before, after))
    words = {True: f"✓{_GLUE}met", False: f"✗{_GLUE}not{_GLUE}met"}
    return f"{test.words}: " + (
        f"still{_GLUE}{words[now]}" if was == now else f"{words[was]} →{_GLUE}{words[now]}"
    )


def _unmet(person: TestedPatient) -> str:
    names = person.answer.schema.names
    now, end = (
        dict(zip(names, state.tolist(), strict=True))
        for state in (person.answer.records[0], person.end)
    )
    unmet = [one for one in CRITERIA if not one.holds(end[one.feature])]
    lost = [f"{one.name} ({one.words})" for one in unmet if one.holds(now[one.feature])]
    left = [f"{one.name} ({one.words})" for one in unmet if not one.holds(now[one.feature])]
    said = [f"No longer met: {', '.join(lost)}."] if lost else []
    said += [f"Still not met: {', '.join(left)}."] if left else []
    return " ".join(said) or "All are met."


def _closing(answer: Recourse) -> str:
    """What holds for the way as a whole; that there is a path beside it is for those who have the object."""
    said = [
        line[0].upper() + line[1:]
        for line in page_of(answer).closing
        if not line.startswith("beside it")
    ]
    lowest = min((one.lowest for one in answer.followed().certificates), default=1.0)
    said.append(
        f"{percent(lowest, 0)} of patients stand on less common ground than its least common place"
    )
    return " ".join(f"{line}." for line in said)
