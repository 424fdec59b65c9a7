// Derivatives of a step of Expo by averages.

#include "exposim/integrators/expo_tangent.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

void ExpoTangent::average(RobotData& data, const StrandList& strands, const Averaged& averaged) {
  if (!waits_) differentiate_averages(data, strands, averaged);
}

void ExpoTangent::aim_at_averages(RobotData& data, const StrandList& strands, const Averaged& last) {
  if (waits_) {  // a response to another p̈̄ is that of the closed form, nearly
    differentiate_averages(data, strands, {last.system, last.averages, nullptr, last.v, last.next, last.way});
  }
  modes_.clear();
  for (const Strand& strand : strands.all()) modes_.push_back(strand.memory.mode);
  aims_at_averages_ = true;
}

void ExpoTangent::restart_velocity() {
  if (!foreseen_) return;  // it is that of the start
  dv_mid_ = start_velocity();
  local_v_ = true;
  foreseen_ = false;
}

void ExpoTangent::differentiate_averages(RobotData& data, const StrandList& strands, const Averaged& averaged) {
  const auto& [system, averages, response, v, next, way] = averaged;
  const std::size_t active = system.active(), count = counted(strands, active);
  const Index m = row(active);
  know(data, strands, count);
  VectorXd lam = VectorXd::Zero(row(count)), lam2 = lam;
  for (std::size_t k = 0; k < active; ++k) {
    lam.segment<3>(row(k)) = averages.lam_bar(k);
    lam2.segment<3>(row(k)) = averages.lam_bar2(k);
  }
  VectorXd ddp_bar(m);
  for (std::size_t k = 0; k < active; ++k) ddp_bar.segment<3>(row(k)) = system.rows()[k].ddp_bar;
  const VectorXd free = free_acceleration(data, system);
  const MatrixXd& by_forces = compliance_.response();
  a_.resize(to_.nv, 2);
  a_.col(0) = free + by_forces.leftCols(lam.size()) * lam;
  a_.col(1) = free + by_forces.leftCols(lam.size()) * lam2;
  if (response) before_ = ddp_;
  if (out_->exact && !turning_.empty()) update_compliance_derivatives(data);  // open strands may be corrected
  hold_forces(data, strands, a_.col(0), lam, da_, ddp_);
  const bool ends_respond = at_mean_of_ends();
  if (!foreseen_ && !ends_respond) foresee(system, strands);
  if (response) {
    respond(system, strands, *response, ddp_bar);
  } else {
    for (Tangent* each : {&dlam_, &dlam2_}) each->resize(m, to_.size);
    if (active > 0 && !average_forces(data, system, strands, lam)) return give_up();
    spread(data, strands, lam, lam2);
  }
  if (active > 0) {
    add_product(ends_respond ? mean_of_ends_.response(m) : RowMatrixXd(by_forces.leftCols(m)), dlam_, da_);
  }
  if (ends_respond) {
    combine(1.0, dv_mid_, 0.5 * dt_, da_, dv_mid_);
    local_v_ = false;
    foreseen_ = true;
  }
  combine(1.0, da_, 1.0, da_apart_, da2_);
  ddp_bar_ = ddp_bar;
  move(data, v, next, way);
}

