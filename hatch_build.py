"""Compiles the C kernels when the package is built or installed, where a compiler is there.

Without one the package is complete all the same: NumPy does the work, more slowly.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_FOLDER = Path("src/localface/geometry/compiled")


class CustomBuildHook(BuildHookInterface[Any]):
    """Builds the library into the source folder, and adds it to the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build before the files of a wheel are gathered."""
        if self.target_name != "wheel":
            return
        trouble = runpy.run_path(str(Path(self.root) / _FOLDER / "build.py"))["build"]()
        if trouble:
            self.app.display_warning(f"localface is installed without its compiled part: {trouble}")
            return
        build_data["artifacts"].append(f"/{_FOLDER}/_kernels.so")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{_platform_tag()}"


def _platform_tag() -> str:
    from packaging.tags import platform_tags

    return next(iter(platform_tags()))
