"""Results on one page that needs nothing else, and in short in the documentation."""

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest

import browser
from paper.claims.bars import evaluate_bars
from paper.claims.claims import evaluate
from paper.experiments import Result, accuracy
from paper.report import report, results_page


@pytest.fixture(scope="module")
def made_up():
    """Results of one experiment as it might be, with one that diverges and a disturbed time."""
    rows = [
        {
            "scenario": scenario, "variant": label, "dt": dt, "truth": truth, "periods": 9, "mean": dt * factor,
            "median": dt, "max": 1.0, "share of changes": 0.5, "diverged": 0.0, "seconds": 1e-5,
            "real-time factor": dt / 1e-5, "iterations": 0.0, "not converged": 0.0, "disturbed": label == "RK4",
        }
        for scenario in ("solo-squat", "solo-trot", "solo-jump")
        for label, factor in (
            ("Expo", 0.1), ("Expo, averaged (paper)", 1.0), ("RK4", np.inf), ("explicit Euler", 3.0),
            ("Expo, 0 products", 1.1),
        )
        for dt in (5e-4, 1e-3, 2e-3)
        for truth in ("own", "common")
    ]  # fmt: skip
    truths = [{"scenario": "solo-trot", "dt": 1e-6, "left": 1e-9, "changing periods": 0.02}]
    tables = {"accuracy": pd.DataFrame(rows), "truths": pd.DataFrame(truths)}
    results = {"accuracy": Result(tables, accuracy.figures(tables))}
    return report.Report(results, evaluate(tables), ("solo-squat", "solo-trot"), bars=evaluate_bars(tables))


@pytest.fixture(scope="module")
def page(made_up, tmp_path_factory):
    return report.write(made_up, tmp_path_factory.mktemp("report"))


def test_the_page_needs_nothing_else(page):
    text = page.read_text()
    assert not re.search(r"https?://", text)
    assert not re.search(r"@import|url\(|<script|<link", text)
    sources = re.findall(r'src="([^"]*)', text)
    assert len(sources) == 7
    assert all(source.startswith("data:image/svg+xml;base64,") for source in sources)
    assert all((page.parent / link).is_file() for link in re.findall(r'href="([^#"][^"]*)', text))


def test_the_page_tells_claims_verdicts_and_disturbed_times(page, made_up):
    text = page.read_text()
    for verdict in (*made_up.verdicts, *made_up.bars):
        assert verdict.claim.split(";")[0].replace("'", "&#x27;") in text
    assert text.count("10 †") == 9
    assert "--quick" not in text
    assert "not confirmed" in text and "not measured" in text
    assert text.count("Expo, averaged (paper)</div>") == len({v.letter for v in made_up.verdicts if v.method})
    assert ">met<" in text


def test_a_quick_page_judges_nothing(made_up, tmp_path):
    text = report.write(dataclasses.replace(made_up, quick=True), tmp_path).read_text()
    assert "--quick" in text and "nothing is judged by it" in text
    found = set(re.findall(r'class="(?:badge|chip) [\w-]*">(?:\([^)]*\) )?([\w ]*)<', text))
    assert found == {"not judged", "not measured"}
    for verdict in made_up.verdicts:
        assert not verdict.explanation or verdict.explanation.replace("'", "&#x27;") not in text


def test_the_data_of_the_figures_are_beside_them(page, made_up):
    for name, table in made_up.results["accuracy"].tables.items():
        assert len(pd.read_csv(page.parent / "data" / f"{name}.csv")) == len(table)
    for name in made_up.results["accuracy"].figures:
        assert (page.parent / "figures" / f"{name}.svg").read_bytes().startswith(b"<?xml")
        assert (page.parent / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.skipif(browser.CHROMIUM is None, reason="needs chromium")
@pytest.mark.parametrize("width", [1200, 390])
def test_the_page_fits_into_a_window(width, page):
    with browser.Browser((width, 900)) as window, window.open(page.as_uri()) as tab:
        assert tab.evaluate("[...document.images].every((image) => image.complete && image.naturalWidth > 100)")
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert not tab.errors()
        assert tab.requests() == [page.as_uri()]


def test_the_page_of_the_documentation_is_short_and_its_pictures_small(made_up, tmp_path):
    old = tmp_path / "images" / "results" / "gone.png"
    old.parent.mkdir(parents=True)
    old.touch()
    text = results_page.write_page(made_up, tmp_path).read_text()
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)
    assert {tmp_path / name for name in pictures} == set(tmp_path.glob("images/results/*.png"))
    assert 0 < len(pictures) < 15
    assert all((tmp_path / name).stat().st_size < 100_000 for name in pictures)
    told = [verdict.verdict for verdict in (*made_up.verdicts, *made_up.bars)]
    assert text.count("**not measured**") == told.count("not measured")
    assert text.count("**met**") == told.count("met") > 0
    assert "cores" in text


def test_the_page_of_the_documentation_keeps_what_others_wrote_at_its_end(made_up, tmp_path):
    section = "## Inside the step\n\nOf a benchmark.\n"
    (tmp_path / "results.md").write_text(f"# Old results\n\n{section}")
    text = results_page.write_page(made_up, tmp_path).read_text()
    assert text.endswith(f"\n\n{section}")
    assert "Old" not in text
    assert results_page.write_page(made_up, tmp_path).read_text() == text
