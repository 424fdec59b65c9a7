// Derivatives of the look ahead.

#include <algorithm>
#include <cmath>

#include "exposim/integrators/expo_tangent.hpp"
#include "exposim/thresholds.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using Does = LookAhead::Does;
using Glance = LookAhead::Glance;

namespace {

bool closes(const std::vector<Glance>& glances) {
  return std::any_of(glances.begin(), glances.end(), [](const Glance& each) { return each.does == Does::kClose; });
}

VectorXd forces_of(const std::vector<Glance>& glances, std::size_t count) {
  VectorXd lam(3 * static_cast<Index>(count));
  for (std::size_t k = 0; k < count; ++k) lam.segment<3>(3 * static_cast<Index>(k)) = glances[k].lam;
  return lam;
}

/// Columns of a matrix, row by row.
RowMatrixXd columns_of(const Eigen::Ref<const MatrixXd>& A, const std::vector<Index>& columns) {
  RowMatrixXd found(A.rows(), static_cast<Index>(columns.size()));
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const double* const from = A.col(columns[j]).data();
    double* const to = found.data() + j;
    for (Index i = 0; i < A.rows(); ++i) to[i * found.cols()] = from[i];
  }
  return found;
}

/// What some of its numbers have with each other in a symmetric matrix.
RowMatrixXd among(const MatrixXd& A, const std::vector<Index>& which) {
  const auto size = static_cast<Index>(which.size());
  RowMatrixXd found(size, size);
  double* to = found.data();
  for (const Index i : which) {
    const double* const from = A.data() + i * A.rows();
    for (const Index j : which) *to++ = from[j];
  }
  return found;
}

/// Whether the second of two stages does anything that depends on what the first led to.
bool depends_on_first(const LookAhead& ahead) {
  const auto depends = [](const Glance& each) { return each.does != Does::kNothing && each.does != Does::kHold; };
  return ahead.took_two() && std::any_of(ahead.last().begin(), ahead.last().end(), depends);
}

}  // namespace

void ExpoTangent::look_ahead(RobotData& data, const StiffSystem& system, const StrandList& strands,
                             const LookAhead& ahead, bool changing) {
  const bool simple = turning_.empty() && fits_.all.empty() && system_.materials.empty() &&
                      (system.active() == 0 || ForceAverages::proportional_damping(system) >= 0.0);
  waits_ = !out_->exact && simple;
  foreseen_ = changing || !waits_;
  if (!foreseen_) return;
  VectorXd a = free_acceleration(data, system);
  const std::size_t count = acting(strands, ahead);
  if (count == 0) {
    hold_forces(data, strands, a, VectorXd(), da_, ddp_);
  } else {
    watch_unknown(ahead.first());
    watch_unknown(ahead.last());
    know(data, strands, changing ? strands.all().size() : std::max(count, system.active()));
    look_at_strands(data, system, strands, count, ahead);
    a += compliance_.response().leftCols(row(count)) * forces_of(ahead.last(), count);
  }
  scale(0.5 * dt_ * dt_, da_, dway_);
  add_start_velocity(dt_, dway_);
  displace(a, da_, dway_);
}

void ExpoTangent::look_at_strands(RobotData& data, const StiffSystem& system, const StrandList& strands,
                                  std::size_t count, const LookAhead& ahead) {
  const auto response = compliance_.response().leftCols(row(count));
  const VectorXd free = free_acceleration(data, system);
  const bool first_counts = depends_on_first(ahead), exact = out_->exact;
  const bool any_closes = closes(ahead.first()) || closes(ahead.last());
  // Without `exact`, what comes at last is held throughout.
  VectorXd held = forces_of(exact && first_counts ? ahead.first() : ahead.last(), count);
  if (exact && any_closes && turning_.empty()) held.setZero();
  if (!all_strands_ && turning_.empty()) {
    for (std::size_t k = 0; k < strands.all().size(); ++k) {
      asked_.add(k < count && (ahead.first()[k].does != Does::kNothing || ahead.last()[k].does != Does::kNothing));
    }
  }
  begin_looking(strands, ahead.first());
  hold_forces(data, strands, free + response * held, held, da_, ddp_held_);
  if (any_closes) ddp_free_ = ddp_held_;
  const auto take = [&](const std::vector<Glance>& glances) {
    const VectorXd lam = forces_of(glances, count), more = lam - held;
    if (!turning_.empty()) {
      if (!more.isZero(0.0)) hold_forces(data, strands, free + response * lam, lam, da_, ddp_held_);
      if (any_closes) ddp_free_ = ddp_held_;
      if (any_closes && exact) subtract_response(data, strands, lam, ddp_free_);
    } else if (exact && !more.isZero(0.0)) {
      add_change_of_response(strands, response * more, more, da_, 1.0, &ddp_held_);
    }
    held = lam;
    look_stage(system, strands, count, glances);
  };
  if (first_counts) {
    take(ahead.first());
    reconsider(strands, ahead.first(), ahead.last());
  }
  take(ahead.last());
  const std::vector<Index> rows = asked_.rows(row(count));
  const RowsAt da(da_);
  multiply(columns_of(response, rows), RowsAt(dlam_, rows), &da, to_.size, da);
  asked_.all();
}

