"""The paper's claims as data, each with the rule that holds it against the tables."""

from __future__ import annotations

from collections.abc import Sequence

from paper.claims import accuracy as claims_accuracy
from paper.claims import others as claims_others
from paper.claims.findings import Tables
from paper.claims.verdicts import Claim, Verdict
from paper.measure.variants import AVERAGED, OURS

# Versions of the method under test by label, the paper's first.
METHODS = (AVERAGED, OURS)


def methods_in(tables: Tables) -> tuple[str, ...]:
    """Versions of the method that the tables have, the paper's first."""
    labels = {label for table in tables.values() if "variant" in table for label in table["variant"]}
    return tuple(label for label in METHODS if label in labels) or METHODS[:1]


def evaluate(tables: Tables, methods: Sequence[str] | None = None) -> list[Verdict]:
    """Every claim, once for each method that it may be about.

    Args:
        tables: By name, of all experiments that were done.
        methods: Labels of variants, the paper's first; by default those that the tables have.
    """
    asked = tuple(methods or methods_in(tables))
    return [
        claim.judge(tables, method, name_it=len(asked) > 1)
        for claim in CLAIMS
        for method in (asked if claim.about_method else asked[:1])
    ]


# What is known about differences, where several claims share it.
_RESETS = (
    "Resets to the ground truth restore the contacts too, so the first substep of a period starts with the right "
    "forces. The authors' published scripts leave forces of the previous period in it, which adds to the error of "
    "explicit schemes at small steps: here they look better there."
)
_CHANGES = (
    "Most of Expo's error comes from the few control periods in which a contact changes: a touchdown is noticed at "
    "the end of the step in which it happens."
)
_SMOOTH = (
    "Where no contact changes, a scheme of fourth order is ahead of one of second order as soon as its step is stable."
)
_TRUTHS = (
    "The authors' published scripts use 1/64 ms for the ground truth of the trot only, and about 1/51 ms otherwise; "
    "here it is 1/64 ms everywhere."
)
_MACHINES = "Times are of another machine and other code: ratios can be compared, microseconds cannot."

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "a",
        "At equal computation time Expo has a lower error than every other integrator, in every scenario.",
        "accuracy",
        claims_accuracy.lower_error_at_equal_time,
        {"confirmed": _TRUTHS, "not confirmed": f"{_RESETS} {_CHANGES}"},
        {"not confirmed": f"{_RESETS} {_SMOOTH}"},
        about_method=True,
    ),
    Claim(
        "b",
        "Explicit Euler is the second best overall, though partly beaten by implicit Euler in the squat.",
        "accuracy",
        claims_accuracy.explicit_euler_is_second,
        {
            "confirmed": "It costs one evaluation of the dynamics per step and nothing else.",
            "not confirmed": "What a step of RK4 and of implicit Euler costs depends on the code: here RK4 needs four "
            "evaluations and no more, where the authors' computed the dynamics in a slower way, and the Newton steps "
            "of implicit Euler have analytic derivatives.",
        },
    ),
    Claim(
        "c",
        "RK4 is comparable to explicit Euler for small time steps and worse for large ones.",
        "accuracy",
        claims_accuracy.rk4_is_like_euler_then_worse,
        {
            "confirmed": "Contact changes leave RK4 no more than first order, and it pays four evaluations for its "
            "slightly larger stable step.",
            "not confirmed": "The authors' RK4 computed the dynamics in a slower way than their explicit Euler, which "
            f"shifts its curve. {_RESETS}",
        },
    ),
    Claim(
        "d",
        "The error of explicit schemes rises suddenly at large real-time factors; that of Expo degrades gracefully.",
        "accuracy",
        claims_accuracy.explicit_schemes_fail_suddenly,
        {
            "confirmed": "Explicit schemes leave their region of stability, which the stiffest contact mode sets; "
            "Expo integrates that mode exactly.",
            "not confirmed": "Either an explicit scheme passes its limit of stability more gently than claimed, within "
            "the steps that were tried, or Expo's error jumps where steps become longer than a contact lasts. "
            f"{_CHANGES}",
        },
        {
            "not confirmed": "An explicit scheme passes its limit of stability more gently than claimed, within the "
            "steps that were tried; or Expo's error jumps where a step becomes longer than a contact change allows to "
            "freeze its terms."
        },
        about_method=True,
    ),
    Claim(
        "e",
        "At equal time step implicit Euler has an error similar to Expo's, at a much larger cost: 50 times in the "
        "stiffness test.",
        "accuracy",
        claims_accuracy.implicit_euler_is_alike_but_costly,
        {
            "confirmed": _MACHINES,
            "exceeded": "Expo's closed form is cheaper than the exponentials that the authors compared with.",
            "not confirmed": "The cost of implicit Euler depends on its code more than that of the others: here the "
            "unknowns are velocities only and all derivatives are analytic, so it costs far less than the authors'. "
            f"Where errors are not alike: implicit Euler sees a touchdown within the step, Expo after it; {_RESETS}",
        },
        {
            "not confirmed": "Errors are not alike because Expo's are far lower: it is of second order, and sees "
            "contact changes within the step. The cost of implicit Euler depends on its code more than that of the "
            "others: here the unknowns are velocities only and all derivatives are analytic."
        },
        about_method=True,
    ),
    Claim(
        "f",
        "Implicit Euler sometimes fails to converge to 1e-6, in particular at large steps.",
        "accuracy",
        claims_accuracy.implicit_euler_fails_to_converge,
        {
            "confirmed": "The forces are discontinuous at impacts, and Newton's method follows derivatives.",
            "not confirmed": "Newton's method here backtracks and keeps the best iterate.",
        },
    ),
    Claim(
        "g",
        "Fewer matrix products make Expo faster at little loss, and the best number falls with the time step.",
        "accuracy",
        claims_accuracy.fewer_products_pay,
        {
            "exceeded": "The closed form makes the choice idle: it needs no matrix product, is faster than the "
            "coarsest approximant and as accurate as the full exponential.",
            "not confirmed": "Where the error is that of frozen dynamics or of a contact noticed late, a better "
            "exponential does not lower it, and the least sufficient number follows no order.",
        },
    ),
    Claim(
        "h",
        "Expo's error is nearly flat in stiffness, up to 1e8 N/m, and in damping ratio; explicit Euler's is not; "
        "implicit Euler's grows for K ≥ 1e6 N/m.",
        "stiffness",
        claims_others.flat_in_stiffness,
        {
            "not confirmed": "Whichever of the three parts does not hold can be read from the numbers. A touchdown "
            "that is noticed late stretches the spring by a depth that depends on the step, not on the stiffness, so "
            "the force it makes grows with the stiffness."
        },
        {
            "not confirmed": "Whichever of the three parts does not hold can be read from the numbers. A resolved "
            "touchdown leaves an error that depends on how far the frozen terms move within the step."
        },
        about_method=True,
    ),
    Claim(
        "i",
        "Expo and implicit Euler remain stable at steps of 2 to 40 ms; explicit Euler needs steps 4 to 512 times "
        "smaller than Expo.",
        "stability",
        claims_others.stable_at_large_steps,
        {
            "confirmed": "Bounded is what the paper calls stable; whether the robot still does its task is another "
            "column of the table.",
            "exceeded": "Bounded is what the paper calls stable; whether the robot still does its task is another "
            "column of the table.",
            "not confirmed": "Controllers, references and initial states are ours, since the paper does not give them "
            "in full, and the largest stable step depends on them. Steps are tried by halving the control period.",
        },
        about_method=True,
    ),
    Claim(
        "j",
        "Forces predicted with constant A and b are accurate over 20 ms.",
        "forces",
        claims_others.forces_are_foreseen,
        {
            "confirmed": "Υ and p̈̄ change slowly beside the contact's own dynamics.",
            "not confirmed": "Within the horizon the robot moves far enough to change Υ and p̈̄, or a contact slips or "
            "opens, which the prediction does not foresee.",
        },
    ),
    Claim(
        "k",
        "The contact force jumps at touchdown, the more the faster the impact.",
        "forces",
        claims_others.jumps_grow_with_speed,
        {
            "confirmed": "With a linear damper the jump is B times the velocity of the impact.",
            "not confirmed": "At the finest step the jump should be B times the velocity of the impact.",
        },
    ),
    Claim(
        "l",
        "Balancing strongly reduces the norm of A.",
        "timing",
        claims_others.balancing_shrinks_the_norm,
        {
            "confirmed": "The two halves of A differ by about the square root of the stiffness in scale.",
            "not confirmed": "The two halves of A differ less in scale than the stiffness suggests.",
        },
    ),
    Claim(
        "m",
        "The matrix exponential takes 72 % of a step done the standard way, and 33 % with 0 products.",
        "timing",
        claims_others.exponential_dominates_a_step,
        {
            "confirmed": _MACHINES,
            "exceeded": f"The exponential is a smaller part of a step than in the paper. {_MACHINES}",
            "not confirmed": f"The rest of a step became faster than the exponential did. {_MACHINES}",
        },
    ),
    Claim(
        "n",
        "A step of Expo in 20 to 30 µs, where one of explicit Euler takes 9 µs, is thought reachable.",
        "timing",
        claims_others.a_step_costs_two_or_three_of_euler,
        {
            "confirmed": _MACHINES,
            "exceeded": "The closed form replaces the exponential, and contacts of a body share their dynamics. "
            f"{_MACHINES}",
            "not confirmed": _MACHINES,
        },
        {"not confirmed": f"Second order evaluates the terms of the dynamics twice in a step. {_MACHINES}"},
        about_method=True,
    ),
)
