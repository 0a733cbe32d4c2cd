"""Runs on the workers of a Dask cluster: ``pip install 'tcplab[distributed]'``, on the workers too.

Groups of connections, points and scripts become tasks; what comes back goes into the result folder, which is the same to
the byte as that of one machine. A worker that is lost costs its tasks, a client that is killed resumes from the folder
(docs/cluster.md).

>>> from distributed import Client
>>> import tcplab as tl
>>> client = Client("tcp://scheduler:8786")                                                    # doctest: +SKIP
>>> tl.distributed.run("examples/rto-web.toml", client=client, connections=10**7, out="web")   # doctest: +SKIP
"""

from __future__ import annotations

from tcplab.distributed._drill import drill
from tcplab.distributed._run import gather, run

__all__ = ["drill", "gather", "run"]
