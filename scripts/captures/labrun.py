"""Runs one experiment of the capture laboratory on a kernel of choice.

Kernels (names as the labels have them):
  host            this machine's own kernel, in namespaces (needs root)
  debian-5.10     Debian bullseye's user-mode-linux, 5.10.46: before the quick-ACK fixes; real time, HZ=100
  debian-6.1      Debian bookworm's user-mode-linux, 6.1.176: after them; real time, HZ=100
  uml-6.1-hzN     linux-source-6.1 built by `tcplab kernel build` with HZ=N, virtual time
  uml-6.1-hzN-old the same with the edit quickack-6.1.56: behaves as 6.1.56 did
"""

import functools
import gzip
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tcplab"
BULLSEYE = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bullseye main\n"


def say(text):
    print(text, flush=True)


def build_lab():
    """Compiles the laboratory (static, so that it can be a guest's /init), once for each state of its sources."""
    sources = sorted((HERE / "lab").glob("*.c"))
    state = hashlib.sha256(b"".join(p.read_bytes() for p in [*sources, HERE / "lab" / "lab.h"]))
    out = CACHE / f"lab-{state.hexdigest()[:12]}"
    if not out.exists():
        out.parent.mkdir(parents=True, exist_ok=True)
        new = out.with_suffix(f".new{os.getpid()}-{threading.get_ident()}")
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-static", "-o", new, *sources], check=True)
        new.rename(out)
    return out


