"""Constraints for pip: every dependency and extra of pyproject.toml at the lowest version it allows.

``python scripts/oldest_versions.py > constraints.txt``. Tools without a lower bound are left to pip.
"""

import re
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def oldest_versions(requirements: list[str]) -> list[str]:
    """``name==version`` of all requirements ``name[extras]>=version``; those without a lower bound are left out."""
    bounds = (re.match(r"([\w.-]+)(?:\[.*?\])?\s*>=\s*([\w.]+)", requirement) for requirement in requirements)
    return sorted({f"{bound[1]}=={bound[2]}" for bound in bounds if bound})


if __name__ == "__main__":
    project = tomllib.loads(PYPROJECT.read_text())["project"]
    extras = project["optional-dependencies"].values()
    print(*oldest_versions([*project["dependencies"], *(line for extra in extras for line in extra)]), sep="\n")
