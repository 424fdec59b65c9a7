#include "exposim/expo/path_piece.hpp"

#include <algorithm>
#include <utility>

#include "exposim/robot/mass_matrix.hpp"
#include "exposim/thresholds.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

/// M⁻¹Jᵀ of all strands, three columns to each.
Eigen::MatrixXd responses(const RobotData& data, const StiffSystem& system) {
  const auto nv = static_cast<Index>(system.w().size());
  Eigen::MatrixXd found(nv, 3 * static_cast<Index>(system.rows().size()));
  VectorXd wrench, column;
  for (Index k = 0; k < found.cols(); ++k) {
    wrench.setZero(system.Upsilon_block().rows());
    system.add_wrench(system.rows()[static_cast<std::size_t>(k / 3)], Vector3d::Unit(k % 3), wrench);
    column.setZero(nv);
    system.add_forces(system.blocks().size(), wrench, column);
    solve_Lt_in_place(data, column);
    found.col(k) = column;
  }
  return found;
}

}  // namespace

Path::Piece path_piece(const RobotData& data, const StiffSystem& system, const StrandList& strands,
                       const std::vector<std::size_t>& slots, const Instant& from, double dt, const Step& step) {
  Path::Piece piece;
  piece.length = dt;
  piece.q = from.state.q;
  piece.v = from.state.v;
  piece.q_end = step.next.state.q;
  piece.v_end = step.next.state.v;
  piece.free = system.w();
  solve_Lt_in_place(data, piece.free);
  if (strands.all().empty()) return piece;

  piece.response = responses(data, system);
  Resolver resolver;
  resolver.watch(&piece.courses);
  const double least = std::max<double>(thresholds::kMicroSteps, dt / thresholds::kNodesApart);
  resolver.resolve(system, strands, dt, {least, dt * thresholds::kNodeTolerance, thresholds::kCutsPerEvent});
  for (std::size_t k = 0; k < piece.courses.size(); ++k) {
    ForceCourse& course = piece.courses[k];
    const Strand& strand = strands.all()[k];
    course.strand = k < slots.size() ? slots[k] : strand.index;
    course.point = strand.point;
    course.surface = strand.memory.surface;
    if (course.strand == Strand::kNone) continue;
    const auto shares = [&](const ForceCourse& other) { return &other != &course && other.strand == course.strand; };
    if (std::any_of(piece.courses.begin(), piece.courses.end(), shares)) continue;
    const bool starts = strand.index != Strand::kNone;
    course.bend(starts ? from.force(course.strand) : Vector3d::Zero().eval(), step.next.force(course.strand));
  }
  return piece;
}

}  // namespace exposim
