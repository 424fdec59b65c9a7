#include "exposim/world.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "exposim/robot/kinematics.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

/// How many surfaces points of the robot may touch.
int touchable(const std::vector<World::Ground>& surfaces) {
  return static_cast<int>(std::count_if(surfaces.begin(), surfaces.end(), [](const World::Ground& ground) {
    const auto given = [](const std::shared_ptr<const Law>& law) { return law != nullptr; };
    return ground.laws.empty() || std::any_of(ground.laws.begin(), ground.laws.end(), given);
  }));
}

}  // namespace

World::World(std::shared_ptr<const Robot> robot, std::vector<Point> points, std::vector<Ground> surfaces,
             std::vector<Bond> bonds, int slots, JointLaws joints, int history, std::vector<Edge> edges)
    : robot_(std::move(robot)),
      points_(std::move(points)),
      surfaces_(std::move(surfaces)),
      bonds_(std::move(bonds)),
      edges_(std::move(edges)),
      joints_(std::move(joints)),
      history_(static_cast<std::size_t>(history)),
      free_slots_(touchable(surfaces_) > slots) {
  std::vector<int> standing;
  for (std::size_t k = 0; k < surfaces_.size(); ++k) {
    bounds_.push_back(surfaces_[k].surface->bounds());
    (surfaces_[k].joint == 0 ? standing : carried_).push_back(static_cast<int>(k));
  }
  standing_ = BallTree(standing, bounds_);
  for (std::size_t i = 0; i < points_.size(); ++i) {
    first_contact_.push_back(contacts_.size());
    if (points_[i].bilateral) {
      contacts_.push_back({i, -1});
      continue;
    }
    const int count = free_slots_ ? slots : static_cast<int>(surfaces_.size());
    for (int k = 0; k < count; ++k) {
      if (free_slots_ || may_touch(i, k)) contacts_.push_back({i, free_slots_ ? -1 : k});
    }
  }
  first_contact_.push_back(contacts_.size());
  for (std::size_t k = 0; k < surfaces_.size(); ++k) {
    const std::size_t first = contacts_.size();
    contacts_.resize(first + static_cast<std::size_t>(surfaces_[k].guests), {Contact::kGuest, static_cast<int>(k)});
    guest_slots_.emplace_back(first, contacts_.size());
  }
  std::vector<int> standing_edges;
  std::vector<Ball> balls;
  for (int i = 0; i < static_cast<int>(edges_.size()); ++i) {
    const Edge& edge = edges_[static_cast<std::size_t>(i)];
    balls.push_back(edge.bounds());
    if (edge.joint == 0) {
      standing_edges.push_back(i);
    } else if (!carried_edges_.empty() && carried_edges_.back().surface == edge.surface) {
      carried_edges_.back().last = i + 1;
    } else {
      carried_edges_.push_back({edge.surface, i, i + 1});
    }
  }
  standing_edges_ = BallTree(standing_edges, balls);
  for (std::size_t i = 0; i < bonds_.size(); ++i) {
    bond_strands_.push_back({i, bonds_[i].rows == 1 ? Rows::kCoordinate : Rows::kLinear});
    if (bonds_[i].rows == 6) bond_strands_.push_back({i, Rows::kAngular});
  }
  sort_joints();
}

std::shared_ptr<World> World::varied(std::shared_ptr<const Robot> robot,
                                     const std::vector<std::shared_ptr<const Law>>& points,
                                     const std::vector<std::shared_ptr<const Law>>& surfaces,
                                     const JointLaws* joints) const {
  auto world = std::make_shared<World>(*this);
  world->robot_ = std::move(robot);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i]) world->points_[i].law = points[i];
  }
  for (std::size_t k = 0; k < surfaces.size(); ++k) {
    if (surfaces[k]) world->surfaces_[k].law = surfaces[k];
  }
  if (joints) world->joints_ = *joints;
  world->sort_joints();
  return world;
}

void World::sort_joints() {
  for (std::vector<Index>* each : {&acting_, &reacting_, &rough_}) each->clear();
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

bool World::makes_wait() const {
  return std::any_of(surfaces_.begin(), surfaces_.end(), [](const Ground& each) { return each.surface->makes_wait(); });
}

ContactPoint World::shape(std::size_t point) const {
  if (!is_on_edge(point)) return robot_->points()[point];
  const auto number = static_cast<int>((point - points_.size()) / edges_.size()) - 1;
  const Edge& edge = edge_of(point);
  if (number < 0) return {edge.joint, edge.start, edge.radius};
  return {edge.joint, edge.at(number % 2 == 0 ? number / 2 : -(number + 1) / 2), edge.radius};
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
    entry[0] = is_guest(i) ? memory.guest : memory.surface;
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

bool World::unpack_contact(const double* entry, const State& state, std::size_t contact, Memory& memory) const {
  constexpr double kLargest = std::numeric_limits<int>::max();
  if (!(std::abs(entry[0]) <= kLargest && std::abs(entry[1]) <= kLargest)) return false;
  const int partner = static_cast<int>(entry[0]), mode = static_cast<int>(entry[1]);
  if (partner != entry[0] || mode != entry[1] || mode < 0 || mode >= kModes) return false;
  const Contact& slot = contacts_[contact];
  const bool guest = is_guest(contact);
  memory.guest = guest ? partner : -1;
  memory.surface = !guest ? partner : partner < 0 ? -1 : slot.surface;
  memory.mode = static_cast<Mode>(mode);
  memory.phi0 = entry[2];
  for (Index k = 0; k < 3; ++k) memory.s(k) = entry[3 + k];
  const bool bilateral = !guest && points_[slot.point].bilateral;
  if (bilateral != (memory.mode == Mode::kBound)) return false;
  if (!changes_hands(contact)) return memory.surface == slot.surface;
  if (partner < 0) return partner == -1 && !memory.active();
  const bool known = guest ? is_guest_of(partner, slot.surface)
                           : partner < static_cast<int>(surfaces_.size()) && may_touch(slot.point, partner);
  if (!known || !memory.active()) return false;
  const std::size_t first =
      guest ? guest_slots_[static_cast<std::size_t>(slot.surface)].first : first_contact_[slot.point];
  for (std::size_t j = first; j < contact; ++j) {  // two slots with one partner
    if ((guest ? state.memory[j].guest : state.memory[j].surface) == partner) return false;
  }
  return true;
}

bool World::is_guest_of(int guest, int surface) const {
  if (edges_.empty() || !may_meet(surface, edge_of(guest_point(guest)).surface)) return false;
  const Edge& edge = edges_[static_cast<std::size_t>(guest) % edges_.size()];
  const int number = guest / static_cast<int>(edges_.size()) - 1;
  return number < 0 || edge.count == 0 || (number % 2 == 0 && number / 2 < edge.count);
}

bool World::unpack(const Eigen::Ref<const VectorXd>& x, State& state) const {
  const Index nq = robot_->nq(), nv = robot_->nv();
  if (x.size() != packed_size() || !x.allFinite()) return false;
  const double* entry = x.data() + 1 + nq + nv;
  state.t = x(0);
  state.q = x.segment(1, nq);
  state.v = x.segment(1 + nq, nv);
  prepare(state);
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    if (!unpack_contact(entry, state, i, state.memory[i])) return false;
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
