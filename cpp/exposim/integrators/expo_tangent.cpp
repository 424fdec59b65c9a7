#include "exposim/integrators/expo_tangent.hpp"

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>

#include "exposim/robot/kinematics.hpp"
#include "exposim/robot/mass_matrix.hpp"
#include "exposim/robot/tree.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

void ExpoTangent::add_products(const Eigen::Matrix3Xd& by, const std::vector<Index>& dofs, const Tangent& of,
                               Tangent& to, Index first) {
  const Index size = of.cols();
  double *const x = to.data() + first * size, *const y = x + size, *const z = y + size;
  for (std::size_t i = 0; i < dofs.size(); ++i) {
    const double* const row = of.data() + dofs[i] * size;
    const double a = by(0, static_cast<Index>(i)), b = by(1, static_cast<Index>(i)), c = by(2, static_cast<Index>(i));
    for (Index k = 0; k < size; ++k) {
      x[k] += a * row[k];
      y[k] += b * row[k];
      z[k] += c * row[k];
    }
  }
}

bool ExpoTangent::supports(const World& world) {
  if (!has_motion_derivatives(world.robot()) || !world.bonds().empty() || world.has_curved_servos() || !world.rough_dofs().empty() ||
      !world.edges().empty() || !world.carried().empty() || world.has_free_slots()) {
    return false;
  }
  const Tree& tree = world.robot().tree();
  return std::all_of(tree.free_bodies.begin(), tree.free_bodies.end(),
                     [&](std::size_t i) { return Vector3d(tree.joints[i].lever).isZero(0.0); });
}

Tangent ExpoTangent::start_velocity() const {
  Tangent dv = Tangent::Zero(to_.nv, to_.size);
  for (Index i = 0; i < to_.nv; ++i) dv(i, to_.v(i)) = 1.0;
  return dv;
}

void ExpoTangent::begin(RobotData& data, const Instant& now, const Input& input, const StrandList& strands, double dt) {
  now_ = &now;
  input_ = &input;
  dt_ = dt;
  const State& state = now.state;
  update_kinematics(data, state.q, state.v);
  update_movers(data, movers_);
  const std::size_t count = strands.all().size();
  starts_.resize(count);
  dphi_.setZero(static_cast<Index>(count), to_.size);
  system_.delta.setZero(row(count), to_.size);
  system_.dp.setZero(row(count), to_.size);
  delta_dp_.setZero(row(count), to_.size);
  for (std::size_t k = 0; k < count; ++k) {
    const Strand& strand = strands.all()[k];
    const Motion& motion = strand.motion;
    PointAt& at = starts_[k];
    for (Tangent* each : {&at.c, &at.turn, &at.dp}) each->setZero(3, to_.size);
    auto phi = dphi_.row(static_cast<Index>(k));
    if (is_limit(strand)) {
      const auto dof = static_cast<Index>(strand.b);
      phi(to_.q(dof)) = motion.n.x();
      at.dp(0, to_.v(dof)) = 1.0;
    } else {
      if (motion.curved || motion.carried || motion.slides) give_up();
      update_point_tangent(data, movers_, strand.a, strand.position, motion.arm, point_);
      for (std::size_t i = 0; i < point_.dofs->size(); ++i) {
        const Index dof = (*point_.dofs)[i], column = static_cast<Index>(i);
        at.c.col(to_.q(dof)) = point_.position_by_q.col(column);
        at.turn.col(to_.q(dof)) = point_.J_omega.col(column);
        at.dp.col(to_.q(dof)) = point_.velocity_by_q.col(column);
        at.dp.col(to_.v(dof)) = point_.J.col(column);
      }
      phi = motion.n.transpose() * at.c;
    }
    auto delta = system_.delta.middleRows<3>(row(k));
    const bool bound = strand.memory.mode == Mode::kBound;
    if (!bound) delta = motion.n * phi;
    if (!is_limit(strand) && strand.memory.active()) {
      const Matrix3d plane = Matrix3d::Identity() - motion.n * motion.n.transpose();
      delta.middleCols<3>(to_.stretch(strand.index)) += bound ? Matrix3d(Matrix3d::Identity()) : plane;
    }
    system_.dp.middleRows<3>(row(k)) = at.dp;
    if (strand.memory.slipping()) {
      delta_dp_.middleRows<3>(row(k)) = motion.n * (motion.n.transpose() * at.dp);
    } else {
      delta_dp_.middleRows<3>(row(k)) = at.dp;
    }
  }
  dv_mid_ = start_velocity();
  begin_materials(strands);
}

