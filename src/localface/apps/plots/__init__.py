"""Figures of recourse, by matplotlib.

``plot_recourse`` draws one person's way in their own units, whatever the data, and
``plot_audit`` what became of proposals from elsewhere;
``plot_floor_report`` how well a floor tells rows from composed records;
``plot_pipeline`` and ``plot_against_line`` draw a search where the data is a plane;
``plot_tube`` and ``plot_step`` are drawings of two ideas of the paper. Each returns the
figure, follows the style that is set (light or dark), uses colours that colour-blind
people tell apart (Okabe and Ito), and never says anything by colour alone.
"""

from localface.apps.plots.audit import plot_audit
from localface.apps.plots.floor_report import plot_floor_report
from localface.apps.plots.line import plot_against_line
from localface.apps.plots.person import plot_recourse
from localface.apps.plots.pipeline import plot_pipeline
from localface.apps.plots.step import plot_step
from localface.apps.plots.tube import plot_tube

__all__ = [
    "plot_against_line",
    "plot_audit",
    "plot_floor_report",
    "plot_pipeline",
    "plot_recourse",
    "plot_step",
    "plot_tube",
]
