"""What is to be minded about several ways, and about which of them."""

from __future__ import annotations

from collections.abc import Sequence

from localface.answers.recourse import Recourse
from localface.answers.wording import join_words


def cautions_of_ways(ways: Sequence[Recourse]) -> tuple[str, ...]:
    """The cautions of all ways, each once; one of some ways says which ways it is about."""
    numbers_of: dict[str, list[int]] = {}
    for i, way in enumerate(ways, 1):
        for line in dict.fromkeys(way.cautions):
            numbers_of.setdefault(line, []).append(i)
    return tuple(_about_ways(line, some, len(ways)) for line, some in numbers_of.items())


def _about_ways(caution: str, numbers: Sequence[int], of: int) -> str:
    """Say which ways a caution is about, where it is not about all of them.

    >>> _about_ways("lowering income may be a quirk", [2], 3)
    'way 2: lowering income may be a quirk'
    >>> _about_ways("lowering income may be a quirk", [1, 3], 3)
    'ways 1 and 3: lowering income may be a quirk'
    """
    if len(numbers) == of:
        return caution
    return f"way{'' if len(numbers) == 1 else 's'} {join_words(list(map(str, numbers)))}: {caution}"
