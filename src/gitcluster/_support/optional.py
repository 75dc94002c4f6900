"""Import optional packages, with one error message for all of them."""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType


def is_installed(package: str) -> bool:
    """Return whether a package can be imported."""
    return find_spec(package) is not None


def require(package: str, *, extra: str, purpose: str) -> ModuleType:
    """Return a package; raise ImportError with the pip line if it is missing.

    Examples
    --------
    >>> require("math", extra="none", purpose="this example").sqrt(4.0)
    2.0
    """
    if not is_installed(package):
        raise ImportError(f"{purpose} needs the package {package}: pip install 'gitcluster[{extra}]'")
    return import_module(package)
