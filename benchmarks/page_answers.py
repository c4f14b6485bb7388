"""What the page would show of everyone whom the default world refuses: nothing absurd.

python benchmarks/page_answers.py          all refused people of the readiness cohort
python benchmarks/page_answers.py --most 100

Counts, over all refused people: answers by status; actions on what stays the patient's own (age,
sex, body mass index, stay); actions of more than three features; cards that lead below the floor
without a word why; sentences about "0 people"; words of the page that are names of columns.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from localface.apps.web.demos import make_demo_service
from localface.apps.web.views.view import answer_view

OWN = {"age", "sex", "bmi", "los"}
MOST_FEATURES = 3  # of one action
KINDS = (
    "an action on what is the patient's own",
    "an action of more than three features",
    "a card below its floor without a word",
    "a sentence about 0 people",
    "the name of a column",
)
NOBODY = re.compile(r"(?<![\d.,])0 (people|comparable|similar|rows|records)")


def oddities(view: dict[str, Any], names: set[str]) -> Iterator[str]:
    """What no page should show, for one answer."""
    for action in view["actions"]:
        features = [one["feature"] for one in action["changes"]]
        if OWN & set(features):
            yield KINDS[0]
        if len(features) > MOST_FEATURES:
            yield KINDS[1]
        told = view["density"]["kept_text"] or view["notices"] or action["entry"]
        if action["below_floor"] and not told:
            yield KINDS[2]
    shown = [view["reason"], *view["notices"], *view["cautions"], view["density"]["text"]]
    shown += [one["text"] for one in view["facts"]]
    shown += [one["words"] for action in view["actions"] for one in action["changes"]]
    shown += [str(action[key]) for action in view["actions"] for key in ("on_the_way", "order")]
    if any(NOBODY.search(words) for words in shown):
        yield KINDS[3]
    if any(names & set(re.findall(r"\w+", words)) for words in shown):
        yield KINDS[4]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--most", type=int, metavar="N", help="only the first N people")
    arguments = parser.parse_args()
    service = make_demo_service("readiness", workers=0)
    people = service.people
    assert people is not None
    refused = [
        people.record(int(id))
        for id, score in zip(people.ids, people.scores, strict=True)
        if not people.target.is_reached_by(float(score))
    ][: arguments.most]
    names = {one.name for one in service.explainer.schema if one.name != one.display_name}
    started = time.process_time()
    statuses: Counter[str] = Counter()
    odd: Counter[str] = Counter()
    for answer in service.explainer.explain_many(refused):
        view = answer_view(answer, service.labels)
        json.dumps(view, allow_nan=False)
        statuses[view["status"]] += 1
        odd.update(set(oddities(view, names)))
    print(f"{len(refused):,} refused people, {time.process_time() - started:.0f} s of processor")
    for status, n in statuses.most_common():
        print(f"  {status:<16}{n:>6,}")
    print("answers with something that no page should show")
    for what in KINDS:
        print(f"  {what:<45}{odd[what]:>6,}")


if __name__ == "__main__":
    main()
