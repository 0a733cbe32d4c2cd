#!/usr/bin/env python3
"""Every form of output into every kind of thing that its name may stand for: `make campaign-files`.

Runs in a mount namespace of its own (full and read-only disks are mounted there); devices are copies made in a
temporary folder. Prints a table form x kind -> what happened and the exit code. With --append a row goes into
docs/campaigns.md. Exit code 1: something happened that docs/ and SECURITY.md do not say.
"""

import argparse
import datetime
import os
import pathlib
import pty
import re
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOBODY = 65534
CAPTURE = "quickack-5.10.46.a.pcap"
PAIR = ["bulk-loss.a.pcap", "bulk-loss.b.pcap"]
RUNS = "runs.csv"
POPULATION = "rto-web.toml"
INPUTS = ["tests/captures/" + name for name in (CAPTURE, *PAIR)]
INPUTS += ["tests/compare/samples/" + RUNS, "examples/" + POPULATION]
OLD = b"old, and to be kept\n"

EXPERIMENT = '[[app]]\nkind = "bulk"\nduration = "1s"\n[[link]]\nrate = "10mbit"\ndelay = "5ms"\n'
SCRIPT = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n"
SCRIPT += "+0 < S 0:0(0) win 1000 <mss 1000>\n+0 > S. 0:0(0) ack 1 <...>\n"


def options_of(tcplab, command):
    """Those that write one file, by the help: none is forgotten here."""
    text = subprocess.run([tcplab, command, "--help"], capture_output=True, text=True, check=True).stdout
    output = text.split("\nOutput:\n", 1)[1]
    return re.findall(r"^ +(--[a-z-]+) \[?<FILE", output, re.MULTILINE)


def file_forms(tcplab, work):
    """Name, arguments with OUT, what it needs that a build may not have."""
    exp, pop = work / "t.toml", POPULATION
    qa = ["qa", "--before", "uml:6.1", "--after", "uml:6.1", "--no-suite", "--frames", "40", str(exp)]
    small = ["--connections", "20"]
    return [
        ("analyze -o", ["analyze", CAPTURE, "-o", "OUT"]),
        ("analyze --json -o", ["analyze", "--json", CAPTURE, "-o", "OUT"]),
        ("analyze --acks -o", ["analyze", "--acks", CAPTURE, "-o", "OUT"]),
        ("analyze --acks --json -o", ["analyze", "--acks", "--json", CAPTURE, "-o", "OUT"]),
        ("analyze --tshark-compat -o", ["analyze", "--tshark-compat", PAIR[0], "-o", "OUT"]),
        ("analyze --pair -o", ["analyze", "--pair", *PAIR, "-o", "OUT"]),
        ("analyze --pair --json -o", ["analyze", "--json", "--pair", *PAIR, "-o", "OUT"]),
        ("analyze --html", ["analyze", CAPTURE, "--html", "OUT"]),
        ("analyze --annotate", ["analyze", CAPTURE, "--annotate", "OUT"]),
        ("analyze --flows", ["analyze", CAPTURE, "--flows", "OUT"]),
        *[(f"compare {option}", ["compare", RUNS, option, "OUT"]) for option in options_of(tcplab, "compare")],
        ("drill --junit", ["drill", "tests/pkt/ecn", "-4", "--junit", "OUT"]),
        ("run --html", ["run", str(exp), "--html", "OUT"]),
        ("run --html, population", ["run", pop, *small, "--html", "OUT"]),
        ("run --rows=", ["run", pop, *small, "--rows=OUT"]),
        ("population show --html", ["population", "show", pop, "--draws", "100", "--html", "OUT"]),
        ("report --html", ["report", str(work / "result"), "--html", "OUT"]),
        *[(f"qa {option}", [*qa, option, "OUT"]) for option in options_of(tcplab, "qa")],
    ]


