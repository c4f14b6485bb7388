"""The MIMIC-III extraction: rules on hand-made rows, the open demo by another computation."""

from __future__ import annotations

import csv
import gzip
import importlib
import json
import math
import subprocess
import sys
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pd = pytest.importorskip("pandas", reason="the extraction gives a pandas frame")
pytest.importorskip("duckdb", reason="the extraction reads with DuckDB")

from localface.cases.mimic import Decisions, Extraction, from_mimic  # noqa: E402
from localface.cases.readiness import schema  # noqa: E402
from localface.errors import DataError, InputError  # noqa: E402

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
T = datetime(2150, 1, 10, 12)
KEYS = ["source", "subject_id", "hadm_id", "icustay_id", "x", "time"]
COLUMNS = {
    "PATIENTS": "ROW_ID SUBJECT_ID GENDER DOB DOD",
    "ADMISSIONS": "ROW_ID SUBJECT_ID HADM_ID ADMITTIME HOSPITAL_EXPIRE_FLAG",
    "ICUSTAYS": "ROW_ID SUBJECT_ID HADM_ID ICUSTAY_ID DBSOURCE FIRST_CAREUNIT INTIME OUTTIME LOS",
    "CALLOUT": "ROW_ID SUBJECT_ID HADM_ID CALLOUT_STATUS CALLOUT_OUTCOME CREATETIME",
    "CHARTEVENTS": (
        "ROW_ID SUBJECT_ID HADM_ID ICUSTAY_ID ITEMID CHARTTIME CGID VALUE VALUENUM VALUEUOM "
        "ERROR STOPPED"
    ),
}


# --- a small MIMIC-III, made by hand -------------------------------------------------------------


def hours(n: float, seconds: int = 0) -> timedelta:
    return timedelta(hours=n, seconds=seconds)


class World:
    """Rows of the five tables; everybody in them is made up."""

    def __init__(self) -> None:
        self.rows: dict[str, list[dict[str, Any]]] = {name: [] for name in COLUMNS}

    def person(
        self, subject: int, *, gender: str = "F", born: str = "2100-07-01 00:00:00"
    ) -> World:
        return self.add("PATIENTS", SUBJECT_ID=subject, GENDER=gender, DOB=born)

    def admission(self, subject: int, hadm: int, *, died: int = 0) -> World:
        return self.add("ADMISSIONS", SUBJECT_ID=subject, HADM_ID=hadm, HOSPITAL_EXPIRE_FLAG=died)

    def stay(
        self,
        icustay: int,
        hadm: int,
        start: datetime,
        end: datetime,
        *,
        at: str = "metavision MICU",
    ) -> World:
        source, unit = at.split()
        who = {"SUBJECT_ID": hadm - 10, "HADM_ID": hadm, "ICUSTAY_ID": icustay}
        return self.add(
            "ICUSTAYS", **who, DBSOURCE=source, FIRST_CAREUNIT=unit, INTIME=start, OUTTIME=end
        )

    def called(self, hadm: int, when: datetime, outcome: str = "Discharged") -> World:
        return self.add(
            "CALLOUT", SUBJECT_ID=hadm - 10, HADM_ID=hadm, CALLOUT_OUTCOME=outcome, CREATETIME=when
        )

    def chart(
        self,
        icustay: int,
        item: int,
        before: timedelta,
        number: object = "",
        *,
        value: str = "",
        error: object = 0,
    ) -> World:
        words = value or str(number)
        when = {"ICUSTAY_ID": icustay, "ITEMID": item, "CHARTTIME": T - before}
        return self.add("CHARTEVENTS", **when, VALUE=words, VALUENUM=number, ERROR=error)

    def add(self, table: str, **row: object) -> World:
        self.rows[table].append({"ROW_ID": len(self.rows[table]) + 1, **row})
        return self

    def write(
        self, folder: Path, *, lower: bool = False, ending: str = ".csv", newline: str = "\n"
    ) -> Path:
        folder.mkdir(exist_ok=True)
        for table, columns in COLUMNS.items():
            header = columns.split()
            name = table.lower() if lower else table
            opened = gzip.open if ending.lower().endswith(".gz") else open
            with opened(folder / f"{name}{ending}", "wt", encoding="utf-8", newline="") as file:
                lines = csv.writer(file, lineterminator=newline)
                lines.writerow([column.lower() if lower else column for column in header])
                lines.writerows(
                    [[row.get(column, "") for column in header] for row in self.rows[table]]
                )
        return folder


