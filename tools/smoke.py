"""Use an installed localface once, as somebody would who has just installed it.

    python tools/smoke.py core        python tools/smoke.py plots

Writes into the folder that it is called in. It imports nothing but localface before the feature
that it tries, so that a missing extra is told by localface itself.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np

import localface
from localface import LocalFACE, Recourse, Schema
from localface.apps import files
from localface.cases.moons import two_moons
from localface.errors import ModelError

COMMAND = str(Path(sys.executable).with_name("localface"))


def moons_explainer() -> tuple[LocalFACE, Any]:
    """An explainer that needs no extra, and somebody to ask it about."""
    moons = two_moons(400, noise=0.2)
    return LocalFACE(moons.model, moons.data), moons.person


def core() -> None:
    """A plan, its text, its page, a file and back; the command line; no sources of ours."""
    explainer, person = moons_explainer()
    answer = explainer.explain(person).require()
    assert "score" in str(answer)
    assert "<table" in answer._repr_html_()
    assert Recourse.from_json(answer.to_json()) == answer
    assert len(explainer.explain_many(np.array([person, person]), progress=False)) == 2
    schema = Schema.infer(two_moons(50).data)
    schema.save("schema.toml")
    assert Schema.load("schema.toml") == schema
    assert "site-packages" in localface.__file__, localface.__file__

    told = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert localface.__version__ in told.stdout, told.stdout
    print(told.stdout.strip())
    subprocess.run([COMMAND, "demo", "--out", "demo"], check=True, stdout=subprocess.DEVNULL)


def plots() -> None:
    """A picture of an answer."""
    explainer, person = moons_explainer()
    figure = explainer.explain(person).plot()
    files.write_figure(figure, Path("answer.png"))
    assert Path("answer.png").stat().st_size > 5_000


def models() -> None:
    """A model from a file."""
    Path("model.skops").touch()
    with suppress(ModelError):  # an empty file, but the extra is asked for first
        files.read_model("model.skops")
    import skops.io
    from sklearn.linear_model import LogisticRegression

    moons = two_moons(400)
    skops.io.dump(LogisticRegression().fit(moons.data, moons.labels), "model.skops")
    model = files.read_model("model.skops")
    assert LocalFACE(model, moons.data).explain(moons.person).found


def frames() -> None:
    """Tables from files, and of each kind."""
    Path("rows.csv").write_text("a,b\n1,2\n3,4\n", encoding="utf-8")
    files.read_table("rows.csv")
    import pandas
    import polars

    moons = two_moons(300)
    for frame in (pandas.DataFrame, polars.DataFrame):
        table = frame(dict(zip(("x", "y"), moons.data.T, strict=True)))
        answer = LocalFACE(lambda some: np.asarray(moons.model(some.to_numpy())), table).explain(
            dict(zip(("x", "y"), moons.person, strict=True))
        )
        assert isinstance(answer.path, frame)
    table.to_pandas().to_parquet("rows.parquet")
    assert len(files.read_table("rows.parquet")) == 300


def web() -> None:
    """The page, served on this machine."""
    explainer, _ = moons_explainer()
    with explainer.serve() as running:
        address = running.url.partition("?")[0].rstrip("/")
        with urlopen(f"{address}/health", timeout=30) as reply:
            assert json.load(reply)["status"] == "ok"


def notebook() -> None:
    """The widget."""
    from localface.apps.web.widget import RecourseWidget

    explainer, person = moons_explainer()
    answer = explainer.explain(person)
    assert RecourseWidget.of(answer).view
    bundle = answer._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert "application/vnd.jupyter.widget-view+json" in data


def case() -> None:
    """The case study on a generated cohort."""
    command = [COMMAND, "case", "readiness", "--splits", "1", "--people", "5", "--out", "study"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert Path("study/readiness.html").is_file()


def cluster() -> None:
    """People in files, worked off by Ray."""
    import pandas

    from localface.apps.batch.ray import explain_parquet

    moons = two_moons(300)
    Path("people").mkdir(exist_ok=True)
    pandas.DataFrame(moons.data[:20], columns=["x0", "x1"]).to_parquet("people/a.parquet")
    report = explain_parquet(
        LocalFACE(moons.model, moons.data), "people", "answers", address="local", workers=1
    )
    assert report.people == 20


def demo() -> None:
    """The page on generated patients, from the command line."""
    with subprocess.Popen(
        [COMMAND, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True
    ) as serving:
        assert serving.stdout is not None
        line = serving.stdout.readline()
        serving.terminate()
    assert " at http://" in line, line


def peers() -> None:
    """Another method beside ours."""
    from localface.evaluation.baselines import Task
    from localface.evaluation.baselines.peers import PEERS

    moons = two_moons(300)
    task = Task.of(moons.model, moons.data)
    for name in ("dice-random", "mlxtend"):
        proposal = PEERS[name](task).explain(moons.person)
        print(name, proposal)
        assert proposal.found or "search ended" in proposal.reason  # a method may fail, with a word


TRIED: dict[str, Callable[[], None]] = {
    one.__name__: one
    for one in (core, plots, models, frames, web, notebook, case, cluster, demo, peers)
}

if __name__ == "__main__":
    TRIED[sys.argv[1]]()
