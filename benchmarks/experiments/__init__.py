"""One file per experiment; each has a ``main`` that ``python -m benchmarks NAME`` calls."""
