"""Runs on a cluster of processes give the same bytes as one machine, even if workers are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tcplab as tl

distributed = pytest.importorskip("distributed")

from tcplab import _command  # noqa: E402
from tcplab.distributed import _files, _flow, _frames, _points, _population, _work, drill, run  # noqa: E402

POPULATION = """
[population]
connections = 6144
seed = 5
requests = "2"

[[arm]]
name = "B"

[[arm]]
name = "D"
behaviour = { rto_estimator = "rfc6298", rto_floor = "timeout", rto_floor_ms = 200 }
"""

VARIANTS = (
    POPULATION.replace("6144", "3000")
    + """
[[variant]]
name = "as-it-is"

[[variant]]
name = "no-loss"
set = { "population.loss" = [] }
"""
)

POINTS = """
[[app]]
kind = "bulk"
bytes = "100 kB"

[[link]]
rate = { axis = ["1mbit", "5mbit", "10mbit"] }
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(tl.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    # A worker that was killed comes back, however slow the machine is.
    import dask

    dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster: Any) -> Iterator[Any]:
    with distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A population's file, and its result on this machine."""
    place = tmp_path_factory.mktemp("whole")
    file, out = place / "small.toml", place / "out"
    file.write_text(POPULATION)
    tl.run(file, out=out)
    return file, out


