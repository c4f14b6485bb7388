"""The answer to one person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from localface.answers.facts import RecourseFacts
from localface.answers.page import page_of
from localface.answers.path_table import path_table
from localface.answers.rendering import page_as_html, page_as_text
from localface.errors import needs_extra


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Recourse(RecourseFacts):
    """One person's way to the target, or the reason why there is none.

    It cannot be changed. It prints, shows in a notebook, plots, becomes a table, and is
    written to JSON, which gives it back. The fields are those of ``RecourseFacts``:
    everything is in the user's units; ``records``, ``scores``, ``densities`` and ``rows``
    run along the path, the person as they are first; ``certificates`` has one entry per
    step, ``actions`` one per thing to do.
    """

    @property
    def meta(self) -> dict[str, object]:
        """What users of alibi look for: the explainer, the kind of explanation, the settings."""
        return {
            "name": "LocalFACE",
            "type": ["blackbox"],
            "explanations": ["local"],
            "params": dict(self.settings),
            "version": self.version,
            **self.summary,
        }

    def to_frame(self) -> Any:
        """Return the path with its step, score and density, as a table of the user's own kind.

        For a NumPy user it is a pandas frame, or a dict of columns without pandas. What
        was relaxed stands in a column of its own and, where tables carry notes (pandas
        ``attrs``, pyarrow metadata), there too.
        """
        return path_table(self)

    def to_json(self, indent: int | None = None) -> str:
        """Write everything down; ``Recourse.from_json`` gives it back, bit for bit."""
        from localface.answers import document  # only now: importing msgspec takes its time

        return document.recourse_to_json(self, indent)

    @classmethod
    def from_json(cls, text: str) -> Recourse:
        """Read what ``to_json`` wrote."""
        from localface.answers import document

        return document.recourse_from_json(text, cls)

    def __eq__(self, other: object) -> bool:
        """Whether both say the same: all that ``to_json`` writes down."""
        if self is other:
            return True
        if not isinstance(other, Recourse):
            return NotImplemented
        alike = (self.status, self.scores, self.rows) == (other.status, other.scores, other.rows)
        return alike and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.status, self.scores, self.rows))

    def plot(self, **options: Any) -> Any:
        """Draw the path (needs matplotlib).

        The options are those of ``localface.apps.plots.plot_recourse``.
        """
        with needs_extra("plots", "a plot"):
            from localface.apps import plots
        return plots.plot_recourse(self, **options)

    def __str__(self) -> str:
        return page_as_text(page_of(self))

    def _repr_html_(self) -> str:
        return page_as_html(page_of(self))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """Show the page's own view in a notebook, and in whatever the notebook is exported to.

        It is HTML that needs nothing else. Where scripts do not run, it shows as plain HTML.
        """
        from localface.apps.web.standalone import standalone_view

        return {"text/plain": str(self), "text/html": standalone_view(self)}
