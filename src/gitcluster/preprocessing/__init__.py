"""Data before stage 1: cells, columns and tables; scaling and representations; samples, distances and graphs."""
