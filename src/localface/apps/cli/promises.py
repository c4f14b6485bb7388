"""The commands that give and recheck promises."""

from __future__ import annotations

import argparse
import sys
from contextlib import redirect_stdout
from pathlib import Path

from localface.analyses.promises import Fingerprint, Promise, Promises
from localface.analyses.promises.giving import give_promise
from localface.analyses.promises.rechecking import RepairOptions, recheck_promises
from localface.analyses.promises.report import Recheck
from localface.analyses.promises.verdict import PromiseStatus
from localface.answers.recourse import Recourse
from localface.answers.wording import to_one_line
from localface.apps import files
from localface.apps.cli.ask_options import read_ask
from localface.apps.cli.console import print_to_stderr, show_while_working
from localface.apps.cli.exit_codes import FOUND, NO_RECOURSE
from localface.apps.cli.inputs import find_person, make_explainer
from localface.data.whole_files import explain_os_errors, write_whole
from localface.engine.fingerprint import digest_of_file, digest_of_value, package_versions
from localface.errors import InputError
from localface.models.wanted import OtherThan

_SHOWN = 20  # promises that a list names


def run_promise(arguments: argparse.Namespace) -> int:
    """Write an answer down, close a promise, or list those that stand."""
    asks = arguments.row is not None or arguments.person is not None
    if arguments.answer is not None and asks:
        raise InputError("--answer is an answer already: leave out --row and --person")
    gives = arguments.answer is not None or asks
    promises = Promises.open(arguments.promises, create=gives, head=arguments.head)
    if arguments.close is not None:
        promises.close(arguments.close, arguments.why)
        print(f"closed {arguments.close}; the head is now {promises.head}")
        return FOUND
    if not gives:
        _list_promises(promises)
        return FOUND
    promise = _promise_answer_file(arguments, promises) if not asks else _ask(arguments, promises)
    if promise is None:
        return NO_RECOURSE
    print(f"{promise}\nid   {promise.id}\nhead {promises.head}")
    return FOUND


def _promise_answer_file(arguments: argparse.Namespace, promises: Promises) -> Promise:
    """Write down an answer that was printed before."""
    if arguments.answer == "-":
        recourse = Recourse.from_json(sys.stdin.read())
    else:
        recourse = files.read_answer(arguments.answer)
    prints = Fingerprint(
        schema=digest_of_value(recourse.schema.to_dict()), versions=package_versions()
    ).with_files(model=_file_named(arguments.model), data=_file_named(arguments.data))
    return promises.add(recourse, person=arguments.reference, fingerprint=prints)


def _ask(arguments: argparse.Namespace, promises: Promises) -> Promise | None:
    """Look for an answer, and write it down where there is one."""
    if arguments.data is None or arguments.model is None:
        raise InputError("--row and --person need --data and --model; or give --answer")
    with redirect_stdout(sys.stderr):  # whatever the user's model prints is not the answer
        explainer, columns = make_explainer(arguments)
        person = find_person(arguments, columns)
        ask = read_ask(arguments, explainer.schema)
        with show_while_working("looking for a path"):
            answer = explainer.explain(person, **ask.given_options())
    print(answer)
    if not answer.found:
        print_to_stderr("nothing is promised")
        return None
    prints = explainer.fingerprint.with_files(
        model=_file_named(arguments.model), data=_file_named(arguments.data)
    )
    return give_promise(
        explainer.engine,
        answer,
        promises,
        person=arguments.reference,
        ask=ask,
        fingerprint=prints,
    )


def _list_promises(promises: Promises) -> None:
    active = promises.active
    print(promises)
    for one in active[:_SHOWN]:
        whose = "" if one.person is None else f"  {to_one_line(one.person)}"
        print(f"  {one.id}  {one.time}{whose}")
    if len(active) > _SHOWN:
        print(f"  and {len(active) - _SHOWN:,} more")
    print(f"head {promises.head}")


def run_recheck(arguments: argparse.Namespace) -> int:
    """Recheck every promise that stands."""
    if arguments.json not in (None, "-"):
        files.require_writable_path(arguments.json)
    promises = Promises.open(arguments.promises, create=False, head=arguments.head)
    active = promises.active
    if not active:
        raise InputError(
            f"there are no open promises in {arguments.promises!r}: there is nothing to do"
        )
    _take_from_promise(arguments, active[-1])
    with redirect_stdout(sys.stderr):
        explainer, _ = make_explainer(arguments, schema=active[-1].recourse.schema)
        found = recheck_promises(
            explainer.engine,
            active,
            files.read_table(arguments.progress) if arguments.progress else None,
            id_column=arguments.id,
            fingerprint=explainer.fingerprint.with_files(
                model=_file_named(arguments.model), data=_file_named(arguments.data)
            ),
            options=RepairOptions(
                repairs=arguments.repairs,
                max_seconds=arguments.max_seconds,
                n_jobs=arguments.jobs,
            ),
        )
    _show(found, arguments.json)
    fine = (PromiseStatus.ARRIVED, PromiseStatus.HOLDS)
    return FOUND if all(one.status in fine for one in found) else NO_RECOURSE


def _take_from_promise(arguments: argparse.Namespace, promise: Promise) -> None:
    """Take from the last promise what was not said: its data, its target and its score."""
    arguments.data = arguments.data or _data_of(promise)
    if arguments.target is None:
        arguments.target = _target_as_typed(promise.target)
        if not isinstance(promise.target, tuple) and arguments.min_score is None:
            arguments.min_score = promise.recourse.target.min_score


def _target_as_typed(target: object) -> str | None:
    """A target as --target takes it."""
    if isinstance(target, OtherThan):
        return "other"
    if isinstance(target, tuple):
        return ":".join("" if end is None else str(end) for end in target)
    return None if target is None else str(target)


def _show(found: Recheck, path: str | None) -> None:
    if path == "-":
        print(found.to_json(indent=2))
        return
    print(found)
    for one in found.broken[:_SHOWN]:
        print(f"  {one!r}: {one.way.value}")
    if path is not None:
        with explain_os_errors(f"{path!r} cannot be written"):
            write_whole(Path(path), found.to_json(indent=2) + "\n")
        print_to_stderr(f"wrote {path}")


def _data_of(promise: Promise) -> str:
    """The file that a promise was worked out from, where it is still what it was."""
    mark = promise.fingerprint.data_file
    if mark is None:
        raise InputError("the promises do not say what they were worked out from: give --data")
    path = Path(mark.name)
    if not path.is_file() or digest_of_file(path) != mark.digest:
        raise InputError(
            f"{mark.name!r}, which the promises were worked out from, is not there or not what it "
            "was: give --data"
        )
    return mark.name


def _file_named(where: str | None) -> str | None:
    """A file that was named; None where it is a store or a module to import."""
    return where if where is not None and Path(where).is_file() else None
