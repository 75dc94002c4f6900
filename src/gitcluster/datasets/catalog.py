"""What is known of every data set before it is read: its size, its classes, its origin and licence."""

from typing import NamedTuple

from gitcluster._support.validation import check_choice


class Info(NamedTuple):
    """What is known of a data set; ``describe`` gives it by name."""

    name: str
    n_features: int
    class_sizes: tuple[int, ...]
    about: str
    origin: str
    licence: str = ""
    stem: str = ""
    """Name of its file without ``.npz`` where it is not ``name``."""

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return sum(self.class_sizes)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.class_sizes)

    @property
    def file(self) -> str:
        """Name of the file that holds the arrays ``X`` and ``y``."""
        return f"{self.stem or self.name}.npz"


_UCI = "CC BY 4.0"
_DRAWN = "drawn set of the paper; without its file, a generated set like it"
_CATALOG = [
    Info("iris", 4, (50, 50, 50), "Irises of three species, 4 measures, with the values of UCI, which the paper uses "
         "(in three of them scikit-learn follows Fisher's table instead).",
         "Fisher 1936; UCI 53, as shipped with scikit-learn", _UCI),
    Info("wine", 13, (59, 71, 48), "Wines of three cultivars, 13 measures.",
         "Aeberhard and Forina 1991; UCI 109, as shipped with scikit-learn", _UCI),
    Info("hepatitis", 19, (32, 122), "Patients with hepatitis who died (0) or lived (1), 19 features.",
         "Gong 1983; UCI 46, without the first patient", _UCI),
    Info("hepatitis_full", 19, (32, 123), "Patients with hepatitis who died (0) or lived (1), 19 features.",
         "Gong 1983; UCI 46, all patients", _UCI),
    Info("cancer", 30, (357, 212), "Tumours of the breast, benign (0) or malignant (1), 30 measures of cell nuclei.",
         "Wolberg and others 1993; UCI 17, as shipped with scikit-learn", _UCI),
    Info("olivetti", 4096, (10,) * 40, "Faces of 40 people, 64 x 64 pixels in 0..1, ``Face`` in the paper. Downloaded.",
         "AT&T Laboratories Cambridge 1994, by way of figshare", "credit to AT&T"),
    Info("mnist", 784, (5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949),
         "Handwritten digits, the training images of MNIST, 28 x 28 pixels in 0..1. Downloaded.",
         "LeCun, Cortes and Burges 1998, the training images", "CC BY-SA 3.0"),
    Info("fmnist", 784, (6000,) * 10,
         "Clothing in ten kinds, the training images of Fashion-MNIST, 28 x 28 pixels in 0..1. Downloaded.",
         "Xiao, Rasul and Vollgraf 2017, the training images", "MIT"),
    Info("frogs", 22, (672, 3478, 542, 310, 472, 1121, 270, 114, 68, 148),
         "Calls of frogs and toads of ten species, 22 coefficients of their sound. Downloaded.",
         "Colonna and others 2017, anuran calls; UCI 406, classes are species", _UCI),
    Info("codon", 64, (126, 2920, 220, 18, 2523, 1345, 2077, 572, 215, 180, 2832),
         "Genomes of eleven kingdoms, the shares of 64 codons. Two rows that commas in the names of species broke are "
         "repaired (the published experiments misread them). Downloaded.",
         "Hallee and Khomtchouk 2020, codon usage; UCI 577, classes are kingdoms", _UCI),
    Info("circles", 2, (500, 501), "Two noisy circles, one in the other.", _DRAWN, stem="toy_circles"),
    Info("moons", 2, (500, 501), "Two noisy moons.", _DRAWN, stem="toy_moons"),
    Info("impossible", 2, (893, 676, 406, 270, 450, 450, 450), "Seven clusters of mixed shapes.", _DRAWN,
         stem="toy_impossible"),
    Info("s_set", 2, (341, 314, 312, 352, 319, 351, 333, 327, 347, 340, 351, 352, 338, 298, 325),
         "Fifteen Gaussian clusters.", "Fränti and Virmajoki 2006; without its file, a generated set like it",
         stem="toy_s-set"),
    Info("smile", 2, (251, 250, 250, 250), "Two eyes, the outline of a face and a mouth.", _DRAWN, stem="toy_smile"),
    Info("chainlink", 3, (501, 500), "Two rings in space, one through the other.", _DRAWN, stem="toy_chainlink"),
]  # fmt: skip
_BY_NAME = {info.name: info for info in _CATALOG}


def names() -> list[str]:
    """Names of the data sets that ``load`` knows, the real ones first.

    Examples
    --------
    >>> names()[:3]
    ['iris', 'wine', 'hepatitis']
    """
    return list(_BY_NAME)


def describe(name: str) -> Info:
    """What is known of a data set, without reading it.

    Parameters
    ----------
    name : str
        One of ``names()``.

    Returns
    -------
    Info

    Examples
    --------
    >>> info = describe("frogs")
    >>> info.n_samples, info.n_features, info.n_classes
    (7195, 22, 10)
    """
    return _BY_NAME[check_choice("name", name, _BY_NAME)]
