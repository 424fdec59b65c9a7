#include "exposim/world.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "bindings.hpp"
#include "exposim/stiff/laws/bilateral.hpp"
#include "exposim/stiff/laws/coulomb_contact.hpp"
#include "exposim/stiff/laws/joint_limit.hpp"
#include "exposim/stiff/material.hpp"

namespace nb = nanobind;

namespace exposim {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;
using SharedLaw = std::shared_ptr<Law>;

/// Of which some may be none.
using Laws = std::vector<std::optional<SharedLaw>>;
std::vector<std::shared_ptr<const Law>> given(const Laws& laws) {
  std::vector<std::shared_ptr<const Law>> all;
  for (const std::optional<SharedLaw>& law : laws) all.push_back(law ? *law : nullptr);
  return all;
}

std::shared_ptr<World> make_world(std::shared_ptr<Robot> robot, std::vector<World::Point> points,
                                  std::vector<World::Ground> surfaces, std::vector<Bond> bonds, int slots,
                                  const JointLaws* joints, int history, std::vector<Edge> edges) {
  for (const World::Ground& ground : surfaces) {
    if (!ground.laws.empty() && ground.laws.size() != points.size()) {
      throw std::invalid_argument("a surface has laws of another number of points");
    }
    if (!ground.guest_laws.empty() && ground.guest_laws.size() != surfaces.size()) {
      throw std::invalid_argument("a surface has laws of edges of another number of surfaces");
    }
  }
  if (points.size() != robot->points().size()) throw std::invalid_argument("a point of the robot has no contact");
  const int nq = robot->nq();
  if (joints && (joints->dofs.size() != static_cast<std::size_t>(robot->nv()) || joints->rest.size() != nq)) {
    throw std::invalid_argument("the laws of joints are of another robot");
  }
  return std::make_shared<World>(std::move(robot), std::move(points), std::move(surfaces), std::move(bonds), slots,
                                 joints ? *joints : JointLaws{{}, {}, VectorXd::Zero(nq)}, history, std::move(edges));
}

/// (in_q, in_v, lower, upper, stiffness, damping)
using LimitTuple = std::tuple<Eigen::Index, Eigen::Index, double, double, double, double>;

void make_joint_laws(JointLaws* self, const VectorXd& kp, const VectorXd& kd, const VectorXd& effort,
                     const VectorXd& velocity, const VectorXd& delay, const VectorXd& static_friction,
                     const VectorXd& dynamic_friction, const VectorXd& friction_stiffness,
                     const VectorXd& friction_damping, const std::vector<LimitTuple>& limits, const VectorXd& rest) {
  for (const VectorXd* each :
       {&kd, &effort, &velocity, &delay, &static_friction, &dynamic_friction, &friction_stiffness, &friction_damping}) {
    if (each->size() != kp.size()) throw std::invalid_argument("a law has another number of degrees of freedom");
  }
  new (self) JointLaws{{}, {}, rest};
  for (Eigen::Index i = 0; i < kp.size(); ++i) {
    self->dofs.push_back({{kp(i), kd(i), effort(i), velocity(i), delay(i)},
                          {static_friction(i), dynamic_friction(i), friction_stiffness(i), friction_damping(i)},
                          0.0});
  }
  for (const auto& [in_q, in_v, lower, upper, stiffness, damping] : limits) {
    const auto law = std::make_shared<const JointLimit>(stiffness, damping);
    if (std::isfinite(lower)) self->limits.push_back({in_q, in_v, lower, 1.0, law});
    if (std::isfinite(upper)) self->limits.push_back({in_q, in_v, upper, -1.0, law});
  }
}

}  // namespace