void ExpoTangent::foresee(const StiffSystem& system, const StrandList& strands) {
  const std::size_t active = system.active();
  const Index m = row(active);
  moved_ = da_;
  if (active > 0) {
    // λ = (I + QΥ)⁻¹(f − Q p̈)
    springs_.clear(active);
    doff_.resize(m, to_.size);
    Rows3Sum f(to_.size);
    for (std::size_t k = 0; k < active; ++k) {
      const StiffSystem::Row& each = system.rows()[k];
      const Eigen::Matrix3d B = each.B + 0.5 * dt_ * each.K, Q = 0.5 * dt_ * B;
      springs_.put(k, Q);
      f.add(-each.K, rows3(system_.delta, row(k))).add(-B, rows3(delta_dp_, row(k))).add(-Q, rows3(ddp_, row(k)));
      f.into(rows3(doff_, row(k)));
    }
    springs_.attach(compliance_.Upsilon());
    multiply(springs_.accelerations().transpose(), doff_, dw_);
    add_product(compliance_.response().leftCols(m), dw_, moved_);
  }
  scale(0.5 * dt_, moved_, moved_);
  clear(dv_, to_.nv, to_.size);
  add_sparse(by_v_, nullptr, moved_, dv_);
  factor_.solve_rows(to_.size, dv_.data(), -1.0);
  add_sparse(by_acceleration_, &strands, dv_, ddp_);
  add_sparse(by_velocity_, &strands, moved_, ddp_);
  combine(1.0, da_, 1.0, dv_, da_);
  combine(1.0, dv_mid_, 1.0, moved_, dv_mid_);
  local_v_ = false;
  foreseen_ = true;
}

bool ExpoTangent::average_forces(RobotData& data, const StiffSystem& system, const StrandList& strands,
                                 const VectorXd& lam) {
  const std::size_t active = system.active();
  const Index m = row(active);
  const MatrixXd Upsilon = compliance_.Upsilon().topLeftCorner(m, m);
  std::vector<AveragesTangent::Holding> holding;
  for (std::size_t k = 0; k < active; ++k) {
    const StiffSystem::Row& each = system.rows()[k];
    holding.push_back({each.K, each.B, each.delta_p, each.delta_dp, each.ddp_bar, strands.all()[k].motion.n});
  }
  const auto add_by_q = [&](const RowMatrixXd& A, Tangent& to) { add_by_moves(A, to); };
  if (const double c = ForceAverages::proportional_damping(system); c >= 0.0) {
    averages_.begin(Upsilon, holding, c, dt_, AveragesTangent::AtRest::kLeftOut);
    const auto products = [&](const RowMatrixXd& x, const RowMatrixXd& weights, RowMatrixXd& by_q) {
      differentiate_products(data, x, weights, by_q);
    };
    const AveragesTangent::ChangeOfUpsilon change{products, add_by_q};
    MatrixXd more;
    if (at_mean_of_ends()) more = mean_of_ends_.beside(by_acceleration_, Upsilon);
    averages_.differentiate(ddp_, lam.head(m), system_.delta, delta_dp_, out_->exact ? &change : nullptr,
                            system_.materials, at_mean_of_ends() ? &more : nullptr, dlam_, dlam2_);
    return true;
  }
  if (!uneven_averages_.begin(Upsilon, holding, dt_)) return false;
  Tangent ddp_bar = ddp_.topRows(m);
  if (out_->exact) {
    update_compliance_derivatives(data);
    subtract_change_of_Upsilon(lam, ddp_bar);
  }
  uneven_averages_.differentiate(ddp_bar, system_.delta.topRows(m), delta_dp_.topRows(m),
                                 out_->exact ? &system_.Upsilon_by_q : nullptr, add_by_q, system_.materials, dlam_,
                                 dlam2_);
  return true;
}

void ExpoTangent::differentiate_products(const RobotData& data, const RowMatrixXd& x, const RowMatrixXd& weights,
                                         RowMatrixXd& by_q) {
  if (!turning_.empty()) {
    update_compliance_derivatives(data);
    return AveragesTangent::products_by(system_.Upsilon_by_q, x, weights, by_q);
  }
  compliance_.differentiate_products(data, movers_mid_, x, weights, by_q);
  if (masses_.empty() && fits_.all.empty()) return;
  const auto response = compliance_.response().leftCols(x.rows());
  std::vector<MatrixXd> by_masses;
  for (const Mass& mass : masses_) {
    by_masses.push_back(-products_by_inertia(world_->robot(), movers_mid_, response, mass.changes));
  }
  RowMatrixXd more;
  AveragesTangent::products_by(by_masses, x, weights, more);
  by_q.conservativeResize(coordinates(), Eigen::NoChange);
  by_q.bottomRows(more.rows()) = more;
  if (fits_.all.empty()) return;
  const RowMatrixXd of_x = response * x, of_y = of_x.leftCols(weights.rows()) * weights;
  for (Index first = 0; first < weights.cols(); first += x.cols()) {
    by_q.middleCols(first, x.cols()).noalias() -=
        X_by_q_.transpose() * of_x.cwiseProduct(of_y.middleCols(first, x.cols()));
  }
}

