#include <nanobind/eigen/dense.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <vector>

#include "bindings.hpp"
#include "exposim/expo/resolver.hpp"
#include "exposim/expo/resolver_tangent.hpp"
#include "exposim/kernels/fours.hpp"
#include "exposim/thresholds.hpp"

namespace nb = nanobind;

namespace exposim {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;
using RowMatrixX3d = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;

/// An element as Python gives it.
struct Element {
  std::shared_ptr<Law> law;
  Vector3d n;
  double phi;
  Vector3d dp;
  int mode;
  Vector3d s;
  double phi0;
};

struct Resolved {
  RowMatrixX3d lam_bar, lam_bar2, displacement, velocity, stretch;
  std::vector<int> modes;
  std::vector<std::tuple<double, std::size_t, int, int>> events;
  TransitionInfo info;
  bool changed;
};

Strand strand_of(const Element& element, std::size_t index) {
  Strand strand;
  strand.index = index;
  strand.point = Strand::kNone;
  strand.rows = Rows::kLinear;
  strand.a = strand.b = 0;
  strand.position.setZero();
  strand.law = element.law.get();
  strand.motion = Motion{element.phi,      element.n,        Vector3d::Zero(),        element.dp,
                         Vector3d::Zero(), Vector3d::Zero(), Eigen::Matrix3d::Zero(), false};
  strand.memory = Memory{-1, static_cast<Mode>(element.mode), element.phi0, element.s};
  return strand;
}

/// What is resolved, and how.
struct Problem {
  Problem(const Eigen::MatrixXd& Upsilon, const VectorXd& ddp_bar, const std::vector<Element>& elements)
      : zeros(VectorXd::Zero(2 * Upsilon.rows())),
        system(Upsilon, zeros.head(Upsilon.rows()), zeros.head(Upsilon.rows()), ddp_bar, zeros) {
    std::vector<Strand> strands;
    for (const Element& element : elements) strands.push_back(strand_of(element, strands.size()));
    list = StrandList(std::move(strands), elements.size());
  }
  void resolve(Resolver& resolver, double dt, int micro_steps, double tolerance) const {
    resolver.resolve(system, list, dt, {static_cast<double>(micro_steps), tolerance, thresholds::kCutsPerEvent});
  }

  VectorXd zeros;
  StiffSystem system;
  StrandList list;
};

Resolved resolve(const Eigen::MatrixXd& Upsilon, const VectorXd& ddp_bar, const std::vector<Element>& elements,
                 double dt, int micro_steps, double tolerance) {
  Resolver resolver;
  const Problem problem(Upsilon, ddp_bar, elements);
  problem.resolve(resolver, dt, micro_steps, tolerance);
  const auto count = static_cast<Eigen::Index>(elements.size());
  Resolved result;
  for (RowMatrixX3d* each :
       {&result.lam_bar, &result.lam_bar2, &result.displacement, &result.velocity, &result.stretch}) {
    each->resize(count, 3);
  }
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const Memory end = resolver.end(k);
    result.lam_bar.row(i) = resolver.lam_bar(k);
    result.lam_bar2.row(i) = resolver.lam_bar2(k);
    result.displacement.row(i) = resolver.moved(k);
    result.velocity.row(i) = resolver.velocity(k);
    result.stretch.row(i) = end.s;
    result.modes.push_back(static_cast<int>(end.mode));
  }
  for (const ModeChange& event : resolver.changes()) {
    result.events.emplace_back(event.t, event.strand, static_cast<int>(event.from), static_cast<int>(event.to));
  }
  result.info = resolver.info();
  result.changed = !resolver.unchanged();
  return result;
}

/// Derivatives of what was resolved: three rows to a strand, by directions.
struct ResolvedTangents {
  Tangent lam_bar, lam_bar2, displacement, velocity, stretch;
  std::vector<std::tuple<double, std::size_t, int>> grazing;
  bool supported;
};

/// With columns up to a multiple of four.
Tangent filled_up(const Tangent& x) {
  Tangent result = Tangent::Zero(x.rows(), padded(x.cols()));
  result.leftCols(x.cols()) = x;
  return result;
}