void ExpoTangent::begin_materials(const StrandList& strands) {
  system_.materials.clear();
  if (out_.parameters.empty()) return;
  for (const Strand& strand : strands.all()) {
    Tangent& material = system_.materials.emplace_back(Tangent::Zero(5, to_.size));
    if (strand.point == Strand::kNone) continue;
    for (std::size_t p = 0; p < out_.parameters.size(); ++p) {
      const auto& [more, less, between] = out_.parameters[p];
      const Material* const a = more->contact_law(strand.point, strand.memory.surface).made_of();
      const Material* const b = less->contact_law(strand.point, strand.memory.surface).made_of();
      if (!a || !b) continue;
      const Eigen::Matrix<double, 5, 1> by(a->K_n - b->K_n, a->K_t - b->K_t, a->B_n - b->B_n, a->B_t - b->B_t,
                                           a->mu - b->mu);
      material.col(to_.parameters + static_cast<Index>(p)) = by / between;
    }
  }
}

void ExpoTangent::take_terms(const RobotData& data, const StrandList& strands, const JointTerms& joints, At at,
                             const VectorXd& dq) {
  const Tree& tree = world_.robot().tree();
  // dq of the start, and of what it is moved by.
  if (strands.all().size() > starts_.size()) add_strands(strands);
  Tangent by = Tangent::Zero(to_.nv, to_.size);
  if (at == At::kHalfOfVelocity) by = 0.5 * dt_ * start_velocity();
  if (at == At::kHalfOfWay) by = 0.5 * dway_;
  if (at != At::kAsBefore) {
    system_.dq = by;
    for (Index i = 0; i < to_.nv; ++i) system_.dq(i, to_.q(i)) += 1.0;
  }
  if (at == At::kHalfOfVelocity || at == At::kHalfOfWay) {
    integrate_derivatives(world_.robot(), now_->state.q, dq, A0_, A1_);
    for (const std::size_t i : tree.free_bodies) {
      const Index first = tree.joints[i].in_v;
      auto moved = system_.dq.middleRows<6>(first);
      moved = A1_.block<6, 6>(first, first) * by.middleRows<6>(first);
      moved.middleCols<6>(to_.q(first)) += A0_.block<6, 6>(first, first);
    }
  }
  update_movers(data, movers_mid_);
  take_fits(data, joints);
  system_.dofs.clear();
  add_rows(data, strands);
  inverse_.setIdentity(to_.nv, to_.nv);
  for (Index i = 0; i < to_.nv; ++i) {
    data.factor().solve_L(inverse_.col(i).data());
    data.factor().solve_Lt(inverse_.col(i).data());
  }
}

void ExpoTangent::add_rows(const RobotData& data, const StrandList& strands) {
  compliance_.clear();
  c_mid_.clear();
  for (const Strand& strand : strands.all()) {
    if (is_limit(strand)) {
      compliance_.add_dof(static_cast<Index>(strand.b), 3);
      c_mid_.emplace_back(Vector3d::Zero());
    } else {
      compliance_.add_point(strand.a, strand.position, strand.motion.arm);
      c_mid_.push_back(world_position(data, strand.a, strand.position));
    }
  }
  for (const Index dof : system_.dofs) compliance_.add_dof(dof);
  compliance_.compute(data, movers_mid_, nullptr);
  has_compliance_derivatives_ = false;
}

void ExpoTangent::add_constant(const JointTerms::Fitted& fitted, Eigen::Ref<Eigen::RowVectorXd> force) const {
  if (!fitted.serves) return;
  force(to_.force(fitted.dof)) += 1.0;
  force(to_.q(fitted.dof)) -= fitted.kp;
}

void ExpoTangent::add_strands(const StrandList& strands) {
  const std::size_t before = starts_.size(), count = strands.all().size();
  for (Tangent* each : {&system_.delta, &system_.dp, &delta_dp_}) each->conservativeResize(row(count), to_.size);
  dphi_.conservativeResize(static_cast<Index>(count), to_.size);
  if (system_.materials.empty()) system_.materials.assign(before, Tangent());
  for (Tangent& each : system_.materials) {
    if (each.size() == 0) each.setZero(5, to_.size);
  }
  for (std::size_t k = before; k < count; ++k) {
    const auto dof = static_cast<Index>(strands.all()[k].b);
    PointAt& at = starts_.emplace_back();
    for (Tangent* each : {&at.c, &at.turn, &at.dp}) each->setZero(3, to_.size);
    at.dp(0, to_.v(dof)) = 1.0;
    dphi_.row(static_cast<Index>(k)).setZero();
    system_.delta.middleRows<3>(row(k)).setZero();
    system_.dp.middleRows<3>(row(k)) = delta_dp_.middleRows<3>(row(k)) = at.dp;
    Tangent& law = system_.materials.emplace_back(Tangent::Zero(5, to_.size));
    for (const JointTerms::Fitted& each : fits_.all) {
      if (each.dof == dof) add_constant(each, law.row(4));
    }
  }
}