def folder_forms(work):
    """Name, arguments with OUT (a folder), a file that it writes there."""
    exp, pop = work / "t.toml", POPULATION
    pkt = str(work / "one.pkt")
    small = ["--connections", "20"]
    bench = ["bench", "TCP_RR", "--repeat", "1", "--for", "20ms", "--warm", "10ms"]
    return [
        ("run --out", ["run", str(exp), "--out", "OUT"], "summary.json"),
        ("run --out, population", ["run", pop, *small, "--out", "OUT"], "summary.json"),
        ("drill --tap-dir", ["drill", pkt, "--tap-dir", "OUT"], "packetdrill_one.tap"),
        ("drill --pcap", ["drill", pkt, "--pcap", "OUT"], None),
        ("bench --out", [*bench, "--out", "OUT"], "metrics.json"),
        ("report, into its folder", ["report", "OUT"], "report.html"),
    ]


def stdout_forms(work):
    exp, pop = str(work / "t.toml"), POPULATION
    pkt = str(work / "one.pkt")
    return [
        ["analyze", CAPTURE], ["analyze", "--json", CAPTURE], ["analyze", "--acks", CAPTURE],
        ["analyze", "--tshark-compat", PAIR[0]], ["analyze", "--pair", *PAIR],
        ["explain", CAPTURE], ["explain", "--json", CAPTURE],
        ["compare", RUNS], ["compare", RUNS, "--json"], ["compare", RUNS, "--markdown"],
        ["run", exp], ["run", exp, "--json"], ["run", exp, "--dry-run"],
        ["population", "show", pop, "--draws", "100"], ["population", "show", pop, "--draws", "100", "--json"],
        ["drill", pkt], ["drill", pkt, "--json"], ["drill", pkt, "--tap"], ["drill", pkt, "--dry-run"],
        ["inject", "--count", "500"], ["inject", "--count", "500", "--json"], ["inject", "--list"],
        ["schema", "run"], ["completions", "bash"], ["man"], ["stacks", "--profiles"],
        ["stacks"], ["doctor"], ["kernel", "list"],
    ]  # fmt: skip


class Cell:
    """What happened."""

    def __init__(self, words, wrong=None):
        self.words, self.wrong = words, wrong


