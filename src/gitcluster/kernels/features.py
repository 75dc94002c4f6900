"""Loops over feature values: the Yeo-Johnson transform, rotation, and imputation."""

from math import expm1, inf, isnan, log1p, nan

import numpy as np

from gitcluster.kernels import kernel

FAR = 1e100
"""Transformed values are clipped here: their squares, summed over features, stay finite."""
PRECISION = 1e9
"""Squared distances, of features of unit variance, are compared to nine decimals."""


@kernel
def signed_log1p(values):
    """Replace v by sign(v) log(1 + |v|): the part of the Yeo-Johnson transform that does not depend on the power."""
    for i in range(len(values)):
        size = abs(values[i])
        if size > FAR:
            size = FAR
        values[i] = log1p(size) if values[i] >= 0.0 else -log1p(size)


@kernel
def yeo_johnson(logs, power, transformed):
    """Write the Yeo-Johnson transform of values, given their :func:`signed_log1p`.

    For v >= 0 the transform is ((1 + v)^p - 1) / p = expm1(p log1p(v)) / p, which is log1p(v) for p = 0. For v < 0 it
    is the negative of that with 2 - p and |v|. Below 1e-9 the quotient equals its limit to double precision.
    """
    for i in range(len(logs)):
        size = abs(logs[i])
        exponent = power if logs[i] >= 0.0 else 2.0 - power
        if abs(exponent) * size >= 1e-9:
            size = expm1(exponent * size) / exponent
            if size > FAR:
                size = FAR
        transformed[i] = size if logs[i] >= 0.0 else -size


@kernel
def rotate(points, rotation, rotated):
    """Add points times a matrix to ``rotated``, in the order of the features.

    A matrix product of BLAS may round differently with another number of rows; here equal rows give equal results.
    """
    for i in range(len(points)):
        for j in range(points.shape[1]):
            value = points[i, j] * 1.0
            if value > FAR:
                value = FAR
            if value < -FAR:
                value = -FAR
            if value != 0.0:
                for r in range(rotation.shape[1]):
                    rotated[i, r] += value * rotation[j, r]


@kernel
def impute_rows(start, stop, rows, donors, n_neighbors, out):
    """Fill the NaN of ``rows[start:stop]`` in ``out`` with means over the nearest donors that have the feature.

    The squared distance of two rows is its mean over the features that both have. Donors at the same distance are used
    in their order. A feature that no donor has stays NaN.
    """
    n_donors, n_features = donors.shape
    distance = np.empty(n_donors)
    nearest, values = np.empty(n_neighbors), np.empty(n_neighbors)
    for i in range(start, stop):
        for d in range(n_donors):
            total, shared = 0.0, 0
            for j in range(n_features):
                gap = rows[i, j] - donors[d, j]
                if not isnan(gap):
                    total += gap * gap
                    shared += 1
            # Rounded, so that ties do not depend on the order in which features are added.
            distance[d] = np.rint(total / shared * PRECISION) if shared > 0 else inf
        for j in range(n_features):
            if not isnan(rows[i, j]):
                continue
            count = 0
            for d in range(n_donors):
                if isnan(donors[d, j]) or distance[d] == inf or (count == n_neighbors and distance[d] >= nearest[-1]):
                    continue
                # Insert the donor behind those at the same or a smaller distance.
                position = min(count, n_neighbors - 1)
                while position > 0 and nearest[position - 1] > distance[d]:
                    nearest[position], values[position] = nearest[position - 1], values[position - 1]
                    position -= 1
                nearest[position], values[position] = distance[d], donors[d, j]
                count = min(count + 1, n_neighbors)
            total = 0.0
            for position in range(count):
                total += values[position]
            out[i, j] = total / count if count > 0 else nan