void ExpoTangent::take_fits(const RobotData& data, const JointTerms& joints) {
  dforce_.setZero(to_.nv, to_.size);
  for (Index i = 0; i < to_.nv; ++i) {
    const DofLaw& law = world_.joints().dofs[static_cast<std::size_t>(i)];
    if (law.reacts() || std::abs(input_->tau(i)) <= law.motor.effort) dforce_(i, to_.force(i)) = 1.0;
  }
  if (!joints.fits(fits_)) return give_up();
  if (fits_.all.empty()) return;
  const auto count = static_cast<Index>(fits_.all.size());
  MatrixXd rates = MatrixXd::Zero(to_.nv, count), I_by_q;
  TreeFactor plain = data.factor();
  if (!fits_.own) plain.factor(data.tree().M);
  for (Index k = 0; k < count; ++k) {
    rates(fits_.all[static_cast<std::size_t>(k)].dof, k) = 1.0;
    if (fits_.own) continue;
    plain.solve_L(rates.col(k).data());
    plain.solve_Lt(rates.col(k).data());
  }
  inertia_derivatives(data, movers_mid_, rates, I_by_q);
  // 1/(M⁻¹)ᵢᵢ changes by its square times that.
  if (!fits_.own) I_by_q = fits_.I.cwiseAbs2().asDiagonal() * I_by_q;
  const auto of_dofs = [&](const MatrixXd& by_I, MatrixXd& out) {
    const MatrixXd by_q = by_I * I_by_q;
    out.setZero(to_.nv, to_.nv);
    for (Index k = 0; k < count; ++k) out.row(fits_.all[static_cast<std::size_t>(k)].dof) = by_q.row(k);
  };
  MatrixXd Theta_by_q;
  of_dofs(fits_.X, X_by_q_);
  of_dofs(fits_.Theta, Theta_by_q);
  of_dofs(fits_.at_start, at_start_by_q_);
  of_dofs(fits_.at_end, at_end_by_q_);
  for (const JointTerms::Fitted& each : fits_.all) {
    auto force = dforce_.row(each.dof);
    force(to_.force(each.dof)) = 0.0;
    if (each.as_strand) continue;
    add_constant(each, force);
    force(to_.v(each.dof)) -= each.K * each.Theta + each.D;
    force.noalias() -= each.K * each.v * (Theta_by_q.row(each.dof) * system_.dq);
  }
}

void ExpoTangent::displace(const VectorXd& a, const Tangent& da, Tangent& way) const {
  for (const JointTerms::Fitted& each : fits_.all) {
    if (each.loaded) continue;
    auto rows = way.row(each.dof);
    rows = dt_ * each.at_end * da.row(each.dof);
    rows(to_.v(each.dof)) += each.at_start + each.at_end;
    rows.noalias() += each.v * (at_start_by_q_.row(each.dof) * system_.dq);
    rows.noalias() += (each.v + dt_ * a(each.dof)) * (at_end_by_q_.row(each.dof) * system_.dq);
  }
}

void ExpoTangent::update_compliance_derivatives(const RobotData& data) {
  if (has_compliance_derivatives_) return;
  has_compliance_derivatives_ = true;
  compliance_.compute(data, movers_mid_, &system_.Upsilon_by_q);
  if (fits_.all.empty()) return;
  const MatrixXd& response = compliance_.response();
  for (Index k = 0; k < to_.nv; ++k) {
    system_.Upsilon_by_q[static_cast<std::size_t>(k)].noalias() -=
        response.transpose() * X_by_q_.col(k).asDiagonal() * response;
  }
}

Tangent ExpoTangent::change_of_Upsilon(const VectorXd& f) const {
  return out_.exact ? system_.change_of(f) : Tangent::Zero(f.size(), to_.size);
}

