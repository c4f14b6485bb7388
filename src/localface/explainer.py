"""LocalFACE: from a table and a model to a sound recourse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, Literal, overload

from localface.analyses.alternatives import (
    Alternatives,
    avoiding,
    check_n_paths,
    checked_weights,
    find_alternatives,
)
from localface.analyses.audit import Audit, audited
from localface.analyses.observed_moves import MoveCounter, read_evidence
from localface.analyses.robustness import (
    Robustness,
    check_share,
    pushed,
    read_models,
    robustness_of,
)
from localface.analyses.whynot import Check, check, opened, wish_of
from localface.answers.many import Recourses
from localface.answers.recourse import Recourse
from localface.data.read import person_form, read_person
from localface.data.schema import Schema
from localface.density.protocol import Density
from localface.engine.fitting import fit_engine
from localface.engine.many import explained, requests_of, requests_or_errors, shown
from localface.options import Options, check_max_changes, check_on_error


class LocalFACE:
    """Finds what would have to change, in which order and by how much, through states people are really in.

    Parameters
    ----------
    model
        A fitted estimator (``predict_proba``, ``decision_function`` or ``predict``), or a
        function from a table like ``data`` to scores. It is only ever called.
    data
        The people to learn from: a pandas or polars frame, a pyarrow table, a NumPy array, or a
        ``Store`` (a folder that ``localface.sources.store.write_store`` wrote) for more than fit into memory.
    schema
        What the columns are and how far a person may move; guessed from ``data`` if not given.
    target
        The class to reach; for a regressor ``"at least"`` or ``"at most"``.
    min_score
        The score to reach.
    min_density
        How unusual a place on the way may be: 0.05 means no more unusual than where the
        loneliest 5 % of people stand.
    edges
        What makes a step traversable: ``"strict"`` (every place on it is common enough, proven),
        ``"average"`` (it is so on average) or ``"cover"`` (at least ``people`` people within
        ``radius`` of every place).
    n_neighbors
        How many people are looked at around each place.
    max_step
        The longest step, in ordinary differences between people; ``None`` for no limit.
    max_rows
        How many people one answer may reveal; ``None`` for no limit.
    momentum_steps
        How many steps the paper's momentum looks back; above 0 the path may leave the rows.
    strategy
        ``"guided"``, or ``"paper"`` for the published algorithms as printed.
    density
        ``"kde"``, ``"knn"``, a function from records to densities, or an estimator with ``score_samples``.
    cost
        ``"length"``, ``"density"`` (falls with density; the default of average edges) or ``"safest"``.
    slack
        Look no further once the path is proven to be within this share of the best over all the data.
    people, radius
        The cover rule: how many people, within how many ordinary differences (chosen from
        ``min_density`` if not given).
    ends
        ``"people"``: a path ends at a real person. ``"states"``: where none that this person may become
        will do, it may end at a state that is nobody's, on ground just as common, made of what people who
        reach the target have in what this person may change.
    evidence
        People over time (``localface.analyses.observed_moves.Trajectories``, or a dict with a ``table`` and the
        names of its columns): each action then says how many of them really did the like, and how they fared.

    Examples
    --------
    >>> from localface.cases.moons import two_moons
    >>> moons = two_moons(seed=0)
    >>> explainer = LocalFACE(moons.model, moons.data, n_neighbors=15)
    >>> explainer.explain(moons.person).found
    True
    """

    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        schema: Schema | None = None,
        target: object = 1,
        min_score: float = 0.5,
        min_density: float = 0.05,
        edges: str = "strict",
        n_neighbors: int = 50,
        max_step: float | None = None,
        max_rows: int | None = None,
        momentum_steps: int = 0,
        strategy: str = "guided",
        density: Any = "kde",
        cost: str | None = None,
        slack: float = 0.05,
        people: int = 3,
        radius: float | None = None,
        ends: str = "people",
        evidence: Any = None,
    ) -> None:
        self.options = Options(
            min_score=min_score,
            min_density=min_density,
            edges=edges,
            n_neighbors=n_neighbors,
            max_step=max_step,
            max_rows=max_rows,
            momentum_steps=momentum_steps,
            strategy=strategy,
            density=density,
            cost=cost,
            slack=slack,
            people=people,
            radius=radius,
            ends=ends,
        )
        self._wanted = target
        self._engine = fit_engine(model, data, schema=schema, target=target, options=self.options)
        if evidence is not None:
            move_counter = MoveCounter.of(
                read_evidence(evidence), self.schema, self._engine.space.scales.tolist()
            )
            self._engine = replace(self._engine, move_counter=move_counter)

    @property
    def schema(self) -> Schema:
        """What a record is, and how far a person may move."""
        return self._engine.schema

    @property
    def density(self) -> Density:
        """How common the ground is."""
        return self._engine.density

    @property
    def floor(self) -> float:
        """The log-density that no step may fall below."""
        return self._engine.floor

    def __repr__(self) -> str:
        n, p = self._engine.source.n_rows, len(self.schema)
        wanted, recall = self._engine.answers.target.sentence, self._engine.source.recall
        near = "" if recall == 1 else f", {recall:.2%} of near people found"
        return f"<LocalFACE: {n:,} people, {p} features, target {wanted}, floor {self.options.min_density:.0%}{near}>"

    @overload
    def explain(
        self,
        person: Any,
        *,
        where: Mapping[str, Any] | None = None,
        counterfactual: Any = None,
        min_score: float | None = None,
        min_density: float | None = None,
        relax: bool = False,
        actions: bool = True,
        max_changes: int = 1,
        min_robustness: float | None = None,
        n_paths: Literal[1] = 1,
        weights: Mapping[str, float] | None = None,
        avoid: Sequence[str] = (),
    ) -> Recourse: ...
    @overload
    def explain(
        self,
        person: Any,
        *,
        where: Mapping[str, Any] | None = None,
        counterfactual: Any = None,
        min_score: float | None = None,
        min_density: float | None = None,
        relax: bool = False,
        actions: bool = True,
        max_changes: int = 1,
        min_robustness: float | None = None,
        n_paths: int,
        weights: Mapping[str, float] | None = None,
        avoid: Sequence[str] = (),
    ) -> Recourse | Alternatives: ...

    def explain(
        self,
        person: Any,
        *,
        where: Mapping[str, Any] | None = None,
        counterfactual: Any = None,
        min_score: float | None = None,
        min_density: float | None = None,
        relax: bool = False,
        actions: bool = True,
        max_changes: int = 1,
        min_robustness: float | None = None,
        n_paths: int = 1,
        weights: Mapping[str, float] | None = None,
        avoid: Sequence[str] = (),
    ) -> Recourse | Alternatives:
        """Find recourse for one person.

        Parameters
        ----------
        person
            A dict, a pandas Series, a 1-D array or a one-row frame.
        where
            What this person may change, on top of the schema: ``{"age": 5}`` (within 5),
            ``{"sex": "never"}``, ``{"fio2": (0.21, 0.4)}``, ``{"ward": ["a", "b"]}``.
        counterfactual
            Where to go, if that is known already; explore is skipped.
        min_score, min_density
            The score to reach and the floor, for this call; as the explainer was made if not given.
        relax
            Where the target cannot be reached, lower the floor by as little as possible, and say so.
        actions
            Also work out few changes in an order; without, the path alone.
        max_changes
            How many features one action may change, if that is possible at all.
        min_robustness
            Go so far past the threshold that this share of small deviations from the answer still
            reaches the target (see ``robustness``).
        n_paths
            How many ways are wanted; above 1 the answer is ``Alternatives``: ways that change different features.
        weights
            How dear a change of a feature is: ``{"income": 3}`` for what should rather not change; 1 if not given.
        avoid
            Features not to touch at all, neither by an action nor by anyone on the path.
        """
        check_n_paths(
            n_paths,
            actions=actions and self.options.strategy == "guided",
            push=min_robustness is not None,
        )
        engine, record = (
            self._engine.at(min_score=min_score, min_density=min_density),
            read_person(person, self.schema),
        )
        form = person_form(person, engine.form)
        goal = (
            None
            if counterfactual is None
            else read_person(counterfactual, self.schema, "the counterfactual")
        )
        check_max_changes(max_changes)
        plan = replace(engine.plan, actions=actions, max_changes=max_changes)
        where, dear = avoiding(self.schema, where, avoid), checked_weights(self.schema, weights)
        request = engine.request(record, form, where, goal=goal, relax=relax, weights=dear)
        if n_paths > 1:
            return find_alternatives(engine, request, plan, n_paths)
        if min_robustness is not None:
            return pushed(engine, request, plan, check_share(min_robustness))
        ((_, answer),) = engine.answered([request], plan)
        return opened(engine, plan, [(request, answer)])[0]

    def explain_many(
        self,
        people: Any,
        *,
        where: Mapping[str, Any] | None = None,
        min_score: float | None = None,
        min_density: float | None = None,
        relax: bool = False,
        actions: bool = True,
        max_changes: int = 1,
        weights: Mapping[str, float] | None = None,
        avoid: Sequence[str] = (),
        on_error: str = "raise",
        progress: bool = True,
    ) -> Recourses:
        """Find recourse for many people at once, in the order they came.

        The searches advance together: each round is one neighbour query, one model call
        and one density evaluation for all of them. Every answer is the one ``explain``
        would give. Ctrl-C stops the work and keeps what is done.

        Parameters
        ----------
        people
            A table, or a list of what ``explain`` takes.
        where, min_score, min_density, relax, actions, max_changes, weights, avoid
            As for ``explain``, for everyone.
        on_error
            ``"raise"``, or ``"record"`` to go on without those who cannot be answered, because
            their record cannot be read or the model fails on it: see ``Recourses.errors``.
        progress
            Whether to show a bar with people done and found, the rate, and the time left.
        """
        check_max_changes(max_changes)
        check_on_error(on_error)
        engine, record = (
            self._engine.at(min_score=min_score, min_density=min_density),
            on_error == "record",
        )
        where, dear = avoiding(self.schema, where, avoid), checked_weights(self.schema, weights)
        written = requests_or_errors if record else requests_of
        asked = written(
            engine, people, where, relax=relax, weights=dear
        )  # every one, before the first search
        plan = replace(engine.plan, actions=actions, max_changes=max_changes)
        return explained(engine, plan, asked, progress=progress, record=record)

    def robustness(
        self,
        recourse: Recourse,
        *,
        models: Any = None,
        n: int = 200,
        seed: int = 0,
        min_score: float | None = None,
    ) -> Robustness:
        """Tell how well an answer stands up to being followed inexactly, and to retrained models.

        Each changed feature lands within one ``resolution`` of where it should (without one:
        within 1 % of an ordinary difference), uniformly, ``n`` times; whole numbers stay whole,
        and what has nothing between its values is met exactly.

        Parameters
        ----------
        recourse
            An answer of this explainer.
        models
            Other models, a list or a dict by name: each is read as ``model`` was, for the same
            target and the same ``min_score``.
        n, seed
            How many draws, and what they are drawn from.
        min_score
            The score that the answer was asked for, where that is not the explainer's own.
        """
        engine = self._engine.at(min_score=min_score)
        others = read_models(engine, models, target=self._wanted, form=engine.form)
        return robustness_of(engine, recourse, models=others, n=n, seed=seed)

    def check(
        self,
        person: Any,
        wish: Any,
        *,
        where: Mapping[str, Any] | None = None,
        min_score: float | None = None,
        min_density: float | None = None,
    ) -> Check:
        """Say whether a wished state can be reached, what refuses it, and the least that would open it.

        ``wish`` names some features with the values they should have, as in ``{"debt": 4000}``;
        the others stay as they are. A whole record will do as well. ``where``, ``min_score`` and
        ``min_density`` are as for ``explain``.
        """
        engine, record = (
            self._engine.at(min_score=min_score, min_density=min_density),
            read_person(person, self.schema),
        )
        form, goal = person_form(person, engine.form), wish_of(wish, record, self.schema)
        return check(engine, engine.plan, engine.request(record, form, where, goal=goal))

    def audit(
        self,
        factuals: Any,
        counterfactuals: Any,
        *,
        where: Mapping[str, Any] | None = None,
        progress: bool = True,
    ) -> Audit:
        """Tell what counterfactuals from elsewhere are worth: valid, allowed, on common ground, within reach.

        Parameters
        ----------
        factuals
            The people, as for ``explain_many``.
        counterfactuals
            What is proposed to each of them, in the same order: a table or a list; a row of NaN,
            or None in a list, where nothing is.
        where
            What these people may change, as for ``explain``.
        progress
            Whether to show a bar while ways are looked for.
        """
        return audited(
            self._engine,
            self.density,
            (factuals, counterfactuals),
            where=where,
            form=self._engine.form,
            plan=self._engine.plan,
            watch=lambda found, total: shown(found, total, progress=progress),
        )

    def serve(
        self,
        *,
        port: int = 0,
        title: str = "Recourse",
        people: Any = True,
        block: bool = False,
    ) -> Any:
        """Open the page on this explainer, on this machine only (needs the extra ``web``).

        Parameters
        ----------
        port
            Where; 0 takes any that is free.
        title
            What the page is called.
        people
            Whether the explainer's rows are listed to be picked, or a table of others to list.
        block
            Serve until Ctrl-C. Without, a handle comes back at once: ``.url`` says where to look,
            ``.stop()`` ends it, and it may be used in a ``with`` block.
        """
        try:
            serving = import_module("localface.apps.web.serving")
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in (
                "fastapi",
                "uvicorn",
                "pydantic",
                "starlette",
            ):
                raise
            raise ModuleNotFoundError(
                f'serve() needs {error.name}, which is not installed; run: pip install "localface[web]"',
                name=error.name,
            ) from error
        running = serving.served(self, port=port, title=title, people=people)
        return running.run() if block else running.start()

    def prescore(self) -> LocalFACE:
        """Score the whole table once, where that is allowed, so that later answers need few model calls."""
        self._engine.driver.prescore()
        plan = self._engine.plan
        if (
            self._engine.source.exact
        ):  # whoever has all rows at hand can count them for everyone who asks
            self._engine = replace(
                self._engine,
                plan=replace(plan, walk_options=replace(plan.walk_options, patience=0)),
            )
        return self
