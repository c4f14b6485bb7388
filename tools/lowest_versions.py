"""Print the lowest versions that pyproject.toml allows, as constraints for pip.

python tools/lowest_versions.py frames models plots
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(?:\[[^]]*\])?>=(?P<version>[0-9.]+)")


def lowest(extras: list[str]) -> list[str]:
    """The lower bounds of the core and of some extras."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = list(project["dependencies"])
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    found = [REQUIREMENT.fullmatch(one) for one in wanted]
    return [f"{one['name']}=={one['version']}" for one in found if one is not None]


if __name__ == "__main__":
    print("\n".join(lowest(sys.argv[1:])))
