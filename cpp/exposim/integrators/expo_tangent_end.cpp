// Derivatives of what a step of Expo commits.

#include <Eigen/Geometry>

#include "exposim/integrators/expo_tangent.hpp"
#include "exposim/robot/kinematics.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::Vector3d;

void ExpoTangent::update_point(const RobotData& data, std::size_t joint, const Vector3d& position, const Vector3d& arm,
                               const Tangent& dq, const Tangent* dv, PointAt& out) {
  update_point_tangent(data, movers_, joint, position, arm, point_);
  const std::vector<Index>& dofs = *point_.dofs;
  const auto count = static_cast<Index>(dofs.size());
  std::vector<const double*>& rows = rows_of_point_;
  rows.clear();
  for (const Index dof : dofs) rows.push_back(dq.row(dof).data());
  for (const Index dof : dofs) rows.push_back((dv ? *dv : dq).row(dof).data());
  auto& factors = factors_of_point_;
  const auto put = [&](Index terms, Tangent& to) {
    to.resize(3, to_.size);
    for (Index i = 0; i < 3; ++i) sum_rows(to_.size, terms, factors.row(i).data(), rows.data(), to.row(i).data());
  };
  factors.resize(3, 2 * count);
  factors.leftCols(count) = point_.position_by_q;
  put(count, out.c);
  if (dv) {
    factors.leftCols(count) = point_.velocity_by_q;
    factors.rightCols(count) = point_.J;
    put(2 * count, out.dp);
  }
  if (arm.isZero()) return;
  factors.leftCols(count) = point_.J_omega;
  put(count, out.turn);
}

void ExpoTangent::add_travelled(const Matrix3d& factor, const Motion& from, const Motion& to, const Vector3d& arm,
                                const PointAt& start, const PointAt& end, Rows3Sum& sum) {
  sum.add(factor, rows3(end.c, 0)).add(-factor, rows3(start.c, 0));
  if (arm.isZero()) return;
  // θ × arm, R⁺ = exp(θ) R: dθ = J⁻¹(θ) dR⁺ − J⁻¹(−θ) dR.
  Motion other = from, same = to;
  other.arm = same.arm = arm;
  sum.add(factor * travel_by_rotation(other, same), rows3(end.turn, 0));
  sum.add(-factor * travel_by_rotation(same, other), rows3(start.turn, 0));
}

void ExpoTangent::end(const RobotData& data, const StrandList& strands, const Resolver* resolver, const Step& step) {
  clear(out_->next, world_->tangent_size(), all_.size);
  to_.put(dq_next_, 0, out_->next);
  to_.put(dv_next_, to_.nv, out_->next);
  stretch(data, strands, resolver, step);
  grip(step.next.state);
  out_->grazing.clear();
  if (resolver) out_->grazing = resolver_.grazing();
  for (Grazing& each : out_->grazing) each.strand = strands.all()[each.strand].index;
}

void ExpoTangent::stretch(const RobotData& data, const StrandList& strands, const Resolver* resolver,
                          const Step& step) {
  update_movers(data, movers_);
  const Instant& next = step.next;
  for (std::size_t i = 0; i < world_->contacts().size(); ++i) {
    const Memory& committed = next.state.memory[i];
    if (!committed.active()) continue;
    if (may_turn(committed.surface)) {
      stretch_turning(data, strands, resolver, i, next);
      continue;
    }
    const std::size_t point = world_->point_of(i, committed);
    const ContactPoint shape = world_->shape(point);
    const Motion& to = next.motions[i];
    const bool slips = committed.mode == Mode::kSlipping;
    update_point(data, shape.joint, shape.position, to.arm, dq_next_, slips ? &dv_next_ : nullptr, at_end_);
    Tangent ds;
    clear(ds, 3, to_.size);
    Memory before;
    const Tangent* material = nullptr;
    for (std::size_t k = 0; k < strands.all().size(); ++k) {
      const Strand& strand = strands.all()[k];
      const bool same = strand.index == i || strand.index == Strand::kNone;
      if (!same || strand.point != point || strand.memory.surface != committed.surface) continue;
      before = carried(strands, k, resolver, to, ds);
      if (!system_.materials.empty()) material = &system_.materials[k];
    }
    commit(to, before, committed, world_->law(i, committed), at_end_, material, ds);
    to_.put(ds, all_.stretch(i), out_->next);
  }
}

Memory ExpoTangent::carried(const StrandList& strands, std::size_t k, const Resolver* resolver, const Motion& to,
                            Tangent& ds) const {
  const Strand& strand = strands.all()[k];
  const Motion& from = strand.motion;
  Memory memory = resolver ? resolver->end(k) : strand.memory;
  if (!memory.active()) return memory;
  const Matrix3d plane = memory.mode == Mode::kBound ? Matrix3d(Matrix3d::Identity())
                                                     : Matrix3d(Matrix3d::Identity() - to.n * to.n.transpose());
  Rows3Sum sum(to_.size);
  if (!resolver) {
    carry(travel(from, to), from, to, memory);
    add_travelled(plane, from, to, to.arm, starts_[k], at_end_, sum);
    sum.into(rows3(ds, 0));
    to_.add_stretch(strand.index, plane, ds);
    return memory;
  }
  ds = resolver_.stretch(k);
  if (memory.slipping()) return memory;
  carry(travel(from, to, from.arm) - resolver->moved(k), from, to, memory);
  const Tangent moved = resolver_.moved(k);
  sum.add(1.0, rows3(ds, 0)).add(-plane, rows3(moved, 0));
  add_travelled(plane, from, to, from.arm, starts_[k], at_end_, sum);
  sum.into(rows3(ds, 0));
  return memory;
}

void ExpoTangent::commit(const Motion& motion, const Memory& carried, const Memory& committed, const Law& law,
                         const PointAt& at, const Tangent* material, Tangent& ds) const {
  if (committed.mode == Mode::kIdle) ds.setZero();
  if (committed.mode != Mode::kSlipping) return;
  const Material* const made_of = law.made_of();
  if (!made_of) return;
  // s = −μ λ_n t̂ / K_t, with t̂ the direction of the force that would have held it.
  const Vector3d& n = motion.n;
  const double lam_n = -made_of->K_n * (motion.phi - committed.phi0) - made_of->B_n * n.dot(motion.dp);
  const Vector3d held = -made_of->K_t * carried.s - made_of->B_t * tangent(motion.dp, n);
  const double norm = held.norm();
  const Vector3d direction = held / norm;
  const Matrix3d across = Matrix3d::Identity() - n * n.transpose();
  const Matrix3d turn = lam_n / norm * (across - direction * direction.transpose());
  const double by = made_of->mu / made_of->K_t;
  const Matrix3d along = direction * n.transpose();
  Rows3Sum sum(to_.size);
  sum.add(by * made_of->K_n * along, rows3(at.c, 0));
  sum.add(by * (made_of->B_n * along + made_of->B_t * turn * across), rows3(at.dp, 0));
  sum.add(made_of->mu * turn, rows3(ds, 0));
  if (material) {
    const auto add = [&](const Vector3d& factors, Index which) { sum.add(factors, material->row(which).data()); };
    add(by * (motion.phi - committed.phi0) * direction, 0);
    add(by * (turn * carried.s + lam_n / made_of->K_t * direction), 1);
    add(by * n.dot(motion.dp) * direction, 2);
    add(by * turn * tangent(motion.dp, n), 3);
    add(-lam_n / made_of->K_t * direction, 4);
  }
  Tangent slipping(3, to_.size);
  sum.into(rows3(slipping, 0));
  ds.swap(slipping);
}

}  // namespace exposim
