"""The demonstration: its forest comes with the package, and is the one that would be grown."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sklearn
from scipy import stats
from sklearn.metrics import roc_auc_score

from localface.apps import kept
from localface.apps.web.demos import make_demo_service
from localface.cases.readiness import demonstration, generated
from localface.cases.readiness.demonstration import grow_forest, make_demonstration
from localface.cases.readiness.samples import Samples, split_samples
from localface.cases.readiness.training import fit_on_split

pytestmark = pytest.mark.slow


def test_the_forest_of_the_package_is_the_one_that_would_be_grown():
    shown = make_demonstration()
    scores = shown.model.predict_proba(shown.test)[:, 1]
    grown = grow_forest().predict_proba(shown.test)[:, 1]
    if shown.model.made_with == sklearn.__version__:
        assert np.array_equal(scores, grown), f"run python -m {demonstration.__name__}"
    quality = [roc_auc_score(shown.test_ready, one) for one in (scores, grown)]
    assert quality[0] == pytest.approx(quality[1], abs=0.01)
    assert np.abs(scores - grown).mean() < 0.03


def test_it_shows_the_first_split_of_the_case_study():
    samples = Samples.of_cohort(generated.synthetic(seed=0))
    fitted = fit_on_split(samples, split_samples(samples))
    shown = make_demonstration()
    assert shown.train.equals(fitted.train)
    assert shown.test.equals(fitted.test)
    assert np.array_equal(shown.test_ready, fitted.ready)
    assert np.array_equal(shown.train_ready, samples.ready[fitted.split.train])


@pytest.mark.parametrize(
    ("part", "distribution"),
    [
        (
            {"kind": "normal", "mean": 24.0, "sd": 4.0, "range": [10.0, 30.0]},
            stats.truncnorm(-3.5, 1.5, loc=24, scale=4),
        ),
        (
            {"kind": "lognormal", "mu": 1.0, "sigma": 0.5, "range": [0.0, 1e6]},
            stats.lognorm(0.5, scale=np.exp(1.0)),
        ),
    ],
)
def test_values_follow_the_distribution_that_the_facts_name(part, distribution):
    ranks = np.linspace(0.001, 0.999, 200)
    assert generated._values_at_ranks(part, ranks) == pytest.approx(distribution.ppf(ranks))


def test_saturation_falls_short_of_its_upper_end_by_a_gamma_distribution():
    part = {"kind": "gamma_deficit", "mean": 5.0, "sd": 3.0, "upper": 100.0, "range": [0.0, 100.0]}
    ranks = np.linspace(0.001, 0.999, 200)
    short = stats.gamma((5 / 3) ** 2, scale=9 / 5).ppf(1 - ranks)
    assert generated._values_at_ranks(part, ranks) == pytest.approx(100 - short)


class TestStarting:
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv(kept.FOLDER_VARIABLE, str(tmp_path))
        return tmp_path

    def test_a_second_start_shows_the_same_without_fitting(self, monkeypatch: pytest.MonkeyPatch):
        first = make_demo_service("readiness", workers=0)
        monkeypatch.setattr(demonstration, "read_stored_forest", None)  # nothing is made again
        again = make_demo_service("readiness", workers=0)

        assert again.people is not None
        assert first.people is not None
        assert np.array_equal(again.people.scores, first.people.scores)
        page = {"offset": 0, "limit": 20}
        assert again.people.page(**page) == first.people.page(**page)
        waiting = [one["id"] for one in first.people.page(**page)["people"] if not one["reached"]]
        for id in waiting[:3]:
            ours, theirs = (
                one.explainer.explain(first.people.record(id)) for one in (first, again)
            )
            assert np.array_equal(ours.records, theirs.records)
            assert ours.scores == theirs.scores
            assert ours.actions == theirs.actions

    def test_nobody_is_listed_where_nobody_is_wanted_whatever_was_kept(self):
        assert make_demo_service("readiness", workers=0).people is not None
        assert make_demo_service("readiness", workers=0, people=False).people is None

    def test_neither_start_waits_for_scikit_learn_nor_the_second_for_pandas(self, folder: Path):
        code = (
            "import sys; from localface.apps.web.demos import make_demo_service; "
            "make_demo_service('readiness'); "
            "print(*[one for one in ('pandas', 'sklearn', 'scipy.stats') if one in sys.modules])"
        )
        said = [
            subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True
            ).stdout.split()
            for _ in range(2)
        ]
        assert said == [["pandas"], []]
        assert len(list(folder.iterdir())) == 1
