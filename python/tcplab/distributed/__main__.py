"""What ``tcplab run --dask`` starts: runs what is left of a result folder on the workers, and prints nothing."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time

from tcplab import errors
from tcplab._progress import is_watched
from tcplab.distributed import gather

#: Exit codes of the command, by what went wrong.
CODES: list[tuple[type[errors.TcplabError], int]] = [
    (errors.UsageError, 2),
    (errors.InputError, 2),
    (errors.OutputError, 2),
    (errors.Inconclusive, 3),
    (errors.Interrupted, 130),
]


def main() -> int:
    """Runs it, and gives the exit code."""
    parser = argparse.ArgumentParser(prog="python3 -m tcplab.distributed", description=__doc__)
    parser.add_argument("experiment", help="experiment file")
    parser.add_argument("--dask", required=True, metavar="ADDRESS", help="the scheduler, tcp://HOST:PORT")
    parser.add_argument("--out", required=True, metavar="FOLDER", help="result folder")
    parser.add_argument("options", nargs="*", help="options of `tcplab run`, after --")
    args = parser.parse_args()
    threading.Thread(target=follow, args=(os.getppid(),), daemon=True).start()
    try:
        gather(args.experiment, args.options, out=args.out, client=args.dask, progress=None if is_watched() else False)
    except errors.TcplabError as e:
        print(f"tcplab: {e}", file=sys.stderr)
        return next((code for kind, code in CODES if isinstance(e, kind)), 4)
    except KeyboardInterrupt:
        return 130
    return 0


def follow(parent: int) -> None:
    """Ends with the command that started this."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    sys.exit(main())
