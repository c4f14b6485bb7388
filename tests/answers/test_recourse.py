"""An answer as its user meets it: printed, in a notebook, as JSON, as a picture."""

from __future__ import annotations

import json
import re
import sys

import pandas as pd
import pytest
from handmade import ICU, PATIENTS, Tags, answer

from localface.answers.recourse import Recourse
from localface.data.table_format import TableFormat, person_format
from localface.errors import install_command


def test_a_relaxed_floor_stands_on_top_of_every_rendering() -> None:
    one = answer(relaxed_to=0.012)
    sentence = "relaxed: the floor was lowered from 5 % to 1.2 %"

    assert str(one).startswith(sentence)
    assert "".join(Tags(one._repr_html_()).words).split("</style>")[-1].find(sentence) >= 0
    assert one._repr_html_().index(sentence) < one._repr_html_().index("<table>")
    assert "relaxed to 1.2 %" in repr(one)
    assert json.loads(one.to_json())["relaxed_to"] == 0.012
    assert one.to_frame().attrs["localface"]["relaxed_to"] == 0.012
    assert one.to_frame()["relaxed_to"].tolist() == [0.012] * 4
    assert "as common as 1.2 % of people's" in str(one)
    assert "relaxed" not in str(answer()) + answer()._repr_html_()


def test_one_person_comes_back_as_they_came_even_after_json() -> None:
    person = {"airway": "ventilated", "gcs_min": 9, "fio2": 0.55, "spo2_min": 91}
    one = answer(form=person_format(person, TableFormat.of(pd.DataFrame(PATIENTS), ICU)))

    again = Recourse.from_json(one.to_json())

    assert one.counterfactual == {"airway": "patent", "gcs_min": 14, "fio2": 0.35, "spo2_min": 95}
    assert again.counterfactual == one.counterfactual
    assert again.path.equals(one.path)


def test_meta_is_what_alibi_users_look_for() -> None:
    meta = answer().meta

    assert meta["name"] == "LocalFACE"
    assert meta["explanations"] == ["local"]
    assert meta["params"]["n_neighbors"] == 50


def test_a_plot_without_matplotlib_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("localface.apps.plots")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("localface.apps.plots", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)

    with pytest.raises(ModuleNotFoundError, match=re.escape(install_command("plots"))):
        answer().plot()


def test_a_plot_is_drawn_by_the_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    from localface.apps import plots

    monkeypatch.setattr(plots, "plot_recourse", lambda subject, **options: (subject, options))
    one = answer()

    assert one.plot(dark=True) == (one, {"dark": True})


def test_an_answer_shows_as_text_and_as_html_that_needs_nothing_else() -> None:
    one = answer()

    shown = one._repr_mimebundle_()

    assert set(shown) == {"text/plain", "text/html"}
    assert shown["text/plain"] == str(one)
    assert one._repr_html_() in shown["text/html"], "for where scripts do not run"
