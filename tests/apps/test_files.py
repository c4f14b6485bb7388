"""Files: tables, persons, schemas, models and answers come in and go out, or it is said why not."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from localface import Ask, LocalFACE, Recourse, Recourses, Schema, Search
from localface.apps import files
from localface.errors import DataError, InputError, ModelError, SchemaError, install_command
from localface.models.load import _is_trusted
from localface.models.onnx import OnnxClassifier, OnnxGraph
from onnxfile import write_classifier, write_labeller, write_regressor

PEOPLE = pd.DataFrame(
    {"age": [63, 41, 58], "fio2": [0.1 + 0.2, 0.21, 0.4], "unit": ["a", "b", "a"]}
)
PLANE = pd.DataFrame(np.random.default_rng(0).normal(size=(120, 2)), columns=["east", "north"])
IS_EAST = (PLANE["east"] > 0.3).astype(int)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def hide(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    for name in names:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_text_that_is_all_dates_is_read_as_dates(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = [f"2020-01-{i:02}" for i in range(1, 31)]
    table = pd.DataFrame(
        {
            "day": [*days[:-1], None],
            "seen": [f"{one} 07:30:00" for one in days],
            "when": [f"{one[8:]}.01.2020" for one in days],
            "mixed": ["soon", *days[1:]],
            "k": range(30),
        }
    )
    table.to_csv("rows.csv", index=False)
    monkeypatch.setattr(files.tables, "_choose_table_library", lambda *_: sys.modules[library])

    frame = files.read_table("rows.csv")
    schema = Schema.infer(frame[["day", "seen", "k"]])

    assert [one.since for one in schema] == ["2020-01-01", "2020-01-01", None]
    assert [one.kind for one in schema] == ["integer", "numeric", "integer"]
    with pytest.raises(SchemaError, match="dates as text"):
        Schema.infer(frame[["when"]])  # a day or a month first: nobody knows
    assert isinstance(frame["mixed"][1], str)


class TestOneOfSeveral:
    """One person, out of a file of several."""

    CLIENTS = PEOPLE.assign(client=["C17", "C18", "C18"], number=[4711.0, 12.0, 13.5])

    @pytest.mark.parametrize("suffix", files.TABLE_SUFFIXES)
    def test_a_row_of_a_table_is_a_person(self, suffix: str) -> None:
        path = Path(f"people{suffix}")
        if suffix.startswith(".csv"):
            self.CLIENTS.to_csv(path, index=False)
        elif suffix == ".parquet":
            self.CLIENTS.to_parquet(path)
        else:
            self.CLIENTS.to_json(path, orient="records")
        for row in ("1", "number=12", "number=12.0"):
            assert files.read_person(path, row)["age"].tolist() == [41]
        with pytest.raises(
            DataError, match=r"people.* (3 rows|3 people): say which one with --row"
        ):
            files.read_person(path)

    def test_a_table_of_one_row_needs_no_number(self) -> None:
        self.CLIENTS[:1].to_csv("person.csv", index=False)
        assert files.read_person("person.csv")["age"].tolist() == [63]

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            ("clint=C17", r"no column 'clint' \(did you mean 'client'\?\): there are 'age', "),
            ("client=c17", r"--row client=c17: no row has it \(did you mean 'C17'\?\)$"),
            ("client=C18", r"--row client=C18: 2 rows have it \(1, 2\): name one of them"),
            ("C17", r"--row C17 names no row \(did you mean --row client=C17\?\): say which"),
            ("Ada", r"--row Ada names no row: say which one with --row: its number, counted f"),
        ],
    )
    def test_a_row_that_is_none_is_refused_with_what_is_meant(self, row: str, message: str) -> None:
        with pytest.raises(DataError, match=message):
            files.find_row(self.CLIENTS, row)

    def test_a_column_may_have_a_sign_of_its_own(self) -> None:
        table = self.CLIENTS.rename(columns={"client": "client=no"})
        assert files.find_row(table, "client=no=C17") == 0

    def test_the_standard_input_is_one_person(self) -> None:
        with pytest.raises(DataError, match="the standard input is one person"):
            files.read_person("-", "1")


class TestTables:
    @pytest.mark.parametrize("suffix", files.TABLE_SUFFIXES)
    @pytest.mark.parametrize("library", ["pandas", "polars"])
    def test_every_kind_is_read_to_the_last_digit(
        self, suffix: str, library: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = Path(f"rows{suffix}")
        if suffix.startswith(".csv"):
            PEOPLE.to_csv(path, index=False)
        elif suffix == ".parquet":
            PEOPLE.to_parquet(path)
        else:
            text = json.dumps(PEOPLE.to_dict("records")).encode()
            path.write_bytes(gzip.compress(text) if suffix.endswith(".gz") else text)
        expected = PEOPLE.to_dict("list")
        if library == "polars":
            hide(monkeypatch, "pandas")
        table = files.read_table(path)
        assert type(table).__module__.startswith(library)
        assert {name: list(table[name]) for name in table.columns} == expected

    def test_a_json_object_of_columns_is_a_table_too(self) -> None:
        Path("rows.json").write_text(json.dumps(PEOPLE.to_dict("list")))
        pd.testing.assert_frame_equal(files.read_table("rows.json"), PEOPLE)

    def test_an_index_that_pandas_wrote_is_left_out(self) -> None:
        PEOPLE.to_csv("rows.csv")
        assert list(files.read_table("rows.csv").columns) == ["age", "fio2", "unit"]

    def test_an_index_that_pandas_wrote_is_left_out_by_polars_too(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        PEOPLE.to_csv("rows.csv")
        hide(monkeypatch, "pandas")
        assert files.read_table("rows.csv").columns == ["age", "fio2", "unit"]

    def test_without_pandas_or_polars_the_install_command_is_given(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Path("rows.csv").write_text("a\n1\n")
        hide(monkeypatch, "pandas", "polars")
        command = re.escape(install_command("frames"))
        with pytest.raises(ImportError, match=f"needs pandas or polars.*{command}"):
            files.read_table("rows.csv")

    def test_parquet_without_pyarrow_is_left_to_polars(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pl.DataFrame({"a": [1, 2]}).write_parquet("rows.parquet")
        hide(monkeypatch, "pyarrow", "fastparquet")
        assert isinstance(files.read_table("rows.parquet"), pl.DataFrame)
        hide(monkeypatch, "polars")
        with pytest.raises(ImportError, match="needs pyarrow"):
            files.read_table("rows.parquet")

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("rows.csv", b"", "'rows.csv' cannot be read as csv: No columns"),
            (
                "rows.csv",
                b"a,b\n1,2\n1,2,3,4\n",
                "cannot be read as csv: .*Expected 2 fields in line 3",
            ),
            ("rows.csv", b"a\n\xff\xfe\n", "cannot be read as csv: .*utf-8"),
            ("rows.csv.gz", b"a\n1\n", "cannot be read as csv.gz|Not a gzipped file"),
            ("rows.parquet", b"a\n1\n", "cannot be read as parquet"),
            ("rows.json", b"{", "cannot be read as json"),
            ("rows.json", b"3", "is no table: give a list of rows"),
            ("rows.xlsx", b"", "is no table that can be read: give a file that ends in '.csv'"),
        ],
    )
    def test_what_is_no_table_is_told_in_one_sentence(
        self, name: str, content: bytes, message: str
    ) -> None:
        Path(name).write_bytes(content)
        with pytest.raises((InputError, OSError), match=message) as caught:
            files.read_table(name)
        assert "\n" not in str(caught.value)

    def test_a_missing_file_is_told_with_its_near_miss(self) -> None:
        Path("rows.csv").write_text("a\n1\n")
        with pytest.raises(InputError, match=r"no file 'row.csv' \(did you mean 'rows.csv'\?\)"):
            files.read_table("row.csv")
        with pytest.raises(InputError, match="is a folder"):
            files.read_table(".")
        with pytest.raises(InputError, match=r"no file 'nowhere/rows.csv'"):
            files.read_table("nowhere/rows.csv")


class TestPersons:
    def test_a_person_is_one_object(self) -> None:
        Path("person.json").write_text('{"age": 63, "unit": "a"}')
        assert files.read_person("person.json") == {"age": 63, "unit": "a"}
        Path("person.json").write_text('[{"age": 63}]')
        assert files.read_person("person.json") == {"age": 63}

    def test_a_dash_reads_the_standard_input(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", io.StringIO('{"age": 63}'))
        assert files.read_person("-") == {"age": 63}

    @pytest.mark.parametrize("text", ["", "{", "[1, 2]", "[{}, {}]", "3"])
    def test_anything_else_is_refused(self, text: str) -> None:
        Path("person.json").write_text(text)
        with pytest.raises(DataError, match=r"'person.json' .*such as \{\"age\": 63"):
            files.read_person("person.json")


class TestColumns:
    def test_everything_is_used_where_nobody_says_otherwise(self) -> None:
        chosen = files.choose_columns(PEOPLE, schema=None)
        assert list(chosen.table.columns) == ["age", "fio2", "unit"]
        assert chosen.dropped == ()

    def test_a_schema_says_which_columns_and_in_which_order(self) -> None:
        schema = Schema.infer(PEOPLE[["unit", "age"]])
        chosen = files.choose_columns(PEOPLE, schema=schema)
        assert list(chosen.table.columns) == ["unit", "age"]
        assert chosen.dropped == ("fio2",)

    def test_a_model_that_knows_names_has_the_last_word_and_the_schema_follows(self) -> None:
        table = PLANE.assign(outcome=IS_EAST)[["north", "outcome", "east"]]
        model = LogisticRegression().fit(PLANE, IS_EAST)
        chosen = files.choose_columns(table, schema=Schema.infer(table), model=model)
        assert list(chosen.table.columns) == ["east", "north"]
        assert chosen.schema is not None
        assert chosen.schema.names == ("east", "north")
        assert chosen.dropped == ("outcome",)

    def test_columns_are_dropped_on_request(self) -> None:
        chosen = files.choose_columns(pl.from_pandas(PEOPLE), schema=None, drop=["fio2"])
        assert chosen.table.columns == ["age", "unit"]
        with pytest.raises(DataError, match=r"no column 'fio' to drop \(did you mean 'fio2'\?\)"):
            files.choose_columns(PEOPLE, schema=None, drop=["fio"])

    def test_what_is_lacking_is_named_with_its_near_miss(self) -> None:
        model = LogisticRegression().fit(PLANE, IS_EAST)
        with pytest.raises(
            DataError, match=r"table lacks 'east', which the model needs \(did you mean 'eats'\?\)"
        ):
            files.choose_columns(PLANE.rename(columns={"east": "eats"}), schema=None, model=model)
        with pytest.raises(DataError, match="schema lacks 'north', which the model needs"):
            files.choose_columns(PLANE, schema=Schema.infer(PLANE[["east"]]), model=model)
        with pytest.raises(DataError, match="table lacks 'north', which the schema needs"):
            files.choose_columns(PLANE[["east"]], schema=Schema.infer(PLANE))

    def test_a_model_that_only_counts_its_columns_needs_as_many(self) -> None:
        model = LogisticRegression().fit(PLANE.to_numpy(), IS_EAST)
        with pytest.raises(
            DataError,
            match=r"the model takes 2 columns, it does not say which, and 3 came: .*--drop",
        ):
            files.choose_columns(PLANE.assign(outcome=IS_EAST), schema=None, model=model)

    def test_one_row_is_a_table_of_its_own(self) -> None:
        assert files.take_row(PEOPLE, 1)["age"].tolist() == [41]
        for row in (-1, 3):
            with pytest.raises(
                DataError, match=f"no row {row}: the table has 3 rows, counted from 0"
            ):
                files.take_row(PEOPLE, row)


class TestDocuments:
    def test_a_schema_goes_out_and_comes_back(self) -> None:
        schema = Schema.infer(PEOPLE)
        assert files.read_schema(files.write_schema(schema, "schema.toml")) == schema

    def test_a_schema_is_not_written_over_by_accident(self) -> None:
        Path("schema.toml").write_text("mended by hand")
        with pytest.raises(InputError, match=r"already.*--force"):
            files.write_schema(Schema.infer(PEOPLE), "schema.toml")
        assert Path("schema.toml").read_text() == "mended by hand"
        files.write_schema(Schema.infer(PEOPLE), "schema.toml", overwrite=True)

    def test_a_schema_that_cannot_be_read_is_named(self) -> None:
        Path("schema.toml").write_text("[[features]]\nname = 'age'\nkimd = 'integer'\n")
        with pytest.raises(SchemaError, match=r"'schema.toml': .*'kimd' \(did you mean 'kind'\?\)"):
            files.read_schema("schema.toml")

    def test_an_answer_goes_out_as_json_and_comes_back(self) -> None:
        answer = explained()
        back = files.read_answer(files.write_answer(answer, "answer.json"))
        assert back.to_json() == answer.to_json()

    def test_an_answer_goes_out_as_a_page(self) -> None:
        page = files.write_answer(explained(), "answer.html", figure='a"b.png').read_text()
        assert page.startswith("<!DOCTYPE html>")
        assert "localface-recourse" in page
        assert 'src="a&quot;b.png"' in page

    def test_a_page_says_who_it_is_about_and_shows_the_record_with_its_limits(self) -> None:
        ask = Ask(where={"east": (-0.5, 2)}, avoid=["north"], max_features=1)
        answer = explained(**ask.given_options())
        page = files.write_answer(answer, "p.html", person="C<17>", ask=ask).read_text()
        assert "<title>Recourse for C&lt;17&gt;: found</title>" in page
        assert "<h1>C&lt;17&gt;</h1>" in page
        east = answer.schema["east"].format(answer.changes[0].after)
        rows = page[page.index('<div class="localface-record">') :]
        assert f"east</th><td>-0.5</td><td>{east}</td><td>between -0.5 and 2</td>" in rows
        assert "north</th><td>0</td><td></td><td>never moves</td>" in rows
        assert "max_features=1</p>" in rows
        assert "where=" not in rows

    def test_a_page_without_a_word_on_what_was_asked_has_the_record_all_the_same(self) -> None:
        page = files.write_answer(explained(only=["north"]), "no.html").read_text()
        assert "<title>Recourse: no target</title>" in page
        assert "east</th><td>-0.5</td><td></td><td>may change</td>" in page
        assert "<h1>" not in page

    def test_the_answers_to_many_are_a_page_and_a_document(self) -> None:
        many = Recourses([explained(), explained(only=["north"])], labels=["C17", "C18"])
        page = files.write_answer(many, "many.html").read_text()
        assert "<title>2 recourses: 1 found, 1 no target</title>" in page
        assert '<th scope="row">C18</th>' in page
        text = files.write_answer(many, "many.json").read_text()
        assert Recourses.from_json(text).labels == ("C17", "C18")
        with pytest.raises(InputError, match="figure=, person= and ask= are of one person's page"):
            files.write_answer(many, "many.html", person="C17")

    @pytest.mark.parametrize("other", [PEOPLE, None, {"age": 63}])
    def test_what_is_no_answer_is_not_written(self, other: object) -> None:
        named = type(other).__name__
        with pytest.raises(InputError, match=f"a {named} cannot be written as an answer: give"):
            files.write_answer(other, "answer.html")  # type: ignore[arg-type]
        assert not Path("answer.html").exists()

    def test_nothing_is_written_where_there_is_no_folder(self) -> None:
        with pytest.raises(InputError, match=r"no folder 'nowhere' to write 'answer.html' into"):
            files.write_answer(explained(), "nowhere/answer.html")

    def test_a_figure_in_a_format_that_nobody_knows_is_refused(self) -> None:
        figure = pytest.importorskip("matplotlib.figure").Figure()
        assert files.write_figure(figure, "out.png").stat().st_size > 0
        with pytest.raises(InputError, match=r"'out.pgn': .*use a name such as 'out.png'"):
            files.write_figure(figure, "out.pgn")


def explained(**asked: Any) -> Recourse:
    model = LogisticRegression().fit(PLANE, IS_EAST)
    return LocalFACE(model, PLANE, search=Search(n_neighbors=20)).explain(
        {"east": -0.5, "north": 0.0}, **asked
    )


class _Stranger(LogisticRegression):  # type: ignore[misc]
    """An estimator that lives in no package that is trusted."""


class TestModels:
    def test_skops_files_of_trusted_packages_load_by_themselves(self) -> None:
        model = RandomForestClassifier(5, random_state=0).fit(PLANE, IS_EAST)
        skops.io.dump(model, "model.skops")
        loaded = files.read_model("model.skops")
        np.testing.assert_array_equal(loaded.predict_proba(PLANE), model.predict_proba(PLANE))

    @pytest.mark.parametrize("package", ["xgboost", "lightgbm"])
    def test_boosted_trees_load_by_themselves(self, package: str) -> None:
        library = pytest.importorskip(package, reason=f"{package} is not installed")
        kind = getattr(library, "XGBClassifier", None) or library.LGBMClassifier
        model = kind(n_estimators=3, n_jobs=1, verbosity=0 if package == "xgboost" else -1).fit(
            PLANE, IS_EAST
        )
        skops.io.dump(model, "model.skops")
        np.testing.assert_allclose(
            files.read_model("model.skops").predict_proba(PLANE), model.predict_proba(PLANE)
        )

    def test_other_types_are_named_and_wait_to_be_trusted(self) -> None:
        skops.io.dump(_Stranger().fit(PLANE, IS_EAST), "model.skops")
        name = f"{__name__}._Stranger"
        with pytest.raises(
            ModelError, match=f"not trusted by itself: {name}; .*add --trust {name}"
        ):
            files.read_model("model.skops")
        assert isinstance(files.read_model("model.skops", trust=[name]), _Stranger)

    @pytest.mark.parametrize(
        ("name", "trusted"),
        [
            ("sklearn.tree._tree.Tree", True),
            ("collections.OrderedDict", True),
            ("numpy.savetxt", False),  # a function
            ("numpy.testing.IgnoreException", False),  # a class, but not for models
            ("sklearn.utils.parallel.Path", False),  # nothing of that name
            ("sklearn.base.defaultdict", False),  # made elsewhere
            ("sklearning.Model", False),
            ("os.system", False),
            ("eval", False),
        ],
    )
    def test_trust_is_for_classes_that_packages_of_models_made(
        self, name: str, trusted: bool
    ) -> None:
        assert _is_trusted(name) is trusted

    def test_functions_are_not_trusted_even_in_trusted_packages(self) -> None:
        model = make_pipeline(FunctionTransformer(np.testing.assert_equal), LogisticRegression())
        skops.io.dump(model, "model.skops")
        with pytest.raises(ModelError, match=r"--trust numpy.testing"):
            files.read_model("model.skops")

    def test_a_file_that_is_no_skops_file_is_told(self) -> None:
        Path("model.skops").write_text("hello")
        with pytest.raises(
            ModelError, match=r"'model.skops' cannot be loaded: File is not a zip file"
        ):
            files.read_model("model.skops")

    @pytest.mark.parametrize(
        ("name", "module"), [("model.skops", "skops"), ("model.onnx", "onnxruntime")]
    )
    def test_a_missing_extra_is_told_with_the_install_command(
        self, name: str, module: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Path(name).touch()
        hide(monkeypatch, module, *(one for one in sys.modules if one.startswith(f"{module}.")))
        command = re.escape(install_command("models"))
        with pytest.raises(ImportError, match=f"needs {module}.*{command}"):
            files.read_model(name)

    @pytest.mark.parametrize("suffix", [".pkl", ".pickle", ".joblib"])
    def test_a_pickle_is_loaded_only_where_that_is_allowed(self, suffix: str) -> None:
        model = LogisticRegression().fit(PLANE, IS_EAST)
        path = Path(f"model{suffix}")
        path.write_bytes(pickle.dumps(model))
        with pytest.raises(
            ModelError, match=r"runs whatever code is in it: .*skops.io.dump.*--allow-pickle"
        ):
            files.read_model(str(path))
        loaded = files.read_model(str(path), allow_pickle=True)
        np.testing.assert_array_equal(loaded.coef_, model.coef_)

    def test_a_refused_pickle_has_run_nothing(self) -> None:
        class Loud:
            def __reduce__(self) -> Any:
                return Path.touch, (Path("ran"),)

        Path("model.pkl").write_bytes(pickle.dumps(Loud()))
        with pytest.raises(ModelError):
            files.read_model("model.pkl")
        assert not Path("ran").exists()

    def test_a_pickle_loads_without_joblib_too(self, monkeypatch: pytest.MonkeyPatch) -> None:
        Path("model.pkl").write_bytes(pickle.dumps({"a": 1}))
        hide(monkeypatch, "joblib")
        assert files.read_model("model.pkl", allow_pickle=True) == {"a": 1}

    def test_other_files_are_no_models(self) -> None:
        Path("model.h5").touch()
        with pytest.raises(
            ModelError, match=r"'model.h5' is no model.*\.skops or \.onnx file, or module:attribute"
        ):
            files.read_model("model.h5")

    def test_a_model_is_imported_from_the_current_folder(self) -> None:
        Path("rooms_a.py").write_text(
            "def score(frame):\n    return frame\nclass Kind:\n    inner = score\n"
        )
        assert files.read_model("rooms_a:score")(3) == 3
        assert files.read_model("rooms_a:Kind.inner")(4) == 4
        with pytest.raises(ModelError, match=r"'rooms_a' has no 'scor' \(did you mean 'score'\?\)"):
            files.read_model("rooms_a:scor")
        with pytest.raises(ModelError, match="'rooms_a:Kind' is a class: name a fitted model"):
            files.read_model("rooms_a:Kind")
        with pytest.raises(ModelError, match=r"no module 'room_a' .*\(did you mean 'rooms_a'\?\)"):
            files.read_model("room_a:score")

    def test_a_module_that_fails_is_told_in_one_sentence(self) -> None:
        Path("rooms_b.py").write_text("1 / 0\n")
        with pytest.raises(
            ModelError,
            match=r"'rooms_b' cannot be imported: division by zero \(ZeroDivisionError\)",
        ):
            files.read_model("rooms_b:score")
        Path("rooms_c.py").write_text("import a_package_that_nobody_has\n")
        with pytest.raises(ModelError, match="'a_package_that_nobody_has' is not installed"):
            files.read_model("rooms_c:score")


class TestOnnx:
    @pytest.mark.parametrize("zipmap", [True, False])
    def test_a_classifier_fed_with_one_matrix(self, zipmap: bool) -> None:
        loaded = files.read_model(
            str(write_classifier(Path("model.onnx"), [1.0, 0.5], zipmap=zipmap))
        )
        model = files.with_class_names(loaded, PLANE)
        expected = 1 / (1 + np.exp(-2 * (PLANE["east"] + 0.5 * PLANE["north"])))
        assert model.classes_ == ("not yet", "ready")
        assert model.n_features_in_ == 2
        np.testing.assert_allclose(model.predict_proba(PLANE.to_numpy())[:, 1], expected, rtol=1e-5)

    @pytest.mark.parametrize("frame", [PLANE, pl.from_pandas(PLANE)])
    def test_a_classifier_fed_column_by_column_finds_them_by_name(self, frame: Any) -> None:
        path = write_classifier(Path("model.onnx"), [1.0, 0.0], names=["north", "east"])
        model = files.with_class_names(files.read_model(str(path)), frame)
        assert list(model.feature_names_in_) == ["north", "east"]
        expected = 1 / (1 + np.exp(-2 * PLANE["north"]))
        np.testing.assert_allclose(model.predict_proba(frame)[:, 1], expected, rtol=1e-5)

    def test_a_classifier_is_explained(self) -> None:
        path = write_classifier(Path("model.onnx"), [1.0, 0.0])
        model = files.with_class_names(files.read_model(str(path)), PLANE)
        answer = LocalFACE(model, PLANE, target="ready", search=Search(n_neighbors=20)).explain(
            {"east": -0.5, "north": 0.0}
        )
        assert answer.require().counterfactual["east"] >= 0

    def test_a_class_is_called_what_most_verdicts_call_it(self) -> None:
        class Session:
            def run(self, *_: Any) -> Any:
                return np.array([[3, 0], [3, 0], [1, 0], [0, 1]]), np.array(["a", "a", "b", "b"])

        model = OnnxClassifier(OnnxGraph(Session(), {"X": np.float32}, 2, "scores", "label"), ())
        assert model.with_class_names_from(PLANE.head(4)).classes_ == ("a", "b")

    def test_a_regressor_gives_one_value_a_record(self) -> None:
        model = files.read_model(str(write_regressor(Path("model.onnx"), [2.0, 1.0])))
        assert files.with_class_names(model, PLANE) is model
        np.testing.assert_allclose(model.predict(np.array([[1.0, 0.5], [0.0, 1.0]])), [2.5, 1.0])

    def test_files_without_scores_and_files_that_are_none_are_refused(self) -> None:
        with pytest.raises(ModelError, match=r"'model.onnx' gives no scores, only 'label"):
            files.read_model(str(write_labeller(Path("model.onnx"))))
        Path("model.onnx").write_text("hello")
        with pytest.raises(ModelError, match=r"'model.onnx' cannot be loaded"):
            files.read_model("model.onnx")

    def test_a_table_that_the_model_cannot_take_is_told(self) -> None:
        model = files.read_model(str(write_classifier(Path("model.onnx"), [1.0, 0.5])))
        with pytest.raises(
            ModelError, match="the model failed on the table: could not convert string"
        ):
            files.with_class_names(model, PEOPLE[["age", "unit"]])
