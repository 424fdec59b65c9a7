"""Bars of our own: what resolved transitions and the second order should bring, judged by rules as the claims are."""

from __future__ import annotations

import numpy as np

from exposim._durations import show_time
from paper.claims.accuracy import EVERYWHERE, RIVALS, named, scenarios_of, versus, where
from paper.claims.findings import Finding, NotMeasured, Tables, factor, quotient, rows_of
from paper.claims.verdicts import Claim, Verdict
from paper.measure.variants import AVERAGED, OURS

CHANGING = ("solo-jump", "solo-trot", "romeo-walk")  # whose contacts change; those of the squat hardly do
LARGE_STEP = 1e-3  # [s]
LOWER = 10.0  # times, the error at the same step
COST = 1.5  # times, the time of a step


def evaluate_bars(tables: Tables, method: str = OURS) -> list[Verdict]:
    """Every bar, for our version of the method."""
    return [bar.judge(tables, method) for bar in BARS]


def lower_error_than_averaged(tables: Tables, method: str) -> Finding:
    """(1) At equal large steps the error is ten times lower than that of averaged transitions."""
    ratios = _ratios_to_averaged(tables, method)
    changing = {name: each for name, each in ratios.items() if name in CHANGING}
    if not changing:
        raise NotMeasured("no motion was measured in which contacts change")
    others = {name: each for name, each in ratios.items() if name not in CHANGING}
    least = min(ratio for each in changing.values() for ratio in each.values())
    below = [f"{name} {_ms(dt)}" for name, each in changing.items() for dt, ratio in each.items() if ratio < LOWER]
    text = f"error of averaged transitions over ours: {_by_step(changing)}"
    text += f"; below {LOWER:g}× at {', '.join(below)}" if below else ""
    return Finding.met_if(least >= LOWER, text, f"Beside these: {_by_step(others)}" if others else "")


def lowest_error_at_equal_time(tables: Tables, method: str) -> Finding:
    """(2) At equal time the error against the common truth is below that of every other integrator."""
    held, failed, beside = [], [], []
    for scenario in scenarios_of(tables, method):
        for rival in (*RIVALS, "semi-implicit Euler", AVERAGED):
            found = versus(tables, scenario, method, rival, "common")
            if found is None:
                continue
            if rival == AVERAGED:
                beside.append(f"{scenario} {factor(found.ratio)}")
            elif found.share >= EVERYWHERE:
                held.append(f"{scenario}, {rival} {factor(found.ratio)}")
            else:
                failed.append(f"{scenario}, {rival} lower or equal {where(found)}")
    if not held and not failed:
        raise NotMeasured("no rival was measured")
    text = f"lower in {len(held)} of {len(held) + len(failed)} pairs of scenario and rival"
    details = [
        *named("Error of the rival at equal time, over ours, in the median", held),
        *named("Beside averaged transitions", beside),
    ]
    return Finding.met_if(not failed, "; ".join([text, *named("not lower", failed)]), "; ".join(details))


def a_step_costs_little_more(tables: Tables, method: str) -> Finding:
    """(3) A step costs at most 1.5 times one with averaged transitions, in the mean over the trot."""
    rows = rows_of(tables, "transitions").set_index("variant")
    if method not in rows.index:
        raise NotMeasured(f"table transitions has no rows of {method}")
    texts = [
        f"{label} {row['ratio to averaged']:.2f}× ({show_time(1e-6 * row['microseconds'], 3)}, at the worst "
        f"{show_time(1e-6 * row['worst microseconds'], 3)})"
        for label, row in rows.iterrows()
    ]
    ours = rows.loc[method]
    text = (
        f"{', '.join(texts)}; {ours['share resolved']:.0%} of steps are resolved, {ours['share limited']:.1%} limited, "
        f"{ours['micro-steps']:.1f} micro-steps each"
    )
    return Finding.met_if(float(ours["ratio to averaged"]) <= COST, text)


def steps_no_smaller(tables: Tables, method: str) -> Finding:
    """(4) The largest steps at which the robots do their tasks are no smaller than with averaged transitions."""
    rows = rows_of(tables, "stability")
    largest = rows.pivot_table("largest dt on task", "scenario", "variant", dropna=False, sort=False)
    if missing := {method, AVERAGED} - set(largest.columns):
        raise NotMeasured(f"table stability has no rows of {sorted(missing)[0]}")
    ours, averaged = largest[method].fillna(0.0), largest[AVERAGED].fillna(0.0)
    texts = [f"{name} {_ms(ours[name])} ({_ms(averaged[name])})" for name in largest.index]
    held = bool((ours >= averaged * (1.0 - 1e-9)).all())
    return Finding.met_if(held, f"largest step on task (with averaged transitions): {', '.join(texts)}")


def _ratios_to_averaged(tables: Tables, method: str) -> dict[str, dict[float, float]]:
    """By scenario and step: the error of averaged transitions divided by that of the method."""
    rows = rows_of(tables, "accuracy", truth="common")
    rows = rows[rows["dt"] >= LARGE_STEP * (1.0 - 1e-9)]
    both = rows[rows["variant"] == method].merge(rows[rows["variant"] == AVERAGED], on=["scenario", "dt"])
    if both.empty:
        raise NotMeasured(f"{method} and {AVERAGED} were not measured at the same steps")
    return {
        str(name): {float(dt): quotient(b, a) for dt, a, b in each[["dt", "mean_x", "mean_y"]].itertuples(index=False)}
        for name, each in both.sort_values("dt").groupby("scenario", sort=False)
    }


def _by_step(ratios: dict[str, dict[float, float]]) -> str:
    return "; ".join(
        f"{name} " + ", ".join(f"{_ms(dt)} {factor(ratio)}" for dt, ratio in each.items())
        for name, each in ratios.items()
    )


def _ms(seconds: float) -> str:
    return "none" if np.isnan(seconds) or seconds == 0.0 else f"{1e3 * seconds:.3g} ms"


BARS: tuple[Claim, ...] = (
    Claim(
        "1",
        "Against the common ground truth the error is at least 10 times lower than with averaged transitions, at every "
        "step of 1 ms and more, wherever contacts change.",
        "accuracy",
        lower_error_than_averaged,
    ),
    Claim(
        "2",
        "Against the common ground truth the error at equal time is lower than that of every other integrator.",
        "accuracy",
        lowest_error_at_equal_time,
        {
            "not met": "Where no contact changes, a scheme of fourth order is ahead of one of second order as soon as "
            "its step is stable."
        },
    ),
    Claim(
        "3",
        "A step costs at most 1.5 times one with averaged transitions, in the mean over the trot at 2 ms.",
        "timing",
        a_step_costs_little_more,
    ),
    Claim(
        "4",
        "The largest steps at which the robots do their tasks are no smaller than with averaged transitions.",
        "stability",
        steps_no_smaller,
    ),
)
