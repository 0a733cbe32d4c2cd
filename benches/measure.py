# SPDX-License-Identifier: MIT OR Apache-2.0
"""What a command costs: user and system CPU seconds and peak memory of a child process, as the kernel counts them."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "tcplab" / "bench"
MB = 1_000_000


@dataclass
class Cost:
    """One run: exit code, CPU seconds, peak resident set in bytes."""

    code: int
    user: float
    system: float
    rss: int


def cost(words, stdout=subprocess.DEVNULL):
    """Runs `words` to its end and gives its `Cost` (wait4: this child only, not earlier ones).

    The peak cannot be smaller than this process's own: measure before reading anything large.
    """
    child = subprocess.Popen([str(w) for w in words], stdout=stdout, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return Cost(child.returncode, usage.ru_utime, usage.ru_stime, usage.ru_maxrss * 1024)


def dist_build():
    """Builds the command as users get it and gives its path."""
    subprocess.run(["cargo", "build", "-q", "--profile", "dist", "-p", "tcplab"], cwd=REPOSITORY, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR") or REPOSITORY / "target")
    return target / "dist" / "tcplab"