def everyone() -> World:
    """Ten stays, each there for one rule."""
    world = World()
    start = T - hours(228)
    for hadm, died in {11: 0, 12: 1, 13: 0, 14: 0, 15: 0, 17: 0, 18: 0, 19: 0, 20: 0}.items():
        world.person(hadm - 10, gender="M" if hadm == 11 else "F").admission(
            hadm - 10, hadm, died=died
        )
    world.rows["PATIENTS"][2]["DOB"] = (
        "1850-01-01 00:00:00"  # over 89: 300 years by de-identification
    )
    world.stay(101, 11, start, T + hours(36)).called(11, T)
    world.stay(102, 12, T - hours(100), T + hours(1)).called(
        12, T
    )  # just long enough for 3 days before
    world.stay(103, 13, T - hours(100, -1), T, at="metavision SICU").called(
        13, T
    )  # a second too short; ends at T
    world.stay(104, 14, T - hours(20), T + hours(9)).called(14, T).called(
        14, T + hours(2)
    )  # called out twice
    world.stay(105, 15, T - hours(20), T + hours(1)).called(15, T)  # comes back:
    world.stay(106, 15, T + hours(30), T + hours(60)).called(15, T + hours(50))
    world.stay(107, 17, start, T + hours(9), at="carevue MICU").called(17, T)
    world.stay(108, 18, start, T + hours(9), at="metavision CCU").called(18, T)
    world.stay(109, 19, start, T + hours(9)).called(19, T, "Cancelled")
    world.stay(110, 20, start, T - hours(0, 1)).called(20, T)  # called out after having left
    return charts(world)


def charts(world: World) -> World:
    """What was charted for stay 101, and a little for the others; times are before callout."""
    (
        world.chart(101, 220045, hours(4, 1), 200).chart(101, 220045, hours(4), 60)
    )  # outside, on the edge
    (
        world.chart(101, 220045, hours(0), 90).chart(101, 220045, -hours(0, 1), 30)
    )  # on the edge, after
    (
        world.chart(101, 220210, hours(36), 18).chart(101, 220210, hours(36, 1), 40)
    )  # carried, too old
    (
        world.chart(101, 220179, hours(36, 1), 120).chart(101, 226852, hours(1), 25)
    )  # too old; pulmonary artery
    for value in (9, 10, 100, 101):
        world.chart(101, 220277, hours(1, value), value)
    (
        world.chart(101, 223761, hours(1), 98.6)
        .chart(101, 223762, hours(2), 38.5)
        .chart(101, 223761, hours(3), 79)
    )
    world.chart(101, 224027, hours(1), value="Warm")
    for before, parts in {1: (4, 5, 6), 2: (1, 1, None), 3: (3, 4, 5)}.items():
        for item, part in zip((220739, 223900, 223901), parts, strict=True):
            world.chart(101, item, hours(before), part, value="in words") if part else None
    (
        world.chart(101, 227442, hours(3), 5.0)
        .chart(101, 227442, hours(1), 4.1)
        .chart(101, 227464, hours(1), 6.3)
    )
    (world.chart(101, 227442, hours(0.5), 51).chart(101, 220645, hours(1), "n/a", value="140"))
    (
        world.chart(101, 223835, hours(2), value="33%").chart(
            101, 223835, hours(1), value="about 40,\nor more"
        )
    )
    (
        world.chart(101, 220228, hours(5), 10.2)
        .chart(101, 220615, hours(6), 1.0)
        .chart(101, 220615, hours(3), 0)
    )
    (
        world.chart(101, 225624, hours(20), 20)
        .chart(101, 227443, hours(2), 24)
        .chart(101, 227443, hours(1), 10, error=1)
    )
    world.chart(101, 223791, hours(2), 3, value="Mild to Moderate")
    world.chart(101, 223791, hours(1), 0, value="Unable to Score")
    world.chart(101, 223838, hours(1), value="Not applicable")
    (
        world.chart(101, 226707, hours(200), 70)
        .chart(101, 226531, hours(200), 176.37)
        .chart(101, 226512, hours(9), 900)
    )
    world.chart(101, 224832, hours(72), value="Standard")  # the tube three days before
    (
        world.chart(102, 223835, hours(1), 0.4)
        .chart(102, 223835, hours(0.5), 4)
        .chart(102, 223838, hours(5), value="Oral")
    )
    world.chart(103, 224829, hours(4), value="Cuffed").chart(103, 220045, hours(1), 250)
    world.chart(103, 220645, hours(36), 139)  # carried where nothing else reaches as far back
    (
        world.chart(102, 220045, hours(1), 251)
        .chart(102, 220179, hours(1), 0)
        .chart(102, 220179, hours(8), 110)
    )
    world.add(
        "CHARTEVENTS", ICUSTAY_ID="", ITEMID=220045, CHARTTIME=T, VALUE="1", VALUENUM=1
    )  # nobody's
    return world


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return everyone().write(tmp_path_factory.mktemp("mimic") / "tables")