void ExpoTangent::add_change_of_Q(const StrandList& strands, std::size_t k, double h, const Vector3d& x,
                                  Tangent& to) const {
  if (system_.materials.empty() || is_limit(strands.all()[k])) return;
  const Vector3d& n = strands.all()[k].motion.n;
  const Vector3d along = n.dot(x) * n, across = x - along;
  const Tangent& material = system_.materials[k];
  to.middleRows<3>(row(k)) += h * h * (along * material.row(0) + across * material.row(1));
  to.middleRows<3>(row(k)) += h * (along * material.row(2) + across * material.row(3));
}

VectorXd ExpoTangent::free_acceleration(const RobotData& data, const StiffSystem& system) const {
  VectorXd a = system.w();
  solve_Lt_in_place(data, a);
  return a;
}

void ExpoTangent::hold_forces(RobotData& data, const StrandList& strands, const VectorXd& q, const VectorXd& v,
                              const VectorXd& a, const VectorXd& lam, Tangent& da, Tangent& ddp) {
  const Robot& robot = world_.robot();
  inverse_dynamics_derivatives(data, q, v, a, by_q_, by_v_);
  by_force_.setZero(to_.nv, to_.nv);
  for (std::size_t k = 0; k < strands.all().size(); ++k) {
    const Strand& strand = strands.all()[k];
    if (is_limit(strand)) continue;
    add_force_derivative(robot, movers_mid_, strand.a, c_mid_[k], strand.motion.arm, lam.segment<3>(row(k)),
                         Vector3d::Zero(), by_force_);
  }
  for (const ExternalWrench& wrench : input_->wrenches) {
    add_force_derivative(robot, movers_mid_, wrench.joint, world_position(data, wrench.joint, wrench.position),
                         Vector3d::Zero(), wrench.force, wrench.torque, by_force_);
  }
  if (!fits_.all.empty()) by_q_.noalias() += a.asDiagonal() * X_by_q_;
  Tangent residual = (by_q_ - by_force_) * system_.dq;
  residual.noalias() += by_v_ * dv_mid_;
  residual -= dforce_;
  da.noalias() = -inverse_ * residual;

  accelerations_.update(data, movers_mid_, a);
  ddp.setZero(row(strands.all().size()), to_.size);
  for (std::size_t k = 0; k < strands.all().size(); ++k) {
    const Strand& strand = strands.all()[k];
    if (is_limit(strand)) {
      ddp.row(row(k)) = da.row(static_cast<Index>(strand.b));
      continue;
    }
    update_acceleration_tangent(data, movers_mid_, accelerations_, strand.a, strand.position, strand.motion.arm,
                                point_);
    add_products(point_.J, *point_.dofs, da, ddp, row(k));
    add_products(point_.acceleration_by_q, *point_.dofs, system_.dq, ddp, row(k));
    add_products(point_.acceleration_by_v, *point_.dofs, dv_mid_, ddp, row(k));
  }
}

void ExpoTangent::hold_response(RobotData& data, const StrandList& strands, const VectorXd& a, const VectorXd& f,
                                Tangent& da) {
  const VectorXd still = VectorXd::Zero(to_.nv);
  inverse_dynamics_derivatives(data, q_mid_, still, a, by_q_, by_v_);
  inverse_dynamics_derivatives(data, q_mid_, still, still, by_force_, by_v_);
  by_q_ -= by_force_;  // but for gravity
  if (!fits_.all.empty()) by_q_.noalias() += a.asDiagonal() * X_by_q_;
  by_force_.setZero(to_.nv, to_.nv);
  for (std::size_t k = 0; k < strands.all().size(); ++k) {
    const Strand& strand = strands.all()[k];
    if (is_limit(strand)) continue;
    add_force_derivative(world_.robot(), movers_mid_, strand.a, c_mid_[k], strand.motion.arm, f.segment<3>(row(k)),
                         Vector3d::Zero(), by_force_);
  }
  da.noalias() = -inverse_ * ((by_q_ - by_force_) * system_.dq);
}

