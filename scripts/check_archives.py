"""Check the contents of the wheel and of the source archive.

``python scripts/check_archives.py FOLDER`` for the folder that ``python -m build`` wrote. The files that git tracks are
the measure: the wheel holds those of the package, the source archive those needed to build and to test.
"""

import re
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[1]
MACHINE_PATH = re.compile(rb"(?<![\w.])(?:/(?:home|root|tmp|work|Users)/|[A-Z]:\\)\w")
"""A path on a developer's machine. Paths in web addresses follow a letter and do not match."""
NOT_IN_SDIST = (".github/", ".pre-commit-config.yaml")
METADATA = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
OPTIONAL_METADATA = {"entry_points.txt"}
PACKAGE_DATA = {
    "gitcluster/py.typed",
    "gitcluster/cli/diff.html",
    "gitcluster/cli/page.html",
    "gitcluster/cli/report.html",
    "gitcluster/explorer/page.html",
}


def tracked_files() -> set[str]:
    """Everything in the repository, by its path from the root."""
    return set(subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines())


def machine_paths(files: dict[str, bytes]) -> list[str]:
    """Text files that name a place on somebody's machine, and the place."""
    texts = ((name, data) for name, data in files.items() if b"\0" not in data)
    return [f"{name}: {found[0].decode()}..." for name, data in texts if (found := MACHINE_PATH.search(data))]


def compare(what: str, found: set[str], wanted: set[str]) -> list[str]:
    """One complaint a file that is missing and one a file too many."""
    missing = [f"{what} lacks {name}" for name in sorted(wanted - found)]
    return missing + [f"{what} should not have {name}" for name in sorted(found - wanted)]


def check_wheel(path: Path) -> list[str]:
    """The package as it is tracked, made of Python and of the few data files that are known, and its metadata."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    information = "-".join(path.name.split("-")[:2]) + ".dist-info/"
    metadata = {name.removeprefix(information) for name in files if name.startswith(information)}
    package = {name for name in files if not name.startswith(information)}
    data = {name for name in package if PurePosixPath(name).suffix != ".py"}
    wanted = {name.removeprefix("src/") for name in tracked_files() if name.startswith("src/")}
    return [
        *compare("the wheel", package, wanted),
        *compare("the metadata", metadata, METADATA - (OPTIONAL_METADATA - metadata)),
        *(f"the wheel should not have {name}" for name in sorted(data - PACKAGE_DATA)),
        *machine_paths(files),
        *check_metadata(files[f"{information}METADATA"]),
    ]


def check_metadata(text: bytes) -> list[str]:
    """The fields that a reader of the package index needs."""
    fields = message_from_bytes(text)
    needed = ("Summary", "License-Expression", "Requires-Python", "Requires-Dist", "Classifier", "Project-URL")
    return [f"the metadata lack {name}" for name in needed if not fields[name]]


def check_sdist(path: Path) -> list[str]:
    """The tracked files but for those that only the repository needs, and the metadata."""
    with tarfile.open(path) as archive:
        members = {item.name.split("/", 1)[1]: item for item in archive.getmembers() if item.isfile()}
        files = {name: archive.extractfile(item).read() for name, item in members.items()}  # type: ignore[union-attr]
    wanted = {name for name in tracked_files() if not name.startswith(NOT_IN_SDIST)} | {"PKG-INFO"}
    return compare("the source archive", set(files), wanted) + machine_paths(files)


def main(folder: Path) -> None:
    """Check both archives; every complaint at once."""
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    complaints = check_wheel(wheel) + check_sdist(sdist)
    if complaints:
        raise SystemExit("\n".join(complaints))
    print(f"{wheel.name} and {sdist.name} hold what they should")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
