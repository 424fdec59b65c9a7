"""What people type for times, stiffness and damping is read as they mean it, or refused with an example."""

import pytest

from exposim import InvalidArgument
from exposim._durations import show_time
from exposim.cli.quantities import (
    DAMPING,
    LENGTH,
    NUMBER,
    STIFFNESS,
    TIME,
    parse,
    parse_option,
    parse_pair,
)


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("2ms", TIME, 2e-3),
        ("2 ms", TIME, 2e-3),
        (" 0.5s ", TIME, 0.5),
        ("0.1ms", TIME, 1e-4),
        ("1/8ms", TIME, 0.125e-3),
        ("1/8 ms", TIME, 0.125e-3),
        ("250us", TIME, 250e-6),
        ("250µs", TIME, 250e-6),  # the micro sign
        ("250μs", TIME, 250e-6),  # the Greek letter
        ("1e-3", TIME, 1e-3),
        ("2min", TIME, 120.0),
        ("1e5", STIFFNESS, 1e5),
        ("1e5N/m", STIFFNESS, 1e5),
        ("100kN/m", STIFFNESS, 1e5),
        ("100 N/mm", STIFFNESS, 1e5),
        ("300", DAMPING, 300.0),
        ("300Ns/m", DAMPING, 300.0),
        ("300 N·s/m", DAMPING, 300.0),
        ("300 N*s/m", DAMPING, 300.0),
        ("0.3kNs/m", DAMPING, 300.0),
        ("10cm", LENGTH, 0.1),
        (".5", NUMBER, 0.5),
    ],
)
def test_a_quantity_is_read_to_the_last_bit(text, dimension, value):
    assert parse("x", text, dimension) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2kg", "dt is '2kg'; give a time such as 2ms or 0.5s"),
        ("2mss", "did you mean 'ms'?"),
        ("", "give a time"),
        ("ms", "give a time"),
        ("1e5N/m", "give a time"),
        ("nan", "give a time"),
        ("inf", "give a time"),
        ("1e999", "give a time"),
        ("1e99999999999", "give a time"),
        ("1/0 s", "give a time"),
        ("1,5ms", "give a time"),
        ("0", "give a time above 0 such as 2ms"),
        ("-1ms", "give a time above 0 such as 2ms"),
        ("1e-400", "give a time above 0"),
    ],
)
def test_what_is_no_time_is_refused_with_an_example(text, words):
    with pytest.raises(InvalidArgument) as caught:
        parse("dt", text, TIME, above=0.0)
    assert words in str(caught.value)
    assert "dt is" in str(caught.value)


def test_a_bound_from_below_may_be_reached():
    assert parse("damping", "0", DAMPING, least=0.0) == 0.0
    with pytest.raises(InvalidArgument, match="a damping of at least 0 such as 300"):
        parse("damping", "-1", DAMPING, least=0.0)


def test_normal_and_tangential_may_differ():
    assert parse_pair("stiffness", "1e5", STIFFNESS) == 1e5
    assert parse_pair("stiffness", "1e5,50kN/m", STIFFNESS) == (1e5, 5e4)
    with pytest.raises(InvalidArgument, match="normal,tangential"):
        parse_pair("stiffness", "1,2,3", STIFFNESS)


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("0.5", 0.5), ("20cm", 0.2), ("5ms", 5e-3), ("true", True), ("go2", "go2"), ("a b", "a b")],
)
def test_the_value_of_a_scenario_s_option_is_a_number_if_it_looks_like_one(text, value):
    assert parse_option(text) == value
    assert type(parse_option(text)) is type(value)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (2.0, "2 s"),
        (0.002, "2 ms"),
        (0.000125, "0.125 ms"),
        (5e-5, "50 µs"),
        (0.0, "0 s"),
        (5.49e-3, "5.49 ms"),
        (123456.0, "123500 s"),
        (2e-12, "0.002 ns"),
        (-3e-3, "-3 ms"),
    ],
)
def test_a_time_is_shown_in_the_unit_that_suits_it(seconds, text):
    assert show_time(seconds) == text
