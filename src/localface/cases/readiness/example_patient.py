"""One example patient on the page."""

from __future__ import annotations

from localface.answers.page import alert_lines, caution_lines, page_of
from localface.answers.recourse import Recourse
from localface.cases.readiness.codebook import CRITERIA, criterion_of, format_value
from localface.cases.readiness.cohort_recourse import Group, PatientRecourse
from localface.cases.readiness.document import (
    DocumentBlock,
    Figure,
    Heading,
    Link,
    Paragraph,
    Table,
    TwoColumns,
    render_person,
)
from localface.cases.readiness.path_picture import format_score, path_picture, readiness_scores
from localface.cases.readiness.report_tables import format_feature_name, format_share

_GLUE = "\N{NO-BREAK SPACE}"
_MET = {True: f"✓{_GLUE}met", False: f"✗{_GLUE}not{_GLUE}met"}
_MEANING: dict[str, str] = {
    "true negative": (
        "was not ready, and the forest agrees. What would have to change for it to call them ready?"
    ),
    "false negative": (
        "was ready, left well, and the forest disagrees. What is it that worries the forest?"
    ),
    "false positive": (
        "was not ready, though the forest thinks so. How far are they from being called not ready?"
    ),
}


def example_patient_blocks(group: Group, person: PatientRecourse) -> list[DocumentBlock]:
    """Who the patient is, what changes in which order, which criteria are met."""
    answer = person.answer
    scores = readiness_scores(person)
    who = _who(group, answer)
    left = Figure(
        path_picture(person, group.replace(" ", "-")),
        "The way in clinical units; shaded where a discharge criterion is met.",
    )
    cautions = [Paragraph(line, "alert") for line in caution_lines(answer.cautions)]
    alerts = [Paragraph(line, "alert") for line in alert_lines(answer)]
    right: tuple[DocumentBlock, ...] = (
        *alerts,
        _actions_table(person, scores),
        *_observed_moves_paragraphs(answer),
        Paragraph(
            f"Discharge criteria met: {person.before} of 18 now, {person.after} after. "
            f"{_unmet_criteria_sentence(person)}"
        ),
        Paragraph(f"{_closing_sentences(answer)} Seen: {answer.disclosure.sentence}.", "note"),
    )
    heading = Heading(3, group.capitalize())
    whole = Link("The whole answer, step by step", example_page_name(group))
    return [heading, *cautions, Paragraph(who), TwoColumns((left,), right), whole]


def example_page_name(group: Group) -> str:
    """The file beside the report that has one patient's whole answer."""
    return f"{group.replace(' ', '-')}.html"


def example_page(group: Group, person: PatientRecourse) -> str:
    """One patient's whole answer as a page: the view that ``localface explain --html`` writes."""
    view = person.answer._repr_mimebundle_()["text/html"]
    return render_person(group.capitalize(), _who(group, person.answer), view)


def _who(group: Group, answer: Recourse) -> str:
    return f"{_patient_sentence(answer)} {_MEANING[group]}"


def _patient_sentence(answer: Recourse) -> str:
    said = {
        name: format_value(answer.schema[name], answer.records[0][i])
        for i, name in enumerate(answer.schema.names)
    }
    day = int(answer.records[0][answer.schema.index("los")] // 24) + 1
    return f"A {said['sex']} patient of {said['age']}, day {day} of the stay,"


def _actions_table(person: PatientRecourse, scores: list[float]) -> Table:
    """The actions in order, each with the criterion it touches."""
    plan = person.answer.schema
    rows = [("now", "", "", format_score(person, scores[0]))]
    for number, action in enumerate(person.answer.actions, 1):
        for i, (name, value) in enumerate(action.changes.items()):
            before = plan[name].code(action.before[name])
            after = plan[name].code(value)
            first = i == 0
            last = i == len(action.changes) - 1
            shown = f"{format_value(plan[name], before)} →{_GLUE}{format_value(plan[name], after)}"
            rows.append(
                (
                    f"{number}" if first else f"{number}, together",
                    f"{format_feature_name(name)}: {shown}"
                    + (_format_follows(action.follows) if first else ""),
                    _describe_criterion_change(name, before, after),
                    format_score(person, scores[number]) if last else "",
                )
            )
    return Table(
        "Actions in order, the criterion each touches, and the score for being ready after it",
        ("action", "change", "criterion", "score"),
        tuple(rows),
    )


def _observed_moves_paragraphs(answer: Recourse) -> list[Paragraph]:
    """How many people over time made such a move, where that was counted."""
    return [
        Paragraph(f"Action {number}: {one.evidence.sentence}", "note")
        for number, one in enumerate(answer.actions, 1)
        if one.evidence is not None
    ]


def _format_follows(follows: tuple[int, ...]) -> str:
    return f" (after action {', '.join(str(one + 1) for one in follows)})" if follows else ""


def _describe_criterion_change(name: str, before: float, after: float) -> str:
    test = criterion_of(name)
    if test is None:
        return "no criterion"
    was = _MET[bool(test.holds(before))]
    now = _MET[bool(test.holds(after))]
    if was == now:
        return f"{test.words}: still{_GLUE}{now}"
    return f"{test.words}: {was} →{_GLUE}{now}"


def _unmet_criteria_sentence(person: PatientRecourse) -> str:
    names = person.answer.schema.names
    now, end = (
        dict(zip(names, state.tolist(), strict=True))
        for state in (person.answer.records[0], person.end_state)
    )
    unmet = [one for one in CRITERIA if not one.holds(end[one.feature])]
    lost = [f"{one.name} ({one.words})" for one in unmet if one.holds(now[one.feature])]
    left = [f"{one.name} ({one.words})" for one in unmet if not one.holds(now[one.feature])]
    said = [f"No longer met: {', '.join(lost)}."] if lost else []
    said += [f"Still not met: {', '.join(left)}."] if left else []
    return " ".join(said) or "All are met."


def _closing_sentences(answer: Recourse) -> str:
    """What holds for the answer as a whole, without the sentence on the path beside it."""
    said = [
        line[0].upper() + line[1:]
        for line in page_of(answer).closing
        if not line.startswith("beside it")
    ]
    lowest = min((one.lowest for one in answer.with_actions_as_path().certificates), default=1.0)
    said.append(
        f"{format_share(lowest, 0)} of patients are in less common states than its least common one"
    )
    return " ".join(f"{line}." for line in said)
