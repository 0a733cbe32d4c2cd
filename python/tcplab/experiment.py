"""Experiments in code: hosts, links, applications, axes, variants, written as the TOML of docs/experiment.md."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from tcplab._arguments import entries

__all__ = ["App", "Axis", "Experiment", "Host", "Link", "Variant", "axis", "experiment"]


class Axis:
    """Values of a key; the experiment runs once for each."""

    def __init__(self, values: Sequence[Any], name: str | None = None) -> None:
        self.values = list(values)
        self.name = name

    def __repr__(self) -> str:
        return f"axis({', '.join(map(repr, self.values))})"


def axis(*values: Any, name: str | None = None) -> Axis:
    """Values of a key; several axes multiply.

    Parameters
    ----------
    values
        Values that the key accepts.
    name
        The axis's name in results; None: the key. Axes with the same name change together.

    Examples
    --------
    >>> tl.Link("client", "server", rate=tl.axis("10mbit", "100mbit"))   # doctest: +SKIP
    """
    return Axis(values, name)


class _Keys:
    """A table of the file: its keys, as docs/experiment.md has them."""

    def __init__(self, keys: Mapping[str, Any]) -> None:
        self.keys = {key: value for key, value in keys.items() if value is not None}

    def __repr__(self) -> str:
        inside = ", ".join(f"{key}={value!r}" for key, value in self.keys.items())
        return f"{type(self).__name__}({inside})"


class Host(_Keys):
    """A host.

    Parameters
    ----------
    name
        Its name.
    keys
        Keys of ``[[host]]``: ``sysctl={"net.ipv4.tcp_rmem": "4096 131072 6291456"}``, ``route="quickack 1"``,
        ``count``, ``forward`` and so on; ``tcplab stacks --keys`` lists all keys.
    """

    def __init__(self, name: str, **keys: Any) -> None:
        super().__init__({"name": name, **keys})

    @property
    def name(self) -> str:
        """Its name."""
        return self.keys["name"]


class Link(_Keys):
    """A link between two hosts.

    Parameters
    ----------
    a, b
        The two hosts, or their names; None: the link joins the two hosts of the experiment.
    keys
        Keys of ``[[link]]``: ``rate="30mbit"``, ``delay="25ms"``, ``loss="0.1%"``,
        ``a_to_b="cake bandwidth 30mbit"``, ``b_to_a={"drop": ["data 20"]}``.
    """

    def __init__(self, a: Host | str | None = None, b: Host | str | None = None, **keys: Any) -> None:
        ends = [end.name if isinstance(end, Host) else end for end in (a, b) if end is not None]
        super().__init__({"between": ends or None, **keys})


class App(_Keys):
    """An application.

    Parameters
    ----------
    kind
        ``bulk``, ``stream``, ``echo``, ``web``, ``request-response`` and so on.
    keys
        Keys of ``[[app]]``: ``client="home"``, ``server="server"``, ``connections=4``, ``duration="60s"``.
    """

    def __init__(self, kind: str, **keys: Any) -> None:
        named = {key: value.name if isinstance(value, Host) else value for key, value in keys.items()}
        super().__init__({"kind": kind, **named})


class Variant(_Keys):
    """A variant of an experiment.

    Parameters
    ----------
    name
        Its name.
    set
        The changes: paths of keys (``"host.client.route"``) and their values.
    """

    def __init__(self, name: str, set: Mapping[str, Any] | None = None) -> None:  # noqa: A002
        super().__init__({"name": name, "set": dict(set or {})})


class Experiment:
    """An experiment, kept as the text of an experiment file.

    Attributes
    ----------
    name : str
        Its name in results.
    """

    def __init__(self, text: str, name: str) -> None:
        self._text = text
        self.name = name

    def to_toml(self) -> str:
        """Returns the text of the file for ``tcplab run``."""
        return self._text

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the file.

        Parameters
        ----------
        path
            The file.
        """
        Path(path).write_text(self._text, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<Experiment {self.name}>"


def experiment(
    name: str = "experiment",
    *,
    hosts: Iterable[Host | str] = (),
    links: Iterable[Link] = (),
    apps: Iterable[App] = (),
    variants: Iterable[Variant] = (),
    measures: Sequence[str] = (),
    title: str | None = None,
    stacks: Sequence[str] = (),
    repeat: int | None = None,
    seed: int | None = None,
    **run: Any,
) -> Experiment:
    """Builds an experiment.

    Parameters
    ----------
    name
        Its name in results.
    hosts
        Hosts or their names; if empty: ``client`` and ``server``.
    links
        The links; if empty, one link without delay or limit.
    apps
        Applications.
    variants
        Variants, each with its changes to the experiment.
    measures
        Measures (docs/experiment.md); if empty: the default measures of the applications.
    title
        The question that the experiment answers.
    stacks
        Stacks to run on if :func:`tcplab.run` is called without ``on``. Only ``model:`` and ``uml:`` stacks are allowed.
    repeat
        How often each point is run; each run has its own seed.
    seed
        Seed of all random streams.
    run
        Other keys of ``[run]``: ``max="10s"``, ``captures=False``, ``link_every="100ms"``.

    Returns
    -------
    Experiment

    Examples
    --------
    >>> e = tl.experiment(
    ...     links=[tl.Link(rate="10mbit", delay="25ms")],
    ...     apps=[tl.App("stream", chunk=tl.axis("88", "1 kB"), every="100ms", count=100)],
    ...     measures=["client.acks.delayed"],
    ... )                                                       # doctest: +SKIP
    >>> tl.run(e).points                                        # doctest: +SKIP
    """
    hosts, links = entries("hosts", "tl.Host(...)", hosts), entries("links", "tl.Link(...)", links)
    apps, variants = entries("apps", "tl.App(...)", apps), entries("variants", "tl.Variant(...)", variants)
    top: dict[str, Any] = {"name": name}
    if title is not None:
        top["title"] = title
    if measures:
        top["measures"] = list(measures)
    table = {"stacks": list(stacks) or None, "repeat": repeat, "seed": seed, **run}
    table = {key: value for key, value in table.items() if value is not None}
    lists: dict[str, list[dict[str, Any]]] = {
        "host": [Host(host).keys if isinstance(host, str) else host.keys for host in hosts],
        "link": [link.keys for link in links],
        "app": [app.keys for app in apps],
        "variant": [variant.keys for variant in variants],
    }
    return Experiment(to_toml({**top, **({"run": table} if table else {}), **lists}), name)


_BARE = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(document: Mapping[str, Any]) -> str:
    """The text of a file: keys, then tables, then lists of tables; what is deeper stands on one line."""
    lines: list[str] = []
    below: list[str] = []
    for key, value in document.items():
        if isinstance(value, Mapping):
            below += ["", f"[{_key(key)}]", *_lines(cast("Mapping[str, Any]", value))]
        elif not is_tables(value):
            lines += _lines({key: value})
    for key, value in document.items():
        if is_tables(value):
            for entry in cast("list[Mapping[str, Any]]", value):
                below += ["", f"[[{_key(key)}]]", *_lines(entry)]
    return "\n".join(lines + below).lstrip("\n") + "\n"


def is_tables(value: Any) -> bool:
    """Whether a value is a list of tables."""
    return isinstance(value, list) and all(isinstance(one, Mapping) for one in cast("list[Any]", value))


def _lines(table: Mapping[str, Any]) -> list[str]:
    return [f"{_key(key)} = {toml_value(value, key)}" for key, value in table.items()]


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key)


def plain(value: Any) -> Any:
    """A value of numpy, or a range, as Python's own."""
    if isinstance(value, range):
        return list(value)
    # A number or an array of numpy, also in a subclass of float.
    of_numpy = getattr(value, "tolist", None)
    return of_numpy() if callable(of_numpy) else value


def toml_value(value: Any, key: str) -> str:
    """A value as TOML.

    Raises
    ------
    TypeError
        TOML has no such value.
    """
    value = plain(value)
    if isinstance(value, Axis):
        named = f", name = {json.dumps(value.name)}" if value.name is not None else ""
        return f"{{ axis = {toml_value(value.values, key)}{named} }}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        inside = ", ".join(_lines(cast("Mapping[str, Any]", value)))
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml_value(one, key) for one in cast("Sequence[Any]", value)) + "]"
    raise TypeError(
        f"{key}: an experiment has texts, numbers, True and False, lists, dicts and tl.axis(...), no {type(value).__name__}"
        + ("; leave the key out" if value is None else "")
    )
