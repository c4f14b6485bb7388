"""The paper's case study, readiness for discharge from intensive care.

On a generated cohort, or on MIMIC-III.

>>> from localface.cases.readiness import synthetic
>>> synthetic(seed=0, sizes={"mimic": 200, "gicu": 50}).frame().shape
(250, 22)

``run(folder)`` does the whole study and writes a page. What comes out of it is decision
support: correlational, not advice.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localface.cases.readiness.codebook import (
    CRITERIA,
    Criterion,
    count_criteria_met,
    criteria_met,
    schema,
)
from localface.cases.readiness.generated import SIZES, Cohort, synthetic
from localface.errors import DataError, needs_extra

if TYPE_CHECKING:
    from localface.analyses.observed_moves import Trajectories
    from localface.cases.mimic import Decisions, Extraction
    from localface.cases.readiness.samples import Samples
    from localface.cases.readiness.study import Study

__all__ = [
    "CRITERIA",
    "SIZES",
    "Cohort",
    "Criterion",
    "count_criteria_met",
    "criteria_met",
    "run",
    "schema",
    "synthetic",
]


def run(
    folder_out: str | Path,
    *,
    mimic: str | Path | None = None,
    decisions: Decisions | None = None,
    splits: int = 100,
    grid: bool = False,
    row_split: bool = False,
    people: int | None = None,
    max_seconds: float | None = None,
    evidence: Trajectories | None = None,
    seed: int = 0,
    progress: bool = True,
) -> Study:
    """Run the case study and write it down as a page and as Markdown.

    Parameters
    ----------
    folder_out : where ``readiness.html``, ``readiness.md``, ``figures/`` and ``people.csv`` go
    mimic : a folder of MIMIC-III tables to take the rows from; a generated cohort if not given
    decisions : how MIMIC-III is read: ``localface.cases.mimic.Decisions``; the extraction is
        kept in ``extraction/``
    splits : random splits that the forest is measured on; the paper's figures are over 100
    grid : search the paper's grid on each split, by multiple-source cross-validation
    row_split : measure also with rows split without regard to patients, to show the leak
    people : for how many of the tested patients recourse is searched; all if not given
    max_seconds : how long the search for one of them may take, as for ``explain``
    evidence : people over time, to count how many really made the changes of the examples
    seed : of the cohort, of the splits and of the forests
    progress : show progress bars where there is a terminal
    """
    from localface.cases.readiness.report import write_report
    from localface.cases.readiness.study import check_counts, run_study

    with needs_extra("case", "the case study"):
        import jinja2  # noqa: F401
        import pandas  # noqa: F401
        import sklearn  # noqa: F401
    check_counts(splits, people)
    folder = Path(folder_out)
    if folder.exists() and not folder.is_dir():
        raise DataError(f"the study is written into a folder; {str(folder)!r} is a file")
    folder.mkdir(parents=True, exist_ok=True)
    samples, extraction = _generate_or_extract_samples(
        folder, mimic, decisions, seed=seed, progress=progress
    )
    study = run_study(
        samples,
        extraction=extraction,
        splits=splits,
        grid=grid,
        row_split=row_split,
        people=people,
        max_seconds=max_seconds,
        evidence=evidence,
        seed=seed,
        progress=progress,
    )
    return replace(study, page=write_report(study, folder))


def _generate_or_extract_samples(
    folder: Path,
    mimic: str | Path | None,
    decisions: Decisions | None,
    *,
    seed: int,
    progress: bool,
) -> tuple[Samples, Extraction | None]:
    """The generated cohort, or the rows extracted from MIMIC-III."""
    from localface.cases.readiness.samples import Samples

    if mimic is None:
        return Samples.of_cohort(synthetic(seed)), None
    from localface.cases.mimic import from_mimic

    extraction = from_mimic(mimic, folder / "extraction", decisions=decisions, progress=progress)
    return Samples.of_extraction(extraction), extraction


def __getattr__(name: str) -> Any:
    """Offer the extraction here too; it is imported only when it is asked for."""
    if name == "from_mimic":
        from localface.cases.mimic import from_mimic

        return from_mimic
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
