#include "exposim/expo/agreement.hpp"

#include <algorithm>
#include <cmath>

#include "exposim/contact/bond_motion.hpp"
#include "exposim/contact/evaluation.hpp"
#include "exposim/robot/kinematics.hpp"
#include "exposim/robot/mass_matrix.hpp"
#include "exposim/thresholds.hpp"

namespace exposim {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

bool is_held(Mode mode) { return mode != Mode::kOpen && mode != Mode::kIdle; }


/// What of a difference a strand feels: all of it, or only that along the normal.
Vector3d felt(const Vector3d& difference, const Strand& strand, Mode mode) {
  const Vector3d& n = strand.motion.n;
  return mode == Mode::kSlipping ? Vector3d(n.dot(difference) * n) : difference;
}

Matrix3d weight(const StiffSystem::Row& row, const Strand& strand, Mode mode, double dt) {
  const Matrix3d Q = dt * (dt * row.K + row.B);
  const Vector3d& n = strand.motion.n;
  return mode == Mode::kSlipping ? Matrix3d(n.dot(Q * n) * n * n.transpose()) : Q;
}

/// Force that a velocity comes to within a step [N·s/m]: by the damper at once, by the spring in a quarter of a period.
double swing(const StiffSystem& system, const StiffSystem::Row& row, double dt) {
  const Block& block = system.blocks()[row.block];
  const double Upsilon =
      system.Upsilon_block().diagonal().segment(block.first, std::min<Eigen::Index>(block.size, 3)).mean();
  return row.B_max + std::min(dt * row.K_max, std::sqrt(row.K_max / Upsilon));
}

}  // namespace

void Agreement::restore(const World& world, RobotData& data, const StiffSystem& system, const StrandList& strands,
                        const RobotUpdate& update, const std::vector<Mode>& ends, double dt, State& next) {
  if (std::none_of(ends.begin(), ends.end(), is_held)) return;
  moved_.noalias() = system.Upsilon_block() * update.wrenches();
  for (int attempt = 0; attempt < thresholds::kMostAgreements; ++attempt) {
    const double read = compare(world, data, system, strands, ends, dt, next);
    if (!(read > thresholds::kDisagreement * update.largest())) return;

    const Eigen::Index r = system.Upsilon_block().rows();
    stiffness_.setZero(r, r);
    wrenches_.setZero(r, 2);
    for (std::size_t k = 0; k < ends.size(); ++k) {
      if (!is_held(ends[k])) continue;
      const StiffSystem::Row& row = system.rows()[k];
      const Matrix3d Q = weight(row, strands.all()[k], ends[k], dt);
      system.add_stiffness(row, Q, stiffness_);
      system.add_wrench(row, Q * differences_[k].dp, wrenches_.col(0));
      system.add_wrench(row, Q * differences_[k].p, wrenches_.col(1));
    }
    factors_.factor_product(system.Upsilon_block(), stiffness_);
    for (Eigen::Index column = 0; column < 2; ++column) {
      solved_.noalias() = system.Upsilon_block().lazyProduct(wrenches_.col(column));
      factors_.solve_in_place(solved_);
      wrenches_.col(column).noalias() -= stiffness_ * solved_;
    }
    dv_.noalias() = system.Y() * wrenches_;
    solve_Lt_in_place(data, dv_);
    next.v += dv_.col(0);
    solved_ = dv_.col(1);
    q_ = next.q;
    integrate(data.robot(), q_, solved_, next.q);
  }
}

double Agreement::compare(const World& world, RobotData& data, const StiffSystem& system, const StrandList& strands,
                          const std::vector<Mode>& ends, double dt, const State& next) {
  update_kinematics(data, next.q, next.v);
  differences_.resize(ends.size());
  double read = 0.0;
  for (std::size_t k = 0; k < ends.size(); ++k) {
    if (!is_held(ends[k])) continue;
    const StiffSystem::Row& row = system.rows()[k];
    const Strand& strand = strands.all()[k];
    const Motion& start = strand.motion;
    const Vector3d dp = start.dp + dt * (row.ddp_bar + system.motion_of(row, moved_.col(0)));
    const Vector3d way = dt * (start.dp + 0.5 * dt * (row.ddp_bar + system.motion_of(row, moved_.col(1))));
    Difference& difference = differences_[k];
    if (strand.point == Strand::kNone) {
      Motion end;
      Memory memory;
      update_bond(world, data, next, strand.index, end, memory);
      difference = {displacement(start, strand.memory) + way - memory.s, dp - end.dp};
    } else {
      const Motion end = contact_motion(world, data, strand.point, strand.memory.surface);
      difference = {way - travel(start, end, start.arm), dp - end.dp};
      if (end.curved)
        difference.p = tangent(difference.p, start.n) + (start.phi + way.dot(start.n) - end.phi) * start.n;
    }
    difference.p = felt(difference.p, strand, ends[k]);
    difference.dp = felt(difference.dp, strand, ends[k]);
    read = std::max(read, row.K_max * difference.p.norm() + swing(system, row, dt) * difference.dp.norm());
  }
  return read;
}

}  // namespace exposim
