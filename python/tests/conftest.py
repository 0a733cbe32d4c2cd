"""Where the tests find what they need."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "tcplab"

os.environ.setdefault("TCPLAB_COMMAND", str(BUILT))


@pytest.fixture
def captures() -> Path:
    """Captures of this repository."""
    return ROOT / "tests" / "captures"


@pytest.fixture
def examples() -> Path:
    """Experiments of this repository."""
    return ROOT / "examples"
