"""What a fit leaves behind and what can be asked of it: every module takes a :class:`~gitcluster.Clustering`."""
