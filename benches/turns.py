"""Programs that do the same in turns: medians, ratios to the first of them."""

import math
import random
import socket
import statistics
import sys


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ratio(own, others):
    """The median of the ratios of neighbours, and its 95 % interval (bootstrap); the ends are none of fewer than 5 runs."""
    logs = [math.log(a / b) for a, b in zip(own, others)]
    middle = math.exp(statistics.median(logs))
    if len(logs) < 5:
        return middle, None, None
    drawn = random.Random(1)
    medians = sorted(statistics.median(drawn.choices(logs, k=len(logs))) for _ in range(2000))
    return middle, math.exp(medians[50]), math.exp(medians[-51])


def tell(name, unit, turns, runs):
    """Runs each of `turns` (who, a function that gives a figure) so many times, A B C, C B A ..., and prints them."""
    found = {who: [] for who, _ in turns}
    for n in range(runs):
        for who, run in turns if n % 2 == 0 else reversed(turns):
            found[who].append(run())
    first = turns[0][0]
    for who, values in found.items():
        beside = ""
        if who != first:
            middle, low, high = ratio(found[first], values)
            beside = f"  {first} {middle:.3f} x" + (f" ({low:.3f} to {high:.3f})" if low else "")
        print(f"{name:18} {who:8} {statistics.median(values):10.0f} {unit:7} ({min(values):.0f} to {max(values):.0f}){beside}")
    sys.stdout.flush()