def extract(folder: Path, **options: Any) -> Extraction:
    return from_mimic(folder, memory="400MB", threads=1, progress=False, **options)


def row_of(extraction: Extraction, icustay: int, x: int = 0) -> Any:
    table = extraction.table
    (row,) = table[(table["icustay_id"] == icustay) & (table["x"] == x)].to_dict("records")
    return row


# --- the cohort ----------------------------------------------------------------------------------


def test_every_rule_of_the_cohort_lets_through_whom_it_should(folder: Path) -> None:
    extraction = extract(folder)
    kept = [(one.step, one.count) for one in extraction.flow.counts_of_kind("kept")]
    assert kept == [
        ("ICU stays", 10),
        ("MetaVision stays that began in MICU or SICU", 8),
        ("first ICU stay of the admission", 7),
        ("called out during the stay and discharged", 5),
        ("exactly one such callout", 4),
    ]
    at_callout = extraction.table[extraction.table["x"] == 0]
    assert dict(zip(at_callout["icustay_id"], at_callout["ready"], strict=True)) == {
        101: 1,
        102: 0,
        103: 1,
        105: 0,
    }


def test_extra_negatives_are_taken_of_stays_that_are_long_enough_to_the_second(
    folder: Path,
) -> None:
    extra = extract(folder).table.query("x > 0")
    assert set(zip(extra["icustay_id"], extra["x"], strict=True)) == {
        (102, 3),
        *((101, x) for x in range(3, 9)),
    }
    assert not extra["ready"].any()
    assert row_of(extract(folder), 101, 3)["time"] == pd.Timestamp(T - timedelta(days=3))


def test_extra_negatives_can_be_left_to_stays_that_ended_well_or_left_out(folder: Path) -> None:
    well = extract(
        folder, decisions=Decisions(extra_days=(3,), extra_of_all_stays=False)
    ).table.query("x > 0")
    assert list(well["icustay_id"]) == [101]
    assert len(extract(folder, decisions=Decisions(extra_days=())).table) == 4


def test_stays_with_several_callouts_can_be_kept_from_their_last_callout_on(folder: Path) -> None:
    row = row_of(extract(folder, decisions=Decisions(single_callout_only=False)), 104)
    assert row["time"] == pd.Timestamp(T + hours(2))


def test_later_stays_of_an_admission_can_be_kept(folder: Path) -> None:
    table = extract(folder, decisions=Decisions(first_stay_only=False)).table.query("x == 0")
    assert dict(zip(table["icustay_id"], table["ready"], strict=True))[106] == 1
    assert len(table) == 5


# --- the features --------------------------------------------------------------------------------

