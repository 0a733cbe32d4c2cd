"""Populations: which shards a run has, the tree that merges them, and the result folder that takes what comes back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcplab.distributed import _flow, _frames, _work
from tcplab.distributed._dask import Client, Future
from tcplab.distributed._flow import Job

__all__ = ["Plan", "gather", "plan"]

#: Groups of a population: it has as many shards at most.
GROUPS = 2_048
#: Connections of an arm that a CPU second simulates, as of examples/rto-web.toml (docs/cluster.md has the range of others). Longer
#: connections make longer tasks.
RATE = 20_000
#: CPU seconds of a task.
SECONDS = 20
#: Bytes of a connection of an arm in `groups.bin`, and with its row.
BYTES = 16
ROW_BYTES = 150
#: Bytes of what comes to the client at once.
BLOCK = 32 << 20
#: Parts that a task merges.
ARITY = 8
#: Parts that the client takes at least, where there are many shards: what it has taken is safe.
PARTS = 4


@dataclass(frozen=True)
class Plan:
    """How a population is cut."""

    #: Shards of the run: a power of two, so that all have as many groups.
    shards: int
    #: Neighbouring shards that are merged before the client takes them: a power of ARITY.
    block: int


def plan(connections: int, arms: int, *, rows: bool = False, shards: int | None = None) -> Plan:
    """Cuts a population into tasks of about SECONDS, and blocks of at most BLOCK bytes."""
    work = connections * arms
    if shards is None:
        shards = 1
        while shards < GROUPS and work / shards > RATE * SECONDS:
            shards *= 2
    shards = min(shards, GROUPS)
    size = work * (ROW_BYTES if rows else BYTES) / shards
    block = 1
    while block * ARITY * size <= BLOCK and block * ARITY * PARTS <= shards:
        block *= ARITY
    return Plan(shards, block)


def blocks(groups: Sequence[int], cut: Plan) -> Iterator[list[int]]:
    """Runs of neighbouring shards, from 1, that have a group which is not there yet."""
    wanted = sorted({group % cut.shards for group in groups})
    block: list[int] = []
    for shard in wanted:
        if block and (shard + 1 != block[-1] + 1 or shard % cut.block == 0):
            yield block
            block = []
        block.append(shard + 1)
    if block:
        yield block


def jobs(client: Client, source: _work.Source, experiment: str, left: dict[str, Any], cut: Plan) -> Iterator[Job[Any]]:
    """The trees of all that is left."""
    for variant in left["variants"]:
        name: str | None = variant["name"]
        shown = experiment if name is None else f"{experiment} {name}"

        for block in blocks(variant["groups"], cut):

            def submit(token: str, block: list[int] = block, name: str | None = name, shown: str = shown) -> Future:
                return tree(client, (source, name, shown), (block, cut), token)

            yield Job(name, len(block), submit)


def tree(client: Client, what: tuple[_work.Source, str | None, str], which: tuple[list[int], Plan], token: str) -> Future:
    """Runs the shards of a block, and merges them; gives the root."""
    source, variant, shown = what
    block, cut = which
    level: list[tuple[int, int, Future]] = []
    for shard in block:
        name = _flow.key(shown, "groups", f"{shard}/{cut.shards}", token)
        future: Future = client.submit(_work.groups, source, variant, f"{shard}/{cut.shards}", key=name, pure=False)
        level.append((shard, shard, future))
    while len(level) > 1:
        above: list[tuple[int, int, Future]] = []
        for at in range(0, len(level), ARITY):
            parts = level[at : at + ARITY]
            first, last = parts[0][0], parts[-1][1]
            name = _flow.key(shown, "merge", f"{first}..{last}/{cut.shards}", token)
            futures = [future for _, _, future in parts]
            above.append(
                parts[0]
                if len(parts) == 1
                else (first, last, client.submit(_work.merge, source, *futures, key=name, pure=False, priority=1))
            )
        level = above
    return level[0][2]


def gather(client: Client, source: _work.Source, left: dict[str, Any], out: Path, told: Any, shards: int | None) -> None:
    """Runs what is left, and puts it into the result folder as a run in one piece does: finished groups one after another."""
    cut = plan(left["connections"], left["arms"], rows=left["rows"], shards=shards)
    wanted = {variant["name"]: set(variant["groups"]) for variant in left["variants"]}
    count = sum(map(len, wanted.values()))
    total = left["connections"] * len(wanted)
    done = 0
    for name, part in _flow.flow(client, jobs(client, source, left["experiment"], left, cut)):
        done += keep(out / (name or ""), part, wanted[name])
        told.at(total - total * (count - done) // GROUPS // len(wanted), total, "connections")


def keep(out: Path, part: _work.Part, wanted: set[int]) -> int:
    """Appends the groups of a part that are wanted; rows first, so that a group that is kept has its rows."""
    new = [number for number, _ in _frames.entries(part.files["groups.bin"]) if number in wanted]
    for name in ("rows", "groups"):
        data = part.files.get(f"{name}.bin")
        if data is None:
            continue
        with (out / f"{name}.part").open("ab") as file:
            for number, entry in _frames.entries(data):
                if number in wanted:
                    file.write(entry)
    wanted.difference_update(new)
    return len(new)
