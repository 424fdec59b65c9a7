// Derivatives of what drives and dampers do to a step of Expo.

#include <algorithm>

#include "exposim/integrators/expo_tangent.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void ExpoTangent::add_constant(const JointTerms::Fitted& fitted, Eigen::Ref<Eigen::RowVectorXd> force) const {
  if (fitted.grip > 0.0) {
    const std::vector<Index>& rough = world_->rough_dofs();
    const auto which = std::find(rough.begin(), rough.end(), fitted.dof) - rough.begin();
    force(to_.grips + which) -= fitted.grip;
  }
  if (!fitted.serves) return;
  if (to_.force(fitted.dof) >= 0) force(to_.force(fitted.dof)) += 1.0;
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

bool ExpoTangent::friction_follows_masses() const {
  const auto damping = [](const World& world, Index dof) {
    return world.joints().dofs[static_cast<std::size_t>(dof)].friction.damping;
  };
  return std::any_of(fits_.all.begin(), fits_.all.end(), [&](const JointTerms::Fitted& each) {
    return each.grip > 0.0 && std::any_of(out_->parameters.begin(), out_->parameters.end(), [&](const auto& asked) {
             return damping(*asked.more, each.dof) != damping(*asked.less, each.dof);
           });
  });
}

void ExpoTangent::take_fits(const RobotData& data, const JointTerms& joints) {
  clear(dforce_, to_.nv, to_.size);
  for (Index i = 0; i < to_.nv; ++i) {
    if (to_.force(i) < 0) continue;
    const DofLaw& law = world_->joints().dofs[static_cast<std::size_t>(i)];
    if (law.reacts() || std::abs(input_->tau(i)) <= law.motor.effort) dforce_(i, to_.force(i)) = 1.0;
  }
  if (!joints.fits(fits_) || friction_follows_masses()) {
    fits_.all.clear();
    return give_up();
  }
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
  I_by_q.conservativeResize(count, coordinates());
  for (std::size_t k = 0; k < masses_.size(); ++k) {
    I_by_q.col(to_.nv + static_cast<Index>(k)) =
        products_by_inertia(world_->robot(), movers_mid_, rates, masses_[k].changes).diagonal();
  }
  // 1/(M⁻¹)ᵢᵢ changes by its square times that.
  if (!fits_.own) I_by_q = fits_.I.cwiseAbs2().asDiagonal() * I_by_q;
  const auto of_dofs = [&](const MatrixXd& by_I, MatrixXd& out) {
    const MatrixXd by_q = by_I * I_by_q;
    out.setZero(to_.nv, coordinates());
    for (Index k = 0; k < count; ++k) out.row(fits_.all[static_cast<std::size_t>(k)].dof) = by_q.row(k);
  };
  MatrixXd Theta_by_q;
  of_dofs(fits_.X, X_by_q_);
  of_dofs(fits_.Theta, Theta_by_q);
  of_dofs(fits_.at_start, at_start_by_q_);
  of_dofs(fits_.at_end, at_end_by_q_);
  for (const JointTerms::Fitted& each : fits_.all) {
    auto force = dforce_.row(each.dof);
    if (to_.force(each.dof) >= 0) force(to_.force(each.dof)) = 0.0;
    if (each.as_strand) continue;
    add_constant(each, force);
    force(to_.v(each.dof)) -= each.K * each.Theta + each.D;
    force.noalias() -= each.K * each.v * (Theta_by_q.row(each.dof) * system_.dq);
  }
}

void ExpoTangent::grip(const State& next) {
  for (std::size_t k = 0; k < next.grips.size(); ++k) {
    if (next.grips[k].slipping) continue;  // its spring holds the sliding friction
    const Index dof = world_->rough_dofs()[k], which = static_cast<Index>(k);
    Tangent s = dq_next_.row(dof);
    s(to_.q(dof)) -= 1.0;
    s(to_.grips + which) += 1.0;
    to_.put(s, all_.grips + which, out_->next);
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

}  // namespace exposim
