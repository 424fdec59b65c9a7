#include "exposim/world.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "exposim/robot/kinematics.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::VectorXd;

World::World(std::shared_ptr<const Robot> robot, std::vector<Point> points, std::vector<Ground> surfaces,
             std::vector<Bond> bonds, int slots, JointLaws joints, int history)
    : robot_(std::move(robot)),
      points_(std::move(points)),
      surfaces_(std::move(surfaces)),
      bonds_(std::move(bonds)),
      joints_(std::move(joints)),
      history_(static_cast<std::size_t>(history)),
      free_slots_(surfaces_.size() > static_cast<std::size_t>(slots)) {
  for (std::size_t i = 0; i < points_.size(); ++i) {
    first_contact_.push_back(contacts_.size());
    if (points_[i].bilateral) {
      contacts_.push_back({i, -1});
      continue;
    }
    const int count = free_slots_ ? slots : static_cast<int>(surfaces_.size());
    for (int k = 0; k < count; ++k) contacts_.push_back({i, free_slots_ ? -1 : k});
  }
  first_contact_.push_back(contacts_.size());
  for (std::size_t i = 0; i < bonds_.size(); ++i) {
    bond_strands_.push_back({i, bonds_[i].rows == 1 ? Rows::kCoordinate : Rows::kLinear});
    if (bonds_[i].rows == 6) bond_strands_.push_back({i, Rows::kAngular});
  }
  joints_.dofs.resize(static_cast<std::size_t>(robot_->nv()));
  for (Index i = 0; i < robot_->nv(); ++i) {
    DofLaw& law = joints_.dofs[static_cast<std::size_t>(i)];
    const bool curved = robot_->in_q(i) < 0;
    law.damping = robot_->damping()(i);
    if (law.acts()) acting_.push_back(i);
    if (law.reacts()) reacting_.push_back(i);
    if (law.friction.exists()) rough_.push_back(i);
    curved_servos_ |= law.motor.is_servo() && curved;
    curved_grips_ |= law.friction.exists() && curved;
    longest_delay_ = std::max(longest_delay_, law.motor.delay);
  }
}

void World::prepare(State& state) const {
  state.memory.resize(strands());
  state.grips.resize(rough_.size());
  state.commands.all.resize(history_);
  for (Command& command : state.commands.all) {
    command.target.resize(robot_->nq());
    command.velocity.resize(robot_->nv());
  }
}

const Law& World::bond_law(std::size_t strand) const {
  const BondStrand& found = bond_strands_[strand - contacts_.size()];
  const Bond& bond = bonds_[found.bond];
  return found.rows == Rows::kAngular ? *bond.angular_law : *bond.law;
}

Index World::packed_size() const {
  const Index nq = robot_->nq(), nv = robot_->nv();
  const Index commands = history_ == 0 ? 0 : 1 + static_cast<Index>(history_) * (1 + nq + nv);
  return 1 + nq + nv + kMemorySize * static_cast<Index>(contacts_.size()) + 2 * static_cast<Index>(rough_.size()) +
         commands + 2;
}

void World::pack(const State& state, Eigen::Ref<VectorXd> x) const {
  const Index nq = robot_->nq(), nv = robot_->nv();
  x(0) = state.t;
  x.segment(1, nq) = state.q;
  x.segment(1 + nq, nv) = state.v;
  double* entry = x.data() + 1 + nq + nv;
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const Memory& memory = state.memory[i];
    entry[0] = memory.surface;
    entry[1] = static_cast<double>(memory.mode);
    entry[2] = memory.phi0;
    for (Index k = 0; k < 3; ++k) entry[3 + k] = memory.s(k);
    entry += kMemorySize;
  }
  for (const Grip& grip : state.grips) {
    *entry++ = grip.s;
    *entry++ = grip.slipping ? 1.0 : 0.0;
  }
  if (history_ > 0) *entry++ = static_cast<double>(state.commands.count);
  for (std::size_t i = 0; i < history_; ++i, entry += 1 + nq + nv) {
    Eigen::Map<VectorXd> kept(entry, 1 + nq + nv);
    if (i >= state.commands.count) {
      kept.setZero();
      continue;
    }
    const Command& command = state.commands.all[i];
    kept << command.t, command.target, command.velocity;
  }
  entry[0] = static_cast<double>(nq);
  entry[1] = static_cast<double>(nv);
}

