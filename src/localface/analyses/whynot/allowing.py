"""Says what features would have to be allowed for a way to open."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from localface.answers.wording import join_words
from localface.data.box import Box
from localface.data.schema import Schema


def what_to_allow(schema: Schema, box: Box, names: Sequence[str]) -> str:
    """Say what features would have to be allowed, each by what limits it now.

    What may not move at all can only be said to change; further is for what moves already.
    """
    by_wish: dict[str, list[str]] = {}
    for name in names:
        feature = schema[name]
        wish = _wish_for_feature(box, schema.index(name), discrete=feature.discrete)
        by_wish.setdefault(wish, []).append(feature.display_name)
    return join_words([f"{join_words(some)} {wish}" for wish, some in by_wish.items()])


def _wish_for_feature(box: Box, j: int, *, discrete: bool) -> str:
    if discrete:
        return "may change" if len(box.allowed.get(j, ())) == 1 else "may take other values"
    if box.lower[j] == box.upper[j]:
        return "may change"
    if box.up[j] and np.isposinf(box.upper[j]):
        return "may also go down"
    if box.down[j] and np.isneginf(box.lower[j]):
        return "may also go up"
    return "may move further"
