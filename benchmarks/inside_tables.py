"""Tables and bars of benchmarks/inside.py, from what it found."""

from __future__ import annotations

from typing import Any, NamedTuple

from exposim._durations import show_time
from inside_accuracy import ACCURACIES, COLD, WARM, is_monotone, judge, of_seed

# Largest of forces and impulses, relative to the truth: mean of the first two, median of the last.
FORCE_BARS = {
    "solo-jump": ("mean", 0.03, 0.01),
    "solo-trot": ("mean", 0.03, 0.01),
    "go2 random targets": ("median", 0.15, 0.05),
}
EVENT_BAR = 5e-5  # [s]
ERROR_BAR = 10.0  # times the accuracy
AT = 1e-3  # accuracy at which costs are compared
CHEAPER_IN = 5  # problems, of
ALL = 7


class Cells(NamedTuple):
    """A table."""

    title: str
    columns: tuple[str, ...]
    rows: list[list[str]]


class Bar(NamedTuple):
    """What is asked, and what was found."""

    where: str
    what: str
    found: str
    bar: str
    met: bool


def percent(share: float) -> str:
    return f"{100.0 * share:.2g} %"


def force_cells(found: dict[str, Any]) -> Cells:
    columns = ("motion", "samples", "forces: mean", "median", "impulses: mean", "median", "worst contact")
    rows = []
    for motion, each in found.items():
        for name, label in (("step", motion), ("truths", f"{motion}: truth at 2 and 4 µs")):
            one = each[name]
            shares = ("mean", "median", "impulse, mean", "impulse, median", "impulse of the worst contact")
            rows.append([label, str(one["samples"]), *(percent(one[share]) for share in shares)])
    return Cells("Forces at 1 kHz from steps of 10 ms: relative difference from the truth", columns, rows)


def event_cells(found: dict[str, Any]) -> Cells:
    rows = []
    for motion, by_step in found.items():
        for step, each in by_step.items():
            label = f"{motion}: truth at 2 and 4 µs" if step == "truths" else f"{motion}, {step}"
            times = (show_time(each[which], 2) for which in ("median", "largest"))
            rows.append([label, *(str(each[which]) for which in ("landings", "missed", "made up")), *times])
    columns = ("motion, step", "landings", "missed", "made up", "off: median", "largest")
    return Cells("Landing times, against the truth", columns, rows)


def accuracy_cells(found: dict[str, Any]) -> Cells:
    rows = []
    for name, each in found.items():
        judged = [judge(each, accuracy) for accuracy in ACCURACIES]
        rows.append([name, *(f"{one['error']:.1e} ({one['periods']})" for one in judged)])
    columns = ("problem", *(f"{accuracy:.0e}" for accuracy in ACCURACIES))
    return Cells("Mean error by the accuracy asked for (periods that can tell)", columns, rows)


def cost_cells(found: dict[str, Any]) -> Cells:
    columns = ["problem"]
    for how in (COLD, WARM):
        columns += [f"{how}: error", "time", "fixed step that reaches it", "time / its time"]
    rows = []
    for name, each in found.items():
        row = [name]
        for how in (COLD, WARM):
            one = judge(each, AT, how)
            fixed = "none" if one["fixed"] is None else show_time(one["fixed"], 3)
            row += [f"{one['error']:.1e}", show_time(one["seconds"], 3), fixed, f"{one['cost by the fixed']:.2f}"]
        rows.append(row)
    return Cells(f"CPU time of a control period at accuracy {AT:g}: below 1 cheaper than fixed", tuple(columns), rows)


def cheaper_in(found: dict[str, Any], how: str) -> list[str]:
    """Problems in which accuracy AT is cheaper than any fixed step that errs no more."""
    return [name for name, each in found.items() if judge(each, AT, how)["cost by the fixed"] < 1.0]


def counts_by_seed(found: dict[str, Any], how: str) -> dict[int, int]:
    """The same, counted for every seed alone: what changes from one to the next is not to be relied on."""
    seeds = dict.fromkeys(seed for each in found.values() for seed in each["seeds"])
    return {seed: len(cheaper_in({name: of_seed(each, seed) for name, each in found.items()}, how)) for seed in seeds}


def bars_of(results: dict[str, Any]) -> list[Bar]:
    """Those of the parts that were measured."""
    bars = []
    for motion, each in results.get("forces", {}).items():
        which, forces, impulses = FORCE_BARS[motion]
        for what, value, bar in (
            (f"forces, {which}", each["step"][which], forces),
            ("impulse of the worst contact", each["step"]["impulse of the worst contact"], impulses),
        ):
            bars.append(Bar(motion, what, percent(value), f"≤ {percent(bar)}", value <= bar))
    for motion, by_step in results.get("events", {}).items():
        for step, each in by_step.items():
            if step != "truths":
                good = each["largest"] <= EVENT_BAR and each["missed"] == each["made up"] == 0
                bars.append(Bar(motion, f"landings at {step}", show_time(each["largest"], 2), "≤ 50 µs", good))
    accuracy = results.get("accuracy", {})
    for name, each in accuracy.items():
        judged = [judge(each, accuracy) for accuracy in ACCURACIES]
        times = max(one["of the accuracy"] for one in judged if one["periods"])
        bars.append(Bar(name, "error / accuracy, at most", f"{times:.2g}", f"≤ {ERROR_BAR:g}", times <= ERROR_BAR))
        falls = is_monotone(each)
        but = [str(seed) for seed in dict.fromkeys(each["seeds"]) if not is_monotone(of_seed(each, seed))]
        text = ("yes" if falls else "no") + (f"; not of seed {', '.join(but)} alone" if but else "")
        bars.append(Bar(name, "error falls with accuracy, within 1 %", text, "yes", falls))
    for how in (COLD, WARM) if len(accuracy) == ALL else ():
        by_seed = list(counts_by_seed(accuracy, how).values())
        count = len(cheaper_in(accuracy, how))
        text = f"{count} of {ALL}; by seed {', '.join(map(str, by_seed))}"
        met = min(count, *by_seed) >= CHEAPER_IN
        bars.append(Bar("all", f"cheaper than fixed at {AT:g}, {how}", text, f"≥ {CHEAPER_IN} of {ALL}", met))
    return bars
