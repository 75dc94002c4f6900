"""Features bent and rotated, one value or one row at a time."""

from math import inf, log, log1p

import numpy as np

from gitcluster._jit import inner_kernel, kernel

FAR = 1e100
"""Where bent values and coordinates before a rotation end."""
GOLDEN = 0.6180339887498949
STEPS = 16


@inner_kernel
def bend_one(value, power):
    """Yeo and Johnson's transform of one value."""
    sign = 1.0 if value >= 0.0 else -1.0
    exponent = power if value >= 0.0 else 2.0 - power
    grown = log1p(min(abs(value), FAR))
    if abs(exponent) * grown < 1e-9:
        return sign * grown
    return sign * min(np.expm1(exponent * grown) / exponent, FAR)


@kernel
def bend(values, power):
    """Transform values in their place."""
    for i in range(len(values)):
        values[i] = bend_one(values[i], power)


@inner_kernel
def likelihood(values, power, jacobian):
    """Log likelihood of a Gaussian after the transform, apart from a constant; ``jacobian`` is the summed log slope."""
    total, squares = 0.0, 0.0
    for i in range(len(values)):
        bent = bend_one(values[i], power)
        total += bent
        squares += bent * bent
    n = len(values)
    variance = squares / n - (total / n) ** 2
    return -inf if not 1e-12 < variance < inf else (power - 1.0) * jacobian - 0.5 * n * log(variance)


@kernel
def best_power(values, low, high):
    """The exponent between two that makes values most like those of a Gaussian, by golden section."""
    jacobian = 0.0
    for i in range(len(values)):
        jacobian += (1.0 if values[i] >= 0.0 else -1.0) * log1p(abs(values[i]))
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = likelihood(values, left, jacobian), likelihood(values, right, jacobian)
    for _ in range(STEPS):
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = likelihood(values, left, jacobian)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = likelihood(values, right, jacobian)
    return 0.5 * (low + high)


@kernel
def rotate(start, stop, points, rotation, turned):
    """Rows times a matrix, summed in the order of the features."""
    row = np.empty(rotation.shape[1])
    for i in range(start, stop):
        row[:] = 0.0
        for j in range(points.shape[1]):
            value = min(max(np.float64(points[i, j]), -FAR), FAR)
            if value != 0.0:
                for r in range(len(row)):
                    row[r] += value * rotation[j, r]
        for r in range(len(row)):
            turned[i, r] = row[r]
