"""The simulator step by step: a connection between two steps, a congestion control written in Python.

>>> world = tl.World(links=[tl.Link(rate="10mbit", delay="20ms")], apps=[tl.App("bulk", bytes="1 MB")])   # doctest: +SKIP
>>> world.run_until("100ms")                                                                              # doctest: +SKIP
>>> world.connections[0].info()["tcpi_snd_cwnd"]                                                          # doctest: +SKIP
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from pathlib import Path
from typing import Any, Union

from tcplab import _native, _notes, errors
from tcplab._arguments import whole
from tcplab._command import setting
from tcplab._native import Ack, Change, View
from tcplab.congestion import CongestionControl, Reno, methods_of, name_of
from tcplab.connection import Connection, End, LinkState, Made
from tcplab.experiment import App, Experiment, Host, Link, experiment
from tcplab.running import Wanted, source_of

__all__ = [
    "Ack",
    "Change",
    "CongestionControl",
    "Connection",
    "End",
    "LinkState",
    "Reno",
    "View",
    "World",
]

#: A class of congestion controls, or whatever makes one.
Maker = Callable[[], CongestionControl]

#: A time: seconds, or a text with a unit (``"250ms"``).
Time = Union[float, str]


class World:
    """An experiment in the simulator, step by step.

    The steps do not change the packets: ``tcplab run`` on the same stack sends the same packets.

    Parameters
    ----------
    experiment
        A path, a text, a dict or a result of :func:`tcplab.experiment`. If the experiment has several points, choose one
        with ``variant`` and ``set``. None: the experiment is made of ``hosts``, ``links``, ``apps`` and ``run``.
    hosts, links, apps
        As in :func:`tcplab.experiment`.
    congestion
        A dict that gives hosts a congestion control in Python. The key is the host's name. The value is a class derived
        from :class:`CongestionControl`, or a callable that returns an instance. Each connection of the host gets its own
        instance, unless the connection's socket or route names another algorithm.
    stack
        ``model``, or ``model:PROFILE`` (``model:linux-6.1``).
    seed
        Seed of all random streams.
    set
        Changes to the file: ``{"link.client-server.rate": "5mbit"}``. Lists work as in :func:`tcplab.run`.
    variant
        The variant to run.
    captures
        Keep the packets at each interface in memory, for the method :meth:`captures`.
    run
        Other keys of ``[run]``: ``max="10s"``, ``snap="0"``.

    Raises
    ------
    InputError
        The experiment cannot be read.
    CannotRun
        The experiment has a setting that the simulator does not honour.
    UsageError
        The experiment has more than one point, or an argument is wrong.

    Examples
    --------
    >>> class Gentle(tl.Reno):                                   # doctest: +SKIP
    ...     def ssthresh(self, view):
    ...         return max(view.snd_cwnd * 3 // 4, 2)
    >>> world = tl.World(apps=[tl.App("bulk", bytes="1 MB")], congestion={"client": Gentle})    # doctest: +SKIP
    >>> while world.run_until(world.now + 0.01):                 # doctest: +SKIP
    ...     info = world.connections[0].info()       # None: its socket is not open
    ...     print(world.now, info and info["tcpi_snd_cwnd"])
    """

    def __init__(
        self,
        experiment: Wanted | None = None,
        *,
        hosts: Iterable[Host | str] = (),
        links: Iterable[Link] = (),
        apps: Iterable[App] = (),
        congestion: Mapping[str, Maker] | None = None,
        stack: str = "model",
        seed: int | None = None,
        set: Mapping[str, Any] | None = None,  # noqa: A002
        variant: str | None = None,
        captures: bool = False,
        **run: Any,
    ) -> None:
        if experiment is None:
            experiment = _built(hosts, links, apps)
        elif any(given not in ((), [], None) for given in (hosts, links, apps)):
            raise errors.UsageError("a world is made of an experiment or of hosts, links and apps, not of both")
        changes: dict[str, Any] = {f"run.{key}": value for key, value in run.items()}
        changes["run.captures"] = captures
        if seed is not None:
            changes["run.seed"] = _seed(seed)
        changes.update(set or {})
        words = [setting(key, value) for key, value in changes.items()]
        name, text = _text(experiment)
        self._native = _native.World(name, text, stack, set=words, variant=variant)
        self._made: Made = {}
        if congestion is not None and not isinstance(congestion, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f'congestion: a dict of hosts, such as congestion={{"client": tl.Reno}}, not {congestion!r}')
        self._unused = list(congestion or {})
        for host, maker in (congestion or {}).items():
            self._give(host, maker)
        #: The connections, in the order of the applications.
        self.connections = [self._connection(n, *flow) for n, flow in enumerate(self._native.flows)]

        self._said: list[str] = []
        self._warn()

    def _warn(self) -> None:
        """Warns of what is new."""
        new = [text for text in self._native.warnings if text not in self._said]
        self._said += new
        _notes.warn(new)

    def _connection(self, flow: int, app: str, client: str, server: str) -> Connection:
        first = End(self._native, self._made, (flow, True), client)
        return Connection(app, first, End(self._native, self._made, (flow, False), server))

    def _give(self, host: str, maker: Maker) -> None:
        hosts = self._native.hosts
        if host not in hosts:
            raise errors.UsageError(f"congestion: there is no host `{host}`; the hosts are {', '.join(hosts)}")
        if not callable(maker) or isinstance(maker, CongestionControl):
            raise errors.UsageError(
                f"congestion of `{host}`: a class derived from tl.CongestionControl, or what makes one, not {maker!r}; "
                'the host\'s sysctl net.ipv4.tcp_congestion_control names a built-in one'
            )
        # What a class says of all, or what the first one says of itself.
        one: Any = maker if isinstance(maker, type) else maker()
        if not isinstance(one, CongestionControl) and not (isinstance(one, type) and issubclass(one, CongestionControl)):
            raise errors.UsageError(f"congestion of `{host}`: {one!r} is not derived from tl.CongestionControl")
        made = self._made

        def make(local_host: int, local_port: int, remote_host: int, remote_port: int) -> tuple[Any, ...]:
            algorithm = maker()
            made[local_host, local_port, remote_host, remote_port] = algorithm
            return methods_of(algorithm)

        self._native.set_congestion(
            hosts.index(host),
            make,
            name=name_of(one),
            needs_ecn=one.needs_ecn,
            controls_cwnd=one.controls_cwnd,
        )

    @property
    def now(self) -> float:
        """The time of the run in seconds."""
        return self._native.now_ns / 1e9

    @property
    def now_ns(self) -> int:
        """The time of the run in nanoseconds."""
        return self._native.now_ns

    @property
    def is_over(self) -> bool:
        """Whether the run is over: all applications have ended, or the time ``max`` has passed."""
        return self._native.is_over

    @property
    def warnings(self) -> list[str]:
        """Warnings so far: ambiguous units, an unverified profile; after the end also changes of links that had no effect.

        Each warning is also raised as :class:`tcplab.TcplabWarning`.
        """
        self._said += [text for text in self._native.warnings if text not in self._said]
        return list(self._said)

    @property
    def hosts(self) -> list[str]:
        """Names of its hosts."""
        return self._native.hosts

    @property
    def links(self) -> list[tuple[str, str]]:
        """The two hosts of each link."""
        return self._native.links

    def run_until(self, time: Time) -> bool:
        """Runs until a time, including all events at that time.

        Parameters
        ----------
        time
            Time after the run's start: seconds, or a text with a unit (``"250ms"``).

        Returns
        -------
        bool
            False: the run is over.

        Raises
        ------
        Exception
            A congestion control raised this exception, which is passed on unchanged. The run cannot continue. Ctrl-C
            (KeyboardInterrupt) inside a method of a congestion control is such an exception. After Ctrl-C elsewhere the
            run can continue.
        Inconclusive
            The run reached a limit: too many events without progress of virtual time, or too much memory.
        """
        return self._told(self._native.run_until(_nanoseconds(time)))

    def step(self) -> bool:
        """Runs all events at the time of the next event.

        Returns
        -------
        bool
            False: the run is over.
        """
        next_ns = self._native.next_ns
        return self._told(next_ns is not None and self._native.run_until(next_ns))

    def run(self) -> World:
        """Runs to the end.

        Returns
        -------
        World
            This world.
        """
        self._told(self._native.run_until(2**63 - 1))
        return self

    def _told(self, goes_on: bool) -> bool:
        """At the end: which congestion controls had nothing to do."""
        if goes_on:
            return True
        self._warn()
        ends = [end for connection in self.connections for end in (connection.client, connection.server)]
        sent = {end.host for end in ends if end.bytes_written > 0}
        if self._unused and not sent.intersection(self._unused):
            hosts = ", ".join(self._unused)
            note = f"congestion of {hosts}: no application sent anything there, so it had nothing to do: give it to the host that sends"
            _notes.warn([note])
        self._unused = []
        return False

    def counters(self, host: str) -> dict[str, int]:
        """Returns the counters of a host now.

        Parameters
        ----------
        host
            Its name.

        Returns
        -------
        dict
            Values by nstat's names (``TcpRetransSegs``).
        """
        return self._native.counters(_index(self._native.hosts, host, "host"))

    def link(self, a: str | None = None, b: str | None = None) -> LinkState:
        """Returns the present state of a link in the direction from host ``a`` to host ``b``.

        Parameters
        ----------
        a, b
            The two hosts of the link; None: take the first link.
        """
        links = self._native.links
        way = links[0] if a is None or b is None else (a, b)
        if way in links:
            return LinkState(*self._native.queue(links.index(way), 0))
        back = (way[1], way[0])
        number = _index(links, back, "link")
        return LinkState(*self._native.queue(number, 1))

    def captures(self) -> dict[str, bytes]:
        """Returns the packets captured so far at each host's interfaces.

        Returns
        -------
        dict
            The key is ``HOST-INTERFACE``, the value is a pcapng file as bytes, for :func:`tcplab.analyze`. With
            ``captures=False`` the dict is empty.
        """
        return {f"{host}-{interface}": data for host, interface, data in self._native.captures()}

    def outcome(self) -> dict[str, Any]:
        """Returns all results so far, and ends the world. Afterwards only the world's captures can be read.

        Returns
        -------
        dict
            Counters, flows, links and samples, as in ``outcome.json`` of a result folder.
        """
        return json.loads(self._native.outcome())

    def __repr__(self) -> str:
        return f"<World of {', '.join(self._native.hosts)}, {len(self.connections)} connections>"


def _built(hosts: Iterable[Host | str], links: Iterable[Link], apps: Iterable[App]) -> Experiment:
    return experiment("world", hosts=hosts, links=links, apps=apps)


def _text(wanted: Wanted) -> tuple[str, str]:
    """The name of an experiment's file and its text."""
    source, text = source_of(wanted)
    if text is not None:
        return "experiment", text.decode()
    return str(source), Path(source).read_text(encoding="utf-8")


def _nanoseconds(time: Time) -> int:
    if isinstance(time, str):
        return _native.World.nanoseconds(time)
    if isinstance(time, bool) or not isinstance(time, Real):
        raise TypeError(f'a time is a number of seconds, or a text such as "250ms", not {time!r}')
    if math.isnan(time) or time < 0:
        raise errors.UsageError(f"a time is 0 or later, not {time}")
    # Later than anything that happens.
    return round(min(time * 1e9, 9.2e18))


def _seed(seed: int) -> int | None:
    number = whole("seed", seed)
    if number is not None and number >= 2**63:
        raise errors.UsageError(f"seed={number}: a world takes seeds below 2^63; tl.run takes all below 2^64")
    return number


def _index(known: list[Any], wanted: Any, what: str) -> int:
    if wanted in known:
        return known.index(wanted)
    names = ", ".join(one if isinstance(one, str) else "-".join(one) for one in known)
    wanted = wanted if isinstance(wanted, str) else "-".join(wanted)
    raise errors.UsageError(f"there is no {what} `{wanted}`; there is {names}")
