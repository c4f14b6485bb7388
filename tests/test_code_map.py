"""The code map tells the truth: what it names is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "localface"
TEXT = (ROOT / "docs" / "code-map.md").read_text(encoding="utf-8")
ENTRIES = sorted(
    path.name for path in PACKAGE.iterdir() if path.name not in ("__pycache__", "py.typed")
)


def test_the_root_package_has_at_most_twenty_entries() -> None:
    assert len(ENTRIES) + 1 <= 20  # py.typed


@pytest.mark.parametrize("name", [name for name in ENTRIES if not name.startswith("_")])
def test_every_entry_of_the_package_is_on_the_map(name: str) -> None:
    shown = f"{name}/" if (PACKAGE / name).is_dir() else name
    assert f"\n  {shown} " in TEXT


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`([a-z_/]+\.py)`", TEXT))))
def test_every_file_that_the_map_names_is_there(name: str) -> None:
    assert [path for path in PACKAGE.rglob(Path(name).name) if str(path).endswith(f"/{name}")] or (
        ROOT / name
    ).is_file()


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path)[-40:])
def test_a_module_says_in_one_sentence_what_it_is_for_and_is_not_too_long(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    sentence = (ast.get_docstring(ast.parse(text)) or "").split("\n")[0]

    assert sentence.endswith(".")
    assert text.count("\n") <= 350


def test_no_public_name_is_defined_in_two_folders() -> None:
    found: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        folder = path.relative_to(PACKAGE).parts[0]
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, set()).add(folder)
    twice = {name: sorted(folders) for name, folders in found.items() if len(folders) > 1}
    assert twice == {}
