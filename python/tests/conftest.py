"""Where the tests find what they need."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import tcplab

ROOT = Path(__file__).resolve().parents[2]
BUILT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "tcplab"

os.environ.setdefault("TCPLAB_COMMAND", str(BUILT))
# What tests start, in whatever folder, finds the same module.
os.environ["PYTHONPATH"] = str(Path(tcplab.__file__).resolve().parents[1])


@pytest.fixture
def captures() -> Path:
    """Captures of this repository."""
    return ROOT / "tests" / "captures"


@pytest.fixture
def examples() -> Path:
    """Experiments of this repository."""
    return ROOT / "examples"
