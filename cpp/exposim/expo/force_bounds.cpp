#include "exposim/expo/force_bounds.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

namespace exposim {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

/// Squared norms of what is not explained: of its velocity at an instant, and of its acceleration.
struct FreeNorms {
  double velocity = 0.0, acceleration = 0.0;
};
FreeNorms norms_of(const StiffSystem& system, const std::vector<Unexplained>& unexplained, double s) {
  FreeNorms norms;
  for (std::size_t k = 0; k < unexplained.size(); ++k) {
    const Matrix3d& K = system.rows()[k].K;
    const Vector3d dp = unexplained[k].dp + s * unexplained[k].ddp;
    norms.velocity += dp.dot(K * dp);
    norms.acceleration += unexplained[k].ddp.dot(K * unexplained[k].ddp);
  }
  return norms;
}

/// λ of all active strands at an instant.
void set_forces(const StiffSystem& system, const SeriesKernel::Instant& instant,
                const std::vector<Unexplained>& unexplained, std::vector<Vector3d>& lam) {
  lam.resize(system.active());
  for (std::size_t k = 0; k < system.active(); ++k) {
    const StiffSystem::Row& row = system.rows()[k];
    Vector3d p = system.motion_of(row, instant.y), dp = system.motion_of(row, instant.dy);
    if (!unexplained.empty()) {
      const Unexplained& left = unexplained[k];
      p += left.p + instant.s * (left.dp + 0.5 * instant.s * left.ddp);
      dp += left.dp + instant.s * left.ddp;
    }
    lam[k].noalias() = -row.K * p;
    lam[k].noalias() -= row.B * dp;
  }
}

}  // namespace

ForceBounds::Damping ForceBounds::damping_of(const StiffSystem& system) {
  Damping damping{std::numeric_limits<double>::infinity(), 0.0};
  for (std::size_t k = 0; k < system.active(); ++k) {
    const StiffSystem::Row& row = system.rows()[k];
    Eigen::SelfAdjointEigenSolver<Matrix3d> modes;
    modes.compute(row.K);
    const double most = modes.eigenvalues().maxCoeff();
    Matrix3d root = Matrix3d::Zero();  // K^−½, where there is stiffness
    for (int i = 0; i < 3; ++i) {
      const double stiffness = modes.eigenvalues()(i);
      if (stiffness > 1e-12 * most) root.col(i) = modes.eigenvectors().col(i) / std::sqrt(stiffness);
    }
    const Matrix3d relative = root.transpose() * row.B * root;
    for (int i = 0; i < 3; ++i) {
      if (root.col(i).isZero(0.0)) continue;
      const double beside = relative.row(i).cwiseAbs().sum() - std::abs(relative(i, i));
      damping.least = std::min(damping.least, std::max(0.0, relative(i, i) - beside));
      damping.most = std::max(damping.most, relative(i, i) + beside);
    }
  }
  damping.least = std::min(damping.least, damping.most);
  return damping;
}

ForcePieces ForceBounds::by_series(const StiffSystem& system, SeriesKernel& series,
                                   const std::vector<Unexplained>& unexplained, bool closely) {
  pieces_.resize(SeriesKernel::kLast);
  const Damping damping = series.is_proportional() ? Damping{series.c(), series.c()} : damping_of(system);
  const double spread = damping.most - damping.least;
  const double growth_rate =
      spread > 0.0 ? series.norm() * spread * spread / (8.0 * (damping.least + damping.most)) : 0.0;
  const double c = damping.most;
  const std::size_t step = closely ? 1 : SeriesKernel::kLast;
  std::size_t count = 0;
  for (std::size_t i = 0; i < SeriesKernel::kLast; i += step, ++count) {
    ForcePiece& piece = pieces_[count];
    const SeriesKernel::Instant &from = series.rates_at(i), &to = series.at(i + step);
    const double h = piece.length = to.s - from.s;
    const FreeNorms free = norms_of(system, unexplained, from.s);
    const double growth = growth_rate > 0.0 ? std::exp(growth_rate * h) : 1.0;
    const double U = std::sqrt(from.velocity + free.velocity), R = std::sqrt(from.unbraked + free.acceleration);
    const double from_start = (h + 2.0 * c) * U + h * (0.5 * h + c) * R;
    const double acceleration = std::sqrt(from.acceleration + free.acceleration + from.strain_rate);
    const double jerk = std::sqrt(from.jerk + from.strain_acceleration);
    const double from_line = h * h / 8.0 * (acceleration + c * jerk);
    if (count == 0) {
      set_forces(system, from, unexplained, piece.from);
    } else {
      piece.from = pieces_[count - 1].reached;
    }
    set_forces(system, to, unexplained, piece.reached);
    piece.to = from_line < from_start ? piece.reached : piece.from;
    const double bound = growth * std::min(from_start, from_line);
    piece.deviation.resize(system.active());
    for (std::size_t k = 0; k < system.active(); ++k) {
      piece.deviation[k] = std::sqrt(system.rows()[k].K_max) * bound;
    }
  }
  return {pieces_.data(), count};
}

ForcePieces ForceBounds::by_modes(const StiffSystem& system, double radius, const std::vector<Unexplained>& unexplained,
                                  const std::vector<Vector3d>& lam_bar, double dt) {
  pieces_.resize(SeriesKernel::kLast);
  ForcePiece& piece = pieces_.front();
  piece.length = dt;
  piece.from = piece.to = piece.reached = lam_bar;
  piece.deviation.resize(system.active());
  for (std::size_t k = 0; k < system.active(); ++k) {
    // λ = K G C⁻ᵀ z, and ‖K^½ G C⁻ᵀ‖ ≤ 1 because C Cᵀ has GᵀKG among its terms.
    const double K = system.rows()[k].K_max, B = system.rows()[k].B_max;
    piece.deviation[k] = std::sqrt(K) * radius;
    if (unexplained.empty()) continue;
    const Unexplained& left = unexplained[k];
    piece.deviation[k] += dt * (K * left.dp.norm() + (B + 0.5 * K * dt) * left.ddp.norm());
  }
  return {&piece, 1};
}

}  // namespace exposim
