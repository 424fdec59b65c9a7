"""What notebooks show of robots and results."""

import xml.etree.ElementTree as ET

import pinocchio as pin
import pytest

import exposim as xs
from exposim import _html
from exposim.robots.model_type import Model


def cells(page):
    """The text of every row of every table; a page that is not well-formed is refused."""
    tables = ET.fromstring(f"<page>{page}</page>").iter("tr")
    return [["".join(cell.itertext()) for cell in row] for row in tables]


def test_a_robot_shows_its_mass_joints_and_contact_points():
    robot = xs.load_robot("solo12").replace(drives={"FL_HAA": xs.Drive(kp=3.0, kd=0.1)})
    rows = cells(robot._repr_html_())
    assert ["mass [kg]", f"{sum(each.mass for each in robot.model.inertias[1:]):.4g}"] in rows
    assert ["FL_HAA", "-10 … 10", "1000", "1000", "kp 3, kd 0.1"] in rows
    assert {"FL_FOOT", "HR_FOOT"} <= {row[1] for row in rows}
    assert len(rows) == 1 + (1 + 12) + (1 + 4)


def test_long_tables_are_cut():
    robot = xs.load_robot("solo12")
    points = [xs.ContactPoint("FL_FOOT", name=f"p{i}") for i in range(65)]
    page = robot.replace(contact_points=points)._repr_html_()
    assert "p59" in page
    assert "p60" not in page
    assert "and 5 more" in page


def test_names_are_text():
    robot = xs.load_robot("solo12").replace(name="<script>")
    assert "<script>" not in robot._repr_html_()
    assert _html.plain("a < b") == "<pre>a &lt; b</pre>"


def test_results_are_shown():
    scenario = xs.scenarios.get("drop")
    trajectory = scenario.run(duration=0.3)
    summary = xs.analysis.Summary.of(scenario, trajectory)
    rows = dict(row for row in cells(summary._repr_html_()) if len(row) == 2)
    assert rows["stable"] == "yes"
    assert rows["height [m]"] == f"{trajectory.q[-1, 2]:.4g}"
    assert rows["peak force [N]"].endswith(f" at {summary.peak_force_contact}")
    sim = xs.Simulator(xs.load_robot("solo12"), xs.HalfSpace(), profile=True)
    sim.step(n=50)
    for result in (sim.advise(), sim.profile):
        assert result._repr_html_().startswith("<pre>")
        assert str(result).splitlines()[0] in result._repr_html_()


@pytest.mark.parametrize(
    "name", sorted(name for name in {*Model.__annotations__, *vars(Model)} if not name.startswith("_"))
)
def test_what_is_said_of_the_type_of_a_model_is_so(name):

    assert hasattr(pin.Model(), name)