std::size_t ExpoTangent::acting(const StrandList& strands, const LookAhead& ahead) const {
  std::size_t count = std::min(strands.all().size(), ahead.last().size());
  if (all_strands_ || !turning_.empty()) return count;
  while (count > 0 && ahead.first()[count - 1].does == Does::kNothing &&
         ahead.last()[count - 1].does == Does::kNothing) {
    --count;
  }
  return count;
}

void ExpoTangent::begin_looking(const StrandList& strands, const std::vector<Glance>& glances) {
  const std::size_t count = glances.size();
  clear(deta_, static_cast<Index>(count), to_.size);
  clear(dleft_, static_cast<Index>(count), to_.size);
  clear(ddrag_, row(count), to_.size);
  for (std::size_t k = 0; k < count; ++k) {
    const Strand& strand = strands.all()[k];
    const Motion& motion = strand.motion;
    if (glances[k].does == Does::kSlide) {
      const Vector3d lam = strand.law->force(motion, strand.memory);
      const Material* const material = strand.law->made_of();
      if (!material) return give_up();
      Tangent dlam_n = -material->K_n * dphi_.row(static_cast<Index>(k));
      dlam_n -= material->B_n * (motion.n.transpose() * starts_[k].dp);
      if (!system_.materials.empty()) {
        dlam_n -= (motion.phi - strand.memory.phi0) * system_.materials[k].row(0);
        dlam_n -= motion.n.dot(motion.dp) * system_.materials[k].row(2);
      }
      slide(strand, k, glances[k].eta, motion.n.dot(lam), dlam_n);
    } else if (glances[k].does == Does::kClose) {
      close(strand, k, glances[k].left, Tangent::Zero(1, to_.size));
    }
  }
}

void ExpoTangent::slide(const Strand& strand, std::size_t k, double eta, double lam_n, const Tangent& dlam_n) {
  auto deta = deta_.row(static_cast<Index>(k));
  deta.setZero();
  const Vector3d velocity = tangent(strand.motion.dp, strand.motion.n);
  const double speed = velocity.norm();
  const Material* const material = strand.law->made_of();
  if (eta == 0.0 || lam_n <= 0.0 || speed <= thresholds::kSlowest || !material) return;
  deta = material->mu / speed * dlam_n;
  deta -= eta / (speed * speed) * (velocity.transpose() * starts_[k].dp);
  if (!system_.materials.empty()) deta += lam_n / speed * system_.materials[k].row(4);
}

void ExpoTangent::close(const Strand& strand, std::size_t k, double left, const Tangent& da) {
  auto dleft = dleft_.row(static_cast<Index>(k));
  dleft.setZero();
  if (strand.motion.phi <= 0.0) return;
  // φ + φ̇ t + a t²/2 = 0 when it closes.
  const Vector3d& n = strand.motion.n;
  const double t = dt_ - left, phi = strand.motion.phi, dphi = n.dot(strand.motion.dp);
  const double rate = -dphi - 2.0 * phi / t;  // φ̇ + a t
  dleft = (dphi_.row(static_cast<Index>(k)) + t * (n.transpose() * starts_[k].dp) + 0.5 * t * t * da) / rate;
}