class Kinds:
    """Each method makes a thing named `out` in a folder of its own, runs the form and looks."""

    def __init__(self, tcplab, work):
        self.tcplab, self.work, self.count = tcplab, work, 0

    def place(self):
        self.count += 1
        place = self.work / f"p{self.count}"
        place.mkdir()
        return place

    def run(self, args, out, as_nobody=False, **more):
        args = [arg.replace("OUT", str(out)) for arg in args]
        command = [self.tcplab, *args]
        if as_nobody:
            command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command]
        more.setdefault("stdout", subprocess.PIPE)
        more.setdefault("stdin", subprocess.DEVNULL)
        done = subprocess.run(command, stderr=subprocess.PIPE, cwd=self.work, timeout=300, check=False, **more)
        return done.returncode, done.stderr.decode(errors="replace")

    def judged(self, done, good, path=None, codes=(0,), keeps=None):
        """The cell: `good` says what went wrong with the file, None when nothing did."""
        code, err = done
        wrong = good
        if "panicked" in err:
            wrong = "panicked"
        elif code not in codes:
            wrong = f"exit {code}: {err.strip().splitlines()[-1:]}"
        elif codes == (2,) and path and str(path) not in err:
            wrong = f"the error does not name the file: {err.strip()}"
        if keeps is not None and not wrong:
            left = sorted(os.listdir(keeps[0]))
            wrong = None if left == sorted(keeps[1]) else f"left in the folder: {left}"
        return Cell(f"{'refused' if 2 in codes else 'written'} {code}", wrong)

    def same(self, path, want):
        try:
            got = pathlib.Path(path).read_bytes()
        except OSError as e:
            return str(e)
        return None if got == want or (want is None and got) else f"{len(got)} bytes, expected {want and len(want)}"

    def written(self, form, prepare=None, file="out", names=("out",), check=lambda place: None, want=b"", **more):
        place = self.place()
        out = place / "out"
        if prepare:
            prepare(place)
        done = self.run(form, out, **more)
        wrong = self.same(place / file, want) or check(place)
        return self.judged(done, wrong, keeps=(place, names))

    def new(self, form, want):
        umask = os.umask(0)
        os.umask(umask)
        mode = lambda p: None if stat.S_IMODE((p / "out").stat().st_mode) == 0o666 & ~umask else "not the umask's mode"
        return self.written(form, want=want, check=mode)

    def mode_0600(self, form, want):
        def prepare(place):
            (place / "out").write_bytes(OLD)
            (place / "out").chmod(0o600)
            if os.geteuid() == 0:
                os.chown(place / "out", NOBODY, NOBODY)

        def check(place):
            there = (place / "out").stat()
            if stat.S_IMODE(there.st_mode) != 0o600:
                return f"mode {there.st_mode:o}"
            return None if os.geteuid() != 0 or there.st_uid == NOBODY else "another owner"

        return self.written(form, prepare, want=want, check=check)

    def hard_link(self, form, want):
        def prepare(place):
            (place / "out").write_bytes(OLD)
            os.link(place / "out", place / "other")

        check = lambda place: self.same(place / "other", OLD)
        return self.written(form, prepare, names=("out", "other"), want=want, check=check)

    def symlink(self, form, want):
        def prepare(place):
            (place / "far").mkdir()
            (place / "far/file").write_bytes(OLD)
            (place / "second").symlink_to("far/file")
            (place / "out").symlink_to("second")

        check = lambda place: None if (place / "out").is_symlink() else "the link is gone"
        return self.written(form, prepare, "far/file", ("far", "second", "out"), check, want)

    def dangling(self, form, want):
        check = lambda place: None if (place / "out").is_symlink() else "the link is gone"
        prepare = lambda place: (place / "out").symlink_to("file")
        return self.written(form, prepare, "file", ("file", "out"), check, want)

    def refused(self, form, prepare, names=("out",), check=lambda place: None, place=None, **more):
        place = place or self.place()
        prepare(place)
        done = self.run(form, place / "out", **more)
        keeps = (place, names) if names is not None else None
        return self.judged(done, check(place), place / "out", codes=(2,), keeps=keeps)

    def loop(self, form, want):
        return self.refused(form, lambda place: (place / "out").symlink_to("out"))

    def folder(self, form, want):
        return self.refused(form, lambda place: (place / "out").mkdir())

    def socket(self, form, want):
        def prepare(place):
            self.listener = socket.socket(socket.AF_UNIX)
            self.listener.bind(str(place / "out"))

        return self.refused(form, prepare, check=lambda p: None if (p / "out").is_socket() else "replaced")

    def attack(self, form, want):
        names = ("out.part", ".out.part", "out.new", "out.tmp", ".out.new")

        def prepare(place):
            (place / "secret").write_bytes(OLD)
            for name in names:
                (place / name).symlink_to("secret")

        check = lambda place: self.same(place / "secret", OLD)
        return self.written(form, prepare, names=("out", "secret", *names), want=want, check=check)

    def planted(self, form, want):
        if os.geteuid() != 0:
            return Cell("-")

        def prepare(place):
            place.chmod(0o1777)
            (place / "secret").write_bytes(OLD)
            (place / "out").symlink_to("secret")
            os.lchown(place / "out", NOBODY, NOBODY)

        return self.refused(form, prepare, ("out", "secret"), lambda p: self.same(p / "secret", OLD))

    def fifo(self, form, want):
        place = self.place()
        os.mkfifo(place / "out")
        got = []
        reader = threading.Thread(target=lambda: got.append((place / "out").read_bytes()), daemon=True)
        reader.start()
        done = self.run(form, place / "out")
        reader.join(timeout=2)
        if reader.is_alive():
            # Nobody opened it: let the reader go.
            os.close(os.open(place / "out", os.O_WRONLY | os.O_NONBLOCK))
        right = got and (got[0] == want or want is None)
        wrong = None if right and (place / "out").is_fifo() else "the reader got something else"
        return self.judged(done, wrong, keeps=(place, ("out",)))

    def device(self, form, want):
        place = self.place()
        if not node(place / "out", 3):
            return Cell("-")
        done = self.run(form, place / "out")
        is_device = stat.S_ISCHR((place / "out").stat().st_mode)
        return self.judged(done, None if is_device else "replaced", keeps=(place, ("out",)))

    def dev_full(self, form, want):
        place = self.place()
        if not node(place / "out", 7):
            return Cell("-")
        done = self.run(form, place / "out")
        is_device = stat.S_ISCHR((place / "out").stat().st_mode)
        return self.judged(done, None if is_device else "replaced", place / "out", codes=(2,))

    def terminal(self, form, want):
        mine, theirs = pty.openpty()
        got = []
        threading.Thread(target=lambda: drain(mine, got), daemon=True).start()
        done = self.run(form, os.ttyname(theirs))
        os.close(theirs)
        return self.judged(done, None)

    def dev_fd(self, form, want):
        place = self.place()
        with open(place / "log", "wb") as log:
            log.write(OLD)
            log.flush()
            done = self.run(form, f"/dev/fd/{log.fileno()}", pass_fds=(log.fileno(),))
        wanted = None if want is None else OLD + want
        return self.judged(done, self.same(place / "log", wanted), keeps=(place, ("log",)))

    def full_disk(self, form, want):
        return self.on_disk(form, "size=64k", fill=True)

    def read_only(self, form, want):
        return self.on_disk(form, "size=64k", fill=False)

    def on_disk(self, form, options, fill):
        place = self.place()
        if not mount(place, options):
            return Cell("-")
        try:
            (place / "out").write_bytes(OLD)
            if fill:
                with open(place / "filler", "wb", buffering=0) as filler:
                    try:
                        while True:
                            filler.write(bytes(4096))
                    except OSError:
                        pass
            else:
                subprocess.run(["mount", "-o", "remount,ro", place], check=True)
            names = ("out", "filler") if fill else ("out",)
            return self.refused(form, lambda p: None, names, lambda p: self.same(p / "out", OLD), place=place)
        finally:
            subprocess.run(["umount", place], check=True)

    def mount_point(self, form, want):
        """A file that cannot be renamed over is written in place."""
        place = self.place()
        (place / "out").write_bytes(OLD)
        (place / "below").write_bytes(OLD)
        bind = ["mount", "--bind", place / "below", place / "out"]
        if subprocess.run(bind, capture_output=True, check=False).returncode != 0:
            return Cell("-")
        try:
            done = self.run(form, place / "out")
            return self.judged(done, self.same(place / "below", want), keeps=(place, ("out", "below")))
        finally:
            subprocess.run(["umount", place / "out"], check=True)

    def unwritable_folder(self, form, want):
        """As another user: the file may be written, its folder may not."""
        if not can_be_nobody(form):
            return Cell("-")

        def prepare(place):
            (place / "out").write_bytes(OLD)
            (place / "out").chmod(0o666)

        return self.written(form, prepare, want=want, as_nobody=True)

    def mode_0444(self, form, want):
        """As another user, whose file it is."""
        if not can_be_nobody(form):
            return Cell("-")

        def prepare(place):
            os.chown(place, NOBODY, NOBODY)
            (place / "out").write_bytes(OLD)
            (place / "out").chmod(0o444)
            os.chown(place / "out", NOBODY, NOBODY)

        return self.refused(form, prepare, check=lambda p: self.same(p / "out", OLD), as_nobody=True)


