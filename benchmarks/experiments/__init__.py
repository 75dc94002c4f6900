"""One module per experiment, which ``python -m benchmarks NAME`` runs.

A module has ``FIELDS``, which identify a result; ``tasks(options)``, which yields the tasks; ``TABLES``, the tables of
the pages by name, if any; and ``add_options(parser)`` if it has options. A module with a ``main`` runs itself.
"""
