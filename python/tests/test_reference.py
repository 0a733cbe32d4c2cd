"""The page of the reference is what the docstrings make."""

from __future__ import annotations

import importlib.util
from pathlib import Path


def test_the_reference_is_up_to_date() -> None:
    path = Path(__file__).resolve().parents[1] / "reference.py"
    spec = importlib.util.spec_from_file_location("reference", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.FILE.read_text(encoding="utf-8") == module.page(), "python reference.py --write"
