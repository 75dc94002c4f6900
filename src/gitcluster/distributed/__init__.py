"""GIT beyond one machine, on Dask: the five stages on cells of the space that lie on many workers.

``source`` reads the samples part by part, ``partition`` moves them to cells, ``halo_search`` finds their neighbours,
``exchange`` sends values between cells, ``stages`` goes from neighbours to the topo-graph, ``evidence`` merges it as on
one machine, ``results`` labels fitted and new samples. Needs ``pip install 'gitcluster[dask]'``.
"""

from gitcluster._support.optional import require

for _package in ("dask", "distributed", "pandas", "pyarrow"):
    require(_package, extra="dask", purpose="gitcluster.distributed")

from gitcluster.distributed.checkpoint import CheckpointError  # noqa: E402
from gitcluster.distributed.estimator import DaskGIT  # noqa: E402

__all__ = ["CheckpointError", "DaskGIT"]
