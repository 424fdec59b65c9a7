#include "exposim/integrators/scheme_tangent.hpp"

#include <cmath>
#include <typeinfo>

#include "exposim/expo/law_tangent.hpp"
#include "exposim/robot/kinematics.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

// Contacts that are so near another mode are about to be in it: of a gap [m], and of forces relative to their parts.
constexpr double kNoGap = 1e-12;
constexpr double kHardly = 1e-10;

/// In which its stretch lies.
Matrix3d plane_of(const Memory& memory, const Vector3d& n) {
  if (memory.mode == Mode::kBound) return Matrix3d::Identity();
  return Matrix3d::Identity() - n * n.transpose();
}

}  // namespace

bool SchemeTangent::supports(const World& world) { return DynamicsTangent::supports(world); }

bool SchemeTangent::supports(const Law& law, const Motion& motion) const {
  if (motion.curved || motion.carried || motion.slides) return false;
  return LawTangent(law).known() || (paper_ && typeid(law) == typeid(PaperContact));
}

void SchemeTangent::note(std::size_t contact, const ContactAt& at, const Memory& before, const Memory& committed) {
  const Material* const made_of = at.law.made_of();
  if (committed.mode == Mode::kBound || !made_of) return;
  const Motion& motion = at.motion;
  const Vector3d delta = before.s + (motion.phi - committed.phi0) * motion.n;
  const Vector3d spring = -made_of->stiffness(motion.n) * delta, damper = -made_of->damping(motion.n) * motion.dp;
  const double scale = kHardly * (spring.norm() + damper.norm()), lam_n = motion.n.dot(spring + damper);
  const double outside = tangent(spring + damper, motion.n).norm() - made_of->mu * lam_n;
  const bool leaves_cone = lam_n > 0.0 && made_of->mu > 0.0 && std::abs(outside) <= scale;
  if (std::abs(lam_n) <= scale || leaves_cone) {
    out_.grazing.push_back({0.0, contact, Grazing::Kind::kTangential});
  }
}

void SchemeTangent::note_touches(const Instant& at) {
  for (std::size_t i = 0; i < world_.contacts().size(); ++i) {
    const bool may_touch = at.state.memory[i].surface >= 0 && at.state.memory[i].mode != Mode::kBound;
    if (may_touch && std::abs(at.motions[i].phi) <= kNoGap) {
      out_.grazing.push_back({0.0, i, Grazing::Kind::kTouch});
    }
  }
}

Tangent SchemeTangent::start_stretch(std::size_t contact) const {
  Tangent ds = Tangent::Zero(3, to_.size);
  ds.middleCols<3>(to_.stretch(contact)) = plane_of(now_.state.memory[contact], now_.motions[contact].n);
  return ds;
}

Tangent SchemeTangent::accelerate(RobotData& data, const VectorXd& a) {
  return accelerate(data, now_, dynamics_.start(), a, true);
}

Tangent SchemeTangent::accelerate(RobotData& data, const Instant& at, const PlaceTangent& place, const VectorXd& a) {
  return accelerate(data, at, place, a, false);
}

void SchemeTangent::begin(RobotData& data) {
  starts_.resize(world_.contacts().size());
  out_.grazing.clear();
  note_touches(now_);
  update_kinematics(data, now_.state.q, now_.state.v);
  update_movers(data, movers_);
  const PlaceTangent start = dynamics_.start();
  for (std::size_t i = 0; i < starts_.size(); ++i) {
    const Memory& memory = now_.state.memory[i];
    if (!memory.active()) continue;
    update_point(data, world_.shape(world_.point_of(i, memory)), now_.motions[i], start, starts_[i]);
  }
}

void SchemeTangent::update_point(const RobotData& data, const ContactPoint& shape, const Motion& motion,
                                 const PlaceTangent& at, ContactPointTangent& out) {
  update_point_tangent(data, movers_, shape.joint, shape.position, motion.arm, of_point_);
  out.take(of_point_, at.dq, at.dv);
}