def contents(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "cost.json"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def until(happens: Callable[[], Any], what: str) -> Any:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if found := happens():
            return found
        time.sleep(0.005)
    raise AssertionError(f"{what} did not happen")


def test_a_population_is_the_same(client: Any, whole: tuple[Path, Path], tmp_path: Path) -> None:
    file, expected = whole
    result = run(file, client=client, out=tmp_path / "out", shards=32)
    assert contents(tmp_path / "out") == contents(expected)
    assert isinstance(result, tl.PopulationResult)
    assert result.to_dict()["connections"] == 6144
    # Again: everything is there, and no worker is asked.
    run(file, client="tcp://127.0.0.1:1", out=tmp_path / "out")


def test_variants_are_the_same(client: Any, tmp_path: Path) -> None:
    file = tmp_path / "varied.toml"
    file.write_text(VARIANTS)
    tl.run(file, out=tmp_path / "one")
    run(file, client=client, out=tmp_path / "two", shards=4)
    assert contents(tmp_path / "two") == contents(tmp_path / "one")


def unmerged(scheduler: Any) -> str | None:
    """The address of a worker that alone holds the result of a shard which no merge has taken."""
    for name, task in list(scheduler.tasks.items()):
        if "/groups-" in str(name) and task.state == "memory" and len(task.who_has) == 1:
            if any(other.state in ("waiting", "processing", "no-worker") for other in task.dependents):
                return next(iter(task.who_has)).address
    return None


def test_a_killed_worker_with_unmerged_results_changes_no_byte(
    cluster: Any, client: Any, whole: tuple[Path, Path], tmp_path: Path
) -> None:
    file, expected = whole
    ran: list[Any] = []
    thread = threading.Thread(target=lambda: ran.append(run(file, client=client, out=tmp_path / "out", shards=32)))
    thread.start()
    address = until(lambda: unmerged(cluster.scheduler), "a result that nobody has merged")
    pids = {nanny.worker_address: nanny.pid for nanny in cluster.workers.values()}
    os.kill(pids[address], signal.SIGKILL)
    until(lambda: address not in cluster.scheduler.workers, "the loss of the worker")
    thread.join(timeout=120)
    assert ran, "the run ended with an error"
    assert contents(tmp_path / "out") == contents(expected)


def test_a_killed_client_resumes(cluster: Any, client: Any, whole: tuple[Path, Path], tmp_path: Path) -> None:
    file, expected = whole
    out = tmp_path / "out"
    code = (
        "import sys; from tcplab.distributed import _population, run; _population.BLOCK = 1; "
        "run(sys.argv[1], client=sys.argv[2], out=sys.argv[3], shards=32)"
    )
    started = subprocess.Popen([sys.executable, "-c", code, str(file), cluster.scheduler_address, str(out)])
    part = out / "groups.part"
    until(lambda: part.exists() and part.stat().st_size > 0, "a first result")
    started.kill()
    started.wait()
    left = _command.document(["run", file, f"--out={out}", "--pending"]).document
    assert 0 < len(left["variants"][0]["groups"]) < 2048
    # As if it had been killed while it wrote.
    with part.open("ab") as torn:
        torn.write(b"\x10\x00\x00")
    run(file, client=client, out=out, shards=8)
    assert contents(out) == contents(expected)


def test_points_are_the_same(client: Any, tmp_path: Path) -> None:
    file = tmp_path / "points.toml"
    file.write_text(POINTS)
    options: dict[str, Any] = {"on": ["model:linux-6.1", "model:linux-5.14"], "repeat": 2, "seed": 3}
    one = tl.run(file, out=tmp_path / "one", **options)
    two = run(file, client=client, out=tmp_path / "two", **options)
    assert contents(tmp_path / "two") == contents(tmp_path / "one")
    assert isinstance(one, tl.Run) and isinstance(two, tl.Run)
    assert two.digests == one.digests and len(two.digests) == 12


def test_scripts_are_the_same(client: Any) -> None:
    root = Path(__file__).parents[2] / "tests" / "pkt" / "delayed-ack"
    assert drill(root, client=client).to_dict() == tl.drill(root).to_dict()


def test_the_command_spreads_a_run(cluster: Any, whole: tuple[Path, Path], tmp_path: Path) -> None:
    file, expected = whole
    line = [_command.command_path(), "run", str(file), "--dask", cluster.scheduler_address, "--out", str(tmp_path / "out")]
    env = {**os.environ, "TCPLAB_PYTHON": sys.executable}
    done = subprocess.run(line, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr
    assert "TCPTimeouts" in done.stdout
    assert contents(tmp_path / "out") == contents(expected)
    refused = subprocess.run(line, capture_output=True, text=True, env={**env, "TCPLAB_PYTHON": "false"}, check=False)
    assert refused.returncode == 4
    assert "pip install 'tcplab[distributed]'" in refused.stderr


def test_tasks_in_flight_are_limited(client: Any) -> None:
    asked = 0

    def jobs() -> Iterator[_flow.Job[int]]:
        nonlocal asked
        for number in range(40):
            asked += 1
            yield _flow.Job(number, 1, lambda token, n=number: client.submit(abs, -n, key=f"n-{n}-{token}", pure=False))

    seen: dict[int, int] = {}
    for number, result in _flow.flow(client, jobs()):
        seen[number] = result
        # Two for each thread, and the one that has just come.
        assert asked - len(seen) <= 4
    assert seen == {n: n for n in range(40)}


def test_a_file_is_sent_once(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    content = os.urandom(1000)
    [digest] = _files.send(client, [content])

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("sent again")

    monkeypatch.setattr(client, "register_plugin", refuse)
    assert _files.send(client, [content]) == [digest]


def test_kernels_have_a_cache_of_their_own(tmp_path: Path) -> None:
    class Worker:
        local_directory = str(tmp_path)

    contents = [b"#!/bin/sh\n", json.dumps({"key": "abc", "names": ["6.1"]}).encode()]
    keeps = [_files.Keep(content) for content in contents]
    for keep in keeps:
        keep.setup(Worker())  # type: ignore[arg-type]
    source = _work.Source("x.toml", "", (), "", kernels=((keeps[0].digest, keeps[1].digest),))
    cache = _work.kernels(Worker(), source)  # type: ignore[arg-type]
    assert cache == _work.kernels(Worker(), source)  # type: ignore[arg-type]
    assert cache is not None
    home = cache / "tcplab" / "kernels" / "bin" / "abc"
    assert os.access(home / "linux", os.X_OK)
    assert json.loads((home / "manifest.json").read_text())["names"] == ["6.1"]


def test_a_population_is_cut_evenly() -> None:
    assert _population.plan(1000, 2) == _population.Plan(1, 1)
    million = _population.plan(10**6, 5)
    assert million == _population.Plan(16, 1)
    assert _population.plan(10**6, 5, shards=1024) == _population.Plan(1024, 64)
    assert _population.plan(10**6, 5, rows=True) == _population.Plan(16, 1)
    assert _population.plan(10**12, 5).shards == 2048
    assert _population.plan(10**12, 5).block == 1
    blocks = list(_population.blocks([0, 1, 2, 5, 8, 9, 16 + 3], _population.Plan(16, 8)))
    assert blocks == [[1, 2, 3, 4], [6], [9, 10]]


def test_numbers_are_written_as_the_command_has_them() -> None:
    assert _points.words([0, 4, 7, 8, 9]) == "0,4,7-9"
    batches = _points.Batches()
    cut = batches.cut(range(1000))
    assert len(next(cut)) == 1
    batches.learn(1, 0.5)
    assert list(next(cut)) == list(range(1, 21))


def test_entries_end_where_they_are_damaged(whole: tuple[Path, Path]) -> None:
    data = (whole[1] / "groups.bin").read_bytes()
    assert [number for number, _ in _frames.entries(data)] == list(range(2048))
    assert len(list(_frames.entries(data[:-1]))) == 2047
    flipped = bytearray(data)
    flipped[20] ^= 1
    assert list(_frames.entries(bytes(flipped))) == []


def submitted(kind: str, *words: str) -> str:
    line = [_command.command_path(), "submit", "--print", kind, *words]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout


def with_command(place: Path) -> dict[str, str]:
    """An environment in which the command is in PATH."""
    (place / "bin").mkdir(exist_ok=True)
    link = place / "bin" / "tcplab"
    if not link.exists():
        link.symlink_to(_command.command_path())
    return {**os.environ, "PATH": f"{place / 'bin'}:{os.environ['PATH']}"}


def test_a_slurm_array_runs_its_shards(tmp_path: Path) -> None:
    (tmp_path / "a b.toml").write_text(POPULATION.replace("6144", "2048"))
    script = submitted("slurm", "a b.toml", "--shards", "2", "--", "--seed", "7")
    assert "#SBATCH --array=1-2\n" in script
    for index in ("1", "2"):
        env = {**with_command(tmp_path), "SLURM_ARRAY_TASK_ID": index}
        subprocess.run(["sh", "-c", script], cwd=tmp_path, env=env, check=True, capture_output=True)
    merge = next(line for line in script.splitlines() if "--wrap" in line).split("--wrap ", 1)[1]
    inner = subprocess.run(["sh", "-c", f"printf %s {merge}"], capture_output=True, text=True, check=True).stdout
    subprocess.run(["sh", "-c", inner], cwd=tmp_path, env=with_command(tmp_path), check=True, capture_output=True)
    tl.run(tmp_path / "a b.toml", seed=7, out=tmp_path / "one")
    assert contents(tmp_path / "a b-shards-all") == contents(tmp_path / "one")


def test_a_kubernetes_job_runs_its_shards(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    (tmp_path / "p.toml").write_text(POINTS)
    script = submitted("k8s", "p.toml", "--shards", "2", "--image", "r/tcplab:1", "--", "--seed=7")
    job, merge = yaml.safe_load_all(script)
    assert job["spec"]["completionMode"] == "Indexed" and job["spec"]["completions"] == 2
    assert merge["spec"]["suspend"] is True

    def pod(of: dict[str, Any], index: str) -> None:
        [container] = of["spec"]["template"]["spec"]["containers"]
        assert container["image"] == "r/tcplab:1"
        args = [word.replace("$(JOB_COMPLETION_INDEX)", index) for word in container["args"]]
        subprocess.run([_command.command_path(), *args], cwd=tmp_path, check=True, capture_output=True)

    for index in ("0", "1"):
        pod(job, index)
    pod(merge, "")
    tl.run(tmp_path / "p.toml", seed=7, out=tmp_path / "one")
    assert contents(tmp_path / "p-shards-all") == contents(tmp_path / "one")


def test_a_line_for_parallel_is_a_script(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(POPULATION.replace("6144", "2048"))
    script = submitted("parallel", "p.toml", "--shards", "3")
    # What `parallel` does with its words, where it is not installed.
    (tmp_path / "bin").mkdir()
    parallel = tmp_path / "bin" / "parallel"
    parallel.write_text(
        '#!/bin/sh\nwhile [ "$1" != tcplab ]; do shift; done\nwhile read n; do sh -c "$(echo "$*" | sed "s/{}/$n/g")" || exit 1; done\n'
    )
    parallel.chmod(0o755)
    env = with_command(tmp_path)
    subprocess.run(["sh", "-c", script], cwd=tmp_path, env=env, check=True, capture_output=True)
    tl.run(tmp_path / "p.toml", out=tmp_path / "one")
    assert contents(tmp_path / "p-shards-all") == contents(tmp_path / "one")
