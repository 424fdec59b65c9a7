"""The key of a cell covers what its result depends on, and nothing else."""

import sys
from pathlib import Path

import pytest

from paper import digest
from paper.cell import Cell
from paper.experiments import EXPERIMENTS

PAPER = Path(digest.__file__).parent
MEASURED = sorted({cell.function.partition(":")[0] for e in EXPERIMENTS.values() for p in e.phases() for cell in p})


@pytest.mark.parametrize("module", MEASURED)
def test_captions_figures_and_verdicts_do_not_count(module):
    files = digest.sources(module)
    own = {file.relative_to(PAPER).parts[0] for file in files if file.is_relative_to(PAPER)}
    assert own == {"cell.py", "digest.py", "measure"}
    outside = {file.parent.name for file in files}
    assert not outside & {"plots", "viewer", "cli"}


@pytest.mark.parametrize("module", MEASURED)
def test_scheme_scenario_core_and_reference_motions_count(module):
    names = {file.name for file in digest.sources(module)}
    assert {"simulator.py", "integrators.py", "solo_trot.py", "solo_trot.npz", "variants.py"} <= names
    assert any(name.startswith("_core.") for name in names)


@pytest.fixture
def made_up(tmp_path, monkeypatch):
    """A package in which `times` uses `scheme`, and `figures` uses both."""
    files = {
        "__init__": "",
        "scheme": "GAIN = 1.0\n",
        "times": "from made_up.scheme import GAIN\n\n\ndef run(folder):\n    return [{}]\n",
        "figures": "from made_up import scheme, times\nCAPTION = 'before'\n",
    }
    folder = tmp_path / "made_up"
    folder.mkdir()
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "made_up", raising=False)
    monkeypatch.setattr(digest, "PACKAGES", ("made_up",))
    return folder


def key():
    digest.digest.cache_clear()
    return Cell("made_up.times:run").key


def change(file, before, after):
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))


def test_a_caption_may_be_edited(made_up):
    before = key()
    change(made_up / "figures.py", "before", "after")
    assert key() == before


def test_a_comment_may_be_edited(made_up):
    before = key()
    change(made_up / "scheme.py", "1.0", "1.0  # [-]")
    assert key() == before


@pytest.mark.parametrize(("file", "was", "is_now"), [("scheme.py", "1.0", "2.0"), ("times.py", "{}", "{'t': 1.0}")])
def test_what_a_cell_uses_may_not(made_up, file, was, is_now):
    before = key()
    change(made_up / file, was, is_now)
    assert key() != before


def test_data_of_a_package_in_use_counts(made_up):
    (made_up / "times.py").write_text("import made_up.motions\n")
    (made_up / "motions").mkdir()
    (made_up / "motions" / "__init__.py").touch()
    data = made_up / "motions" / "one.npz"
    data.write_bytes(b"one")
    before = key()
    data.write_bytes(b"other")
    assert key() != before


@pytest.mark.usefixtures("made_up")
def test_another_version_of_the_robots_is_another_result(monkeypatch):
    before = key()
    monkeypatch.setattr(digest.metadata, "version", lambda package: "0.0.1")
    assert key() != before


@pytest.mark.usefixtures("made_up")
def test_other_arguments_are_another_result():
    assert Cell("made_up.times:run", {"dt": 1e-3}).key != Cell("made_up.times:run", {"dt": 2e-3}).key
