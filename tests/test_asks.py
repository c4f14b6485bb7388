"""What users of other packages ask for again and again, each in at most three lines."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.multioutput import MultiOutputClassifier

from localface import LocalFACE, Schema
from localface.errors import ConstraintError, DataError, InputError, ModelError

RNG = np.random.default_rng(0)
N = 600
MEANS = RNG.normal(size=N)
DATA = pd.DataFrame(
    {
        "income": (2500 + 900 * MEANS + RNG.normal(0, 300, N)).round(-1),
        "debt": (9000 - 2500 * MEANS + RNG.normal(0, 1500, N)).clip(0).round(-2),
        "savings": (4000 + 2000 * MEANS + RNG.normal(0, 900, N)).clip(0).round(-2),
        "home": np.where(MEANS + RNG.normal(0, 1, N) > 0, "owns", "rents"),
    }
)
NUMBERS = DATA[["income", "debt", "savings"]]
SCORE = NUMBERS["income"] / 900 - NUMBERS["debt"] / 3000 + NUMBERS["savings"] / 2000
GOOD = (SCORE.median() < SCORE).to_numpy()
MODEL = LogisticRegression(max_iter=2000).fit((NUMBERS - NUMBERS.mean()) / NUMBERS.std(), GOOD)


def repays(frame: Any) -> Any:
    numbers = (frame[list(NUMBERS)] - NUMBERS.mean()) / NUMBERS.std()
    return MODEL.predict_proba(numbers)[:, 1]


REFUSED = DATA[(repays(DATA) < 0.4) & (repays(DATA) > 0.05)]
PERSON = REFUSED.iloc[0].to_dict()


@pytest.fixture(scope="module")
def explainer() -> LocalFACE:
    return LocalFACE(repays, DATA)


def test_an_unseen_category_is_a_clear_error(explainer: LocalFACE) -> None:
    with pytest.raises(
        DataError, match=r"'home' has the unseen category 'rent' \(did you mean 'rents'"
    ):
        explainer.explain({**PERSON, "home": "rent"})


@pytest.mark.parametrize("option", ["avoid", "fixed"])
def test_all_that_may_change_cannot_be_kept_as_well(explainer: LocalFACE, option: str) -> None:
    asked: dict[str, Any] = {"only": ["debt"], option: ["savings", "debt"]}
    with pytest.raises(
        ConstraintError, match=f"only= lets nothing but 'debt' change, and {option}= keeps it"
    ) as caught:
        explainer.explain(PERSON, **asked)
    assert (caught.value.feature, caught.value.option) == ("debt", option)
    assert explainer.explain(PERSON, only=["income", "debt"], **{option: ["income"]}).status


def test_each_person_of_a_batch_has_ranges_of_their_own(explainer: LocalFACE) -> None:
    ranges = [{"income": (None, income + 800)} for income in REFUSED["income"][:4]]
    answers = explainer.explain_many(REFUSED[:4], where=ranges, progress=False)

    assert (answers.ends["income"] <= REFUSED["income"][:4] + 800).all()


def test_at_most_so_many_features_change(explainer: LocalFACE) -> None:
    answer = explainer.explain(PERSON, max_features=2)

    assert answer.found
    assert len({name for action in answer.actions for name in action.changes}) <= 2


def test_a_cost_of_ones_own_decides_what_changes(explainer: LocalFACE) -> None:
    dear = explainer.explain(PERSON, weights={"income": 100.0})

    assert "income" not in {name for action in dear.actions for name in action.changes}


def test_as_far_as_possible(explainer: LocalFACE) -> None:
    answer = explainer.explain(PERSON, where={"income": 100}, only=["income"], best_effort=True)

    assert answer.target.min_score > answer.scores[0]


def test_no_longer_than_so_many_seconds(explainer: LocalFACE) -> None:
    began = time.perf_counter()
    explainer.explain(PERSON, max_seconds=0.05)

    assert time.perf_counter() - began < 5


def test_a_value_within_a_range() -> None:
    model = LinearRegression().fit(NUMBERS, SCORE)
    answer = LocalFACE(model, NUMBERS, target=(1.5, 2.0)).explain(NUMBERS.loc[REFUSED.index[0]])

    assert 1.5 <= model.predict(answer.end.to_frame().T)[0] <= 2.0


def test_the_opposite_class() -> None:
    model = LogisticRegression(max_iter=5000).fit(NUMBERS, np.where(GOOD, "good", "bad"))
    people = NUMBERS[:6]
    answers = LocalFACE(model, NUMBERS, target="other").explain_many(people, progress=False)

    served = np.array(answers.found)
    assert served.any()
    assert (model.predict(answers.ends) != model.predict(people))[served].all()


def test_one_of_several_outputs_is_a_function_and_all_of_them_are_a_list() -> None:
    several = MultiOutputClassifier(LogisticRegression(max_iter=5000)).fit(
        NUMBERS, np.column_stack([GOOD, NUMBERS["savings"] > 4000])
    )
    with pytest.raises(ModelError, match="has 2 outputs"):
        LocalFACE(several, NUMBERS)
    both = [lambda rows, k=k: several.predict_proba(rows)[k][:, 1] for k in (0, 1)]
    answer = LocalFACE(both, NUMBERS).explain(NUMBERS.loc[REFUSED.index[0]])

    assert several.predict(answer.end.to_frame().T)[0].all()


def test_sixty_of_seventy_five_features_are_fixed() -> None:
    hidden = RNG.normal(size=(400, 1))
    wide = pd.DataFrame(hidden + RNG.normal(size=(400, 75)), columns=[f"x{j}" for j in range(75)])
    model = LogisticRegression(max_iter=2000).fit(wide, wide.iloc[:, 60:].sum(axis=1) > 0)
    scores = model.predict_proba(wide)[:, 1]
    person = wide[(scores < 0.5) & (scores > 0.1)].iloc[0]
    answer = LocalFACE(model, wide, target=True).explain(person, fixed=list(wide)[:60])

    assert answer.found
    assert (answer.end[:60] == person[:60]).all()
    assert (answer.path.iloc[:, :60] == person[:60]).all(axis=None)


@pytest.mark.parametrize("n", [4, 8, 20])
def test_many_options_that_differ_in_values(explainer: LocalFACE, n: int) -> None:
    options = explainer.alternatives(PERSON, n=n, differ="values")

    ends = {tuple(one.end.items()) for one in options}
    assert len(options) == len(ends) == n
    assert n == 4 or len(set(options.changed)) < n  # the same features to other values
    assert (repays(pd.DataFrame([one.end for one in options])) >= 0.5).all()


def test_which_features_change_most_often_over_a_population(explainer: LocalFACE) -> None:
    counts = explainer.explain_many(REFUSED[:20], progress=False).summary()

    assert counts["people"].iloc[0] == counts["people"].max() > 0
    assert set(counts["feature"]) <= set(DATA)
    assert (counts["people"] > 0).all()


def test_only_these_two_vary(explainer: LocalFACE) -> None:
    answers = explainer.explain_many(REFUSED[:5], only=["debt", "savings"], progress=False)

    assert (answers.ends[["income", "home"]] == REFUSED[["income", "home"]][:5]).all(axis=None)


def test_a_bare_torch_module_is_told_how_to_be_passed() -> None:
    module = type("Module", (), {"__module__": "torch.nn.modules.module", "__call__": print})

    with pytest.raises(ModelError, match="bare torch module"):
        LocalFACE(type("Net", (module,), {})(), NUMBERS)


@pytest.fixture(scope="module")
def as_it_comes() -> pd.DataFrame:
    """The same people with gaps, codes, integer categories, one-hot columns, dates and a total."""
    rng = np.random.default_rng(1)
    table = DATA.assign(
        savings=DATA["savings"].mask(rng.random(N) < 0.2),
        late_days=np.where(rng.random(N) < 0.1, -9, rng.integers(0, 60, N)),
        purpose=rng.choice([3, 17, 20, 41], N),
        opened=pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 3000, N), "D"),
        status=rng.choice(["single", "married", "divorced"], N),
    )
    table["wealth"] = table["income"] + table["debt"]
    return pd.get_dummies(table, columns=["home"], dtype=int)


def repays_as_it_comes(frame: Any) -> Any:
    return repays(frame.fillna({"savings": 4000}))


def refused_of(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.loc[REFUSED.index].head(8)


def test_what_is_missing_codes_dates_and_own_one_hot_columns_as_they_come(
    as_it_comes: pd.DataFrame,
) -> None:
    people = refused_of(as_it_comes)
    answers = LocalFACE(repays_as_it_comes, as_it_comes).explain_many(people, progress=False)

    ends = answers.ends
    assert sum(answers.found) > 0
    assert (ends["savings"].isna() == people["savings"].isna()).all()
    assert ((ends["late_days"] == -9) == (people["late_days"] == -9)).all()
    assert (ends.filter(like="home_").sum(axis=1) == 1).all()
    assert (ends["opened"] == people["opened"]).all()


def test_integer_categories_sums_and_values_that_occur_together(as_it_comes: pd.DataFrame) -> None:
    purposes = [3, 17, 20, 41]
    schema = Schema.infer(as_it_comes).relate("wealth", "=", {"income": 1, "debt": 1})
    schema = schema.with_("purpose", kind="categorical", categories=purposes)
    schema = schema.relate(lambda one: one["income"] < 5000, name="no fortune")
    explainer = LocalFACE(
        repays_as_it_comes, as_it_comes[as_it_comes["income"] < 5000], schema=schema
    )

    ends = explainer.explain_many(refused_of(as_it_comes), progress=False).ends
    assert set(ends["purpose"]) <= set(purposes)
    assert (ends["wealth"] == ends["income"] + ends["debt"]).all()
    assert (ends["income"] < 5000).all()


def test_a_transition_that_is_forbidden(as_it_comes: pd.DataFrame) -> None:
    schema = Schema.infer(as_it_comes).with_(
        "status", moves="freely", never_from={"divorced": ["single"], "married": ["single"]}
    )
    explainer = LocalFACE(
        lambda frame: (frame["status"] == "single").to_numpy() * 0.9, as_it_comes, schema=schema
    )
    divorced = as_it_comes[as_it_comes["status"] == "divorced"].iloc[0]

    assert not explainer.explain(divorced).found


def test_a_cost_function_is_refused_and_the_weights_are_named(explainer: LocalFACE) -> None:
    with pytest.raises(InputError, match="weights"):
        explainer.explain(PERSON, weights=lambda before, after: 1.0)
