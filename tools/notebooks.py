"""Make the notebooks of examples/ from its scripts, executed: make notebooks [ARGS="two_moons"]

A script is in percent format: `# %%` begins a cell of code, `# %% [markdown]` one of text. The
notebooks hold the same cells with what they print, and nothing of the machine that ran them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
NOTEBOOKS = EXAMPLES / "notebooks"
_TEXT = "# %% [markdown]"
_CODE = "# %%"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: ``markdown`` or ``code``, and what stands in it."""

    kind: str
    text: str


def read_cells(script: str) -> list[Cell]:
    """Take a script in percent format apart.

    >>> read_cells("# %% [markdown]\\n# # A title\\n#\\n# Text.\\n\\n# %%\\nprint(1)\\n")
    [Cell(kind='markdown', text='# A title\\n\\nText.'), Cell(kind='code', text='print(1)')]
    """
    return list(_cells(script.splitlines()))


def _cells(lines: list[str]) -> Iterator[Cell]:
    starts = [i for i, line in enumerate(lines) if line in (_TEXT, _CODE)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        within = lines[start + 1 : end]
        if lines[start] == _TEXT:
            within = [line.removeprefix("#").removeprefix(" ") for line in within]
        kind = "markdown" if lines[start] == _TEXT else "code"
        yield Cell(kind, "\n".join(within).strip())


def scripts() -> list[Path]:
    """The examples: scripts in percent format."""
    found = sorted(EXAMPLES.glob("*.py"))
    return [path for path in found if path.read_text(encoding="utf-8").startswith(_TEXT)]


def make_notebook(script: Path) -> Any:
    """Run a script as a notebook."""
    import nbformat
    from nbclient import NotebookClient

    new = {"markdown": nbformat.v4.new_markdown_cell, "code": nbformat.v4.new_code_cell}
    cells = [new[one.kind](one.text) for one in read_cells(script.read_text(encoding="utf-8"))]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    NotebookClient(notebook, timeout=600, record_timing=False).execute()
    notebook.metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return notebook


def main(names: list[str]) -> None:
    """Make some of the notebooks, or all."""
    import nbformat

    NOTEBOOKS.mkdir(exist_ok=True)
    for script in scripts():
        if not names or script.stem in names:
            path = NOTEBOOKS / f"{script.stem}.ipynb"
            nbformat.write(make_notebook(script), path)
            print(f"{path.relative_to(EXAMPLES.parent)}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