void ExpoTangent::average(RobotData& data, const StiffSystem& system, const StrandList& strands,
                          const ForceAverages& averages, const LookAhead* response, const VectorXd& q,
                          const VectorXd& v, const State& next, const VectorXd& way) {
  const std::size_t count = strands.all().size(), active = system.active();
  const Index m = row(active);
  VectorXd lam = VectorXd::Zero(row(count)), lam2 = lam, ddp_bar(row(count));
  for (std::size_t k = 0; k < count; ++k) ddp_bar.segment<3>(row(k)) = system.rows()[k].ddp_bar;
  for (std::size_t k = 0; k < active; ++k) {
    lam.segment<3>(row(k)) = averages.lam_bar(k);
    lam2.segment<3>(row(k)) = averages.lam_bar2(k);
  }
  const VectorXd free = free_acceleration(data, system);
  const MatrixXd &Upsilon = compliance_.Upsilon(), &by_forces = compliance_.response();
  a_.resize(to_.nv, 2);
  a_.col(0) = free + by_forces * lam;
  a_.col(1) = free + by_forces * lam2;
  q_mid_ = q;
  hold_forces(data, strands, q, v, a_.col(0), lam, da_, ddp_);
  if (out_.exact && active > 0) update_compliance_derivatives(data);
  const Tangent before = response ? system_.ddp_bar : Tangent();
  system_.ddp_bar = active > 0 ? Tangent(ddp_ - change_of_Upsilon(lam)) : ddp_;
  if (active > 0 && !response) {
    const double c = ForceAverages::proportional_damping(system);
    if (c < 0.0) return give_up();
    std::vector<AveragesTangent::Holding> holding;
    for (std::size_t k = 0; k < active; ++k) {
      const StiffSystem::Row& each = system.rows()[k];
      holding.push_back({each.K, each.B, each.delta_p, each.delta_dp, each.ddp_bar, strands.all()[k].motion.n});
    }
    averages_.begin(Upsilon.topLeftCorner(m, m), holding, c, dt_);
    averages_.differentiate(system_.ddp_bar.topRows(m), system_.delta.topRows(m), delta_dp_.topRows(m),
                            out_.exact ? &system_.Upsilon_by_q : nullptr, system_.dq, system_.materials, dlam_, dlam2_);
  } else if (active > 0) {
    // −Q(I + ΥQ)⁻¹ Δp̈̄
    MatrixXd Q = MatrixXd::Zero(m, m);
    VectorXd by(m);
    for (std::size_t k = 0; k < active; ++k) {
      Q.block<3, 3>(row(k), row(k)) = response->last()[k].Q;
      by.segment<3>(row(k)) = response->response(k);
    }
    const MatrixXd U = Upsilon.topLeftCorner(m, m);
    const VectorXd whole = ddp_bar.head(m) - ddp_bar_.head(m) + U * by;
    Tangent dQ = Tangent::Zero(m, to_.size);
    for (std::size_t k = 0; k < active; ++k) add_change_of_Q(strands, k, 0.5 * dt_, whole.segment<3>(row(k)), dQ);
    const Tangent change = (system_.ddp_bar - before).topRows(m);
    VectorXd all = VectorXd::Zero(row(count));
    all.head(m) = by;
    const Tangent alpha = (MatrixXd::Identity(m, m) + U * Q)
                              .partialPivLu()
                              .solve(MatrixXd(change_of_Upsilon(all).topRows(m) - U * (Q * change + dQ)));
    const Tangent dby = -Q * (change + alpha) - dQ;
    dlam_ += dby;
    dlam2_ += dby;
  }
  if (active > 0) {
    da_.noalias() += by_forces.leftCols(m) * dlam_;
    ddp_.noalias() += Upsilon.leftCols(m) * dlam_;
  }
  hold_forces(data, strands, q, v, a_.col(1), lam2, da2_, ddp2_);
  if (active > 0) {
    da2_.noalias() += by_forces.leftCols(m) * dlam2_;
    ddp2_.noalias() += Upsilon.leftCols(m) * dlam2_;
  }
  ddp_bar_ = ddp_bar;
  move(data, v, next, way);
}

void ExpoTangent::keep_part() {
  const Index n = to_.forces;
  for (Grazing each : out_.grazing) {
    grazing_of_parts_.push_back(each);
  }
  if (!parted_) {
    parts_ = out_.next;
  } else {
    Tangent joined = out_.next.leftCols(n) * parts_;
    joined.rightCols(to_.size - n) += out_.next.rightCols(to_.size - n);
    parts_ = joined;
  }
  parted_ = true;
}

void ExpoTangent::join_parts() {
  if (!parted_) return;
  out_.next = parts_;
  out_.grazing = grazing_of_parts_;
}

