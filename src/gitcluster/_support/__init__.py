"""Helpers for all layers: checks of parameters, optional packages, files, progress."""
