"""The public surface: what is exported exists, is documented and comes without optional packages."""

import inspect
import subprocess
import sys

import gitcluster


def test_all_names_exist_and_are_documented():
    assert len(set(gitcluster.__all__)) == len(gitcluster.__all__)
    for name in gitcluster.__all__:
        assert inspect.getdoc(getattr(gitcluster, name)), name


def test_stages_are_keyword_only_after_the_data():
    for name in gitcluster.__all__:
        function = getattr(gitcluster, name)
        if inspect.isfunction(function):
            positional = [
                p for p in inspect.signature(function).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD
            ]
            assert len(positional) <= 2, name


def test_import_needs_nothing_optional():
    optional = ["matplotlib", "pandas", "dask", "networkx"]
    baseline = "import sys, sklearn.cluster, sklearn.neighbors; before = set(sys.modules); "
    code = f"{baseline}import gitcluster; print([m for m in {optional} if m in set(sys.modules) - before])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
