"""A Dask cluster on this machine for the tests: prints its address and its workers' process numbers, ends with its input.

python local_cluster.py WORKERS [CA CERT KEY]
"""

import sys

from distributed import LocalCluster, Security


def main(workers, *files):
    more = {}
    if files:
        authority, certificate, key = files
        names = ("tls_scheduler", "tls_worker", "tls_client")
        pairs = {f"{name}_{kind}": path for name in names for kind, path in (("cert", certificate), ("key", key))}
        more = {"protocol": "tls", "security": Security(tls_ca_file=authority, require_encryption=True, **pairs)}
    with LocalCluster(
        n_workers=int(workers),
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address=None,
        silence_logs=50,
        **more,
    ) as cluster:
        pids = [nanny.process.pid for nanny in cluster.workers.values()]
        print(cluster.scheduler_address, *pids, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
