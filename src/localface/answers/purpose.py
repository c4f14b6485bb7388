"""Says what a step of a plan is for that the score does not need."""

from __future__ import annotations

from localface.answers.facts import RecourseFacts
from localface.answers.target import Target


def purpose_besides_score(answer: RecourseFacts, index: int) -> str | None:
    """What an action is for that the score does not need: it is no nearer, or was near enough."""
    action = answer.actions[index]
    target = answer.target
    before = answer.actions[index - 1].score if index else answer.scores[0]
    gain = target.distance_from(before) - target.distance_from(action.score)
    visible = target.format_score(before) != target.format_score(action.score)
    if gain > 0 and visible and not target.is_reached_by(before):
        return None
    density = answer.actions[index - 1].density if index else answer.densities[0]
    worse = _how_it_gets_worse(target, before, action.score) if visible and gain < 0 else ""
    if density < answer.min_density <= action.density:
        if worse:
            return f"{worse}; it only leads to a more common state"
        return f"does nothing for the {target.noun}: it only leads to a more common state"
    if any(index in later.follows for later in answer.actions[index + 1 :]):
        needed = f"needed for what follows, not for the {target.noun}"
        return f"{needed}: it {worse}" if worse else needed
    return None


def _how_it_gets_worse(target: Target, before: float, after: float) -> str:
    """Say that a score moves away from the target; nothing where it stays within a range."""
    if target.max_score is not None and target.is_reached_by(after):
        return ""
    ends = f"from {target.format_score(before)} to {target.format_score(after)}"
    return f"{'raises' if after > before else 'lowers'} the {target.noun} {ends}"
