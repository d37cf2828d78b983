"""Where runs are carried out: here, in processes of this machine, or on a Ray cluster. Rows are the same everywhere.

    here    InProcess     one run after the other, in this process
    pool    Pool          processes of this machine, which write into the folder of the results
    ray     RayCluster    workers on the nodes of a Ray cluster, which send their results to this process

An executor of your own needs one method, see `Executor`.
"""

from momagames.benchmark.executors.executor import Executor, InProcess, Outcome, execute
from momagames.benchmark.executors.processes import Pool, cores

__all__ = ["Executor", "InProcess", "Outcome", "Pool", "cores", "execute"]