void ExpoTangent::look_stage(const StiffSystem& system, const StrandList& strands, std::size_t count,
                             const std::vector<Glance>& glances) {
  const Index m = row(count);
  const double h = 0.5 * dt_;
  VectorXd ddp = compliance_.Upsilon().topLeftCorner(m, m) * forces_of(glances, count);
  for (std::size_t k = 0; k < count; ++k) ddp.segment<3>(row(k)) += system.rows()[k].ddp_bar;
  // λ = f − Q p̈ with the whole acceleration p̈.
  const std::vector<Index> rows = asked_.rows(m);
  const std::size_t asked = rows.size() / 3;
  springs_.clear(asked);
  dlam_.resize(m, to_.size);
  Rows3Sum f(to_.size);
  for (std::size_t which = 0; which < asked; ++which) {
    const auto k = static_cast<std::size_t>(rows[3 * which] / 3);
    const Glance& glance = glances[k];
    if (glance.does == Does::kNothing) {
      f.into(rows3(dlam_, row(k)));
      continue;
    }
    const StiffSystem::Row& each = system.rows()[k];
    const Strand& strand = strands.all()[k];
    const Vector3d& n = strand.motion.n;
    const Vector3d p = ddp.segment<3>(row(k));
    springs_.put(which, glance.Q);
    const Matrix3d along = n * n.transpose(), across = Matrix3d::Identity() - along;
    const Rows3 dp = rows3(starts_[k].dp, 0);
    const bool has_material = !system_.materials.empty();
    const auto material = [&](Index i) { return system_.materials[k].row(i).data(); };
    const auto holds = [&](const Matrix3d& part) {
      f.add(-part * each.K, rows3(system_.delta, row(k)));
      f.add(-part * (each.B + h * each.K), rows3(delta_dp_, row(k)));
      if (!has_material) return;
      const Vector3d ahead = each.delta_p + h * (each.delta_dp + h * p), rate = each.delta_dp + h * p;
      f.add(Vector3d(-part * along * ahead), material(0)).add(Vector3d(-part * across * ahead), material(1));
      f.add(Vector3d(-part * along * rate), material(2)).add(Vector3d(-part * across * rate), material(3));
    };
    if (glance.does == Does::kHold) {
      holds(Matrix3d::Identity());
      f.into(rows3(dlam_, row(k)));
      continue;
    }
    if (glance.does == Does::kClose) {
      const double rest = 0.5 * glance.left, share = glance.left / dt_;
      const double K = n.dot(each.K * n), B = n.dot(each.B * n), q_n = rest * (B + rest * K);
      const double dphi = n.dot(strand.motion.dp), a_n = n.dot(p), free_n = n.dot(each.ddp_bar);
      const double by_left = -(2.0 * share / dt_ * (B + rest * K) + 0.5 * share * share * K) * dphi +
                             (0.5 * (B + 2.0 * rest * K) * (1.0 - share * share) - 2.0 * share / dt_ * q_n) * free_n -
                             0.5 * (B + 2.0 * rest * K) * a_n;
      f.add(Vector3d(by_left * n), dleft_.row(static_cast<Index>(k)).data());
      f.add(-share * share * (B + rest * K) * along, dp);
      f.add(q_n * (1.0 - share * share) * along, rows3(ddp_free_, row(k)));
      if (has_material) {
        const double by_B = -share * share * (dphi + rest * free_n) + rest * (free_n - a_n);
        f.add(Vector3d(by_B * n), material(2)).add(Vector3d(rest * by_B * n), material(0));
      }
    } else {
      holds(along);
    }
    if (glance.does == Does::kDrag) {
      f.add(1.0, rows3(ddrag_, row(k)));
    } else {
      f.add(-glance.eta * across, dp);
      f.add(Vector3d(-across * (strand.motion.dp + h * p)), deta_.row(static_cast<Index>(k)).data());
    }
    f.into(rows3(dlam_, row(k)));
  }
  const RowMatrixXd Upsilon = among(compliance_.Upsilon(), rows);
  doff_.resize(Upsilon.rows(), to_.size);
  ddp_.resize(m, to_.size);
  const RowsAt held(ddp_held_, rows), off(doff_);
  multiply(Upsilon, RowsAt(dlam_, rows), &held, to_.size, off);
  springs_.attach(Upsilon);
  multiply(springs_.accelerations(), off, nullptr, to_.size, RowsAt(ddp_, rows));
  for (std::size_t k = 0; k < count; ++k) {
    if (glances[k].does == Does::kNothing) continue;
    const Rows3 lam_rows = rows3(dlam_, row(k));
    f.add(1.0, lam_rows).add(-glances[k].Q, rows3(ddp_, row(k))).into(lam_rows);
  }
}

void ExpoTangent::reconsider(const StrandList& strands, const std::vector<Glance>& first,
                             const std::vector<Glance>& last) {
  for (std::size_t k = 0; row(k) < dlam_.rows(); ++k) {
    const Strand& strand = strands.all()[k];
    const Vector3d &n = strand.motion.n, &lam = first[k].lam;
    const auto dlam = dlam_.middleRows<3>(row(k));
    const Does does = last[k].does;
    if (does == Does::kClose && first[k].does == Does::kNothing) {
      close(strand, k, last[k].left, n.transpose() * ddp_.middleRows<3>(row(k)));
      deta_.row(static_cast<Index>(k)).setZero();
    } else if (does == Does::kSlide || does == Does::kClose) {
      slide(strand, k, last[k].eta, n.dot(lam), n.transpose() * dlam);
    } else if (does == Does::kDrag) {
      const Material* const material = strand.law->made_of();
      if (!material) return give_up();
      const Vector3d lam_t = tangent(lam, n);
      const double norm = lam_t.norm(), lam_n = n.dot(lam), mu = material->mu;
      const Vector3d direction = lam_t / norm;
      const Matrix3d turning = Matrix3d::Identity() - n * n.transpose() - direction * direction.transpose();
      auto drag = ddrag_.middleRows<3>(row(k));
      drag = mu * direction * (n.transpose() * dlam) + mu * lam_n / norm * turning * dlam;
      if (!system_.materials.empty()) drag += lam_n * direction * system_.materials[k].row(4);
    }
  }
}

}  // namespace exposim