BY_HAND = {
    "airway": 0,
    "fio2": 0.33,
    "spo2_min": 10,
    "hco3": 24,
    "resp_min": 18,
    "resp_max": 18,
    "bp_min": math.nan,
    "hr_min": 60,
    "hr_max": 90,
    "pain": 3,
    "gcs_min": 12,
    "temp_min": 37.0,
    "temp_max": 38.5,
    "haemoglobin": 102,
    "k": 4.1,
    "na": 140,
    "creatinine": 88.42,
    "bun": 7.142,
    "bmi": 176.37 * 0.45359237 / 1.778**2,
    "los": 228,
    "age": 49,
    "sex": 1,
}
AS_THE_ORIGINAL = {
    "airway": 1,  # any row
    "fio2": math.nan,  # charted as text
    "hco3": 10,  # charted in error
    "bp_min": 25,  # a pulmonary artery's
    "pain": 0,  # could not be scored
    "temp_max": 37.0,  # Celsius lost
    "haemoglobin": 10.2,
    "na": math.nan,
    "creatinine": 0,
    "bmi": 900 / 1.778**2,
}


@pytest.mark.parametrize("feature", BY_HAND)
def test_a_feature_is_what_was_computed_by_hand(folder: Path, feature: str) -> None:
    assert one(folder, Decisions())[feature] == pytest.approx(BY_HAND[feature], nan_ok=True)


@pytest.mark.parametrize("feature", BY_HAND)
def test_the_original_decisions_give_what_the_original_would_have(
    folder: Path, feature: str
) -> None:
    expected = (BY_HAND | AS_THE_ORIGINAL)[feature]
    assert one(folder, Decisions.original())[feature] == pytest.approx(expected, nan_ok=True)


@cache
def one(folder: Path, decisions: Decisions) -> Any:
    return row_of(extract(folder, decisions=decisions), 101)


def test_oxygen_charted_as_a_fraction_is_one_and_less_than_room_air_is_nothing(
    folder: Path,
) -> None:
    assert row_of(extract(folder), 102)["fio2"] == pytest.approx(0.4)
    assert row_of(extract(folder, decisions=Decisions(fio2_mended=False)), 102)[
        "fio2"
    ] == pytest.approx(0.04)


def test_a_tube_counts_for_four_hours_unless_it_is_to_be_carried(folder: Path) -> None:
    assert (row_of(extract(folder), 102)["airway"], row_of(extract(folder), 103)["airway"]) == (
        0,
        1,
    )
    assert row_of(extract(folder, decisions=Decisions(tube_carried=True)), 102)["airway"] == 1
    assert row_of(extract(folder), 101, 3)["airway"] == 1


def test_a_value_on_its_limit_counts_and_a_value_beyond_does_not(folder: Path) -> None:
    assert row_of(extract(folder), 103)["hr_max"] == 250
    assert math.isnan(row_of(extract(folder), 102)["hr_max"])


def test_a_value_is_carried_from_36_hours_before_where_there_are_no_earlier_rows(
    folder: Path,
) -> None:
    assert row_of(extract(folder), 103)["na"] == 139


def test_a_pressure_of_zero_is_no_pressure_unless_the_original_is_asked_for(folder: Path) -> None:
    assert row_of(extract(folder), 102)["bp_min"] == 110
    assert row_of(extract(folder, decisions=Decisions(zeros_dropped=False)), 102)["bp_min"] == 0


def test_ages_over_89_become_91_or_stay_at_300(folder: Path) -> None:
    assert row_of(extract(folder), 103)["age"] == 91
    assert row_of(extract(folder, decisions=Decisions(age_capped=False)), 103)["age"] == 300


def test_what_does_not_count_is_counted_by_feature_and_reason(folder: Path) -> None:
    flow = extract(folder).flow
    looked_at, *others = flow.counts_of_kind("removed")
    assert (
        looked_at.count == len(everyone().rows["CHARTEVENTS"]) - 3
    )  # nobody's, after callout, right heart
    removed = {one.step: one.count for one in others}
    assert removed == {
        "hco3: charted in error": 1,
        "fio2: no number": 1,
        "temp: no number": 1,
        "bp: outside the limits": 1,
        "creatinine: outside the limits": 1,
        "fio2: outside the limits": 1,
        "hr: outside the limits": 1,
        "k: outside the limits": 1,
        "spo2: outside the limits": 2,
        "temp: outside the limits": 1,
        "weight: outside the limits": 1,
        "airway: said to be absent": 1,
        "pain: said to be absent": 1,
    }


