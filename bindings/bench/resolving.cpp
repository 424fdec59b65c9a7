#include "resolving.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exposim/expo/resolver.hpp"
#include "exposim/expo/resolver_tangent.hpp"
#include "exposim/robot/mass_matrix.hpp"
#include "exposim/stiff/laws/bilateral.hpp"
#include "exposim/stiff/laws/coulomb_contact.hpp"
#include "exposim/stiff/laws/followed_servo.hpp"
#include "exposim/stiff/laws/joint_limit.hpp"
#include "exposim/thresholds.hpp"
#include "shared_simulator.hpp"

namespace nb = nanobind;

namespace exposim {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using Arrays = std::map<std::string, MatrixXd>;

/// Laws of strands, by the numbers that SystemTangent::materials changes.
std::unique_ptr<Law> make_law(const std::string& kind, const VectorXd& m) {
  if (kind == "limit") return std::make_unique<JointLimit>(m(0), m(2));
  if (kind == "servo") return std::make_unique<FollowedServo>(m(4), m(0), m(2));
  const Material material{m(0), m(1), m(2), m(3), m(4)};
  if (kind == "bond") return std::make_unique<Bilateral>(material);
  return std::make_unique<CoulombContact>(material);
}

/// Strands and drives of a robot: a row to each.
struct StrandsAndDrives {
  std::vector<std::string> kinds;  ///< of strands
  std::vector<int> places;         ///< their joints; of limits and servos degrees of freedom
  MatrixXd positions, materials, normals, delta, dp;
  std::vector<int> modes;
  MatrixXd drives;  ///< dof, force, K, D, X, fitted, v

