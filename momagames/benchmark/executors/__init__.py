"""Executors of runs: this process, processes of this machine, or a Ray cluster. Rows are the same with each.

    here    InProcess     one run after the other, in this process
    pool    ProcessPool   processes of this machine, which write into the results directory
    ray     RayCluster    workers on the nodes of a Ray cluster, which send their results to this process

A custom executor implements one method, see `Executor`.
"""

from momagames.benchmark.executors.executor import Executor, InProcess, Outcome, execute_run
from momagames.benchmark.executors.processes import ProcessPool, count_cores

__all__ = ["Executor", "InProcess", "Outcome", "ProcessPool", "count_cores", "execute_run"]
