#!/usr/bin/env python3
"""Puts the program into a wheel: wheel.py PROGRAM VERSION MACHINE FOLDER

The program is static, so it runs on every Linux of its machine; pip puts it beside the other commands of its environment.
"""

import base64
import hashlib
import sys
import zipfile
from pathlib import Path

SUMMARY = "TCP laboratory: what TCP did in a capture and why; experiments in a simulator and on real kernels"


def main() -> None:
    program, version, machine, folder = sys.argv[1:]
    name = f"tcplab-{version}"
    tags = [f"py3-none-manylinux_2_17_{machine}", f"py3-none-musllinux_1_1_{machine}"]
    info = f"{name}.dist-info"
    files = {
        f"{name}.data/scripts/tcplab": Path(program).read_bytes(),
        f"{info}/METADATA": metadata(version).encode(),
        f"{info}/WHEEL": wheel(tags).encode(),
        f"{info}/licenses/LICENSE-MIT": Path("LICENSE-MIT").read_bytes(),
        f"{info}/licenses/LICENSE-APACHE": Path("LICENSE-APACHE").read_bytes(),
    }
    record = "".join(f"{path},sha256={digest(data)},{len(data)}\n" for path, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    short = f"py3-none-manylinux_2_17_{machine}.musllinux_1_1_{machine}"
    out = Path(folder) / f"{name}-{short}.whl"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            mode = 0o755 if "/scripts/" in path else 0o644
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)


def metadata(version: str) -> str:
    return (
        f"Metadata-Version: 2.4\nName: tcplab\nVersion: {version}\nSummary: {SUMMARY}\n"
        "License-Expression: MIT OR Apache-2.0\nRequires-Python: >=3.7\n"
        "Description-Content-Type: text/markdown\n\n" + Path("README.md").read_text()
    )


def wheel(tags: list[str]) -> str:
    head = "Wheel-Version: 1.0\nGenerator: scripts/wheel.py\nRoot-Is-Purelib: false\n"
    return head + "".join(f"Tag: {tag}\n" for tag in tags)


def digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    main()
