"""``load_<name>``: the paper's data sets, each as ``(X, y)``; ``load`` takes the same names and a few options."""

from collections.abc import Callable

from gitcluster.datasets.catalog import describe
from gitcluster.datasets.loading import load
from gitcluster.datasets.store import Labelled


def _loader(name: str) -> Callable[[], Labelled]:
    """The loader of a set, whose text is that of the catalog."""

    def load_set() -> Labelled:
        return load(name)

    info = describe(name)
    skip = "  # doctest: +SKIP" if "Downloaded" in info.about else ""
    load_set.__name__ = load_set.__qualname__ = f"load_{name}"
    load_set.__doc__ = f"""{info.about}

    It comes from: {info.origin}.

    Returns
    -------
    X : ndarray of shape ({info.n_samples}, {info.n_features})
    y : ndarray of shape ({info.n_samples},)
        Labels from 0 to {info.n_classes - 1}.

    Examples
    --------
    >>> X, y = load_{name}(){skip}
    >>> X.shape{skip}
    ({info.n_samples}, {info.n_features})
    """
    return load_set


load_cancer = _loader("cancer")
load_chainlink = _loader("chainlink")
load_circles = _loader("circles")
load_codon = _loader("codon")
load_fmnist = _loader("fmnist")
load_frogs = _loader("frogs")
load_impossible = _loader("impossible")
load_iris = _loader("iris")
load_mnist = _loader("mnist")
load_moons = _loader("moons")
load_olivetti = _loader("olivetti")
load_s_set = _loader("s_set")
load_smile = _loader("smile")
load_wine = _loader("wine")


def load_hepatitis(*, as_published: bool = True) -> Labelled:
    """Patients with hepatitis who died (0) or lived (1), 19 features; gaps are the means of their columns. Downloaded.

    Parameters
    ----------
    as_published : bool, default=True
        154 patients as in the paper, whose reader lost the first of the file; False for all 155.

    Examples
    --------
    >>> X, y = load_hepatitis()  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (154, 19)
    """
    return load("hepatitis" if as_published else "hepatitis_full")
