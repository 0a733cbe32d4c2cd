#!/usr/bin/env python3
"""A population on a cluster of processes while workers are killed: the bytes of one process, and what it costs.

Three runs of examples/rto-web.toml (five arms): one process; a cluster; a cluster of which KILLS workers are killed, each
while it alone holds a result that nobody has merged. Exit code 1: a byte differs, or there were fewer kills.

    scripts/campaign_cluster.py --connections 1000000 --kills 20          (or: make campaign-cluster)
    scripts/campaign_cluster.py --connections 40000 --scale 1,2,4,8       what workers cost, without kills

It needs the Python environment of `scripts/python.sh`, and the built command ($TCPLAB_COMMAND).
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")])
os.environ.setdefault("TCPLAB_COMMAND", str(ROOT / "target" / "release" / "tcplab"))

import dask  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402

# Dask's processes sample their stacks and their event loops 50 to 100 times a second: CPU time by the clock, for pages that
# nobody looks at (docs/cluster.md).
dask.config.set({"distributed.worker.profile.enabled": False})
dask.config.set({"distributed.admin.tick.interval": "1s", "distributed.admin.system-monitor.interval": "5s"})
# A LocalCluster gives a worker up that is away 15 s after it was lost: here it may have been killed again.
dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})

FILE = ROOT / "examples" / "rto-web.toml"
ARMS = 5
#: Shards of a run whose workers are killed: enough that shards are merged on workers, which is when they are killed.
MERGED = 32


class Spent:
    """What a run took: CPU of everything, the clock, the client's memory, bytes between processes, and of the CPU what Python
    took: all but the commands (of workers that were not killed)."""

    def __init__(self, cpu_s: float, wall_s: float, client_mb: float, moved_mb: float, kills: int, python_s: float = 0.0) -> None:
        self.python_s = python_s
        self.cpu_s = cpu_s
        self.wall_s = wall_s
        self.client_mb = client_mb
        self.moved_mb = moved_mb
        self.kills = kills


def cpu(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def once(args: argparse.Namespace, out: Path, *options: str, env: dict[str, str] | None = None) -> tuple[float, float, float]:
    """Runs the command; its CPU seconds, the clock's, its peak memory in MB with that of its child."""
    line = [os.environ["TCPLAB_COMMAND"], "run", str(FILE), "--out", str(out), "--json", *options]
    line += [f"--connections={args.connections}", f"--seed={args.seed}"]
    begin = time.monotonic()
    child = subprocess.Popen(line, stdout=subprocess.DEVNULL, env=env)
    _, status, used = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(line)}: status {status}")
    return used.ru_utime + used.ru_stime, time.monotonic() - begin, used.ru_maxrss / 1024


