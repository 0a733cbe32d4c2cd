"""Programs that do the same in turns: medians, ratios to the first of them."""

import socket
import statistics
import sys


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def tell(name, unit, turns, runs):
    """Runs each of `turns` (who, a function that gives a figure) so many times, A B C, C B A ..., and prints them."""
    found = {who: [] for who, _ in turns}
    for n in range(runs):
        for who, run in turns if n % 2 == 0 else reversed(turns):
            found[who].append(run())
    first = turns[0][0]
    own = statistics.median(found[first])
    for who, values in found.items():
        middle = statistics.median(values)
        ratio = "" if who == first else f"  {first} {own / middle:.3f} x"
        print(f"{name:18} {who:8} {middle:10.0f} {unit:7} ({min(values):.0f} to {max(values):.0f}){ratio}")
    sys.stdout.flush()
