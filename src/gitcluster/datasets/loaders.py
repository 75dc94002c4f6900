"""``load_<name>``: the paper's data sets, each as ``(X, y)``; ``load`` takes the same names and a few options."""

from gitcluster.datasets.loading import load
from gitcluster.datasets.store import Labelled


def load_iris() -> Labelled:
    """150 irises of three species, 4 measures.

    The values are those of UCI, which the paper clusters; in three of them scikit-learn follows Fisher's table instead.

    Examples
    --------
    >>> X, y = load_iris()
    >>> X.shape
    (150, 4)
    """
    return load("iris")


def load_wine() -> Labelled:
    """178 wines of three cultivars, 13 measures.

    Examples
    --------
    >>> X, y = load_wine()
    >>> X.shape
    (178, 13)
    """
    return load("wine")


def load_cancer() -> Labelled:
    """569 tumours of the breast, benign (0) or malignant (1), 30 measures of cell nuclei.

    Examples
    --------
    >>> X, y = load_cancer()
    >>> X.shape
    (569, 30)
    """
    return load("cancer")


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


def load_olivetti() -> Labelled:
    """400 faces of 40 people, 64 x 64 pixels in 0..1, ``Face`` in the paper. Downloaded.

    Examples
    --------
    >>> X, y = load_olivetti()  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (400, 4096)
    """
    return load("olivetti")


def load_mnist() -> Labelled:
    """60,000 handwritten digits, the training images of MNIST, 28 x 28 pixels in 0..1. Downloaded.

    Examples
    --------
    >>> X, y = load_mnist()  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (60000, 784)
    """
    return load("mnist")


def load_fmnist() -> Labelled:
    """60,000 pieces of clothing in ten kinds, the training images of Fashion-MNIST, 28 x 28 pixels in 0..1. Downloaded.

    Examples
    --------
    >>> X, y = load_fmnist()  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (60000, 784)
    """
    return load("fmnist")


def load_frogs() -> Labelled:
    """7,195 calls of frogs and toads of ten species, 22 coefficients of their sound. Downloaded.

    Examples
    --------
    >>> X, y = load_frogs()  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (7195, 22)
    """
    return load("frogs")


def load_codon() -> Labelled:
    """13,028 genomes of eleven kingdoms, the shares of 64 codons. Downloaded.

    Two rows that commas in the names of their species broke are repaired (the published experiments read nonsense
    there). The class sizes go from 18 to 2,920.

    Examples
    --------
    >>> X, y = load_codon()  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (13028, 64)
    """
    return load("codon")


def load_circles() -> Labelled:
    """Two noisy circles, one in the other: the paper's where ``toy_circles.npz`` is, else a draw like it.

    Examples
    --------
    >>> X, y = load_circles()
    >>> X.shape
    (1001, 2)
    """
    return load("circles")


def load_moons() -> Labelled:
    """Two noisy moons: the paper's where ``toy_moons.npz`` is, else a draw like it.

    Examples
    --------
    >>> X, y = load_moons()
    >>> X.shape
    (1001, 2)
    """
    return load("moons")


def load_impossible() -> Labelled:
    """Seven clusters of mixed shapes: the paper's where ``toy_impossible.npz`` is, else ``make_impossible``.

    Examples
    --------
    >>> X, y = load_impossible()
    >>> X.shape
    (3595, 2)
    """
    return load("impossible")


def load_s_set() -> Labelled:
    """Fifteen Gaussian clusters: the paper's where ``toy_s-set.npz`` is, else ``make_s_set``.

    Examples
    --------
    >>> X, y = load_s_set()
    >>> X.shape
    (5000, 2)
    """
    return load("s_set")


def load_smile() -> Labelled:
    """Two eyes, an outline and a mouth: the paper's where ``toy_smile.npz`` is, else ``make_smile``.

    Examples
    --------
    >>> X, y = load_smile()
    >>> X.shape
    (1001, 2)
    """
    return load("smile")


def load_chainlink() -> Labelled:
    """Two rings in space, one through the other: the paper's where ``toy_chainlink.npz`` is, else ``make_chainlink``.

    Examples
    --------
    >>> X, y = load_chainlink()
    >>> X.shape
    (1001, 3)
    """
    return load("chainlink")
