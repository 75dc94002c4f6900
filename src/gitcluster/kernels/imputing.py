"""Impute missing features from the nearest rows that have them."""

from math import inf, isnan, nan

import numpy as np

from gitcluster.kernels import kernel

PRECISION = 1e9
"""Squared distances, of features of unit variance, are compared to nine decimals."""


@kernel
def impute_rows(start, stop, rows, donors, n_neighbors, out):
    """Fill the NaN of ``rows[start:stop]`` in ``out`` with means over the nearest donors that have the feature.

    The squared distance of two rows is its mean over the features that both have. Donors at the same distance are
    used in their order. A feature that no donor can tell stays NaN.
    """
    n_donors, n_features = donors.shape
    distance = np.empty(n_donors)
    nearest, values = np.empty(n_neighbors), np.empty(n_neighbors)
    for i in range(start, stop):
        complete = True
        for j in range(n_features):
            if isnan(rows[i, j]):
                complete = False
        if complete:
            continue
        for d in range(n_donors):
            total, shared = 0.0, 0
            for j in range(n_features):
                gap = rows[i, j] - donors[d, j]
                if not isnan(gap):
                    total += gap * gap
                    shared += 1
            # rounded, so that ties do not depend on the order in which features are added
            distance[d] = np.rint(total / shared * PRECISION) if shared > 0 else inf
        for j in range(n_features):
            if not isnan(rows[i, j]):
                continue
            count = 0
            for d in range(n_donors):
                if isnan(donors[d, j]) or distance[d] == inf or (count == n_neighbors and distance[d] >= nearest[-1]):
                    continue
                # insert the donor behind those at the same or a smaller distance
                place = min(count, n_neighbors - 1)
                while place > 0 and nearest[place - 1] > distance[d]:
                    nearest[place], values[place] = nearest[place - 1], values[place - 1]
                    place -= 1
                nearest[place], values[place] = distance[d], donors[d, j]
                count = min(count + 1, n_neighbors)
            total = 0.0
            for place in range(count):
                total += values[place]
            out[i, j] = total / count if count > 0 else nan