void ExpoTangent::begin_following(RobotData& data, const StiffSystem& system, const StrandList& strands,
                                  const VectorXd& q, const VectorXd& v, const FollowedDrives& drives,
                                  Resolver& resolver) {
  const VectorXd free = free_acceleration(data, system);
  const Index m = row(strands.all().size());
  system_.dofs.clear();
  system_.drives.clear();
  for (const FollowedDrives::Track& track : drives.all()) system_.dofs.push_back(track.drive.dof);
  if (!system_.dofs.empty()) add_rows(data, strands);
  hold_forces(data, strands, q, v, free, VectorXd::Zero(m), da_, system_.ddp_bar);
  system_.ddp_bar.conservativeResize(m + static_cast<Index>(system_.dofs.size()), to_.size);
  for (std::size_t k = 0; k < system_.dofs.size(); ++k) {
    const Index dof = system_.dofs[k];
    system_.ddp_bar.row(m + static_cast<Index>(k)) = da_.row(dof);
    Tangent& drive = system_.drives.emplace_back(Tangent::Zero(DriveTangent::kRows, to_.size));
    for (const JointTerms::Fitted& each : fits_.all) {
      if (each.dof == dof) add_constant(each, drive.row(DriveTangent::kForce));
    }
    drive.row(DriveTangent::kX) = X_by_q_.row(dof) * system_.dq;
    drive.row(DriveTangent::kFitted) = dforce_.row(dof);
    drive(DriveTangent::kV, to_.v(dof)) = 1.0;
  }
  update_compliance_derivatives(data);
  resolver_.take(system_);
  resolver.differentiate(&resolver_);
}

void ExpoTangent::follow(RobotData& data, const StiffSystem& system, const StrandList& strands, const Resolver& resolver,
                         const FollowedDrives& drives, const VectorXd& q, const VectorXd& v, const State& next,
                         const VectorXd& way) {
  if (!resolver_.supported()) return give_up();
  const std::size_t count = strands.all().size();
  VectorXd lam(row(count)), lam2 = lam;
  for (Tangent* each : {&dlam_, &dlam2_, &way_target_, &dp_target_}) each->resize(row(count), to_.size);
  modes_.clear();
  for (std::size_t k = 0; k < count; ++k) {
    lam.segment<3>(row(k)) = resolver.lam_bar(k);
    lam2.segment<3>(row(k)) = resolver.lam_bar2(k);
    dlam_.middleRows<3>(row(k)) = resolver_.lam_bar(k);
    dlam2_.middleRows<3>(row(k)) = resolver_.lam_bar2(k);
    way_target_.middleRows<3>(row(k)) = resolver_.moved(k);
    dp_target_.middleRows<3>(row(k)) = resolver_.velocity(k);
    modes_.push_back(resolver.end(k).mode);
  }
  // What drives that were followed push beside what they were fitted to.
  Eigen::MatrixX2d along = Eigen::MatrixX2d::Zero(to_.nv, 2);
  if (!drives.empty()) drives.add_forces(dt_, along);
  Tangent dalong = Tangent::Zero(to_.nv, to_.size), dalong2 = dalong;
  for (std::size_t k = 0; k < drives.all().size(); ++k) {
    const FollowedDrives::Track& track = drives.all()[k];
    const Index dof = track.drive.dof;
    const double X = track.drive.X, a = (track.v - track.drive.v) / dt_;
    const double a2 = 2.0 * (track.x - dt_ * track.drive.v) / (dt_ * dt_);
    const Tangent& given = system_.drives[k];
    const auto v0 = given.row(DriveTangent::kV);
    dalong.row(dof) = resolver_.drive_lam_bar(k) + a * given.row(DriveTangent::kX) +
                      X / dt_ * (resolver_.drive_velocity(k) - v0) - given.row(DriveTangent::kFitted);
    dalong2.row(dof) = resolver_.drive_lam_bar2(k) + a2 * given.row(DriveTangent::kX) +
                       2.0 * X / (dt_ * dt_) * (resolver_.drive_moved(k) - dt_ * v0) -
                       given.row(DriveTangent::kFitted);
  }
  const VectorXd free = free_acceleration(data, system);
  const auto by_forces = compliance_.response().leftCols(row(count));
  a_.resize(to_.nv, 2);
  a_.col(0) = free + by_forces * lam + inverse_ * along.col(0);
  a_.col(1) = free + by_forces * lam2 + inverse_ * along.col(1);
  q_mid_ = q;
  hold_forces(data, strands, q, v, a_.col(0), lam, da_, ddp_);
  da_.noalias() += by_forces * dlam_ + inverse_ * dalong;
  hold_forces(data, strands, q, v, a_.col(1), lam2, da2_, ddp2_);
  da2_.noalias() += by_forces * dlam2_ + inverse_ * dalong2;
  dway_ = dt_ * (start_velocity() + 0.5 * dt_ * da2_);
  displace(a_.col(1), da2_, dway_);
  move(data, v, next, way);
}

}  // namespace exposim