def test_the_columns_are_the_features_of_the_case_study_in_its_order(folder: Path) -> None:
    table = extract(folder).table
    assert list(table.columns) == [*KEYS, *schema().names, "ready"]
    assert set(table["source"]) == {"mimic"}


# --- the files -----------------------------------------------------------------------------------


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".CSV"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_tables_may_be_spelt_and_packed_either_way(
    folder: Path, tmp_path: Path, lower: bool, ending: str, newline: str
) -> None:
    other = everyone().write(tmp_path / "it's here", lower=lower, ending=ending, newline=newline)
    pd.testing.assert_frame_equal(extract(other).table, extract(folder).table)


def test_threads_and_memory_do_not_change_what_comes_out(folder: Path) -> None:
    wide = from_mimic(folder, memory="1GB", threads=4, progress=False)
    pd.testing.assert_frame_equal(wide.table, extract(folder).table)


def test_lines_that_are_no_csv_are_passed_over_and_counted(folder: Path, tmp_path: Path) -> None:
    other = everyone().write(tmp_path / "tables")
    with (other / "CHARTEVENTS.csv").open("a", encoding="utf-8") as file:
        file.write("1,2,3\n" + "x," * 20 + "\n")
    extraction = extract(other)
    assert [(one.step, one.count) for one in extraction.flow.counts_of_kind("lines")] == [
        ("CHARTEVENTS.csv", 2)
    ]
    pd.testing.assert_frame_equal(extraction.table, extract(folder).table)


