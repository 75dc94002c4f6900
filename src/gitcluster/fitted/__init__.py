"""Results of a fit: predictions, memberships, explanations, profiles, cuts, exports and files of a Clustering."""
