"""How few features could do on breast cancer, whatever their values and however rare the state?

    python benchmarks/fewest.py [most]

A forest's score is the mean of its trees. Where a set of features may take any values at all and
the others stay, no tree gives more than the best of the leaves that nothing else keeps the person
from. The mean of these bounds the score: where it is below the target for every set of
``most`` features (6), more have to change, by the model alone. Beside it: how many
features our answers change, for the people of the comparison.
"""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path

import numpy as np
from sklearn.tree._tree import Tree

sys.path.insert(0, str(Path(__file__).parent / "comparison"))

from localface import LocalFACE
from splits import world

Leaf = tuple[int, float]
"""The features (as bits) that keep a person from a leaf, and its value."""


def main(most: int = 6) -> None:
    """Print, person by person of two splits, and in all."""
    changed = []
    proven = []
    for seed in (0, 1):
        at = world("breast-cancer", seed, 40)
        explainer = LocalFACE(at.model, at.data, schema=at.schema, min_score=at.min_score)
        answers = explainer.explain_many(at.people)
        sets = [sum(1 << i for i in some) for some in combinations(range(30), most)]
        for point, answer in zip(at.people.to_numpy(), answers, strict=True):
            leaves = [best_leaves(tree.tree_, point) for tree in at.model.estimators_]
            bound = highest_scores(leaves, np.array(sets)).max()
            records = answer.with_actions_as_path().records
            changed.append(int((records[0] != records[-1]).sum()))
            proven.append(bool(bound < at.min_score))
            print(f"{seed}: {changed[-1]:3} features change, any {most} score at most {bound:.3f}")
    many = np.array(changed) > most
    print(f"{many.sum()} of {len(many)} answers change more than {most} features;", end=" ")
    print(f"for {(many & proven).sum()} of them no {most} features reach the target")


def best_leaves(tree: Tree, point: np.ndarray) -> list[Leaf]:
    """The leaves of a tree, without those that need more features for no higher value."""
    found: list[Leaf] = []
    open_nodes = [(0, 0)]
    while open_nodes:
        node, needed = open_nodes.pop()
        if tree.children_left[node] < 0:
            value = tree.value[node][0]
            found.append((needed, float(value[1] / value.sum())))
            continue
        feature = int(tree.feature[node])
        goes_left = bool(np.float32(point[feature]) <= tree.threshold[node])
        other = needed | 1 << feature
        open_nodes.append((tree.children_left[node], needed if goes_left else other))
        open_nodes.append((tree.children_right[node], other if goes_left else needed))
    kept: list[Leaf] = []
    for needed, value in sorted(found, key=lambda leaf: -leaf[1]):
        if not any(one & needed == one for one, _ in kept):
            kept.append((needed, value))
    return kept


def highest_scores(leaves: list[list[Leaf]], sets: np.ndarray) -> np.ndarray:
    """The mean over trees of the best leaf that each set of features opens."""
    total = np.zeros(len(sets), dtype=np.float32)
    for tree in leaves:
        best = np.zeros(len(sets), dtype=np.float32)
        for needed, value in reversed(tree):  # the best last, so that it stays
            best[~sets & needed == 0] = value
        total += best
    return total / len(leaves)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
