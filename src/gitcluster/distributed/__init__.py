"""GIT on Dask: the five stages on cells of the space that many workers hold; ``pip install 'gitcluster[dask]'``.

``partition`` reads the samples and moves them to cells. ``search`` finds their neighbours and links the cells by their
halos. ``stages`` computes the topo-graph and the clusters, and ``estimator`` labels fitted and new samples.
"""

from gitcluster._support.optional import require

for _package in ("dask", "distributed", "pandas", "pyarrow"):
    require(_package, extra="dask", purpose="gitcluster.distributed")

from gitcluster.distributed.estimator import DaskGIT  # noqa: E402

__all__ = ["DaskGIT"]