def test_a_file_that_breaks_off_is_an_error_and_not_a_smaller_cohort(tmp_path: Path) -> None:
    other = everyone().write(tmp_path / "tables", ending=".csv.gz")
    whole = (other / "CHARTEVENTS.csv.gz").read_bytes()
    (other / "CHARTEVENTS.csv.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="CHARTEVENTS"):
        extract(other)


def test_a_reader_that_would_not_notice_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import duckdb

    monkeypatch.setattr(duckdb, "__version__", "1.4.0")
    with pytest.raises(InputError, match=r"duckdb 2\.0 or later"):
        extract(folder)


def test_a_missing_table_is_named_with_what_is_there_instead(tmp_path: Path) -> None:
    other = everyone().write(tmp_path / "tables")
    (other / "CALLOUT.csv").rename(other / "CALLOUTS.csv")
    (other / "PATIENTS.csv").unlink()
    with pytest.raises(DataError) as raised:
        extract(other)
    message = str(raised.value)
    assert "lacks PATIENTS.csv or PATIENTS.csv.gz, CALLOUT.csv or CALLOUT.csv.gz" in message
    assert "did you mean 'CALLOUTS.csv'?" in message
    assert "ADMISSIONS.csv" in message


def test_missing_columns_are_named_with_what_is_there_instead(tmp_path: Path) -> None:
    other = everyone().write(tmp_path / "tables")
    for table, column, spelt in (
        ("ICUSTAYS", "DBSOURCE", "DB_SOURCE"),
        ("CHARTEVENTS", "VALUENUM", "AMOUNT"),
    ):
        path = other / f"{table}.csv"
        path.write_text(
            path.read_text(encoding="utf-8").replace(column, spelt, 1), encoding="utf-8"
        )
    with pytest.raises(DataError) as raised:
        extract(other)
    message = str(raised.value)
    assert (
        "ICUSTAYS.csv lacks the column 'DBSOURCE' (did you mean 'DB_SOURCE'?); it has 'ROW_ID'"
        in message
    )
    assert "CHARTEVENTS.csv lacks the column 'VALUENUM'" in message


@pytest.mark.parametrize(
    ("table", "column", "value", "step"),
    [
        ("ICUSTAYS", "DBSOURCE", "carevue", "MetaVision stays"),
        ("CALLOUT", "CALLOUT_OUTCOME", "Cancelled", "called out"),
        ("ICUSTAYS", "SUBJECT_ID", 77, "'ICU stays'"),
    ],
)
def test_an_empty_cohort_says_where_it_became_empty(
    tmp_path: Path, table: str, column: str, value: object, step: str
) -> None:
    world = everyone()
    for row in world.rows[table]:
        row[column] = value
    with pytest.raises(DataError, match="became empty at the step") as raised:
        extract(world.write(tmp_path / "tables"))
    assert step in str(raised.value)


def test_no_such_folder_and_impossible_amounts_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no folder"):
        from_mimic(tmp_path / "nowhere")
    with pytest.raises(DataError, match="such as '2GB'"):
        from_mimic(folder, memory="plenty")
    with pytest.raises(DataError, match="threads"):
        from_mimic(folder, threads=0)
    with pytest.raises(DataError, match="is a file"):
        from_mimic(folder, folder / "CALLOUT.csv")
    with pytest.raises(DataError, match="extra_days"):
        Decisions(extra_days=(3, 3))


# --- what is written -----------------------------------------------------------------------------


def test_what_is_written_is_what_was_extracted_and_nothing_else_is_left(
    folder: Path, tmp_path: Path
) -> None:
    extraction = extract(folder, out=tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "flow.json",
        "flow.svg",
        "rows.parquet",
    ]
    if importlib.util.find_spec("pyarrow"):
        read = pd.read_parquet(tmp_path / "out" / "rows.parquet")
        pd.testing.assert_frame_equal(read, extraction.table, check_dtype=False)
    document = json.loads((tmp_path / "out" / "flow.json").read_text(encoding="utf-8"))
    assert document["decisions"]["extra_days"] == [3, 4, 5, 6, 7, 8]
    assert {"kind": "kept", "step": "ICU stays", "count": 10} in document["counts"]
    assert (tmp_path / "out" / "flow.svg").read_text(encoding="utf-8") == extraction.flow_svg()


def test_the_flow_names_its_steps_and_its_decisions(folder: Path) -> None:
    import xml.etree.ElementTree as ElementTree

    extraction = extract(folder)
    said = " ".join(text for text in ElementTree.fromstring(extraction.flow_svg()).itertext())
    for shown in (said, extraction.flow_text()):
        assert "exactly one such callout" in shown
        assert "* celsius kept: yes" in shown
    assert "1 left out" in said
    assert repr(extraction) == "<Extraction: 11 rows of 4 patients, 2 ready>"


def test_every_decision_is_documented_and_only_departures_differ_from_the_original() -> None:
    for name in Decisions().to_plain_values():
        assert f"    {name} : " in str(Decisions.__doc__)
    assert Decisions.original().departures() == ()
    assert "celsius_kept" in Decisions().departures()


# --- the open demo, beside pandas ----------------------------------------------------------------


@pytest.fixture(scope="module")
def demo(data_folder: Path) -> Path:
    folder = data_folder / "mimic3-demo"
    if not folder.is_dir():
        pytest.skip(f"the MIMIC-III demo is not at {folder}")
    return folder


@pytest.fixture(scope="module")
def extracted(demo: Path) -> Extraction:
    return from_mimic(demo, progress=False)


def read(folder: Path, table: str, **options: Any) -> Any:
    frame = pd.read_csv(folder / f"{table}.csv.gz", low_memory=False, **options)
    for column in frame.columns.intersection(
        ["intime", "outtime", "createtime", "charttime", "dob"]
    ):
        frame[column] = pd.to_datetime(frame[column])
    return frame


@pytest.fixture(scope="module")
def zeros(demo: Path) -> Any:
    """The stays of the cohort with their callout, computed by pandas alone."""
    stays = read(demo, "ICUSTAYS").sort_values("intime")
    stays["later"] = stays.groupby("hadm_id")["intime"].transform("max") > stays["intime"]
    stays = stays[~stays.duplicated("hadm_id")]
    stays = stays[
        (stays["dbsource"] == "metavision") & stays["first_careunit"].isin(["MICU", "SICU"])
    ]
    calls = read(demo, "CALLOUT").query("callout_outcome == 'Discharged'")[
        ["hadm_id", "createtime"]
    ]
    both = stays.merge(calls, on="hadm_id")
    both = both[(both["createtime"] >= both["intime"]) & (both["createtime"] <= both["outtime"])]
    both = both[~both.duplicated("icustay_id", keep=False)]
    both = both.merge(read(demo, "ADMISSIONS")[["hadm_id", "hospital_expire_flag"]], on="hadm_id")
    both["ready"] = (both["hospital_expire_flag"].eq(0) & ~both["later"]).astype(int)
    return both


def test_the_demo_has_as_many_stays_and_callouts_as_pandas_finds(
    extracted: Extraction, demo: Path, zeros: Any
) -> None:
    stays = read(demo, "ICUSTAYS")
    ours = stays[
        (stays["dbsource"] == "metavision") & stays["first_careunit"].isin(["MICU", "SICU"])
    ]
    assert extracted.flow["ICU stays"] == len(stays) == 136
    assert extracted.flow["MetaVision stays that began in MICU or SICU"] == len(ours)
    assert extracted.flow["exactly one such callout"] == len(zeros)
    table = extracted.table.query("x == 0").set_index("icustay_id")
    expected = zeros.set_index("icustay_id").sort_index()
    pd.testing.assert_series_equal(
        table["time"].sort_index(), expected["createtime"], check_names=False
    )
    assert table["ready"].sort_index().tolist() == expected["ready"].tolist()


def test_the_demo_has_as_many_positives_and_negatives_as_pandas_finds(
    extracted: Extraction, zeros: Any
) -> None:
    assert (
        extracted.flow["ready at callout: left hospital alive, no later ICU stay"]
        == zeros["ready"].sum()
    )
    assert (
        extracted.flow["not ready at callout: died in hospital, or back in the ICU"]
        == (zeros["ready"] == 0).sum()
    )
    stayed = (zeros["createtime"] - zeros["intime"]) / pd.Timedelta(hours=1)
    for day in range(3, 9):
        assert (
            extracted.flow[f"not ready, {day} days before callout"]
            == (stayed >= 24 * (day + 1) + 4).sum()
            > 0
        )


# how pandas computes them: ITEMIDs, limits (the lower one excluded where it is 0), factor
HAND_CHECKED = {
    "hr_min": ([220045], 1e-9, 250, 1.0),
    "hr_max": ([220045], 1e-9, 250, 1.0),
    "resp_max": ([220210, 224688, 224689, 224690], 1e-9, 100, 1.0),
    "bp_min": ([220050, 220179, 225309], 1e-9, 500, 1.0),
    "spo2_min": ([220277, 220227, 226861, 228232], 10, 100, 1.0),
    "creatinine": ([220615], 1e-9, 50, 88.42),
    "bun": ([225624], 1e-9, 300, 0.3571),
    "haemoglobin": ([220228], 1e-9, 100, 10.0),
    "hco3": ([227443], 1e-9, 100, 1.0),
    "fio2": ([223835], 21, 100, 0.01),
}


@pytest.fixture(scope="module")
def events(demo: Path, zeros: Any) -> Any:
    columns = ["icustay_id", "itemid", "charttime", "valuenum", "error"]
    frame = read(demo, "CHARTEVENTS", usecols=columns)
    return frame[frame["icustay_id"].isin(zeros["icustay_id"]) & (frame["error"] != 1)]


def by_pandas(events: Any, row: Any, feature: str) -> float:
    """One feature of one row, the slow and plain way."""
    ids, low, high, factor = HAND_CHECKED[feature]
    mine = events[(events["icustay_id"] == row["icustay_id"]) & events["itemid"].isin(ids)]
    mine = mine[(mine["valuenum"] >= low) & (mine["valuenum"] <= high)]
    ago = (row["time"] - mine["charttime"]) / pd.Timedelta(hours=1)
    recent = mine[(ago >= 0) & (ago <= 4)]
    older = mine[(ago > 4) & (ago <= 36)]
    if len(recent) and feature.endswith(("_min", "_max")):
        return factor * float(getattr(recent["valuenum"], feature[-3:])())
    seen = (recent if len(recent) else older).assign(
        place=lambda part: part["itemid"].map(ids.index)
    )
    last = seen.sort_values(["charttime", "place"], ascending=[False, True])
    return factor * float(last["valuenum"].iloc[0]) if len(last) else math.nan


@pytest.mark.parametrize("feature", HAND_CHECKED)
def test_every_row_of_the_demo_has_the_value_that_pandas_computes(
    extracted: Extraction, events: Any, feature: str
) -> None:
    expected = [by_pandas(events, row, feature) for row in extracted.table.to_dict("records")]
    np.testing.assert_allclose(extracted.table[feature], expected, rtol=1e-12)
    assert np.isfinite(expected).sum() >= 10


def test_the_coma_score_of_the_demo_is_the_sum_of_three_parts_at_one_time(
    extracted: Extraction, events: Any
) -> None:
    parts = events[events["itemid"].isin([220739, 223900, 223901])]
    wide = parts.pivot_table(
        index=["icustay_id", "charttime"], columns="itemid", values="valuenum", aggfunc="min"
    )
    total = wide.dropna().sum(axis=1).reset_index(name="score")
    checked = 0
    for row in extracted.table.to_dict("records"):
        mine = total[total["icustay_id"] == row["icustay_id"]]
        ago = (row["time"] - mine["charttime"]) / pd.Timedelta(hours=1)
        recent = mine[(ago >= 0) & (ago <= 4)]
        if len(recent):
            checked += 1
            assert row["gcs_min"] == recent["score"].min()
    assert checked >= 10


def test_temperatures_of_the_demo_are_celsius_whatever_they_were_charted_in(
    extracted: Extraction,
) -> None:
    for feature in ("temp_min", "temp_max"):
        assert extracted.table[feature].dropna().between(30, 43).all()


def test_a_forest_on_the_demos_ranks_new_patients_as_well_as_was_measured(
    extracted: Extraction, data_folder: Path
) -> None:
    pytest.importorskip("sklearn")
    from sklearn.metrics import roc_auc_score

    path = data_folder / "icu-demos" / "rfd_samples.csv.gz"
    if not path.exists():
        pytest.skip(f"the samples of the MIMIC-IV demo are not at {path}")
    second = (
        pd.read_csv(path)
        .query("source == 'mimic4_demo' and strict == 1")
        .rename(columns={"outcome": "ready"})
    )
    wanted = [*schema().names, "ready", "subject_id"]
    rows = pd.concat([extracted.table[wanted], second[wanted]], ignore_index=True)
    aucs = [roc_auc_score(rows["ready"], predicted(rows, seed)) for seed in range(3)]
    assert 0.80 <= np.mean(aucs) <= 0.90


def predicted(rows: Any, seed: int) -> Any:
    """Out-of-fold probabilities; nobody is in two folds, and imputation is fitted within them."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.impute import KNNImputer
    from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    forest = RandomForestClassifier(100, max_depth=7, max_features=0.5, random_state=seed)
    model = make_pipeline(StandardScaler(), KNNImputer(), forest)
    folds = StratifiedGroupKFold(5, shuffle=True, random_state=seed)
    features = rows[list(schema().names)]
    every = cross_val_predict(
        model, features, rows["ready"], groups=rows["subject_id"], cv=folds, method="predict_proba"
    )
    return every[:, 1]


# --- memory --------------------------------------------------------------------------------------


def bench(arguments: Iterable[str]) -> Any:
    command = [sys.executable, str(ROOT / "benchmarks" / "mimic.py"), "--json", *arguments]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def test_many_charted_rows_are_extracted_in_little_memory() -> None:
    pytest.importorskip("resource", reason="peak memory is measured on Unix")
    found = bench(["--rows", "200000", "--memory", "500MB"])
    assert found["peak_bytes"] < 500e6
    assert found["counts"]["all rows"] == 161
