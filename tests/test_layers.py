"""The layers of the house: imports go down, and every guest library has one home."""

import ast
from pathlib import Path

import pytest

import gitcluster

PACKAGE = Path(gitcluster.__file__).parent
FILES = {path.stem: [path] for path in PACKAGE.glob("*.py")} | {
    path.parent.name: sorted(path.parent.glob("*.py")) for path in PACKAGE.glob("*/__init__.py")
}
"""Files of every unit: a module is one, a package is one of several files."""
MODULES = sorted(FILES)
LAYERS = [
    ["__main__"],
    ["cli"],
    ["explorer", "plots"],
    ["places"],
    ["__init__"],
    ["distributed"],
    ["scanpy"],
    ["explanation", "exports"],
    ["estimator"],
    ["views"],
    ["prediction"],
    ["pipeline"],
    ["selection"],
    ["constraints"],
    ["hierarchy"],
    ["edge_cutting"],
    ["topo_graph"],
    ["local_clusters"],
    ["intensity"],
    ["graphs"],
    ["neighbors"],
    ["search"],
    ["cells"],
    ["scaling"],
    ["proportions"],
    ["_kernels"],
    ["_search_kernels"],
    ["_jit"],
    ["_validation"],
    ["_optional"],
    ["persistence"],
    ["progress"],
    ["_files"],
]
LEAVES = {
    "autoencoder": {"_optional", "_validation"},
    "datasets": {"_files", "_optional", "_validation"},
    "metrics": {"_validation"},
}
HOMES = {
    "click": {"cli"}, "dask": {"distributed"}, "distributed": {"distributed"}, "fsspec": {"distributed"},
    "matplotlib": {"cli", "plots"}, "numba": {"_jit"}, "openpyxl": {"cli"}, "pyarrow": {"cli", "distributed"},
    "rich": {"cli"},
}  # fmt: skip


def imports(module):
    """Other units of the package and top-level guests that a unit imports."""
    own, guests = set(), set()
    for node in (node for path in FILES[module] for node in ast.walk(ast.parse(path.read_text()))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module]
            if node.module == "gitcluster":
                modules = {alias.name for alias in node.names} & set(MODULES)
                names = [f"gitcluster.{name}" for name in modules or {"__init__"}]
        for name in names:
            if name.startswith("gitcluster."):
                own.add(name.split(".")[1])
            else:
                guests.add(name.split(".")[0])
    return own - {module}, guests


def test_every_module_has_a_layer():
    assert sorted([name for layer in LAYERS for name in layer] + list(LEAVES)) == MODULES


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_down(module):
    own, guests = imports(module)
    if module in LEAVES:
        assert own <= LEAVES[module]
    else:
        height = next(i for i, layer in enumerate(LAYERS) if module in layer)
        below = {name for layer in LAYERS[height + 1 :] for name in layer} | set(LEAVES)
        assert own <= below
    for guest in guests & set(HOMES):
        assert module in HOMES[guest]
