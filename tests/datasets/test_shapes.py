"""Generated sets: the same values everywhere."""

import numpy as np
import pytest

from gitcluster.datasets import load, make_noisy_moons, make_scaled_circles, make_smile

VALUES = {
    "circles": (lambda: load("circles"), 1026.468673102313, -1.014291569539103),
    "moons": (lambda: load("moons"), 1310.8859803326045, 0.0564849421926759),
    "impossible": (lambda: load("impossible"), 36070.32137288553, -4.889557282342761),
    "s_set": (lambda: load("s_set"), 5141100286.684008, 544306.0509148734),
    "smile": (lambda: load("smile"), 1037.2555596330453, -0.2972007540095676),
    "chainlink": (lambda: load("chainlink"), 1489.765145078376, 0.9559840730840999),
    "make_smile": (
        lambda: make_smile(200, random_state=np.random.RandomState(0)),
        206.2306618842331,
        -0.29933482777616,
    ),
    "make_noisy_moons": (lambda: make_noisy_moons(0.2, random_state=2021), 5977.980698774102, 2.014837795353042),
    "make_scaled_circles": (lambda: make_scaled_circles(50), 302478.0616008121, 1.1640708172395753),
}
"""A call, the sum of all absolute values, and one value."""


@pytest.mark.parametrize("name", VALUES)
def test_values_never_change(name):
    call, total, value = VALUES[name]
    X, _ = call()
    np.testing.assert_allclose([np.abs(X).sum(), X[7, 0]], [total, value], rtol=1e-9)


def test_scaled_circles_have_an_enlarged_mirrored_copy():
    X, y = make_scaled_circles(0, n_samples=100)
    enlarged, labels = make_scaled_circles(50, n_samples=100)
    np.testing.assert_array_equal(enlarged, np.concatenate([X, -50 * X]))
    np.testing.assert_array_equal(labels, np.concatenate([y, y + 2]))


@pytest.mark.parametrize("size", [8, 9, 1003])
def test_a_smile_of_any_size(size):
    X, y = make_smile(size, noise=0)
    assert X.shape == (size, 2)
    assert set(np.bincount(y)) <= {size // 4, size // 4 + 1}


def test_bad_parameters_are_named():
    for make, parameters in (
        (make_smile, {"n_samples": 3}),
        (make_smile, {"noise": np.nan}),
        (make_smile, {"noise": "much"}),
        (make_noisy_moons, {"noise": -1}),
        (make_scaled_circles, {"scale": np.inf}),
    ):
        with pytest.raises((TypeError, ValueError), match=next(iter(parameters))):
            make(**parameters)
