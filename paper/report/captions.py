"""What each figure and table shows, and which claims it bears on; figures in the order of their weight."""

from __future__ import annotations

from dataclasses import dataclass

_ERROR = (
    "The error is the largest entry of the difference of states [m, rad, m/s, rad/s] at the end of a control period "
    "that began at the true state, averaged over all periods."
)
_OWN = "The ground truth is the scheme under test at 1/64 ms, as in the paper."
_COMMON = (
    "One ground truth for all, explicit Euler at a very small step: a scheme compared with itself hides its bias. What "
    "the truth itself leaves (dotted) is as large as its step makes it."
)


@dataclass(frozen=True)
class Caption:
    """Of a figure.

    Args:
        title: A few words.
        text: What is to be seen.
        letters: Claims that it bears on.
    """

    title: str
    text: str = ""
    letters: str = ""


FIGURES: dict[str, Caption] = {
    "accuracy_speed_own": Caption("Local error against real-time factor", f"{_ERROR} {_OWN}", "abcd"),
    "accuracy_step_own": Caption("Local error against time step", _OWN, "def"),
    "accuracy_speed_common": Caption("Local error against real-time factor, common ground truth", _COMMON, "a12"),
    "accuracy_kernels": Caption(
        "Kernels of the paper's method",
        f"From the full exponential to none of its matrix products, and the closed form. {_OWN}",
        "g",
    ),
    "accuracy_changes": Caption(
        "Where the error comes from",
        "Share of the error from control periods in which a contact lands, lifts, begins or stops to slip, and how "
        "many of the periods these are (dotted). Common ground truth.",
        "ad",
    ),
    "stiffness_own": Caption("Local error against stiffness and damping ratio, solo-trot", _OWN, "h"),
    "stability": Caption("Largest stable steps", "In closed loop, found by halving the control period.", "i4"),
    "force_prediction": Caption("Forces foreseen with constant A and b", "At the start of the squat.", "j"),
    "timing": Caption("Where the time of a step goes", "solo-trot at 2 ms.", "mn3"),
    "force_jump": Caption(
        "Force at touchdown against the velocity of the impact",
        "With averaged transitions, which notice a touchdown at the end of the step.",
        "k",
    ),
    "touchdown": Caption(
        "Force 1 ms after touchdown, reached in one step",
        "With resolved transitions the contact begins within the step. With averaged ones the foot falls freely to its "
        "end, and the force is that of a touchdown just noticed.",
    ),
    "foot_force": Caption("Normal forces of a trot and of a walk", "", "k"),
    "balancing": Caption("Norm of A before and after balancing", "", "l"),
    "accuracy_variants": Caption(
        "Variants of the paper's method",
        "The anchor of a contact where it is detected rather than on the surface; positions from the average rather "
        f"than the double average force; no balancing. All with averaged transitions. {_COMMON}",
    ),
    "stiffness_common": Caption(
        "Local error against stiffness and damping ratio, common ground truth",
        "One ground truth for all: Expo at 1/512 ms.",
        "h",
    ),
    "accuracy_step_common": Caption("Local error against time step, common ground truth", _COMMON, "de"),
    "slip_decay": Caption(
        "Slipping contacts: anchor velocity minus point velocity",
        "The paper lets it vanish at once, since it decays at the rate K/B.",
    ),
}

TABLES: dict[str, str] = {
    "errors": "Mean local error, common ground truth",
    "errors_own": "Mean local error, own ground truth",
    "times": "Time per step [µs]",
    "truths": "Common ground truths: step [s], what doubling it changes, how far Expo at 1/64 ms is from them, share "
    "of periods with a contact change",
    "stiffness_times": "Stiffness test: time per step [s]",
    "stiffness_trots": "Stiffness test: does Solo still trot",
    "stability": "Largest stable steps [s]",
    "timing": "Time of a step and of its operations",
    "transitions": "What it costs to resolve transitions: steps at states all along the trot",
}
