"""The blocks of Python in the documents run."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"(?<!-->\n)^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: Blocks of these pages run one after the other, each page with its own names.
PAGES = ["docs/python.md", "docs/python-reference.md", "docs/world.md", "python/README.md"]


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(ROOT / "tests" / "captures" / "write-write-read.a.pcap", tmp_path / "slow.pcapng")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    assert blocks
    exec("import tcplab as tl, polars", names)  # noqa: S102
    for block in blocks:
        # A kernel is not built everywhere.
        exec(block.replace("uml:6.1", "model:linux-5.14"), names)  # noqa: S102


def test_all_pages_with_blocks_are_listed() -> None:
    pages = [*ROOT.glob("docs/*.md"), *ROOT.glob("*.md"), *ROOT.glob("python/*.md")]
    with_blocks = [str(page.relative_to(ROOT)) for page in pages if BLOCK.search(page.read_text(encoding="utf-8"))]
    assert sorted(with_blocks) == sorted(PAGES)