FILE_KINDS = [
    "new", "mode_0600", "mode_0444", "hard_link", "symlink", "dangling", "loop", "attack", "planted", "device",
    "dev_full", "terminal", "fifo", "socket", "folder", "dev_fd", "full_disk", "read_only", "mount_point",
    "unwritable_folder",
]  # fmt: skip
# In a folder that the user names, tcplab chose the file's name: nothing but a regular file is replaced.
FOLDER_KINDS = ["new", "symlink", "dangling", "device", "fifo", "socket", "full_disk", "read_only"]
STDOUT_KINDS = ["full", "gone"]


def can_be_nobody(form):
    """Kernels are in a cache of the user who built them."""
    return os.geteuid() == 0 and form[0] != "qa"


def node(path, minor):
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
        os.close(os.open(path, os.O_WRONLY))
        return True
    except OSError:
        return False


def mount(place, options):
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", place]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def drain(fd, got):
    try:
        while data := os.read(fd, 65536):
            got.append(data)
    except OSError:
        pass


def in_folder(kinds, form, name, kind, source):
    """A folder form with something in the way of one of its files."""
    place = kinds.place()
    out = place / "out"
    is_disk = kind in ("full_disk", "read_only")
    if is_disk and not mount(place, "size=64k"):
        return Cell("-")
    try:
        if source:
            shutil.copytree(source, out, ignore=shutil.ignore_patterns("report.html", "*.pcapng"))
        else:
            out.mkdir()
        secret = place / "secret"
        secret.write_bytes(OLD)
        listener = socket.socket(socket.AF_UNIX)
        if kind in ("symlink", "dangling", "device", "fifo", "socket"):
            if name is None:
                return Cell("-")
            at = out / name
            at.unlink(missing_ok=True)
            if kind == "symlink":
                at.symlink_to(secret)
            elif kind == "dangling":
                at.symlink_to(place / "made")
            elif kind == "fifo":
                os.mkfifo(at)
            elif kind == "socket":
                listener.bind(str(at))
            elif not node(at, 3):
                return Cell("-")
        if kind == "full_disk":
            with open(place / "filler", "wb", buffering=0) as filler:
                try:
                    while True:
                        filler.write(bytes(4096))
                except OSError:
                    pass
        if kind == "read_only":
            subprocess.run(["mount", "-o", "remount,ro", place], check=True)
        done = kinds.run(form, out)
        wrong = kinds.same(secret, OLD)
        if (place / "made").exists():
            wrong = "followed a dangling link"
        if kind == "new":
            if name and not (out / name).is_file():
                wrong = f"no {name}"
            return kinds.judged(done, wrong)
        return kinds.judged(done, wrong, out, codes=(2,))
    finally:
        if is_disk:
            subprocess.run(["umount", place], check=True)


