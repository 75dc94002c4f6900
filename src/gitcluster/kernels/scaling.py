"""Features bent and rotated, one value or one row at a time."""

from math import expm1, log1p

from gitcluster.kernels import kernel

FAR = 1e100
"""Where bent values and coordinates before a rotation end."""


@kernel
def grow(values):
    """Make v into log(1 + v), -v into -log(1 + v)."""
    for i in range(len(values)):
        size = abs(values[i])
        if size > FAR:
            size = FAR
        values[i] = log1p(size) if values[i] >= 0.0 else -log1p(size)


@kernel
def stretch(grown, power, bent):
    """Yeo and Johnson's transform of values that have grown."""
    for i in range(len(grown)):
        size = abs(grown[i])
        exponent = power if grown[i] >= 0.0 else 2.0 - power
        if abs(exponent) * size >= 1e-9:
            size = expm1(exponent * size) / exponent
            if size > FAR:
                size = FAR
        bent[i] = size if grown[i] >= 0.0 else -size


@kernel
def rotate(start, stop, points, rotation, turned):
    """Add rows times a matrix, in the order of the features."""
    for i in range(start, stop):
        for j in range(points.shape[1]):
            value = points[i, j] * 1.0
            if value > FAR:
                value = FAR
            if value < -FAR:
                value = -FAR
            if value != 0.0:
                for r in range(rotation.shape[1]):
                    turned[i, r] += value * rotation[j, r]
