"""Rules for what the paper says about stiffness, stability, forces and computation times: claims (h) to (n)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exposim._durations import show_time
from paper.claims.findings import Finding, NotMeasured, Tables, factor, rows_of, spread
from paper.measure.variants import AVERAGED

if TYPE_CHECKING:
    import pandas as pd

RIVALS = ("implicit Euler", "explicit Euler")

FLAT = 10.0  # one decade of error while the stiffness spans several
GROWS = 2.0  # clearly more than the scatter between neighbouring points
STIFF = 1e6  # [N/m] from which the paper sees implicit Euler's error grow
STIFFEST = 1e8  # [N/m] up to which the paper looks
PAPER_GAIN = 4.0  # least ratio of stable steps, Expo over explicit Euler
PAPER_LEAST = 2e-3  # [s] the smallest of the largest stable steps of Expo and implicit Euler
HORIZON = 0.02  # [s]
ACCURATE = 0.1  # error of a predicted force, relative to the largest true one
SAME_ORDER = 0.9  # rank correlation: one pair out of order among six at the most
STRONG = 10.0  # an order of magnitude
# Of a step, spent on the exponential; the standard routine does not balance.
PAPER_SHARES = {"Expo, not balanced": ("standard", 0.72), "Expo, 0 products": ("0 products", 0.33)}
SHARE_TOLERANCE = 0.10  # ten points: another machine, another library for the dynamics
PAPER_RATIOS = (20.0 / 9.0, 30.0 / 9.0)  # a step of Expo in 20 to 30 µs, one of explicit Euler in 9


def flat_in_stiffness(tables: Tables, method: str) -> Finding:
    """(h) Expo is nearly flat in stiffness and damping ratio; explicit Euler is not; implicit Euler grows from 1e6."""
    own = rows_of(tables, "stiffness", truth="own")
    (expo_K, expo_ratio), (euler_K, euler_ratio) = (
        [spread(_sweep(own, sweep, label)["mean"].to_numpy(float)) for sweep in ("stiffness", "damping")]
        for label in (method, "explicit Euler")
    )
    implicit = _sweep(own, "stiffness", "implicit Euler")
    soft, stiff = (implicit.loc[which, "mean"] for which in (implicit["K"] < STIFF, implicit["K"] >= STIFF))
    if soft.empty or stiff.empty:
        raise NotMeasured("implicit Euler was not measured on both sides of 1e6 N/m")
    growth = float(stiff.max() / soft.iloc[-1]) if np.isfinite(stiff).all() else np.inf
    text = (
        f"largest over smallest error for K up to 1e8 N/m, and over damping ratios: "
        f"Expo {factor(expo_K)} and {factor(expo_ratio)}, explicit Euler {factor(euler_K)} and {factor(euler_ratio)}; "
        f"implicit Euler's for K ≥ 1e6 N/m over that below: {factor(growth)}"
    )
    held = max(expo_K, expo_ratio) <= FLAT and max(euler_K, euler_ratio) > FLAT and growth >= GROWS
    return Finding.confirmed_if(held, text)


def stable_at_large_steps(tables: Tables, method: str) -> Finding:
    """(i) Expo and implicit Euler are stable at 2 to 40 ms, explicit Euler needs steps 4 to 512 times smaller."""
    rows = rows_of(tables, "stability")
    largest = rows.pivot_table("largest bounded dt", "scenario", "variant", dropna=False, sort=False)
    paper = rows.pivot_table("paper dt", "scenario", "variant", dropna=False, sort=False)
    if missing := {method, *RIVALS} - set(largest.columns):
        raise NotMeasured(f"table stability has no rows of {sorted(missing)[0]}")
    claimed = paper[AVERAGED] if AVERAGED in paper else paper.max(axis=1)
    to_paper = (largest[method] / claimed).fillna(0.0)
    implicit = largest["implicit Euler"].fillna(0.0)
    gain = (largest[method] / largest["explicit Euler"]).fillna(0.0)
    texts = []
    for name in largest.index:
        steps = (method, largest.at[name, method], claimed[name])
        others = [
            (label, largest.at[name, label], paper.at[name, label]) for label in ("implicit Euler", "explicit Euler")
        ]
        shown = ", ".join(f"{label} {_ms(ours)} ({_ms(theirs)})" for label, ours, theirs in (steps, *others))
        texts.append(f"{name} {shown}, a factor of {gain[name]:.3g}")
    text = f"largest bounded step (paper's), and Expo's over explicit Euler's: {'; '.join(texts)}"
    if to_paper.min() < 1.0 or implicit.min() < PAPER_LEAST * (1.0 - 1e-9) or gain.min() < PAPER_GAIN:
        return Finding("not confirmed", text)
    return Finding("exceeded" if to_paper.max() > 1.0 else "confirmed", text)


def forces_are_foreseen(tables: Tables, method: str) -> Finding:
    """(j) Force prediction holds over 20 ms."""
    rows = rows_of(tables, "force_prediction")
    if rows["t"].max() < HORIZON * (1.0 - 1e-6):
        raise NotMeasured(f"the prediction ends at {_ms(rows['t'].max())}")
    worst = {}
    for case, each in rows[rows["t"] <= HORIZON * (1.0 + 1e-6)].groupby("case", sort=False):
        off = (each["predicted"] - each["true"]).abs()
        worst[case] = float(off.max() / each["true"].abs().max())
    texts = ", ".join(f"{case} {share:.2%}" for case, share in worst.items())
    return Finding.confirmed_if(
        max(worst.values()) <= ACCURATE, f"largest error within 20 ms, of the largest force: {texts}"
    )


def jumps_grow_with_speed(tables: Tables, method: str) -> Finding:
    """(k) The force jump grows with the velocity of the impact."""
    rows = rows_of(tables, "force_jump")
    finest = rows[rows["dt"] == rows["dt"].min()].groupby("speed", as_index=False)["force"].mean()
    if len(finest) < 2:
        raise NotMeasured("one speed alone does not show growth")
    ranks = np.corrcoef(finest["speed"].rank(), finest["force"].rank())[0, 1]
    slow, fast = finest.iloc[0], finest.iloc[-1]
    text = (
        f"{slow['force']:.3g} N at {slow['speed']:g} m/s, {fast['force']:.3g} N at {fast['speed']:g} m/s "
        f"({fast['force'] / fast['speed']:.3g} N per m/s); rank correlation {ranks:.2f}"
    )
    return Finding.confirmed_if(bool(ranks >= SAME_ORDER), text)


def balancing_shrinks_the_norm(tables: Tables, method: str) -> Finding:
    """(l) Balancing strongly reduces the norm of A."""
    rows = rows_of(tables, "balancing")
    medians = {
        name: float((each["norm before"] / each["norm after"]).median())
        for name, each in rows.groupby("scenario", sort=False)
    }
    texts = ", ".join(f"{name} {factor(ratio)}" for name, ratio in medians.items())
    return Finding.confirmed_if(min(medians.values()) >= STRONG, f"norm before over norm after, median: {texts}")


def exponential_dominates_a_step(tables: Tables, method: str) -> Finding:
    """(m) The exponential takes 72 % of a step done the standard way and 33 % with 0 products."""
    texts, above = [], []
    for label, (name, claimed) in PAPER_SHARES.items():
        share = float(rows_of(tables, "timing", variant=label, operation="kernel")["share"].iloc[0])
        texts.append(f"{name} {share:.0%} ({claimed:.0%})")
        above.append(share - claimed)
    text = f"share of a step (paper's): {', '.join(texts)}{_marked(tables)}"
    if max(above) > SHARE_TOLERANCE:
        return Finding("not confirmed", text)
    return Finding("exceeded" if min(above) < -SHARE_TOLERANCE else "confirmed", text)


def a_step_costs_two_or_three_of_euler(tables: Tables, method: str) -> Finding:
    """(n) A step in 20 to 30 µs where explicit Euler takes 9 is thought reachable."""
    steps = [
        float(rows_of(tables, "timing", variant=label, operation="step")["microseconds"].iloc[0])
        for label in (method, "explicit Euler")
    ]
    ratio = steps[0] / steps[1]
    text = (
        f"{show_time(1e-6 * steps[0], 3)}, {ratio:.2g} times explicit Euler's {show_time(1e-6 * steps[1], 3)} "
        f"(paper: {PAPER_RATIOS[0]:.1f} to {PAPER_RATIOS[1]:.1f} times){_marked(tables)}"
    )
    if ratio > PAPER_RATIOS[1]:
        return Finding("not confirmed", text)
    return Finding("exceeded" if ratio < PAPER_RATIOS[0] else "confirmed", text)


def _sweep(rows: pd.DataFrame, sweep: str, variant: str) -> pd.DataFrame:
    """Of one variant at its largest step; by rising stiffness and damping ratio."""
    found = rows[(rows["sweep"] == sweep) & (rows["variant"] == variant) & (rows["K"] <= STIFFEST * 1.001)]
    if found.empty:
        raise NotMeasured(f"table stiffness has no rows of {variant} for {sweep}")
    return found[found["dt"] == found["dt"].max()].sort_values(["K", "damping ratio"])


def _ms(seconds: float) -> str:
    return "none" if np.isnan(seconds) else f"{1e3 * seconds:.3g} ms"


def _marked(tables: Tables) -> str:
    disturbed = rows_of(tables, "timing").get("disturbed")
    return "; the machine was disturbed" if disturbed is not None and bool(disturbed.any()) else ""