def to_stdout(kinds, form, kind):
    if kind == "full":
        with open("/dev/full", "wb") as full:
            code, err = kinds.run(form, "", stdout=full)
        good = (2,)
    else:
        read, wrote = os.pipe()
        os.close(read)
        code, err = kinds.run(form, "", stdout=wrote)
        os.close(wrote)
        good = (141,)
    wrong = None if code in good and "panicked" not in err else f"exit {code}: {err.strip()[-200:]}"
    return Cell(f"ended {code}", wrong)


def reference(kinds, form):
    """The bytes of a new file; None when two runs differ; and why it cannot be had here."""
    found = []
    for _ in range(2):
        out = kinds.place() / "out"
        code, err = kinds.run(form, out)
        lacks = ("built without" in err, "no kernel" in err, "is not built" in err, code == 4)
        if any(lacks):
            return None, err.strip().splitlines()[-1][:100]
        found.append(out.read_bytes() if out.is_file() else b"")
    if not found[0]:
        return None, f"wrote nothing: exit {code} {err.strip()[-200:]}"
    return (found[0] if found[0] == found[1] else None), None


def campaign(tcplab):
    counts, wrong = {"as said": 0, "wrong": 0, "not tried here": 0}, []
    absent = []

    def note(name, kind, cell):
        if cell.words == "-":
            counts["not tried here"] += 1
        elif cell.wrong:
            counts["wrong"] += 1
            wrong.append(f"{name} x {kind}: {cell.wrong}")
        else:
            counts["as said"] += 1
        return f"WRONG ({cell.words})" if cell.wrong else cell.words

    def table(title, kinds, rows):
        print(f"\n{title}\n")
        print("| form | " + " | ".join(kinds) + " |")
        print("|---" * (len(kinds) + 1) + "|")
        for name, cells in rows:
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)

    with tempfile.TemporaryDirectory(prefix="campaign-files-") as work:
        work = pathlib.Path(work)
        # Another user must get to the places in it.
        work.chmod(0o755)
        (work / "t.toml").write_text(EXPERIMENT)
        (work / "one.pkt").write_text(SCRIPT)
        for name in INPUTS:
            shutil.copy(ROOT / name, work)
        kinds = Kinds(shutil.copy(tcplab, work), work)
        made = kinds.run(["run", str(work / "t.toml"), "--out", "OUT"], work / "result")
        if made[0] != 0:
            sys.exit(f"no result folder: {made[1]}")

        def of_file():
            for name, form in file_forms(kinds.tcplab, work):
                want, why = reference(kinds, form)
                if why:
                    absent.append(f"{name}: {why}")
                    continue
                cells = [note(name, kind, getattr(kinds, kind)(form, want)) for kind in FILE_KINDS]
                yield name, cells

        def of_folder():
            for name, form, file in folder_forms(work):
                source = work / "result" if name.startswith("report") else None
                code, err = kinds.run(form, shutil.copytree(source, kinds.place() / "r") if source else kinds.place() / "r")
                if code == 4:
                    absent.append(f"{name}: {err.strip()[-100:]}")
                    continue
                cells = [note(name, kind, in_folder(kinds, form, file, kind, source)) for kind in FOLDER_KINDS]
                yield name, cells

        def of_stdout():
            for form in stdout_forms(work):
                name = " ".join(pathlib.Path(word).name for word in form)
                yield name, [note(name, kind, to_stdout(kinds, form, kind)) for kind in STDOUT_KINDS]

        table("A file that an option names", FILE_KINDS, of_file())
        table("A file in a folder that an option names", FOLDER_KINDS, of_folder())
        table("Standard output", STDOUT_KINDS, of_stdout())
    for line in absent:
        print(f"\nnot in this build or on this machine: {line}")
    for line in wrong:
        print(f"\nWRONG: {line}")
    print("\n" + ", ".join(f"{n} {what}" for what, n in counts.items()))
    return counts, absent