void bind_world(nb::module_& m) {
  nb::class_<Material>(m, "Material")
      .def(
          "__init__",
          [](Material* self, double K_n, double K_t, double B_n, double B_t, double mu) {
            new (self) Material{K_n, K_t, B_n, B_t, mu};
          },
          nb::arg("K_n"), nb::arg("K_t"), nb::arg("B_n"), nb::arg("B_t"), nb::arg("mu"));

  nb::class_<Law>(m, "Law");
  nb::class_<Bilateral, Law>(m, "Bilateral").def(nb::init<const Material&>(), nb::arg("material"));
  nb::class_<CoulombContact, Law>(m, "CoulombContact").def(nb::init<const Material&>(), nb::arg("material"));

  nb::class_<World::Point>(m, "Point")
      .def(
          "__init__",
          [](World::Point* self, bool bilateral, SharedLaw law, std::optional<Vector3d> anchor) {
            new (self) World::Point{bilateral, std::move(law), anchor};
          },
          nb::arg("bilateral"), nb::arg("law").none(), nb::arg("anchor").none());

  nb::class_<World::Ground>(m, "Ground")
      .def(
          "__init__",
          [](World::Ground* self, std::shared_ptr<Surface> surface, SharedLaw law, std::size_t joint, const Laws& laws,
             int guests, const Laws& guest_laws) {
            new (self) World::Ground{std::move(surface), std::move(law), joint, given(laws), guests, given(guest_laws)};
          },
          nb::arg("surface"), nb::arg("law"), nb::arg("joint") = 0, nb::arg("laws") = Laws(), nb::arg("guests") = 0,
          nb::arg("guest_laws") = Laws());

  nb::class_<Edge>(m, "Edge").def(
      "__init__",
      [](Edge* self, const Vector3d& start, const Vector3d& direction, double spacing, int count, double radius,
         int surface, std::size_t joint) { new (self) Edge{start, direction, spacing, count, radius, surface, joint}; },
      nb::arg("start"), nb::arg("direction"), nb::arg("spacing"), nb::arg("count"), nb::arg("radius"),
      nb::arg("surface"), nb::arg("joint"));

  nb::class_<Bond>(m, "Bond")
      .def_static(
          "coordinate",
          [](std::size_t joint, Eigen::Index in_q, Eigen::Index in_v, double rest, SharedLaw law) {
            Bond bond;
            bond.rows = 1;
            bond.a = joint;
            bond.in_q = in_q;
            bond.in_v = in_v;
            bond.rest = rest;
            bond.law = std::move(law);
            return bond;
          },
          nb::arg("joint"), nb::arg("in_q"), nb::arg("in_v"), nb::arg("rest"), nb::arg("law"))
      .def_static(
          "position",
          [](std::size_t a, const Vector3d& position_a, std::size_t b, const Vector3d& position_b, SharedLaw law) {
            Bond bond;
            bond.a = a;
            bond.b = b;
            bond.position_a = position_a;
            bond.position_b = position_b;
            bond.law = std::move(law);
            return bond;
          },
          nb::arg("a"), nb::arg("position_a"), nb::arg("b"), nb::arg("position_b"), nb::arg("law"))
      .def_static(
          "pose",
          [](std::size_t a, const Eigen::Matrix4d& placement_a, std::size_t b, const Eigen::Matrix4d& placement_b,
             SharedLaw law, SharedLaw angular_law) {
            Bond bond;
            bond.rows = 6;
            bond.a = a;
            bond.b = b;
            bond.position_a = placement_a.topRightCorner<3, 1>();
            bond.position_b = placement_b.topRightCorner<3, 1>();
            bond.rotation_a = placement_a.topLeftCorner<3, 3>();
            bond.rotation_b = placement_b.topLeftCorner<3, 3>();
            bond.law = std::move(law);
            bond.angular_law = std::move(angular_law);
            return bond;
          },
          nb::arg("a"), nb::arg("placement_a"), nb::arg("b"), nb::arg("placement_b"), nb::arg("law"),
          nb::arg("angular_law"));

  nb::class_<JointLaws>(m, "JointLaws")
      .def("__init__", &make_joint_laws, nb::arg("kp"), nb::arg("kd"), nb::arg("effort"), nb::arg("velocity"),
           nb::arg("delay"), nb::arg("static_friction"), nb::arg("dynamic_friction"), nb::arg("friction_stiffness"),
           nb::arg("friction_damping"), nb::arg("limits"), nb::arg("rest"));

  nb::class_<World>(m, "World")
      .def(nb::new_(&make_world), nb::arg("robot"), nb::arg("points"), nb::arg("surfaces"), nb::arg("bonds"),
           nb::arg("slots"), nb::arg("joints").none() = nb::none(), nb::arg("history") = 0,
           nb::arg("edges") = std::vector<Edge>())
      .def(
          "varied",
          [](const World& self, const std::optional<std::shared_ptr<Robot>>& robot, const Laws& points,
             const Laws& surfaces, const JointLaws* joints) {
            if (points.size() > self.points().size() || surfaces.size() > self.surfaces().size()) {
              throw std::invalid_argument("there are more laws than points or surfaces");
            }
            if (robot && !(*robot)->is_alike(self.robot())) throw std::invalid_argument("this is another robot");
            return self.varied(robot ? *robot : self.shared_robot(), given(points), given(surfaces), joints);
          },
          nb::arg("robot").none(), nb::arg("points"), nb::arg("surfaces"), nb::arg("joints").none())
      .def_prop_ro("contacts",
                   [](const World& self) {
                     // No point: a slot for points of edges.
                     std::vector<std::pair<std::optional<std::size_t>, int>> contacts;
                     for (const World::Contact& each : self.contacts()) {
                       const bool guest = each.point == World::Contact::kGuest;
                       contacts.emplace_back(guest ? std::nullopt : std::optional(each.point), each.surface);
                     }
                     return contacts;
                   })
      .def_prop_ro("packed_size", &World::packed_size)
      .def_prop_ro("makes_wait", &World::makes_wait)
      .def_prop_ro("tangent_size", &World::tangent_size)
      .def(
          "minus",
          [](const World& self, const VectorXd& to, const VectorXd& from) {
            State end, start;
            VectorXd dx;
            if (!self.unpack(to, end) || !self.unpack(from, start)) return std::optional<VectorXd>();
            self.minus(end, start, dx);
            return std::optional(dx);
          },
          nb::arg("to"), nb::arg("from_"));
}

}  // namespace exposim
