"""Improving a path that was found: exploit and enhance in turns."""

from __future__ import annotations

import numpy as np

from localface.search.graph import LocalGraph
from localface.search.plan import Plan
from localface.search.questions import Questions
from localface.search.stages.enhance import Effort, enhance
from localface.search.stages.exploit import exploit
from localface.search.trails import GraphPath

_MOST_EFFORT = 5e7  # numbers compared to improve one path: about a second, without a proof then


class PathImprovement:
    """A path on its way to being the best; ``complete`` when no row is left that could help."""

    def __init__(self, path: GraphPath) -> None:
        self.path = path
        self.complete = False
        self.effort = Effort(_MOST_EFFORT)

    def run(self, graph: LocalGraph, plan: Plan) -> Questions[None]:
        """Enhance and exploit in turns, until nothing is left to gain or the effort is spent."""
        if plan.price.exponent:
            edges = self.path.edges
            log_means = yield from graph.log_mean_densities(edges)
            lengths = np.array([graph.edge_length(*edge) for edge in edges])
            cost = float(plan.price.exact_costs(lengths, np.array(log_means)).sum())
            self.path = GraphPath(self.path.vertices, cost)
        yield from self._enhance(graph, plan)
        k = plan.walk_options.n_neighbors
        while self.path.edges and not (self.complete or graph.cut or self.effort.is_spent):
            known = len(graph.ids)
            cost = self.path.cost
            self.complete = yield from exploit(graph, self.path, k=k, slack=plan.slack)
            if len(graph.ids) > known:
                yield from self._enhance(graph, plan)
            # Rows beyond those that did not help hardly help: the rest is looked at sooner.
            k *= 4 if self.path.cost == cost else 2
        self.complete = self.complete and not self.effort.is_spent

    def _enhance(self, graph: LocalGraph, plan: Plan) -> Questions[None]:
        self.path = yield from enhance(
            graph, self.path, price=plan.price, astar=plan.astar, effort=self.effort
        )
