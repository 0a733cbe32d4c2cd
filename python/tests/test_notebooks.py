"""The notebooks of examples/notebooks: each runs, comes to its answer, and is committed without outputs."""

from __future__ import annotations

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="notebooks need nbformat and nbclient (python/requirements-test.txt)")
nbclient = pytest.importorskip("nbclient", reason="notebooks need nbformat and nbclient (python/requirements-test.txt)")

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "notebooks"

#: What holds after the last cell of each notebook.
ANSWERS = {
    "forty-milliseconds": """
        assert finding["id"] == "quickack_exhausted"
        assert 40 <= late["wait_ms"].median() <= 44
        assert waiting["variant"].unique().to_list() == ["as-is"]
        assert delayed["model:linux-6.1"] == 0 and delayed["model:linux-6.1.56"] == 84
    """,
    "which-rto": """
        assert len(signs) == 17 and signs["agrees"].sum() >= 13
        assert set(latency["arm"]) == {"D", "R", "Y", "Y4"}
        assert counters["interval_low"].dtype == pl.Float64
    """,
    "cubic-or-bbr": """
        assert answer["verdict"] == "better" and answer["low"] > 0
        assert window["variant"].unique().sort().to_list() == ["bbr", "cubic"]
        assert queue["queue_ms"].max() > 0
    """,
    "ack-filter": """
        assert len(changes) == 20
        assert abs(even["upload"].median()) < 5 and steep["upload"].median() > 20
    """,
    "caqm-incast": """
        assert set(points["servers"]) == set(SERVERS)
        assert all(row["queue_kb"] < 200 and row["drops"] == 0 for row in queues["caqm"])
        assert all(row["queue_kb"] > 1000 for row in queues["cubic"])
    """,
    "your-own-congestion-control": """
        assert set(delivered) == {"steady", "cubic"}
        assert queues["steady"] < 10 < queues["cubic"]
        assert share < 0.3
    """,
}


def test_each_notebook_has_an_answer_here() -> None:
    assert {file.stem for file in FOLDER.glob("*.ipynb")} == set(ANSWERS)


@pytest.mark.parametrize("name", ANSWERS)
def test_is_committed_without_outputs(name: str) -> None:
    file = FOLDER / f"{name}.ipynb"
    notebook = nbformat.read(file, as_version=4)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    for cell in notebook.cells:
        assert not cell.get("outputs") and cell.get("execution_count") is None, (
            f"{file}: cell `{cell.id}` has outputs: clear them (Edit, Clear Outputs of All Cells) before you commit"
        )
        assert cell.metadata == {}, f"{file}: cell `{cell.id}` has metadata: remove it"
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebook.metadata.language_info == {"name": "python"}, f"{file}: keep the language's name only"


@pytest.mark.parametrize("name", ANSWERS)
def test_comes_to_its_answer(name: str, tmp_path: Path) -> None:
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    check = "\n".join(line.strip() for line in ANSWERS[name].strip().splitlines())
    notebook.cells.append(nbformat.v4.new_code_cell(check))
    client = nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