#: Starts the client, and keeps the most memory that it held.
CLIENT = """
import resource, sys
from tcplab.distributed import gather
file, address, out, shards, *options = sys.argv[1:]
gather(file, options, out=out, client=address, shards=int(shards) or None, progress=False)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def spread(args: argparse.Namespace, out: Path, workers: int, kills: int) -> Spent:
    """Runs it on a cluster; kills workers meanwhile."""
    before = cpu(resource.RUSAGE_SELF) + cpu(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    hunter = Hunter(cluster, kills)
    hunter.start()
    line = [sys.executable, "-c", CLIENT, str(FILE), cluster.scheduler_address, str(out), str(args.shards or (MERGED if kills else 0))]
    line += [f"--connections={args.connections}", f"--seed={args.seed}"]
    client = subprocess.run(line, stdout=subprocess.PIPE, check=True, text=True)
    hunter.done = True
    hunter.join()
    with Client(cluster) as watcher:
        moved = sum(watcher.run(lambda dask_worker: sum(one["total"] for one in dask_worker.transfer_incoming_log)).values())
        commands = sum(watcher.run(cpu, resource.RUSAGE_CHILDREN).values())
    cluster.close()
    # The last step: what `tcplab run` makes of the folder.
    commands += once(args, out)[0]
    spent = cpu(resource.RUSAGE_SELF) + cpu(resource.RUSAGE_CHILDREN) - before
    return Spent(spent, time.monotonic() - begin, float(client.stdout), moved / 1e6, hunter.kills, spent - commands)


class Hunter(threading.Thread):
    """Kills workers that hold what nobody has merged."""

    def __init__(self, cluster: Any, kills: int) -> None:
        super().__init__(daemon=True)
        self.cluster = cluster
        self.wanted = kills
        self.kills = 0
        self.done = False

    def run(self) -> None:
        while not self.done and self.kills < self.wanted:
            address = unmerged(self.cluster.scheduler)
            pids = {nanny.worker_address: nanny.pid for nanny in self.cluster.workers.values()}
            if address is None or pids.get(address) is None:
                time.sleep(0.02)
                continue
            os.kill(pids[address], signal.SIGKILL)
            self.kills += 1
            while address in self.cluster.scheduler.workers and not self.done:
                time.sleep(0.02)
            # One after another: a worker has to come back, and to do something.
            while len(self.cluster.scheduler.workers) < len(self.cluster.workers) and not self.done:
                time.sleep(0.05)


def unmerged(scheduler: Any) -> str | None:
    """A worker that alone holds the result of a shard, which a merge waits for."""
    for name, task in list(scheduler.tasks.items()):
        if "/groups-" in str(name) and task.state == "memory" and len(task.who_has) == 1:
            if any(other.state in ("waiting", "processing") for other in task.dependents):
                return next(iter(task.who_has)).address
    return None


def same(one: Path, two: Path) -> bool:
    """Whether two result folders have the same bytes."""
    names = [sorted(path.name for path in folder.iterdir()) for folder in (one, two)]
    return names[0] == names[1] and all((one / name).read_bytes() == (two / name).read_bytes() for name in names[0])


def show(what: str, args: argparse.Namespace, spent: Spent, base: float) -> None:
    rate = args.connections * ARMS / spent.cpu_s
    print(
        f"{what}: {spent.cpu_s:.1f} CPU s ({100 * (spent.cpu_s / base - 1):+.1f} %), {spent.wall_s:.0f} s by the clock, "
        f"{rate:.0f} connections of an arm in a CPU second, client {spent.client_mb:.0f} MB, {spent.moved_mb:.1f} MB between "
        f"workers, {spent.kills} kills, {spent.python_s:.1f} CPU s of Python",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=1_000_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--shards", type=int, default=0, help="tasks; 0: as tcplab.distributed.run chooses them, and 32 when workers are killed")
    parser.add_argument("--scale", default="", help="numbers of workers, separated by commas: no kills")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        cpu_s, wall_s, peak = once(args, place / "one", "--jobs=2")
        show("one process", args, Spent(cpu_s, wall_s, peak, 0.0, 0), cpu_s)
        alike = killed = True
        counts = [int(word) for word in args.scale.split(",") if word]
        runs = [(count, 0) for count in counts] or [(args.workers, 0), (args.workers, args.kills)]
        for workers in sorted({workers for workers, _ in runs}):
            # A folder that is finished: what Python, scheduler and workers take to start and end, and the table.
            show(f"{workers} workers without work", args, spread(args, place / "one", workers, 0), cpu_s)
        for number, (workers, kills) in enumerate(runs):
            out = place / f"cluster{number}"
            spent = spread(args, out, workers, kills)
            show(f"{workers} workers", args, spent, cpu_s)
            if not same(place / "one", out):
                print(f"{workers} workers: the bytes differ from those of one process")
                alike = False
            if spent.kills < kills:
                print(f"{workers} workers: {spent.kills} of {kills} kills: results were never waiting for a merge; use more --shards")
                killed = False
        size = (place / "one" / "groups.bin").stat().st_size
        print(f"groups.bin: {size / args.connections / ARMS:.1f} bytes for a connection of an arm; all bytes the same: {alike}")
    return 0 if alike and killed else 1


if __name__ == "__main__":
    sys.exit(main())
