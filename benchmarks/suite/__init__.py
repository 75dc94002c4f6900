"""Labelled data sets of the experiments: generated, bundled with packages, or read from the data folder."""
