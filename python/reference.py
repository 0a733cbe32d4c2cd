"""Writes docs/python-reference.md from the docstrings: python reference.py [--write]."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import tcplab as tl
import tcplab.distributed
import tcplab.plot

FILE = Path(__file__).resolve().parents[1] / "docs" / "python-reference.md"

HEAD = """# Python reference

This page lists the contents of `import tcplab as tl`; `python/reference.py --write` makes it from docstrings. [python.md](python.md) shows
how to use the module."""

#: Sections, and the names in each; what is in none comes last.
SECTIONS: dict[str, list[str]] = {
    "Captures": ["analyze", "Analysis", "explain", "Explanation"],
    "Experiments": ["run", "Run", "experiment", "Experiment", "Host", "Link", "App", "Variant", "axis", "examples"],
    "The simulator in steps": ["World", "Connection", "End", "LinkState", "CongestionControl", "Reno", "View", "Ack", "Change"],
    "Populations": ["population", "PopulationResult"],
    "Tables": ["Table"],
    "Scripts, comparisons, kernels": ["drill", "Drill", "compare", "Comparison", "profiles", "stacks", "kernel_build"],
}

UNDERLINED = re.compile(r"^(\w[\w ]*)\n-+\n", re.MULTILINE)


def prose(doc: str) -> str:
    """Roles and double backquotes of numpy's style in Markdown."""
    doc = re.sub(r":\w+:`([^`]+)`", r"`\1`", doc)
    return re.sub(r"(?<!`)``(?!`)", "`", doc)


def entries(text: str) -> str:
    """A section of parameters as a list."""
    out: list[str] = []
    for line in text.splitlines():
        if not line.strip():
            continue
        if line.startswith((" ", "\t")):
            out[-1] += (" " if out[-1].endswith((":", ".", ",", ";")) or ": " in out[-1] else ": ") + line.strip()
        else:
            out.append("- " + ", ".join(f"`{name.strip()}`" for name in line.split(",")) if ":" not in line else f"- `{line.strip()}`")
    return "\n".join(out)


def docstring(thing: Any) -> str:
    """A docstring as Markdown."""
    doc = inspect.getdoc(thing) or ""
    parts = UNDERLINED.split(doc)
    out = [parts[0].strip()]
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        if title == "Examples":
            code = "\n".join(line[4:].split("# doctest")[0].rstrip() for line in body.splitlines() if line.startswith((">>> ", "... ")))
            out.append(f"```python\n{code}\n```")
        elif title == "Returns" and len(body.strip().splitlines()) == 1:
            out.append(f"Returns `{body.strip()}`.")
        else:
            out.append(f"*{title}*\n\n{entries(body)}")
    return prose("\n\n".join(part for part in out if part))


def signature(name: str, thing: Any) -> str:
    """The names and defaults of its parameters; the bare name for a class that only functions make."""
    if inspect.isclass(thing) and "Parameters\n" not in (inspect.getdoc(thing) or ""):
        return name
    try:
        own = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return name
    words: list[str] = []
    for one in own:
        if one.kind is one.KEYWORD_ONLY and "*" not in words and not any(word.startswith("*") for word in words):
            words.append("*")
        star = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        default = "" if one.default is one.empty else f"={one.default!r}"
        if one.name != "self":
            words.append(star + one.name + default)
    return f"{name}({', '.join(words)})"


def is_documented(one: Any) -> bool:
    """Not a plain value nor a field of a named tuple, whose docstrings are Python's."""
    return not isinstance(one, (str, int)) and bool(inspect.getdoc(one)) and not (inspect.getdoc(one) or "").startswith("Alias for field")


def listed_bases(thing: type) -> list[type]:
    """The bases of a class that have entries of their own."""
    listed = {name for names in SECTIONS.values() for name in names}
    return [one for one in thing.__mro__[1:] if one.__module__.startswith("tcplab") and one.__name__ in listed]


def members(thing: type) -> list[tuple[str, Any]]:
    """What an object of a class has, as it is written, without what a listed base has."""
    own: dict[str, Any] = {}
    for one in reversed(thing.__mro__):
        if one.__module__.startswith("tcplab") and one not in listed_bases(thing):
            own.update(vars(one))
    # Those of classes in Rust come in no order.
    rust = {name for name, one in own.items() if inspect.isgetsetdescriptor(one)}
    own = {name: own[name] for name in [*sorted(rust), *(name for name in own if name not in rust)]}
    return [(name, one) for name, one in own.items() if not name.startswith("_") and is_documented(one)]


def entry(name: str, thing: Any, level: str = "###") -> str:
    """A function or a class."""
    out = [f"{level} `{signature(name, thing)}`", docstring(thing)]
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        out += [f"It also has the members of `{base.__name__}`." for base in listed_bases(thing)]
        for member, one in members(thing):
            is_method = callable(one) or isinstance(one, staticmethod)
            called = getattr(thing, member) if is_method else one
            shown = signature(member, called) if is_method else member
            first = docstring(called).replace("\n\n", "\n").replace("\n", "\n  ")
            out.append(f"- `{shown}`: {first}")
    return "\n\n".join(part for part in out if part)


def plain(module: ModuleType) -> str:
    """The functions of a module."""
    return "\n\n".join(entry(f"{module.__name__.split('.')[-1]}.{name}", getattr(module, name)) for name in module.__all__)


def page() -> str:
    """The page."""
    out = [HEAD]
    there = set(tl.__all__)
    for title, names in SECTIONS.items():
        out.append(f"## {title}")
        out += [entry(name, getattr(tl, name)) for name in names if name in there]
    out += ["## Charts", plain(tcplab.plot), "## Clusters", plain(tcplab.distributed), "## Errors"]
    out += [entry(name, getattr(tl.errors, name)) for name in sorted(tl.errors.__all__)]
    listed = {name for names in SECTIONS.values() for name in names} | set(tl.errors.__all__) | {"__version__", "errors"}
    rest = sorted(there - listed)
    if rest:
        out.append("## More")
        out += [entry(name, getattr(tl, name)) for name in rest]
    return "\n\n".join(out) + "\n"


if __name__ == "__main__":
    if "--write" in sys.argv:
        FILE.write_text(page(), encoding="utf-8")
    elif FILE.read_text(encoding="utf-8") != page():
        sys.exit(f"{FILE} is not what the docstrings make: python reference.py --write")