bool World::unpack(const Eigen::Ref<const VectorXd>& x, State& state) const {
  const Index nq = robot_->nq(), nv = robot_->nv();
  constexpr double kLargest = std::numeric_limits<int>::max();
  if (x.size() != packed_size() || !x.allFinite()) return false;
  const double* entry = x.data() + 1 + nq + nv;
  state.t = x(0);
  state.q = x.segment(1, nq);
  state.v = x.segment(1 + nq, nv);
  prepare(state);
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    Memory& memory = state.memory[i];
    if (!(std::abs(entry[0]) <= kLargest && std::abs(entry[1]) <= kLargest)) return false;
    memory.surface = static_cast<int>(entry[0]);
    const int mode = static_cast<int>(entry[1]);
    if (memory.surface != entry[0] || mode != entry[1] || mode < 0 || mode >= kModes) return false;
    memory.mode = static_cast<Mode>(mode);
    memory.phi0 = entry[2];
    for (Index k = 0; k < 3; ++k) memory.s(k) = entry[3 + k];
    const bool bilateral = points_[contacts_[i].point].bilateral;
    if (bilateral != (memory.mode == Mode::kBound)) return false;
    if (free_slots_ && !bilateral) {
      const bool known = memory.surface >= 0 && memory.surface < static_cast<int>(surfaces_.size());
      if (memory.active() != known) return false;
      for (std::size_t j = first_contact_[contacts_[i].point]; known && j < i; ++j) {
        if (state.memory[j].surface == memory.surface) return false;  // two slots of a point with one surface
      }
    } else if (memory.surface != contacts_[i].surface) {
      return false;
    }
    entry += kMemorySize;
  }
  for (Grip& grip : state.grips) {
    grip.s = *entry++;
    if (*entry != 0.0 && *entry != 1.0) return false;
    grip.slipping = *entry++ == 1.0;
  }
  state.commands.count = 0;
  if (history_ > 0) {
    if (!(*entry >= 0.0 && *entry <= static_cast<double>(history_)) || *entry != std::floor(*entry)) return false;
    state.commands.count = static_cast<std::size_t>(*entry++);
  }
  for (std::size_t i = 0; i < history_; ++i, entry += 1 + nq + nv) {
    const Eigen::Map<const VectorXd> kept(entry, 1 + nq + nv);
    Command& command = state.commands.all[i];
    command.t = kept(0);
    command.target = kept.segment(1, nq);
    command.velocity = kept.tail(nv);
    if (i > 0 && i < state.commands.count && !(command.t > state.commands.all[i - 1].t)) return false;
  }
  return entry[0] == static_cast<double>(nq) && entry[1] == static_cast<double>(nv);
}

Index World::tangent_size() const {
  return 2 * robot_->nv() + 3 * static_cast<Index>(contacts_.size()) + static_cast<Index>(rough_.size());
}

void World::plus(const State& state, const VectorXd& dx, State& result) const {
  const Index nv = robot_->nv();
  result = state;
  integrate(*robot_, state.q, dx.head(nv), result.q);
  result.v += dx.segment(nv, nv);
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    if (state.memory[i].active()) result.memory[i].s += dx.segment<3>(2 * nv + 3 * static_cast<Index>(i));
  }
  const auto grips = dx.tail(static_cast<Index>(rough_.size()));
  for (std::size_t k = 0; k < rough_.size(); ++k) result.grips[k].s += grips(static_cast<Index>(k));
}

void World::minus(const State& to, const State& from, VectorXd& dx) const {
  const Index nv = robot_->nv();
  VectorXd dq(nv);
  difference(*robot_, from.q, to.q, dq);
  dx.resize(tangent_size());
  dx.head(nv) = dq;
  dx.segment(nv, nv) = to.v - from.v;
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    dx.segment<3>(2 * nv + 3 * static_cast<Index>(i)) = to.memory[i].s - from.memory[i].s;
  }
  auto grips = dx.tail(static_cast<Index>(rough_.size()));
  for (std::size_t k = 0; k < rough_.size(); ++k) grips(static_cast<Index>(k)) = to.grips[k].s - from.grips[k].s;
}

}  // namespace exposim
