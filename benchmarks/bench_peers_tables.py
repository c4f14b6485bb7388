"""The tables of the peers: each on every shape, and ours beside the fastest that is sound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bench_peers import DICE, OURS, Peer
from bench_tables import Report

FASTEST = (
    "Milliseconds of the processor, the median of a person; sound: found, valid by a fresh call of "
    "the model, every constraint kept, and every step on common ground, by the evaluation's own "
    "judge, which shares no code with the search. The fastest sound peer is the fastest of those "
    "with at least one sound answer. times: theirs over ours, path only; above 1 we are faster."
)
STOPPED = (
    "Each was asked about the same first people until its time was up. The judge reads no table "
    "with missing values: there nothing is said of soundness."
)


def peers_reports(titles: dict[str, str], measured: dict[str, list[Peer]]) -> list[Report]:
    """Ours beside the fastest sound peer and every mode of DiCE; and everyone on every shape."""
    return [_beside(titles, measured), _everyone(titles, measured)]


def peers_figures(measured: dict[str, list[Peer]]) -> dict[str, float]:
    """Every figure under one flat name: "adult, dice-random: median ms"."""
    figures = dict[str, float]()
    for shape, peers in measured.items():
        for one in peers:
            if one.spent:
                figures[f"{shape}, {one.name}: median ms"] = 1e3 * one.median
                if one.sound is not None:
                    figures[f"{shape}, {one.name}: sound"] = one.share_sound
        own = _named(peers, OURS[0])
        best = fastest_sound(peers)
        if best is not None:
            figures[f"{shape}: fastest sound peer over ours"] = best.median / own.median
        for one in peers:
            if one.name in DICE and one.spent:
                figures[f"{shape}: {one.name} over ours"] = one.median / own.median
    return figures


def fastest_sound(peers: Sequence[Peer]) -> Peer | None:
    """The fastest of the others that has any sound answer."""
    sound = [one for one in peers if one.name not in OURS and one.sound]
    return min(sound, key=lambda one: one.median, default=None)


def _beside(titles: dict[str, str], measured: dict[str, list[Peer]]) -> Report:
    columns = ["shape", "ours ms", "sound %", "with actions ms", "fastest sound peer"]
    columns += ["ms", "sound %", "times"]
    for name in DICE:
        columns += [f"{name} ms", "times"]
    report = Report("Beside the peers", columns, notes=[FASTEST])
    for shape, peers in measured.items():
        own, acting = (_named(peers, name) for name in OURS)
        best = fastest_sound(peers)
        row: list[Any] = [
            titles[shape],
            1e3 * own.median,
            100 * own.share_sound,
            1e3 * acting.median,
        ]
        if best is None:
            row += ["none", "", "", ""]
        else:
            row += [best.name, 1e3 * best.median, 100 * best.share_sound]
            row += [best.median / own.median]
        for name in DICE:
            one = _named(peers, name)
            row += [1e3 * one.median, one.median / own.median] if one.spent else ["", ""]
        report.rows.append(row)
    return report


def _everyone(titles: dict[str, str], measured: dict[str, list[Peer]]) -> Report:
    report = Report(
        "Every peer on every shape",
        ["shape", "method", "median ms", "max ms", "people", "found", "sound", "note"],
        notes=[STOPPED],
    )
    for shape, peers in measured.items():
        for one in peers:
            times: list[Any] = ["", ""]
            if one.spent:
                times = [1e3 * one.median, 1e3 * max(each.worked for each in one.spent)]
            sound = "not judged" if one.sound is None else one.sound
            counts = [len(one.spent), one.found, sound]
            report.rows.append([titles[shape], one.name, *times, *counts, one.note])
    return report


def _named(peers: Sequence[Peer], name: str) -> Peer:
    return next((one for one in peers if one.name == name), Peer(name, [], 0, 0, "not installed"))
