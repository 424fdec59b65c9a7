#include "exposim/integrators/contact_tangent.hpp"

#include <Eigen/Geometry>

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

Matrix3d across(const Vector3d& n) { return Matrix3d::Identity() - n * n.transpose(); }

using Constants = Eigen::Matrix<double, 5, 1>;  // K_n, K_t, B_n, B_t, μ

template <typename ConstantsIn>
Tangent constants_tangent(const StepTangent& asked, const Directions& to, const ConstantsIn& constants_in) {
  Tangent result;
  for (std::size_t p = 0; p < asked.parameters.size(); ++p) {
    const auto& [more, less, between] = asked.parameters[p];
    const Constants by = constants_in(*more) - constants_in(*less);
    if (by.isZero(0.0)) continue;
    if (result.rows() == 0) result.setZero(by.size(), to.size);
    result.col(to.parameters + static_cast<Index>(p)) = by / between;
  }
  return result;
}

/// Of −K Δp − B Δṗ. @param rate Δṗ. @param new_anchor the gap at which the spring is at rest goes along.
Tangent holding_tangent(const ContactAt& at, const Memory& memory, const Vector3d& rate, const Tangent& ds,
                        const Tangent& drate, bool new_anchor) {
  const Vector3d& n = at.motion.n;
  const Matrix3d K = at.law.stiffness(n), B = at.law.damping(n);
  Tangent dlam = -K * ds - B * drate;
  if (memory.mode != Mode::kBound && !new_anchor) dlam -= K * n * (n.transpose() * at.point.c);
  if (at.material.rows() == 0) return dlam;
  const Vector3d delta = displacement(at.motion, memory);
  const Vector3d delta_n = n.dot(delta) * n, rate_n = n.dot(rate) * n;
  dlam -= delta_n * at.material.row(0) + (delta - delta_n) * at.material.row(1);
  dlam -= rate_n * at.material.row(2) + (rate - rate_n) * at.material.row(3);
  return dlam;
}

}  // namespace

void ContactPointTangent::take(const PointTangent& point, const Tangent& dq, const Tangent& dv) {
  for (Tangent* each : {&c, &turn, &dp}) each->setZero(3, dv.cols());
  for (std::size_t i = 0; i < point.dofs->size(); ++i) {
    const auto column = static_cast<Index>(i);
    const auto by_q = dq.row((*point.dofs)[i]), by_v = dv.row((*point.dofs)[i]);
    c.noalias() += point.position_by_q.col(column) * by_q;
    turn.noalias() += point.J_omega.col(column) * by_q;
    dp.noalias() += point.velocity_by_q.col(column) * by_q;
    dp.noalias() += point.J.col(column) * by_v;
  }
}

Tangent travel_tangent(const Motion& from, const Motion& to, const ContactPointTangent& start,
                       const ContactPointTangent& end) {
  Tangent U = end.c - start.c;
  if (to.arm.isZero()) return U;
  // θ × arm, R⁺ = exp(θ) R: dθ = J⁻¹(θ) dR⁺ − J⁻¹(−θ) dR.
  U.noalias() += travel_by_rotation(from, to) * end.turn;
  U.noalias() -= travel_by_rotation(to, from) * start.turn;
  return U;
}

Tangent material_tangent(const StepTangent& asked, const Directions& to, std::size_t point, int surface) {
  return constants_tangent(asked, to, [&](const World& world) {
    const Material* const of = world.contact_law(point, surface).made_of();
    return of ? Constants(of->K_n, of->K_t, of->B_n, of->B_t, of->mu) : Constants(Constants::Zero());
  });
}

Tangent limit_tangent(const StepTangent& asked, const Directions& to, std::size_t strand) {
  return constants_tangent(asked, to, [&](const World& world) {
    if (strand < world.first_limit() || strand >= world.strands()) return Constants(Constants::Zero());  // a bond
    const Law& law = *world.limit(strand).law;
    return Constants(law.most_stiffness(), 0.0, law.most_damping(), 0.0, 0.0);
  });
}

Tangent projection_tangent(const ContactAt& at, const Vector3d& lam, const Tangent& dlam) {
  const Vector3d& n = at.motion.n;
  const Vector3d projected = at.law.project(lam, n);
  if (projected == lam) return dlam;
  if (projected.isZero(0.0) || !at.law.made_of()) return Tangent::Zero(3, dlam.cols());
  const double mu = at.law.made_of()->mu, lam_n = n.dot(lam);
  const Vector3d lam_t = tangent(lam, n);
  const double norm = lam_t.norm();
  const Vector3d direction = norm > 0.0 ? Vector3d(lam_t / norm) : Vector3d::Zero();
  // Onto x (n + μ t̂), x being the normal force or that of the nearest point.
  double x = lam_n, by_mu = 0.0;
  Vector3d by_lam = n;
  if (at.projection == Projection::kOrthogonal) {
    const double square = 1.0 + mu * mu;
    x = (lam_n + mu * norm) / square;
    by_lam = (n + mu * direction) / square;
    by_mu = (norm - 2.0 * mu * x) / square;
  }
  const Matrix3d turning = across(n) - direction * direction.transpose();
  const Matrix3d by = (n + mu * direction) * by_lam.transpose() + mu * x / norm * turning;
  Tangent result = by * dlam;
  if (at.material.rows() > 0) result += (x * direction + by_mu * (n + mu * direction)) * at.material.row(4);
  return result;
}

Tangent force_tangent(const ContactAt& at, const Memory& memory, const Tangent& ds) {
  const Vector3d& n = at.motion.n;
  if (at.law.force(at.motion, memory).isZero(0.0)) return Tangent::Zero(3, ds.cols());
  if (!memory.slipping()) return holding_tangent(at, memory, at.motion.dp, ds, at.point.dp, false);
  const Tangent drate = n * (n.transpose() * at.point.dp);
  return holding_tangent(at, memory, displacement_rate(at.motion, memory), ds, drate, false);
}

void commit_tangent(const ContactAt& at, const Memory& before, const Memory& committed, Tangent& ds) {
  if (committed.mode == Mode::kIdle) ds.setZero();
  if (committed.mode != Mode::kSlipping) return;
  const Vector3d& n = at.motion.n;
  const bool new_anchor = !before.active() && committed.phi0 != 0.0;
  Memory held = before;
  held.phi0 = committed.phi0;
  if (!before.active()) held.s.setZero();
  const Material& made_of = *at.law.made_of();
  const Vector3d delta = displacement(at.motion, held);
  const Vector3d lam = -at.law.stiffness(n) * delta - at.law.damping(n) * at.motion.dp;
  const Tangent dlam =
      projection_tangent(at, lam, holding_tangent(at, held, at.motion.dp, ds, at.point.dp, new_anchor));
  ds = -across(n) * dlam / made_of.K_t;
  if (at.material.rows() > 0) ds -= committed.s / made_of.K_t * at.material.row(1);
}

}  // namespace exposim