  Strand strand(const Robot& robot, std::size_t k, const Law& law) const {
    const auto row = static_cast<Index>(k);
    const bool coordinate = kinds[k] == "limit" || kinds[k] == "servo";
    Strand strand;
    strand.index = strand.point = Strand::kNone;
    strand.rows = coordinate ? Rows::kCoordinate : Rows::kLinear;
    strand.a = coordinate ? robot.joint_of(places[k]) : static_cast<std::size_t>(places[k]);
    strand.b = coordinate ? static_cast<std::size_t>(places[k]) : 0;
    strand.position = positions.row(row).transpose();
    strand.law = &law;
    const Vector3d n = normals.row(row).transpose(), displacement = delta.row(row).transpose();
    const auto mode = static_cast<Mode>(modes[k]);
    const double phi = mode == Mode::kBound ? 0.0 : n.dot(displacement);
    strand.motion = Motion{
        phi,  n, Vector3d::Zero(), dp.row(row).transpose(), Vector3d::Zero(), Vector3d::Zero(), Eigen::Matrix3d::Zero(),
        false};
    strand.memory = Memory{-1, mode, 0.0, displacement - phi * n};
    return strand;
  }
};

/// Υ and p̈̄ of the strands, and behind them of the drives.
void stack(const RobotData& data, const StiffSystem& system, const MatrixXd& drives, Arrays& result) {
  const auto strands = static_cast<Index>(system.rows().size()), size = 3 * strands + drives.rows();
  MatrixXd Y = MatrixXd::Zero(data.robot().nv(), size), ddp_bar(size, 1);
  for (Index k = 0; k < strands; ++k) {
    const StiffSystem::Row& row = system.rows()[static_cast<std::size_t>(k)];
    const Block& block = system.blocks()[row.block];
    const Eigen::Matrix<double, 3, 6> G = system.G(row);
    system.for_each_row_of_Y(row.block, [&](Index dof, const double* entries) {
      const Eigen::Map<const VectorXd> of_dof(entries, block.size);
      Y.row(dof).segment<3>(3 * k) = (G.leftCols(block.size) * of_dof).transpose();
    });
    ddp_bar.middleRows<3>(3 * k) = row.ddp_bar;
  }
  for (Index d = 0; d < drives.rows(); ++d) {
    data.factor().for_each_in_inverse_L(static_cast<Index>(drives(d, 0)),
                                        [&](Index dof, double entry) { Y(dof, 3 * strands + d) = entry; });
    ddp_bar(3 * strands + d) = Y.col(3 * strands + d).dot(system.w());
  }
  result["Upsilon"] = Y.transpose() * Y;
  result["ddp_bar"] = ddp_bar;
}

Arrays resolve_robot(SharedSimulator& self, const VectorXd& q, const VectorXd& v, const VectorXd& tau,
                     const StrandsAndDrives& followed, double dt, int micro_steps, double tolerance,
                     const std::optional<SystemTangent>& tangent) {
  const Robot& robot = self.simulator.world().robot();
  RobotData data(std::make_shared<Robot>(robot));
  const MatrixXd& given = followed.drives;
  VectorXd added = VectorXd::Zero(robot.nv());
  for (Index d = 0; d < given.rows(); ++d) added(static_cast<Index>(given(d, 0))) = given(d, 4);
  update_terms(data, q, v);
  factor(data, added);

  std::vector<std::unique_ptr<Law>> laws;
  std::vector<Strand> strands;
  for (std::size_t k = 0; k < followed.kinds.size(); ++k) {
    laws.push_back(make_law(followed.kinds[k], followed.materials.row(static_cast<Index>(k)).transpose()));
    strands.push_back(followed.strand(data.robot(), k, *laws.back()));
  }
  const StrandList list(std::move(strands), laws.size());
  StiffSystem system;
  system.update(data, list, {tau, {}}, false);
  FollowedDrives drives;
  drives.begin(data);
  for (Index d = 0; d < given.rows(); ++d) {
    drives.add({static_cast<Index>(given(d, 0)), given(d, 6), given(d, 1), given(d, 2), given(d, 3), given(d, 4),
                given(d, 5)});
  }
  Resolver resolver;
  ResolverTangent tangents;
  if (tangent) {
    tangents.take(*tangent);
    resolver.differentiate(&tangents);
  }
  resolver.resolve(system, list, dt, {static_cast<double>(micro_steps), tolerance, thresholds::kCutsPerEvent},
                   drives.empty() ? nullptr : &drives);
  if (tangent) tangents.differentiate(ResolverTangent::Wanted::kAll, true);

  Arrays result;
  stack(data, system, given, result);
  const auto count = static_cast<Index>(laws.size());
  // A column of values, or one to each direction.
  const Index columns = tangent ? tangent->directions() : 1;
  for (const char* const name : {"lam_bar", "lam_bar2", "displacement", "velocity", "stretch"}) {
    result[name].resize(3 * count, columns);
  }
  for (std::size_t k = 0; k < laws.size(); ++k) {
    const auto rows = [&](const char* name) { return result[name].middleRows<3>(3 * static_cast<Index>(k)); };
    if (tangent) {
      rows("lam_bar") = tangents.lam_bar().middleRows<3>(3 * static_cast<Index>(k));
      rows("lam_bar2") = tangents.lam_bar2().middleRows<3>(3 * static_cast<Index>(k));
      rows("displacement") = tangents.moved(k);
      rows("velocity") = tangents.velocity(k);
      rows("stretch") = tangents.stretch(k);
    } else {
      rows("lam_bar") = resolver.lam_bar(k);
      rows("lam_bar2") = resolver.lam_bar2(k);
      rows("displacement") = resolver.moved(k);
      rows("velocity") = resolver.velocity(k);
      rows("stretch") = resolver.end(k).s;
    }
  }
  MatrixXd& of_drives = result["drives"];  // averages of force, displacement, velocity
  of_drives.resize(4 * given.rows(), columns);
  for (Index d = 0; d < given.rows(); ++d) {
    const auto k = static_cast<std::size_t>(d);
    if (tangent) {
      of_drives.middleRows<4>(4 * d) << tangents.drive_lam_bar(k), tangents.drive_lam_bar2(k), tangents.drive_moved(k),
          tangents.drive_velocity(k);
    } else {
      const FollowedDrives::Track track = drives.track(k);
      of_drives.middleRows<4>(4 * d) << track.lam_bar / dt, track.lam_bar2 * (2.0 / (dt * dt)), track.x, track.v;
    }
  }
  MatrixXd& choices = result["choices"];
  choices.setConstant(1, 4 * static_cast<Index>(resolver.changes().size()) + 2, 0.0);
  choices(0) = resolver.info().micro_steps;
  choices(1) = tangent ? static_cast<double>(tangents.grazing().size()) : 0.0;
  for (std::size_t k = 0; k < resolver.changes().size(); ++k) {
    const ModeChange& change = resolver.changes()[k];
    choices.middleCols<3>(2 + 4 * static_cast<Index>(k)) << static_cast<double>(change.strand),
        static_cast<double>(change.from), static_cast<double>(change.to);
  }
  return result;
}

}  // namespace

void bind_resolving(nb::module_& m) {
  nb::class_<StrandsAndDrives>(m, "StrandsAndDrives")
      .def(
          "__init__",
          [](StrandsAndDrives* self, std::vector<std::string> kinds, std::vector<int> places, const MatrixXd& positions,
             const MatrixXd& materials, const MatrixXd& normals, const MatrixXd& delta, const MatrixXd& dp,
             std::vector<int> modes, const MatrixXd& drives) {
            new (self) StrandsAndDrives{std::move(kinds),
                                        std::move(places),
                                        positions,
                                        materials,
                                        normals,
                                        delta,
                                        dp,
                                        std::move(modes),
                                        drives};
          },
          nb::arg("kinds"), nb::arg("places"), nb::arg("positions"), nb::arg("materials"), nb::arg("normals"),
          nb::arg("delta"), nb::arg("dp"), nb::arg("modes"), nb::arg("drives"));
  m.def("resolve_robot", &resolve_robot, nb::arg("simulator"), nb::arg("q"), nb::arg("v"), nb::arg("tau"),
        nb::arg("followed"), nb::arg("dt"), nb::arg("micro_steps"), nb::arg("tolerance"),
        nb::arg("tangent") = nb::none());
}

}  // namespace exposim
