"""The layers of the house: imports go down, and every guest library has one home."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gitcluster

PACKAGE = Path(gitcluster.__file__).parent
FILES = {path.stem: [path] for path in PACKAGE.glob("*.py")} | {
    path.parent.name: sorted(path.parent.glob("*.py")) for path in PACKAGE.glob("*/__init__.py")
}
"""Files of every unit: a module is one, a package is one of several files."""
UNITS = sorted(FILES)
LAYERS = [
    ["__main__"],
    ["cli"],
    ["explorer", "plots", "integrations"],
    ["__init__"],
    ["distributed"],
    ["estimator"],
    ["resampling", "edits", "comparison"],
    ["pipeline"],
    ["fitted"],
    ["selection"],
    ["referees"],
    ["configurations"],
    ["samples"],
    ["constraints"],
    ["hierarchy"],
    ["edge_cutting"],
    ["topo_graph"],
    ["local_clusters"],
    ["intensity"],
    ["metrics"],
    ["preprocessing"],
    ["neighbors"],
    ["variants"],
    ["kernels"],
    ["_support"],
]
LEAVES = {"datasets": {"_support"}}
UPWARD = {
    "estimator": {"explorer"},  # model.explore
    "comparison": {"plots"},  # comparison.plot
    "integrations": {"plots"},  # scanpy.plot_resolution
}
"""Conveniences that need a higher layer, and import it when they are called."""
HOMES = {
    "click": {"cli"}, "dask": {"distributed"}, "distributed": {"distributed"},
    "matplotlib": {"cli", "plots"}, "numba": {"kernels"}, "openpyxl": {"cli"}, "pooch": {"datasets"},
    "pyarrow": {"cli", "distributed"}, "rich": {"cli"}, "toponymy": {"integrations"},
}  # fmt: skip

SLOW = {"decomposition", "linear_model", "metrics", "neighbors", "preprocessing", "tree"}
"""Parts of scikit-learn that take long to load, which a plain fit does without."""


def imported_names(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    assert not node.level, "imports are absolute"
    if node.module == "gitcluster":
        return [f"gitcluster.{name}" for name in {alias.name for alias in node.names} & set(UNITS) or {"__init__"}]
    return [node.module]


def imports(unit):
    """Return other units of the package and top-level guests that a unit imports, wherever in its files."""
    names = {
        name for path in FILES[unit] for node in ast.walk(ast.parse(path.read_text())) for name in imported_names(node)
    }
    own = {name.split(".")[1] for name in names if name.startswith("gitcluster.")}
    return own - {unit}, {name.split(".")[0] for name in names}


def test_every_unit_has_a_layer():
    assert sorted([name for layer in LAYERS for name in layer] + list(LEAVES)) == UNITS


@pytest.mark.parametrize("unit", UNITS)
def test_imports_go_down(unit):
    own, guests = imports(unit)
    below = LEAVES.get(unit)
    if below is None:
        height = next(i for i, layer in enumerate(LAYERS) if unit in layer)
        below = {name for layer in LAYERS[height + 1 :] for name in layer} | set(LEAVES)
    assert own - UPWARD.get(unit, set()) <= below
    for guest in guests & set(HOMES):
        assert unit in HOMES[guest], f"{guest} is imported in {unit}"


@pytest.mark.parametrize(("unit", "above"), [(unit, above) for unit, all_of in UPWARD.items() for above in all_of])
def test_upward_imports_are_inside_functions(unit, above):
    for path in FILES[unit]:
        at_the_top = [name for node in ast.parse(path.read_text()).body for name in imported_names(node)]
        assert not any(name.split(".")[1:2] == [above] for name in at_the_top)


def test_import_loads_no_slow_part_of_scikit_learn():
    """They are imported in the functions that need them."""
    code = "import sys, sklearn.utils; before = {*sys.modules}; import gitcluster; print(*{*sys.modules} - before)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()
    assert "gitcluster" in loaded
    assert not {f"sklearn.{part}" for part in SLOW} & set(loaded)
