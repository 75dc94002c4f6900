"""Experiments that compare gitcluster with its peers; results go to ``benchmarks/results``."""
