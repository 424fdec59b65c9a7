#include "exposim/expo/agreement.hpp"

#include <algorithm>
#include <cmath>

#include "exposim/contact/bond_motion.hpp"
#include "exposim/contact/evaluation.hpp"
#include "exposim/robot/free_bodies.hpp"
#include "exposim/robot/kinematics.hpp"
#include "exposim/robot/mass_matrix.hpp"
#include "exposim/thresholds.hpp"

namespace exposim {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

Vector3d along(const Vector3d& x, const Vector3d& n) { return n.dot(x) * n; }

/// Force that a velocity comes to within a step [N·s/m]: by the damper at once, by the spring in a quarter of a period.
double swing(const StiffSystem& system, const StiffSystem::Row& row, double dt) {
  const Block& block = system.blocks()[row.block];
  const double Upsilon =
      system.Upsilon_block().diagonal().segment(block.first, std::min<Eigen::Index>(block.size, 3)).mean();
  return row.B_max + std::min(dt * row.K_max, std::sqrt(row.K_max / Upsilon));
}

}  // namespace

void Agreement::aim_at_averages(const StiffSystem& system, const StrandList& strands, const RobotUpdate& update,
                                double dt) {
  targets_.resize(strands.all().size());
  if (targets_.empty()) return;
  moved_ = system.Upsilon_block().lazyProduct(update.wrenches());  // two columns: nothing to pack
  for (std::size_t k = 0; k < targets_.size(); ++k) {
    const StiffSystem::Row& row = system.rows()[k];
    const Strand& strand = strands.all()[k];
    const Vector3d& dp = strand.motion.dp;
    targets_[k] = {strand.memory.mode, dt * (dp + 0.5 * dt * (row.ddp_bar + system.motion_of(row, moved_.col(1)))),
                   dp + dt * (row.ddp_bar + system.motion_of(row, moved_.col(0)))};
  }
}

void Agreement::aim_at(const Resolver& resolver, std::size_t strands) {
  targets_.resize(strands);
  for (std::size_t k = 0; k < strands; ++k) {
    targets_[k] = {resolver.end(k).mode, resolver.moved(k), resolver.velocity(k)};
  }
}

void Agreement::restore(const World& world, RobotData& data, const StiffSystem& system, const StrandList& strands,
                        double largest, double dt, State& next) {
  mismatch_ = 0.0;
  if (targets_.empty()) return;
  for (int attempt = 0; attempt < thresholds::kMostAgreements; ++attempt) {
    const double length = dt / thresholds::kDisagreementTime;
    const double share = attempt == 0
                             ? std::clamp(length * length, thresholds::kDisagreement, thresholds::kDisagreementLeft)
                             : thresholds::kDisagreementLeft;
    const double read = compare(world, data, system, strands, dt, next);
    if (attempt == 0) {
      for (const Difference& each : differences_) {
        if (each.feels != Feels::kNothing) mismatch_ = std::max(mismatch_, each.dp.norm());
      }
    }
    if (!(read > share * largest)) return;

    blocks_.begin(system, system.blocks().size());
    for (std::size_t k = 0; k < targets_.size(); ++k) {
      Difference& difference = differences_[k];
      if (difference.feels == Feels::kNothing) continue;
      const StiffSystem::Row& row = system.rows()[k];
      const Vector3d& n = strands.all()[k].motion.n;
      difference.Q = dt * (dt * row.K + row.B);
      if (difference.feels == Feels::kNormal) difference.Q = n.dot(difference.Q * n) * n * n.transpose();
      blocks_.add_spring(row, difference.Q);
    }
    blocks_.attach();
    dv_.setZero(next.v.size(), 2);
    push(system, &Difference::dp, dv_.col(0));
    push(system, &Difference::p, dv_.col(1));
    solve_Lt_in_place(data, dv_);
    if (watcher_) pushed_ = dv_;
    turn_free_bodies(data, dv_.col(0));
    turn_free_bodies(data, dv_.col(1));
    next.v += dv_.col(0);
    dq_ = dv_.col(1);
    q_ = next.q;
    integrate(data.robot(), q_, dq_, next.q);
    keep_free_bodies(data, q_, next.q, next.v);
    if (watcher_) watcher_->correct(data, strands, differences_, pushed_, dv_, q_, next);
    if (!(read > thresholds::kWorthAnotherLook * largest)) return;
  }
}

void Agreement::push(const StiffSystem& system, Vector3d Difference::* of, Eigen::Ref<Eigen::VectorXd> dv) {
  const auto for_each = [&](auto&& f) {
    for (std::size_t k = 0; k < differences_.size(); ++k) {
      if (differences_[k].feels != Feels::kNothing) f(system.rows()[k], differences_[k]);
    }
  };
  blocks_.clear_forces();
  for_each([&](const StiffSystem::Row& row, const Difference& each) { blocks_.add_force(row, each.Q * each.*of); });
  blocks_.solve();
  wrench_.setZero(system.Upsilon_block().rows());
  for_each([&](const StiffSystem::Row& row, const Difference& each) {
    system.add_wrench(row, each.Q * (each.*of - blocks_.acceleration_of(row)), wrench_);
  });
  system.add_forces(system.blocks().size(), wrench_, dv);
}

double Agreement::compare(const World& world, RobotData& data, const StiffSystem& system, const StrandList& strands,
                          double dt, const State& next) {
  update_kinematics(data, next.q, next.v);
  differences_.resize(targets_.size());
  double read = 0.0;
  for (std::size_t k = 0; k < targets_.size(); ++k) {
    Difference& difference = differences_[k];
    difference.feels = Feels::kNothing;
    const StiffSystem::Row& row = system.rows()[k];
    const Strand& strand = strands.all()[k];
    const Motion& start = strand.motion;
    const auto& [mode, way, dp] = targets_[k];
    if (strand.point == Strand::kNone) {
      if (strand.index >= world.first_limit()) continue;                // along a coordinate both are the same
      if (strand.b != 0 && strand.rows != Rows::kCoordinate) continue;  // its stretch turns with b as well
      Motion end;
      Memory memory;
      update_bond(world, data, next, strand.index, end, memory);
      difference.set(Feels::kAll, displacement(start, strand.memory) + way - memory.s, dp - end.dp);
    } else {
      if (start.curved) continue;  // there the robot knows better: its normal turns
      const Motion end = contact_motion(world, data, strand.point, strand.memory.surface);
      const Vector3d end_dp = along_with_carrier(end, start, end.dp);
      const double phi = start.phi + start.n.dot(way);
      if (mode == Mode::kBound) {
        difference.set(Feels::kAll, way - travel(start, end, start.arm), dp - end.dp);
      } else if (mode == Mode::kOpen || mode == Mode::kIdle) {
        if (end.phi >= std::min(phi, 0.0)) continue;
        difference.set(Feels::kNormal, (phi - end.phi) * start.n, Vector3d::Zero());
      } else if (mode == Mode::kSlipping) {
        difference.set(Feels::kNormal, (phi - end.phi) * start.n, along(dp - end_dp, start.n));
      } else {
        const Vector3d past = tangent(way - travel(start, end, start.arm), start.n);
        difference.set(Feels::kAll, past + (phi - end.phi) * start.n, dp - end_dp);
      }
    }
    read = std::max(read, row.K_max * difference.p.norm() + swing(system, row, dt) * difference.dp.norm());
  }
  return read;
}

}  // namespace exposim