void ExpoTangent::respond(const StiffSystem& system, const StrandList& strands, const LookAhead& response,
                          const VectorXd& ddp_bar) {
  // λ changes by −Q(I + ΥQ)⁻¹ Δp̈̄ from what it was: held as it was and as it is, dΥ takes no part.
  const Index m = row(system.active());
  const MatrixXd Upsilon = compliance_.Upsilon().topLeftCorner(m, m);
  springs_.clear(system.active());
  for (std::size_t k = 0; k < system.active(); ++k) springs_.put(k, response.last()[k].Q);
  springs_.attach(compliance_.Upsilon());
  Tangent change = ddp_.topRows(m) - before_.topRows(m);
  const bool has_materials = !system_.materials.empty();
  const Index parameters = to_.size - to_.parameters;
  if (has_materials) {
    clear(dQ_, m, to_.size);
    VectorXd by(m);
    for (std::size_t k = 0; k < system.active(); ++k) by.segment<3>(row(k)) = response.response(k);
    const VectorXd whole = ddp_bar - ddp_bar_ + Upsilon * by;
    for (std::size_t k = 0; k < system.active(); ++k) {
      add_change_of_Q(strands, k, 0.5 * dt_, whole.segment<3>(row(k)), dQ_);
    }
    change.rightCols(parameters) -= Upsilon * dQ_.rightCols(parameters);
  }
  Tangent dby = product(-springs_.forces(), change);
  if (has_materials) dby.rightCols(parameters) -= dQ_.rightCols(parameters);
  combine(1.0, dlam_, 1.0, dby, dlam_);
  combine(1.0, dlam2_, 1.0, dby, dlam2_);
}

void ExpoTangent::spread(RobotData& data, const StrandList& strands, const VectorXd& lam, const VectorXd& lam2) {
  const Index m = dlam_.rows();
  Tangent apart;
  combine(1.0, dlam2_, -1.0, dlam_, apart);
  const auto by_forces = compliance_.response().leftCols(m);
  if (!turning_.empty()) {
    hold_forces(data, strands, a_.col(1), lam2, da_apart_, ddp_apart_);
    da_apart_ -= da_;
    ddp_apart_ -= ddp_;
    return add_product(by_forces, apart, da_apart_);
  }
  multiply(by_forces, apart, da_apart_);
  clear(ddp_apart_, ddp_.rows(), to_.size);
  const VectorXd a = a_.col(1) - a_.col(0), f = lam2 - lam;
  if (!out_->exact || f.isZero(0.0)) return;  // the mean force is what is held
  add_change_of_response(strands, a, f, da_apart_, 1.0, &ddp_apart_);
}

void ExpoTangent::find_targets() {
  if (!aims_at_averages_) return;
  aims_at_averages_ = false;
  const Index m = ddp_.rows(), active = dlam_.rows();
  const double half = 0.5 * dt_ * dt_;
  for (Tangent* each : {&way_target_, &dp_target_}) each->resize(m, to_.size);
  RowSum sum(m * to_.size);
  sum.add(dt_, system_.dp.data()).add(half, ddp_.data()).add(half, ddp_apart_.data()).into(way_target_.data());
  sum.add(1.0, system_.dp.data()).add(dt_, ddp_.data()).into(dp_target_.data());
  const MatrixXd Upsilon = compliance_.Upsilon().topLeftCorner(m, active);
  add_product(half * Upsilon, dlam2_, way_target_);
  add_product(dt_ * Upsilon, dlam_, dp_target_);
}

}  // namespace exposim
