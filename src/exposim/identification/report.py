"""What was identified, as a page of HTML: tables and small pictures, without scripts."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from exposim._checks import Array
from exposim.identification.pictures import bars, lines

if TYPE_CHECKING:
    from exposim.identification.result import Identified, Residuals

STYLE = """
body { font: 14px/1.45 sans-serif; color: #222; max-width: 900px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin-top: 1.8em; }
table { border-collapse: collapse; margin: .4em 0; }
th, td { padding: .18em .9em .18em 0; text-align: right; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; }
thead th { border-bottom: 1px solid #999; font-weight: 600; }
.bad { color: #D55E00; } .columns { columns: 2; } p { max-width: 46em; }
"""


def page_of(result: Identified) -> str:
    """A whole page."""
    name = html.escape(result.robot)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Identification of {name}</title>'
        f"<style>{STYLE}</style></head><body><h1>Identification of {name}</h1>{body_of(result)}</body></html>\n"
    )


def body_of(result: Identified) -> str:
    """What the page has below its title."""
    parts = [
        f"<p>{html.escape(str(result).splitlines()[0])}</p>",
        _section("Estimates", _estimates(result)),
    ]
    if len(result.names) > 1:
        parts.append(_section("Correlation of the estimates", _correlation(result)))
    parts.append(_section("Residuals", _told(result) + "".join(_residuals(each) for each in result.residuals)))
    parts.append(_section("Residuals by degree of freedom", _by_dof(result)))
    parts.append(_section("Iterations", _progress(result)))
    return "".join(parts)


def _section(name: str, content: str) -> str:
    return f"<h2>{name}</h2>{content}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Of cells that are HTML already."""
    heads = "".join(f"<th>{each}</th>" for each in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def _estimates(result: Identified) -> str:
    rows = []
    for each in result.parameters:
        value, sd = result.estimate[each.name], result.deviation[each.name]
        rows.append(
            (
                html.escape(each.name),
                f"{result.start[each.name]:.4g}",
                f"<b>{value:.4g}</b>",
                f"± {sd:.2g}",
                f"{100.0 * sd / value:.2g} %",
                each.unit,
            )
        )
    return _table(("parameter", "start", "estimate", "std. deviation", "relative", "unit"), rows)


def _correlation(result: Identified) -> str:
    names = [html.escape(name) for name in result.names]
    rows = [
        (name, *(_marked(f"{each:+.2f}", i != j and abs(each) > 0.9) for j, each in enumerate(row)))
        for i, (name, row) in enumerate(zip(names, result.correlation, strict=True))
    ]
    return _table(("", *names), rows)


def _marked(text: str, bad: bool) -> str:
    return f'<span class="bad">{text}</span>' if bad else text


def _told(result: Identified) -> str:
    told = (
        f"χ² per degree of freedom: <b>{result.chi2:.3g}</b>; 1 where the model and the noise are those of the motion. "
    )
    if result.doubtful:
        told += _marked(f"{result.doubtful} of {result.windows} windows are far off the others and count less. ", True)
    if result.grazing:
        told += f"{result.grazing} steps have derivatives to one side only."
    return f"<p>{told}</p>"


def _residuals(residuals: Residuals) -> str:
    nv = residuals.q.shape[1]
    q, v = (_rms(part) for part in (residuals.scaled[:, :nv], residuals.scaled[:, nv:]))
    over_time = lines(
        "rms over the degrees of freedom at each instant, in standard deviations of the noise",
        residuals.t,
        {name: each for name, each in (("q", q), ("v", v)) if each.any()},
        "time [s]",
        level=1.0,
    )
    ends = np.append(residuals.starts[1:], residuals.t[-1])
    return over_time + bars(
        "χ² of each window, per number measured", residuals.starts, ends, residuals.chi2, residuals.doubtful, "time [s]"
    )


def _rms(scaled: Array) -> Array:
    """Over degrees of freedom that were measured."""
    measured = scaled.any(axis=0)
    return np.asarray(np.sqrt(np.mean(scaled[:, measured] ** 2, axis=1))) if measured.any() else np.zeros(len(scaled))


def _by_dof(result: Identified) -> str:
    scaled = np.concatenate([each.scaled for each in result.residuals])
    nv = len(result.columns)
    rms, mean = np.sqrt(np.mean(scaled**2, axis=0)), scaled.mean(axis=0)
    rows = [
        (
            html.escape(name),
            *(cell for k in (i, nv + i) for cell in (_marked(f"{rms[k]:.2f}", rms[k] > 1.3), f"{mean[k]:+.2f}")),
        )
        for i, name in enumerate(result.columns)
    ]
    return _table(("in standard deviations", "q rms", "q mean", "v rms", "v mean"), rows)


def _progress(result: Identified) -> str:
    accepted = [each for each in result.history if each.accepted]
    values = np.array([each.values for each in accepted]) / np.array([result.estimate[name] for name in result.names])
    numbers = np.array([float(each.number) for each in accepted])
    picture = ""
    if len(accepted) > 1:
        picture = lines(
            "estimates, as shares of the last",
            numbers,
            {name: values[:, i] for i, name in enumerate(result.names)},
            "iteration",
            level=1.0,
        )
    rows = [
        (
            str(each.number),
            f"{each.chi2:.6g}",
            f"{each.damping:.1g}",
            *(f"{value:.4g}" for value in each.values),
            "yes" if each.accepted else "no",
            f"{100.0 * each.renewed:.0f} %",
        )
        for each in result.history
    ]
    names = [html.escape(name) for name in result.names]
    tally = result.tally
    took = (
        f"<p>{tally.seconds:.2g} s: {tally.rollouts:.3g} rollouts of all windows in {tally.rollout_seconds:.2g} s, "
        f"{tally.linearizations} times derivatives in {tally.linearize_seconds:.2g} s.</p>"
    )
    table = _table(("", "χ²", "λ", *names, "accepted", "new derivatives"), rows)
    return picture + table + took
