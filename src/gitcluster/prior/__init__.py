"""What is known before the data are looked at: proportions of the clusters, bounds on sizes, single samples."""