def append(counts, absent):
    git = ["git", "-C", ROOT, "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip() or "?"
    today = datetime.date.today().isoformat()
    forms = "; ".join(line.split(":")[0] for line in absent) or "none"
    row = f"| {today} | {commit} | {counts['as said']} | {counts['wrong']} | {counts['not tried here']} | {forms} |\n"
    page = ROOT / "docs/campaigns.md"
    lines = page.read_text().splitlines(keepends=True)
    at = lines.index("## campaign-files\n")
    rows = [i for i, line in enumerate(lines) if i > at and line.startswith("|")]
    ends = [i for i, line in enumerate(lines) if i > at and line.startswith("## ")]
    rows = [i for i in rows if not ends or i < ends[0]]
    lines.insert(rows[-1] + 1, row)
    page.write_text("".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tcplab", default=str(ROOT / "target/release/tcplab"), help="the program")
    parser.add_argument("--append", action="store_true", help="add a row to docs/campaigns.md")
    args = parser.parse_args()
    if os.environ.get("CAMPAIGN_FILES") != "inside":
        command = ["unshare", "--mount", "--propagation", "private"]
        if os.geteuid() != 0:
            command.append("--map-root-user")
        os.environ["CAMPAIGN_FILES"] = "inside"
        os.execvp(command[0], [*command, sys.executable, *sys.argv])
    counts, absent = campaign(str(pathlib.Path(args.tcplab).resolve()))
    if args.append:
        append(counts, absent)
    sys.exit(1 if counts["wrong"] else 0)


if __name__ == "__main__":
    main()
