"""Data before the first stage: cells, columns and tables; scaling and representations; samples, distances and graphs."""
