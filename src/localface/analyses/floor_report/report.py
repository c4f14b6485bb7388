"""How well a floor tells real rows from composed records, as a value that prints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from localface.analyses.floor_report.group_findings import GroupFinding
from localface.analyses.floor_report.judges import JudgeFigures
from localface.analyses.floor_report.pair_findings import PairFinding
from localface.answers.json_text import dump_json
from localface.answers.wording import format_percent, to_one_line
from localface.data.row_words import PEOPLE, RowWords
from localface.errors import needs_extra

BESIDE = {"isotropic": "one round kernel (isotropic)", "kde": "kernels and pairs (kde)"}
"""What the density is called that the one in use is compared with."""
CEILING = "a boosted classifier"
_HEAD = ("", "held-out rows", "composed records", "AUC", "one column, AUC")


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """How a floor was measured.

    ``n_people`` is how many people the rows belong to, None where nobody said; ``own`` are the
    features in which rows are comparable; ``refitted`` is whether the density in use was
    fitted again, without the rows that were held out.
    """

    min_density: float
    n_rows: int
    n_fitted: int
    n_held_out: int
    n_people: int | None
    own: tuple[str, ...]
    copies_found: bool
    refitted: bool
    each_row: RowWords = PEOPLE

    @property
    def notes(self) -> Iterator[str]:
        """Say it in sentences."""
        yield (
            f"{self.n_rows:,} rows; {self.n_fitted:,} to fit on, {self.n_held_out:,} held out; "
            "in a composed record every column is somebody else's"
        )
        if not self.refitted:
            yield "your own density was not fitted again: it may know the rows it is judged on"
        if self.own:
            rows = self.each_row.many
            yield to_one_line(f"kernels and pairs compare {rows} alike in {', '.join(self.own)}")
        if self.n_people is not None:
            yield f"{self.n_people:,} people: each is fitted on or held out with all their rows"
        elif self.copies_found:
            yield "many rows have a near-copy: if people have several rows, say whose with groups="


@dataclass(frozen=True, slots=True, repr=False)
class FloorReport:
    """How well the floor tells rows that it has not seen from records that are nobody's.

    ``judges`` are the floor in use, one to compare it with (the paper's round kernels, or kernels
    and pairs where those are not in use), and, where scikit-learn is installed, a boosted
    classifier; ``pairs`` the pairs of features
    in which the ``n_refused`` refused records are rarest; ``groups`` those below the floor in
    use more than twice as often as others.
    """

    judges: tuple[JudgeFigures, ...]
    pairs: tuple[PairFinding, ...]
    groups: tuple[GroupFinding, ...]
    n_refused: int
    circumstances: Circumstances

    @property
    def in_use(self) -> JudgeFigures:
        """The figures of the floor that the explainer uses."""
        return self.judges[0]

    @property
    def compared(self) -> JudgeFigures:
        """The figures of the density that the one in use is compared with."""
        return self.judges[1]

    @property
    def classifier(self) -> JudgeFigures | None:
        """The figures of the boosted classifier; None without scikit-learn."""
        return self.judges[2] if len(self.judges) > 2 else None

    def to_dict(self) -> dict[str, object]:
        """Return the report as plain values that JSON can hold."""
        told = asdict(self.circumstances)
        told.pop("each_row")  # a word for sentences
        return {
            **told,
            "n_refused": self.n_refused,
            "judges": [one.to_dict() for one in self.judges],
            "pairs": [one.to_dict() for one in self.pairs],
            "groups": [one.to_dict() for one in self.groups],
        }

    def to_json(self, indent: int | None = None) -> str:
        """Return the report as JSON."""
        return dump_json(self.to_dict(), indent)

    def plot(self, **options: Any) -> Any:
        """Draw the report (needs matplotlib); as ``localface.apps.plots.plot_floor_report``."""
        with needs_extra("plots", "a plot"):
            from localface.apps import plots
        return plots.plot_floor_report(self, **options)

    @property
    def headline(self) -> str:
        """The two figures that matter most."""
        floor = format_percent(self.circumstances.min_density)
        real = format_percent(self.in_use.held_out)
        nobody = format_percent(self.in_use.composed)
        return f"{real} of held-out rows clear the {floor} floor, {nobody} of composed records do"

    def __repr__(self) -> str:
        return f"<FloorReport: {self.headline}>"

    def __str__(self) -> str:
        widths = [max(len(row[i]) for row in self._table()) for i in range(len(_HEAD))]
        lines = [repr(self)]
        for row in self._table():
            first, *rest = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            lines.append("  ".join(["", row[0].ljust(len(first)), *rest]))
        for title, sentences in self._sections():
            lines.append(f"  {title}")
            lines.extend(f"    {sentence}" for sentence in sentences)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head, *body = self._table()
        columns = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
        rows = "".join(
            f'<tr><th scope="row">{escape(name)}</th>'
            + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
            + "</tr>"
            for name, *cells in body
        )
        sections = "".join(
            f"<p>{escape(title)}</p><ul>"
            + "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
            + "</ul>"
            for title, sentences in self._sections()
        )
        return (
            f"<div><table><caption>{escape(self.headline)}</caption>"
            f"<thead><tr>{columns}</tr></thead><tbody>{rows}</tbody></table>{sections}</div>"
        )

    def _table(self) -> list[tuple[str, ...]]:
        return [
            _HEAD,
            *(
                (
                    one.name,
                    format_percent(one.held_out),
                    format_percent(one.composed),
                    f"{one.auc:.2f}",
                    f"{one.one_column_auc:.2f}",
                )
                for one in self.judges
            ),
        ]

    def _sections(self) -> Iterator[tuple[str, list[str]]]:
        """What follows the table: a title, and sentences."""
        if self.pairs:
            refused = f"{self.n_refused:,} composed records that kernels and pairs refuse"
            sentences = [
                f"{to_one_line(' and '.join(one.features))} ({one.n_refused:,}): {one.example}"
                for one in self.pairs
            ]
            yield f"pairs that matter most, of {refused}:", sentences
        if self.groups:
            title = "groups below the floor in use more than twice as often as others:"
            yield title, [group.sentence for group in self.groups]
        notes = list(self.circumstances.notes)
        if self.classifier is not None:
            notes.append("the classifier's threshold is set on the held-out rows themselves")
        yield "how it was measured:", notes
