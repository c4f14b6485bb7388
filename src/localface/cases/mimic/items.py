"""The ITEMIDs of CHARTEVENTS that make a feature, with their limits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from localface.cases.mimic.decisions import Decisions

POUND = 0.45359237  # kg
INCH = 2.54  # cm
# RV, PA, RA, PVR, SVR: labels of D_ITEMS
RIGHT_HEART = (226850, 226852, 226860, 226862, 226863, 226865)
NO_TUBE = "Not applicable"
NO_PAIN_SCORE = "Unable to Score"


@dataclass(frozen=True, slots=True)
class Item:
    """One ITEMID: ``number * scale + shift`` is the value.

    Limits are in the charted unit, both ends allowed.

    Of two values charted at the same time, that of the item with the lower ``rank`` counts as
    the last. ``void`` is what VALUE says when nothing was there; ``fraction`` takes numbers up
    to 1 as fractions and turns them into per cent.
    """

    itemid: int
    feature: str
    rank: int
    low: float | None = None
    high: float | None = None
    scale: float = 1.0
    shift: float = 0.0
    void: str | None = None
    fraction: bool = False


_GROUPS: tuple[tuple[str, tuple[int, ...], float | None, float | None], ...] = (
    ("fio2", (223835, 227009), 0, 100),
    ("resp", (220210, 224688, 224689, 224690), 0, 100),
    ("temp", (223761, 223762, 224027), 80, 120),
    ("hr", (220045,), 0, 250),
    ("bp", (220050, 220179, 225309, 226850, 226852), 0, 500),
    ("spo2", (220277, 220227, 226860, 226861, 226862, 226863, 226865, 228232), 10, 100),
    ("k", (227442, 227464, 220640, 226535), 0, 50),
    ("na", (220645, 226534), 0, 500),
    ("hco3", (227443, 224826), 0, 100),
    ("bun", (225624,), 0, 300),
    ("creatinine", (220615,), 0, 50),
    ("haemoglobin", (220228,), 0, 100),
    ("gcs_eye", (220739,), None, None),
    ("gcs_verbal", (223900,), None, None),
    ("gcs_motor", (223901,), None, None),
    ("pain", (223791,), 0, 10),
    ("airway", (223838, 224832, 224391, 227810, 223837, 224829), None, None),
    ("height", (226730, 226707), None, None),
    ("weight", (226512, 226531, 224639), None, None),
)
_SCALES = {"fio2": 0.01, "creatinine": 88.42, "bun": 0.3571}
_SCALES_OF_ITEM = {226707: INCH, 226531: POUND}
_HEIGHT = (100.0, 250.0)  # cm
_WEIGHT = (20.0, 400.0)  # kg
_ROOM_AIR = 21.0  # per cent
_NEVER_ZERO = ("resp", "hr", "bp", "k", "na", "hco3", "bun", "creatinine", "haemoglobin")


def items_to_read(decisions: Decisions) -> list[Item]:
    """Every item that is read, under the decisions taken."""
    out = RIGHT_HEART if decisions.right_heart_excluded else ()
    return [
        _apply_decisions(item, decisions)
        for item in _items_of_the_study()
        if item.itemid not in out
    ]


def _items_of_the_study() -> Iterator[Item]:
    """The items as the study's record has them."""
    for feature, ids, low, high in _GROUPS:
        for rank, itemid in enumerate(ids):
            scale = _SCALES_OF_ITEM.get(itemid, _SCALES.get(feature, 1.0))
            yield Item(itemid, feature, rank, low, high, scale)


def _apply_decisions(item: Item, decisions: Decisions) -> Item:
    if item.feature in _NEVER_ZERO and decisions.zeros_dropped:
        item = replace(item, low=math.ulp(0.0))  # the smallest number above 0
    if item.feature == "temp":
        return _temperature_in_celsius(item, decisions)
    if item.feature == "haemoglobin" and decisions.haemoglobin_converted:
        return replace(item, scale=10.0)
    if item.feature == "fio2" and decisions.fio2_mended:
        return replace(item, low=_ROOM_AIR, fraction=True)
    if item.feature == "pain" and decisions.unscored_pain_dropped:
        return replace(item, void=NO_PAIN_SCORE)
    if item.feature == "airway" and decisions.absent_tube_dropped:
        return replace(item, void=NO_TUBE)
    if item.feature in ("height", "weight") and decisions.bmi_limited:
        low, high = _HEIGHT if item.feature == "height" else _WEIGHT
        return replace(item, low=low / item.scale, high=high / item.scale)
    return item


def _temperature_in_celsius(item: Item, decisions: Decisions) -> Item:
    """Fahrenheit becomes Celsius; Celsius stays, with the same limits in its own scale."""
    celsius = item.itemid == 223762
    if celsius and decisions.celsius_kept:
        return replace(item, low=(80 - 32) / 1.8, high=(120 - 32) / 1.8)
    return replace(item, scale=1 / 1.8, shift=-32 / 1.8)
