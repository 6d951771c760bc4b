"""A Dask cluster on this machine for the tests: prints its address and its workers' process numbers, ends with its input."""

import sys

from distributed import LocalCluster


def main():
    with LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
    ) as cluster:
        pids = [nanny.process.pid for nanny in cluster.workers.values()]
        print(cluster.scheduler_address, *pids, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