ResolvedTangents resolve_tangents(const Eigen::MatrixXd& Upsilon, const VectorXd& ddp_bar,
                                  const std::vector<Element>& elements, double dt, int micro_steps, double tolerance,
                                  const SystemTangent& tangent) {
  Resolver resolver;
  ResolverTangent tangents;
  tangents.take(tangent);
  resolver.differentiate(&tangents);
  const Problem problem(Upsilon, ddp_bar, elements);
  problem.resolve(resolver, dt, micro_steps, tolerance);
  tangents.differentiate(ResolverTangent::Wanted::kAll, true);

  ResolvedTangents result;
  for (Tangent* each : {&result.lam_bar, &result.lam_bar2, &result.displacement, &result.velocity, &result.stretch}) {
    each->resize(Upsilon.rows(), tangent.directions());
  }
  for (std::size_t k = 0; k < elements.size(); ++k) {
    const Eigen::Index first = 3 * static_cast<Eigen::Index>(k);
    result.lam_bar.middleRows<3>(first) = tangents.lam_bar().middleRows<3>(first);
    result.lam_bar2.middleRows<3>(first) = tangents.lam_bar2().middleRows<3>(first);
    result.displacement.middleRows<3>(first) = tangents.moved(k);
    result.velocity.middleRows<3>(first) = tangents.velocity(k);
    result.stretch.middleRows<3>(first) = tangents.stretch(k);
  }
  for (const Grazing& each : tangents.grazing()) {
    result.grazing.emplace_back(each.t, each.strand, static_cast<int>(each.kind));
  }
  result.supported = tangents.supported();
  return result;
}

}  // namespace

void bind_resolve(nb::module_& m) {
  nb::class_<Element>(m, "Element")
      .def(
          "__init__",
          [](Element* self, std::shared_ptr<Law> law, const Vector3d& n, double phi, const Vector3d& dp, int mode,
             const Vector3d& s, double phi0) { new (self) Element{std::move(law), n, phi, dp, mode, s, phi0}; },
          nb::arg("law"), nb::arg("n"), nb::arg("phi"), nb::arg("dp"), nb::arg("mode"), nb::arg("s"), nb::arg("phi0"));
  nb::class_<Resolved>(m, "Resolved")
      .def_ro("lam_bar", &Resolved::lam_bar)
      .def_ro("lam_bar2", &Resolved::lam_bar2)
      .def_ro("displacement", &Resolved::displacement)
      .def_ro("velocity", &Resolved::velocity)
      .def_ro("stretch", &Resolved::stretch)
      .def_ro("modes", &Resolved::modes)
      .def_ro("events", &Resolved::events)
      .def_prop_ro("micro_steps", [](const Resolved& self) { return self.info.micro_steps; })
      .def_prop_ro("limited", [](const Resolved& self) { return self.info.limited; })
      .def_ro("changed", &Resolved::changed);
  m.def("resolve", &resolve, nb::arg("Upsilon"), nb::arg("ddp_bar"), nb::arg("elements"), nb::arg("dt"),
        nb::arg("micro_steps"), nb::arg("tolerance"));

  nb::class_<SystemTangent>(m, "SystemTangent")
      .def(
          "__init__",
          [](SystemTangent* self, std::vector<Eigen::MatrixXd> Upsilon_by_q, const Tangent& dq, const Tangent& ddp_bar,
             const Tangent& delta, const Tangent& dp, std::vector<Tangent> materials, std::vector<Eigen::Index> dofs,
             std::vector<Tangent> drives) {
            for (std::vector<Tangent>* const each : {&materials, &drives}) {
              for (Tangent& x : *each) x = filled_up(x);
            }
            new (self)
                SystemTangent{std::move(dofs),  std::move(Upsilon_by_q), filled_up(dq),        filled_up(ddp_bar),
                              filled_up(delta), filled_up(dp),           std::move(materials), std::move(drives)};
            self->ddp_bar2 = self->ddp_bar;
          },
          nb::arg("Upsilon_by_q"), nb::arg("dq"), nb::arg("ddp_bar"), nb::arg("delta"), nb::arg("dp"),
          nb::arg("materials"), nb::arg("dofs") = std::vector<Eigen::Index>(),
          nb::arg("drives") = std::vector<Tangent>());
  nb::class_<ResolvedTangents>(m, "ResolvedTangents")
      .def_ro("lam_bar", &ResolvedTangents::lam_bar)
      .def_ro("lam_bar2", &ResolvedTangents::lam_bar2)
      .def_ro("displacement", &ResolvedTangents::displacement)
      .def_ro("velocity", &ResolvedTangents::velocity)
      .def_ro("stretch", &ResolvedTangents::stretch)
      .def_ro("grazing", &ResolvedTangents::grazing)
      .def_ro("supported", &ResolvedTangents::supported);
  m.def("resolve_tangents", &resolve_tangents, nb::arg("Upsilon"), nb::arg("ddp_bar"), nb::arg("elements"),
        nb::arg("dt"), nb::arg("micro_steps"), nb::arg("tolerance"), nb::arg("tangent"));
}

}  // namespace exposim
