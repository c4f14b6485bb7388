"""Writes the case study as one page, with the same as Markdown."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from localface._version import __version__
from localface.cases.readiness import pictures, report_tables
from localface.cases.readiness.codebook import criteria_met
from localface.cases.readiness.cohort_recourse import confusion_groups
from localface.cases.readiness.document import (
    Bullets,
    DocumentBlock,
    Drawing,
    Figure,
    Heading,
    Paragraph,
    Table,
    Tiles,
    TwoColumns,
    picture_svgs_by_name,
    render_html,
    render_markdown,
)
from localface.cases.readiness.example_patient import (
    example_page,
    example_page_name,
    example_patient_blocks,
)
from localface.cases.readiness.report_tables import format_share
from localface.cases.readiness.report_texts import ASKED, CAVEATS, RELAXED
from localface.cases.readiness.study import EXAMPLE_ACTIONS, Study

TITLE = "Ready to leave intensive care?"


def write_report(study: Study, folder: str | Path) -> Path:
    """Write the page, a page for each worked patient, Markdown, figures and ``people.csv``.

    The path of the page is returned.
    """
    folder = Path(folder)
    blocks = report_blocks(study)
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    for name, svg in picture_svgs_by_name(blocks).items():
        (folder / "figures" / f"{name}.svg").write_text(svg, encoding="utf-8")
    (folder / "readiness.md").write_text(render_markdown(blocks), encoding="utf-8")
    study.patients.to_frame().to_csv(folder / "people.csv", index=False)
    for group, person in study.examples.items():
        (folder / example_page_name(group)).write_text(example_page(group, person), "utf-8")
    page = folder / "readiness.html"
    page.write_text(render_html(TITLE, blocks), encoding="utf-8")
    return page


def report_blocks(study: Study) -> list[DocumentBlock]:
    """The whole report, block by block."""
    return [
        *_opening_section(study),
        *_cohort_section(study),
        *_model_section(study),
        *_recourse_section(study),
        *_criteria_section(study),
        *_examples_section(study),
        *_caveats_section(study),
    ]


def _opening_section(study: Study) -> list[DocumentBlock]:
    return [
        Heading(1, TITLE),
        Paragraph(_lead_paragraph(study), "lead"),
        Paragraph(
            "This is decision support, not advice. The forest and the ways found through it are "
            "correlational: that patients who look like this were ready does not mean that "
            "making someone look like this makes them ready.",
            "alert",
        ),
        *(Paragraph(note, "alert") for note in study.notes),
        _main_figure_tiles(study),
    ]


def _main_figure_tiles(study: Study) -> Tiles:
    patients = study.patients
    asked = [one for one in patients.people if one.was_asked]
    actions = [len(one.answer.actions) for one in asked if one.answer.found]
    seen = [one.answer.disclosure.fraction for one in asked]
    tiles = [
        (f"{study.evaluation.mean('auc'):.3f}", "AUC of the forest (paper 0.881)"),
        (
            format_share(report_tables.found_share(patients, relaxed=False)),
            "of those asked have a way as asked",
        ),
        (
            format_share(report_tables.found_share(patients, relaxed=True)),
            "have one with the least relaxation that opens it",
        ),
        (f"{np.median(actions):g}" if actions else "–", "actions in the median answer"),
        (
            format_share(float(np.mean(seen)), 2) if seen else "–",
            "of the training rows seen for an answer, on average",
        ),
    ]
    return Tiles(tuple(tiles))


def _lead_paragraph(study: Study) -> str:
    what = (
        "A generated cohort, in which nobody is real"
        if study.is_generated
        else "De-identified patients of MIMIC-III, bound by its data use agreement, as is this page"
    )
    return (
        f"The case study of the LocalFACE paper, run again. {what}: {len(study.samples):,} rows, a "
        f"random forest that scores readiness for discharge, and for {_people_phrase(study)} "
        "the changes "
        "that would alter its verdict."
    )


def _people_phrase(study: Study) -> str:
    n = study.patients.tested
    asked = len(study.patients.people)
    return "everyone it was tested on" if asked == n else f"{asked:,} of the {n:,} it was tested on"


def _cohort_section(study: Study) -> list[DocumentBlock]:
    columns = ("source", "rows", "patients", "ready", "not ready", "fitted on", "tested on")
    rows = tuple(
        (name, *(f"{n:,}" for n in _counts_of_source(study, name)))
        for name in study.samples.sources
    )
    blocks: list[DocumentBlock] = [
        Heading(2, "The cohort"),
        Paragraph(
            "A row holds 22 features charted over the four hours before a decision. Ready means: "
            "left hospital alive, and did not come back to intensive care. The last two columns "
            "are those of the first split, which the recourse below is for."
        ),
        Table("Rows of the cohort", columns, rows),
    ]
    missing = float(study.samples.features.isna().to_numpy().mean())
    if missing:
        said = (
            "taken from the five most similar patients of the training part, in standard deviations"
        )
        blocks.append(
            Paragraph(
                f"{format_share(missing)} of the values were not charted within 36 hours; they "
                f"were {said}."
            )
        )
    if study.extraction is not None:
        blocks.append(
            Drawing(study.extraction.flow_svg(), "flow", "How the cohort came about, step by step")
        )
    return blocks


def _counts_of_source(study: Study, name: str) -> list[int]:
    """Rows, patients, ready, not ready, fitted on, tested on, of one source."""
    samples = study.samples
    parts = study.evaluation.first.split
    mine = samples.source == name
    ready = int(samples.ready[mine].sum())
    patients = len(np.unique(samples.patient_numbers[mine]))
    return [
        int(mine.sum()),
        patients,
        ready,
        int(mine.sum()) - ready,
        *(int(mine[p].sum()) for p in (parts.train, parts.test)),
    ]


def _model_section(study: Study) -> list[DocumentBlock]:
    evaluation = study.evaluation
    chosen = sorted({str(one) for one in evaluation.settings})
    grown = (
        f"Forests of {chosen[0]}"
        if len(chosen) == 1
        else f"Forests chosen by grid search ({'; '.join(chosen)})"
    )
    tested = "40 % of the rows are"
    if len(study.samples.sources) > 1:
        tested = "40 % of the smaller source and as many rows of the other are"
    groups = confusion_groups(evaluation.first.ready, evaluation.first.scores)
    measures = (
        report_tables.forest_table(evaluation, study.row_split_evaluation),
        Paragraph(report_tables.group_shares_sentence(groups)),
        Paragraph(_split_by_row_note(study), "note"),
    )
    calibration = Figure(
        pictures.calibration_picture(evaluation.scores, evaluation.ready),
        "Calibration: patients of all test sets in ten groups of equal size, by score.",
    )
    return [
        Heading(2, "The forest"),
        Paragraph(
            f"{grown}. {tested} tested on, whole patients only. At specificity 0.7 means: the "
            "score is cut so that 70 % of those who were not ready are told so."
        ),
        TwoColumns(measures, (calibration,)),
    ]


def _split_by_row_note(study: Study) -> str:
    if not study.samples.has_repeated_patients:
        return (
            "Every row is a patient of their own here, "
            "so splitting by row or by patient is the same."
        )
    if study.row_split_evaluation is None:
        return (
            "Patients have several rows. The original study split by row, so that patients leaked; "
            "this run does not."
        )
    more = study.row_split_evaluation.mean("auc") - study.evaluation.mean("auc")
    looks = f"{abs(more):.4f} {'higher' if more > 0 else 'lower'}"
    return (
        "Split by row, as in the original study, patients leak between the parts: "
        f"the AUC looks {looks}."
    )


def _recourse_section(study: Study) -> list[DocumentBlock]:
    patients = study.patients
    why = report_tables.reasons_table(patients)
    drawn = (
        Figure(
            pictures.actions_picture(patients.people),
            "How many actions an answer takes, in per cent of the answers.",
        ),
        Figure(
            pictures.features_picture(patients.people),
            "What the actions change most often, in per cent of the answers.",
        ),
    )
    return [
        Heading(
            2,
            f"Recourse for {_people_phrase(study).replace(' it was', '').removesuffix(' on')}",
        ),
        Paragraph(ASKED),
        report_tables.success_table(patients),
        Paragraph(RELAXED),
        *([why] if why else []),
        TwoColumns(
            (
                report_tables.lengths_table(patients),
                report_tables.rows_seen_table(patients, study.examples),
            ),
            drawn,
        ),
        Paragraph(report_tables.longer_stay_sentence(patients)),
        Paragraph(_timing_sentence(study), "note"),
    ]


def _timing_sentence(study: Study) -> str:
    together = ", ".join(
        f"{1000 * spent:.0f} ms towards {direction}"
        for direction, spent in study.patients.seconds.items()
    )
    alone = study.patients.alone
    one = (
        f"{1000 * float(np.mean(alone)):.0f} ms one at a time ({len(alone)} people), "
        if alone
        else ""
    )
    return (
        f"Time for one patient on this machine: {one}all together {together} "
        f"(paper: {report_tables.PAPER_SECONDS} s)."
    )


def _criteria_section(study: Study) -> list[DocumentBlock]:
    found = [one for one in study.patients.select_people(direction="ready") if one.answer.found]
    blocks: list[DocumentBlock] = [
        Heading(2, "Do the ways lead towards the nurse-led discharge criteria?"),
        Paragraph(
            "The paper's appendix lists 18 tests; as they were specified, who meets all of them "
            "for four hours can be discharged. Neither the forest nor recourse is told of them."
        ),
    ]
    if not found:
        return blocks
    first = study.evaluation.first
    usual = criteria_met(first.train[study.samples.ready[first.split.train] == 1]).mean().to_numpy()
    shares = (*report_tables.criteria_shares(found), usual)
    caption = (
        "Those with a way towards ready, now and after their actions, "
        "beside patients who were ready."
    )
    sides = TwoColumns(
        (Figure(pictures.criteria_picture(*shares), caption),),
        (report_tables.criteria_shares_table(*shares),),
    )
    return [*blocks, report_tables.criteria_counts_table(study.patients), sides]


def _examples_section(study: Study) -> list[DocumentBlock]:
    if not study.examples:
        return []
    real = (
        ""
        if study.is_generated
        else " They are de-identified people: keep this page as the agreement asks."
    )
    blocks: list[DocumentBlock] = [
        Heading(2, "Three patients" if len(study.examples) == 3 else "Worked patients"),
        Paragraph(
            "Chosen by a rule, not by hand: of those with a way as asked, one that takes "
            f"{EXAMPLE_ACTIONS} actions if there is any, with the score nearest to the median of "
            f"the group.{real}"
        ),
    ]
    for group, person in study.examples.items():
        blocks += example_patient_blocks(group, person)
    return blocks


def _caveats_section(study: Study) -> list[DocumentBlock]:
    who = (
        "Nobody here is real: the cohort is drawn from distributions fitted to open data; rows "
        "are independent and follow no one over time."
        if study.is_generated
        else "These are de-identified patients of one hospital, years ago."
    )
    lines = (*CAVEATS[:2], who, *CAVEATS[2:])
    made = (
        f"Made with localface {__version__}, seed {study.seed}, "
        f"splits: {study.evaluation.n_splits}."
    )
    return [Heading(2, "What this cannot say"), Bullets(lines), Paragraph(made, "note")]
