"""LocalFACE: from a table and a model to a sound recourse."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from localface.analyses.judging_explainer import JudgingExplainer
from localface.analyses.promises.promising import PromisingExplainer
from localface.answers.many import Recourses
from localface.answers.recourse import Recourse
from localface.data.frames import labels_of_rows
from localface.data.schema import Schema
from localface.engine.asking import check_ask, refuse_lasting_without_outcomes
from localface.engine.fitting import fit_engine, warn_of_near_copies
from localface.engine.many import answer_many, plan_requests
from localface.engine.outcomes import read_outcomes
from localface.engine.targeting import score_to_reach
from localface.errors import InputError, needs_extra
from localface.models.agreeing import join_models, share_that_agrees
from localface.options import (
    Ask,
    AskAlternatives,
    AskCheck,
    AskMany,
    Options,
    Search,
    takes_options_of,
)

if TYPE_CHECKING:  # analyses are imported when they are asked for: together they take a while
    from localface.analyses.alternatives import Alternatives
    from localface.analyses.whynot import Check


class LocalFACE(PromisingExplainer, JudgingExplainer):
    """Finds what would have to change, in which order and by how much.

    Every path leads through states that people are really in.

    Parameters
    ----------
    model
        A fitted estimator (``predict_proba``, ``decision_function`` or ``predict``), or a
        function from a table like ``data`` to scores; a list of them, of which the first and a
        share of the others (``agree``) must agree. It is only ever called, or read directly where
        that gives the same (``model_reading``).
    data
        The people to learn from: a pandas or polars frame, a pyarrow table, a NumPy array, or,
        for more than fit into memory, a ``Store`` (``localface.sources.store.write_store``).
    schema
        What the columns are and how far a person may move; guessed from ``data`` if not given.
    groups
        Whose each row is, where people have several: one label a row, or the name of a column of
        ``data``, which then is no feature unless the schema names it. A person's own rows say
        nothing about how common their states are.
    each_row
        What one row is where it is no person: ``"house"``, ``"patient"``, or ``("mouse", "mice")``.
        Answers speak of people otherwise.
    y
        What became of each row of ``data``: what the model was fitted on. With it, the model (an
        estimator in the manner of scikit-learn) is fitted again some times when the first answer
        is given, and answers tell how likely a retrained model agrees with them.
    n_refits
        How often it is fitted again: more tells more exactly, and takes longer.
    others
        Other models that should agree, such as ``localface.refits`` makes: a list.
    agree
        The share of the others that has to agree with the model itself for the target to be
        reached: 0.9 if not given, and 1 where ``model`` is a list.
    target
        The class to reach (1 if not given, of two), or ``"other"`` for any but the one that a
        person is in; for a regressor ``"at least"`` or ``"at most"``. ``(low, high)`` is a range
        of the score or value, None where it is open.
    min_score
        The score to reach, 0.5 if not given; a regressor needs one, and a range has its own.
    lasting
        How likely a retrained model is to agree with an answer, as in 0.9: more is asked for where
        it takes more, and where nothing is so lasting, the answer is no. It needs ``y``; a call
        may say otherwise.
    min_density
        How rare a state on the way may be: 0.05 means that none is rarer than the states of
        the rarest 5 % of people.
    max_rows
        How many people one answer may reveal; ``None`` for no limit.
    density
        ``"kde"``, ``"isotropic"`` (one round kernel, as in the paper), ``"knn"``, a function from
        records to densities, or an estimator with ``score_samples``.
    evidence
        People over time (``localface.analyses.observed_moves.Trajectories``, or a dict with a
        ``table`` and the names of its columns): each action then says how many of them really did
        the like, and how they fared.
    device
        ``"cuda"`` to look at all rows on a GPU, for populations: it needs CuPy (the extra
        ``gpu``). However many rows there are, neighbours are exact and densities
        learnt from all of them; ``"cpu"`` gives the same answers on the processor, slowly.
        ``None`` takes a sample of very large tables.
    search
        How paths are looked for, for researchers: see ``Search``.

    Examples
    --------
    >>> from localface.cases.moons import two_moons
    >>> moons = two_moons(seed=0)
    >>> explainer = LocalFACE(moons.model, moons.data, search=Search(n_neighbors=15))
    >>> explainer.explain(moons.person).found
    True
    """

    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        schema: Schema | None = None,
        groups: Any = None,
        each_row: Any = None,
        y: Any = None,
        n_refits: int = 20,
        others: Any = None,
        agree: float | None = None,
        target: object = None,
        min_score: float | None = None,
        lasting: float | None = None,
        min_density: float = 0.05,
        max_rows: int | None = None,
        density: Any = "kde",
        evidence: Any = None,
        device: str | None = None,
        search: Search | None = None,
    ) -> None:
        agreeing = share_that_agrees(model, others, agree)
        model = join_models(model, others)
        self.options = Options.with_search(
            search,
            agree=agreeing,
            lasting=lasting,
            min_score=score_to_reach(model, target, min_score),
            min_density=min_density,
            max_rows=max_rows,
            density=density,
        )
        self._engine = fit_engine(
            model,
            data,
            schema=schema,
            target=target,
            options=self.options,
            groups=groups,
            each_row=each_row,
            device=device,
        )
        outcomes = read_outcomes(model, data, y, groups=groups, n_refits=n_refits)
        self._engine = replace(self._engine, outcomes=outcomes)
        if lasting is not None:
            refuse_lasting_without_outcomes(self._engine, lasting)
        self.target = self._engine.target
        warn_of_near_copies(self._engine.density, stacklevel=2)
        if evidence is not None:
            from localface.analyses.observed_moves import MoveCounter, read_trajectories

            move_counter = MoveCounter.of(
                read_trajectories(evidence), self.schema, self._engine.space.scales.tolist()
            )
            self._engine = replace(self._engine, finish=move_counter.attach_evidence)

    @takes_options_of(Ask)
    def explain(self, person: Any, ask: Ask) -> Recourse:
        """Find recourse for one person.

        Parameters
        ----------
        person
            A dict, a pandas Series, a 1-D array or a one-row frame.
        {options}
        """
        from localface.analyses.completing import complete_answers

        asked = check_ask(self._engine, ask).for_person(person)
        request = asked.make_request(person)
        if ask.min_robustness is not None:
            from localface.analyses.robustness import explain_robustly

            return explain_robustly(asked.engine, request, asked.plan, float(ask.min_robustness))
        ((_, answer),) = asked.engine.answer([request], asked.plan)
        return complete_answers(asked.engine, asked.plan, [(request, answer)])[0]

    @takes_options_of(AskAlternatives)
    def alternatives(self, person: Any, ask: AskAlternatives) -> Alternatives:
        """Find several recourses for one person that differ in the features they change.

        With ``differ="values"`` they differ in where they end, also by the same features.

        Parameters
        ----------
        person
            As for ``explain``.
        {options}
        """
        from localface.analyses.alternatives import (
            find_alternatives,
            find_alternatives_by_values,
        )

        if self.options.strategy != "guided":
            raise InputError(
                f"strategy={self.options.strategy!r} works out no actions, and alternatives differ "
                "by what the actions change: use strategy='guided'",
                option="strategy",
            )
        asked = check_ask(self._engine, ask).for_person(person)
        find = find_alternatives if ask.differ == "features" else find_alternatives_by_values
        return find(asked.engine, asked.make_request(person), asked.plan, int(ask.n))

    @takes_options_of(AskMany)
    def explain_many(self, people: Any, ask: AskMany) -> Recourses:
        """Find recourse for many people at once, in the order they came.

        The searches advance together: each round is one neighbour query, one model call
        and one density evaluation for all of them. Every answer is the one ``explain``
        would give. Ctrl-C stops the work and keeps what is done.

        Parameters
        ----------
        people
            A table, or a list of what ``explain`` takes.
        {options}
        """
        from localface.analyses.completing import complete_answers

        planned = plan_requests(self._engine, ask, people)  # every one, before the first search
        if self._engine.outcomes is not None and ask.n_jobs != 1:
            from localface.analyses.lasting import learn_before_sharing

            learn_before_sharing(planned)
        return answer_many(
            planned,
            add_reasons=complete_answers,
            progress=ask.progress,
            keep_errors=ask.on_error == "record",
            n_jobs=ask.n_jobs,
            labels=labels_of_rows(people),
        )

    @takes_options_of(AskCheck)
    def check(self, person: Any, ask: AskCheck) -> Check:
        """Say whether a wished state can be reached, what refuses it, and what would open it.

        Parameters
        ----------
        person
            As for ``explain``.
        {options}
        """
        from localface.analyses.whynot import check_wish, read_wish

        asked = check_ask(self._engine, ask).for_person(person)
        request = asked.make_request(person)
        goal = read_wish(ask.wish, request.record, self.schema)
        return check_wish(asked.engine, asked.plan, replace(request, goal=goal))

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
        with needs_extra("web", "serve()"):
            from localface.apps.web import serving
        running = serving.make_serving(self, port=port, title=title, people=people)
        return running.run() if block else running.start()