Memory SchemeTangent::carry_along(std::size_t contact, const Motion& to, const ContactPointTangent& point,
                                  Tangent& ds) const {
  Memory memory = now_.state.memory[contact];
  if (!memory.active()) {
    ds.setZero(3, to_.size);
    return memory;
  }
  const Motion& from = now_.motions[contact];
  carry(travel(from, to), from, to, memory);
  ds = start_stretch(contact);
  ds.noalias() += plane_of(memory, to.n) * travel_tangent(from, to, starts_[contact], point);
  return memory;
}

Tangent SchemeTangent::accelerate(RobotData& data, const Instant& at, const PlaceTangent& place, const VectorXd& a,
                                  bool at_start) {
  dynamics_.take_terms(data, at.state, place);
  pushes_.clear();
  for (const std::size_t i : at.active) {
    if (i >= world_.contacts().size()) continue;
    const Motion& motion = at.motions[i];
    const Memory& memory = at.state.memory[i];
    if (!supports(world_.law(i, memory), motion)) supported_ = false;
    const ContactPoint shape = world_.shape(world_.point_of(i, memory));
    pushes_.push_back({shape.joint, shape.position, motion.arm, at.force(i)});
  }
  if (!supported_) return Tangent::Zero(to_.nv, to_.size);
  Tangent residual = dynamics_.hold(data, a, pushes_);
  for (const std::size_t i : at.active) {
    const Memory& memory = at.state.memory[i];
    const Law& law = world_.law(i, memory);
    const Motion& motion = at.motions[i];
    if (at.force(i).isZero(0.0)) continue;
    if (i >= world_.contacts().size()) {
      const Index dof = world_.limit(i).in_v;
      residual.row(dof) += law.stiffness(motion.n)(0, 0) * place.dq.row(dof);
      residual.row(dof) += law.damping(motion.n)(0, 0) * place.dv.row(dof);
      const Tangent material = limit_tangent(out_, to_, i);
      if (material.rows() > 0) {
        residual.row(dof) += motion.phi * motion.n.x() * material.row(0) + motion.dp.x() * material.row(2);
      }
      continue;
    }
    const ContactPoint shape = world_.shape(world_.point_of(i, memory));
    dynamics_.update_point(data, shape.joint, shape.position, motion.arm, point_);
    const Tangent material = material_tangent(out_, to_, world_.point_of(i, memory), memory.surface);
    const ContactAt contact = this->contact(law, motion, point_, material);
    Tangent ds;
    if (at_start) {
      ds = start_stretch(i);
    } else {
      const Memory before = carry_along(i, motion, point_, ds);
      note(i, contact, before, memory);
      commit_tangent(contact, before, memory, ds);
    }
    dynamics_.subtract_force(force_tangent(contact, memory, ds), residual);
  }
  return -dynamics_.solve(residual);
}

void SchemeTangent::end(RobotData& data, const Step& step, const PlaceTangent& next) {
  const Instant& at = step.next;
  out_.next.setZero(world_.tangent_size(), to_.size);
  out_.next.topRows(to_.nv) = next.dq;
  out_.next.middleRows(to_.nv, to_.nv) = next.dv;
  note_touches(at);
  update_kinematics(data, at.state.q, at.state.v);
  update_movers(data, movers_);
  for (std::size_t i = 0; i < world_.contacts().size(); ++i) {
    const Memory& memory = at.state.memory[i];
    if (!memory.active()) continue;
    const Motion& motion = at.motions[i];
    const Law& law = world_.law(i, memory);
    if (!supports(law, motion)) supported_ = false;
    update_point(data, world_.shape(world_.point_of(i, memory)), motion, next, point_);
    Tangent ds;
    const Memory before = carry_along(i, motion, point_, ds);
    const Tangent material = material_tangent(out_, to_, world_.point_of(i, memory), memory.surface);
    const ContactAt contact = this->contact(law, motion, point_, material);
    note(i, contact, before, memory);
    commit_tangent(contact, before, memory, ds);
    out_.next.middleRows<3>(to_.stretch(i)) = ds;
  }
}

}  // namespace exposim