def cpio(files):
    """An initramfs (newc) of (name, mode, content)."""
    out = bytearray()
    for number, (name, mode, data) in enumerate([*files, ("TRAILER!!!", 0, b"")], 1):
        fields = [number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        out += b"070701" + b"".join(b"%08X" % f for f in fields) + name.encode() + b"\0"
        out += b"\0" * (-len(out) % 4) + data
        out += b"\0" * (-len(out) % 4)
    return bytes(out)


def initramfs(lab, kernel, modules):
    """The guest's file system: the laboratory as /init, and tun.ko where TUN is a module."""
    out = CACHE / f"init-{kernel}-{lab.name}.cpio.gz"
    if out.exists():
        return out
    files = [("dev", 0o40755, b""), ("proc", 0o40755, b""), ("mnt", 0o40755, b""), ("init", 0o100755, lab.read_bytes())]
    if modules:
        files.append(("tun.ko", 0o100644, next(modules.glob("**/drivers/net/tun.ko")).read_bytes()))
    new = out.with_suffix(f".new{os.getpid()}-{threading.get_ident()}")
    new.write_bytes(gzip.compress(cpio(files), 1, mtime=0))
    new.rename(out)
    return out


def bullseye_uml():
    """Fetches bullseye's user-mode-linux with an apt configuration of its own; the system's is left alone."""
    root = CACHE / "uml-bullseye"
    if not (root / "usr/bin/linux.uml").exists():
        say("fetching Debian bullseye's user-mode-linux (38 MB)")
        apt = CACHE / "apt-bullseye"
        for d in ("lists/partial", "cache/archives/partial"):
            (apt / d).mkdir(parents=True, exist_ok=True)
        (apt / "sources.list").write_text(BULLSEYE)
        options = [f"-oDir::Etc::sourcelist={apt}/sources.list", "-oDir::Etc::sourceparts=/dev/null",
                   f"-oDir::State::lists={apt}/lists", f"-oDir::Cache={apt}/cache"]
        subprocess.run(["apt-get", "-qq", *options, "update"], check=True)
        shown = subprocess.run(["apt-cache", *options, "madison", "user-mode-linux"], check=True, capture_output=True, text=True)
        version = shown.stdout.split("|")[1].strip()
        subprocess.run(["apt-get", "-qq", *options, "download", f"user-mode-linux={version}"], check=True, cwd=apt)
        subprocess.run(["dpkg-deb", "-x", next(apt.glob("user-mode-linux_*.deb")), root], check=True)
    return root


def bookworm_uml():
    """Debian bookworm's user-mode-linux, installed when missing."""
    if not shutil.which("linux.uml"):
        say("installing user-mode-linux")
        subprocess.run(["apt-get", "install", "-y", "-qq", "user-mode-linux"], check=True)
    return Path("/")


def tcplab():
    """The command: $TCPLAB, else the release build of this repository, built when missing."""
    if os.environ.get("TCPLAB"):
        return os.environ["TCPLAB"]
    root = HERE.parent.parent
    exe = Path(os.environ.get("CARGO_TARGET_DIR") or root / "target") / "release" / "tcplab"
    if not exe.exists():
        subprocess.run(["cargo", "build", "--release", "--locked", "--package", "tcplab"], cwd=root, check=True)
    return exe


@functools.cache
def virtual_kernel(hz, old):
    """The path of a kernel of our own; built (minutes) when it is not there."""
    listed = subprocess.run([tcplab(), "kernel", "list", "--json"], check=True, stdout=subprocess.PIPE).stdout
    stack = "uml:6.1" + ("+quickack-6.1.56" if old else "") + ("" if hz == "250" else f"@{hz}")
    for k in json.loads(listed)["kernels"]:  # looked up first: a build waits for others that run
        if stack in k["stacks"]:
            return Path(k["path"])
    command = [tcplab(), "kernel", "build", "6.1", "--hz", hz, "--install", "--json", *(["--edit", "quickack-6.1.56"] if old else [])]
    return Path(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["path"])


def binary(kernel):
    """(executable, folder of modules or None, virtual time?, HZ)."""
    if kernel == "debian-5.10":
        root = bullseye_uml()
        return root / "usr/bin/linux.uml", root / "usr/lib/uml/modules", False, 100
    if kernel == "debian-6.1":
        root = bookworm_uml()
        return root / "usr/bin/linux.uml", root / "usr/lib/uml/modules", False, 100
    m = re.fullmatch(r"uml-6\.1-hz(\d+)(-old)?", kernel)
    if not m:
        raise SystemExit(f"unknown kernel {kernel}")
    return virtual_kernel(m[1], bool(m[2])), None, True, int(m[1])


def hz_of(kernel):
    """Ticks a second; None when this machine does not tell."""
    if kernel != "host":
        return binary(kernel)[3]
    for path in ("/proc/config.gz", f"/boot/config-{platform.release()}"):
        if os.path.exists(path):
            text = gzip.open(path, "rt").read() if path.endswith(".gz") else open(path).read()
            m = re.search(r"^CONFIG_HZ=(\d+)", text, re.M)
            return int(m[1]) if m else None
    return None


def run(kernel, scenario, prefix, seed=1, timeout=None):
    """Runs a scenario (a list of key=value lines); captures are PREFIX.{a,b,mid}.pcap. Returns what the run itself says."""
    lab = build_lab()
    prefix = Path(prefix).resolve()
    prefix.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{line}\n" for line in [f"seed={seed}", *scenario])
    longest = next((int(s[4:]) for s in scenario if s.startswith("max=")), 60_000_000) / 1e6
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="tcplab-") as tmp:
        if kernel == "host":
            (Path(tmp) / "scenario").write_text(text)
            command = [lab, f"{tmp}/scenario", prefix]
            env = None
        else:
            exe, modules, virtual, _ = binary(kernel)
            share = Path(tmp) / "share"
            share.mkdir()
            (share / "scenario").write_text(text)
            image = initramfs(lab, kernel.removesuffix("-old"), modules)
            command = [exe, "mem=96M", f"initrd={image}", "con=null", "con0=fd:0,fd:1", "quiet", f"uml_dir={tmp}/",
                       f"LAB_SHARE={share}", "LAB_SCENARIO=scenario", "LAB_PREFIX=out"]
            if virtual:
                command += ["time-travel=inf-cpu", f"time-travel-start={1_790_000_000_000_000_000 + seed * 10**12}"]
            env = dict(os.environ, GLIBC_TUNABLES="glibc.pthread.rseq=0", TMPDIR="/dev/shm", TCPLAB_SEED=str(seed))
        if timeout is None:
            timeout = longest + 60
        # Real-time guests mostly sleep; with real-time priority they wake in time on a busy machine too.
        before = (lambda: os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))) if kernel.startswith("debian") and os.geteuid() == 0 else None
        done = subprocess.run(command, env=env, timeout=timeout, preexec_fn=before, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        if kernel != "host":
            for f in share.glob("out.*"):
                shutil.copyfile(f, prefix.with_name(prefix.name + f.name[3:]))
        raw = prefix.with_name(prefix.name + ".raw.json")
        if not raw.exists():
            raise RuntimeError(f"{kernel}: no result\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        out = json.loads(raw.read_text())
        raw.unlink()
        if "sysctl" in done.stderr or "sysctl" in done.stdout:
            out["warnings"] = [s for s in (done.stderr + done.stdout).splitlines() if "sysctl" in s]
        return out
