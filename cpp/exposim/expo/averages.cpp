#include "exposim/expo/averages.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using Matrix36d = Eigen::Matrix<double, 3, 6>;
using Matrix6d = Eigen::Matrix<double, 6, 6>;

namespace {

/// Norm beyond which no Padé approximant without scaling will do.
constexpr double kHopeless = 12.0;

/// Lower Cholesky factor of a positive semidefinite matrix; a direction without stiffness gets a zero column.
void factor_semidefinite(Matrix6d& A, Index size) {
  const double zero = 1e-14 * A.diagonal().head(size).maxCoeff();
  for (Index j = 0; j < size; ++j) {
    const double pivot = A(j, j) - A.row(j).head(j).squaredNorm();
    if (pivot <= zero) {
      A.col(j).segment(j, size - j).setZero();
      continue;
    }
    A(j, j) = std::sqrt(pivot);
    for (Index i = j + 1; i < size; ++i) A(i, j) = (A(i, j) - A.row(i).head(j).dot(A.row(j).head(j))) / A(j, j);
  }
}

}  // namespace

ForceAverages::ForceAverages(const ContactKernel& kernel) : options_(kernel), dense_(kernel.dense) {
  dense_.set_companion(true);
}

double ForceAverages::proportional_damping(const StiffSystem& system) {
  double c = -1.0;
  for (std::size_t k = 0; k < system.active(); ++k) {
    const StiffSystem::Row& row = system.rows()[k];
    if (c < 0.0) c = row.B.trace() / row.K.trace();
    if ((row.B - c * row.K).cwiseAbs().maxCoeff() > 1e-13 * c * row.K.cwiseAbs().maxCoeff()) return -1.0;
  }
  return c;
}

void ForceAverages::compute(const StiffSystem& system, double dt, bool bounded) {
  lam_bar_.resize(system.active());
  lam_bar2_.resize(system.active());
  x_int_.resize(6 * static_cast<Index>(system.active()));
  x_int2_.resize(x_int_.size());
  deviation_.assign(system.active(), std::numeric_limits<double>::infinity());
  info_ = {};
  const bool dense = options_.method == ContactKernel::Method::kDense;
  const double c = dense && !bounded ? -1.0 : proportional_damping(system);
  if (c >= 0.0) {
    by_modes(system, c, dt);
    if (bounded) bound_deviations(system, dt);
  }
  if (dense) {
    by_full_system(system, dt);
  } else if (!(c >= 0.0)) {
    by_tolerance(system, dt);
  }
}

void ForceAverages::by_full_system(const StiffSystem& system, double dt) {
  system.full_system(A_, W_);
  dense_.compute(A_, W_, dt);
  info_ = dense_.info();
  x_int_ = dense_.x_int();
  x_int2_ = dense_.x_int2();
  average_forces(system, dt);
}

void ForceAverages::by_modes(const StiffSystem& system, double c, double dt) {
  update_block_stiffness(system);
  fit_blocks(system);
  const Index r = system.active_size();
  const auto Upsilon = system.Upsilon_block().topLeftCorner(r, r);
  half_.resize(r, r);
  S_.resize(r, r);
  for (std::size_t i = 0; i < system.active_blocks(); ++i) {
    const Index first = system.blocks()[i].first;
    if (system.blocks()[i].size == 3) {
      half_.middleCols<3>(first) = Upsilon.middleCols<3>(first).lazyProduct(C_[i].topLeftCorner<3, 3>());
    } else if (system.blocks()[i].size == 6) {
      half_.middleCols<6>(first) = Upsilon.middleCols<6>(first).lazyProduct(C_[i]);
    } else {
      half_.col(first) = Upsilon.col(first) * C_[i](0, 0);
    }
  }
  for (std::size_t i = 0; i < system.active_blocks(); ++i) {
    const Index first = system.blocks()[i].first;
    if (system.blocks()[i].size == 3) {
      S_.middleRows<3>(first) = C_[i].topLeftCorner<3, 3>().transpose().lazyProduct(half_.middleRows<3>(first));
    } else if (system.blocks()[i].size == 6) {
      S_.middleRows<6>(first) = C_[i].transpose().lazyProduct(half_.middleRows<6>(first));
    } else {
      S_.row(first) = C_[i](0, 0) * half_.row(first);
    }
  }
  modal_.compute(S_, c, start_, dt);

  blocks_ = modal_.result();  // of y, then of d
  solve_Ct_in_place(system, blocks_);
  const bool any_six =
      std::any_of(system.blocks().begin(), system.blocks().end(), [](const Block& block) { return block.size == 6; });
  if (any_six) solve_Ct_in_place(system, start_);  // for what the bodies leave of their points
  d_int_ = blocks_.col(0);
  dd_int_ = blocks_.col(1);
  d_int2_ = blocks_.col(2);
  dd_int2_ = blocks_.col(3);
  integrate_strands(system, dt);
  average_forces(system, dt);
}

void ForceAverages::by_tolerance(const StiffSystem& system, double dt) {
  // Coordinates of the bodies: d̈ = −Υ_body Gᵀ(K Δp + B Δṗ) + d̈_free with Δp = G d + what is left of the points, which
  // moves freely; B is not proportional to K, so that it still damps: a force that is linear in time.
  update_block_stiffness(system);
  fit_blocks(system);
  solve_Ct_in_place(system, start_);
  const Index r = system.active_size();
  const auto Upsilon = system.Upsilon_block().topLeftCorner(r, r);
  A_.setZero(2 * r, 2 * r);
  A_.topRightCorner(r, r).setIdentity();
  W_.setZero(2 * r, 3);  // w₁, w₀, x₀
  W_.col(2).head(r) = start_.col(0);
  W_.col(2).tail(r) = start_.col(1);
  weights_.setZero(2 * r);
  half_.setZero(r, 2 * r);  // [GᵀKG GᵀBG]
  Eigen::MatrixX2d& left = unexplained_;
  left.setZero(r, 2);
  for (std::size_t k = 0; k < system.active(); ++k) {
    const StiffSystem::Row& row = system.rows()[k];
    const Block& block = system.blocks()[row.block];
    const Matrix36d G = system.G(row);
    const auto g = G.leftCols(block.size);
    const Matrix36d KG = row.K * G, BG = row.B * G;
    half_.block(block.first, block.first, block.size, block.size).noalias() += g.transpose() * KG.leftCols(block.size);
    half_.block(block.first, r + block.first, block.size, block.size).noalias() +=
        g.transpose() * BG.leftCols(block.size);
    const Vector3d left_dp = row.delta_dp - system.motion_of(row, start_.col(1));
    const Vector3d left_ddp = row.ddp_bar - system.motion_of(row, start_.col(2));
    const Vector3d left_p = row.delta_p - system.motion_of(row, start_.col(0));
    // K-weighted rests have no resultant of K by construction; those of B remain.
    system.add_wrench(row, row.B * left_dp + row.K * left_p, left.col(1));
    system.add_wrench(row, row.B * left_ddp + row.K * left_dp, left.col(0));
    for (Index j = 0; j < block.size; ++j) {
      weights_(block.first + j) = std::max(weights_(block.first + j), KG.col(j).norm());
      weights_(r + block.first + j) = std::max(weights_(r + block.first + j), BG.col(j).norm());
    }
  }
  A_.bottomRows(r).noalias() = -Upsilon * half_;
  W_.bottomLeftCorner(r, 2).noalias() = -Upsilon * left;
  W_.col(1).tail(r) += start_.col(2);

  dense_.prepare(A_, W_, dt);
  int products = 0;
  double square_norm = dense_.norm();
  for (const int degree : {1, 2, 3, 5, 7, 0}) {
    if (degree == 2 && square_norm < kHopeless) {
      square_norm = dense_.square_norm();  // needed from here on in any case
      ++products;
    }
    // A first guess, so that few attempts are in vain; what decides is the bound below.
    constexpr double kUsualAmplification = 20.0;
    const double guess = kUsualAmplification * pade_backward_error(degree, dense_.norm(), square_norm);
    if (degree > 0 && !(guess <= options_.tolerance)) continue;
    dense_.act(degree);
    info_ = dense_.info();
    products += info_.products;
    d_int_ = dense_.x_int().head(r);
    dd_int_ = dense_.x_int().tail(r);
    d_int2_ = dense_.x_int2().head(r);
    dd_int2_ = dense_.x_int2().tail(r);
    integrate_strands(system, dt);
    average_forces(system, dt);
    if (degree == 0) break;
    double largest = 0.0, largest2 = 0.0;
    for (std::size_t k = 0; k < lam_bar_.size(); ++k) {
      largest = std::max(largest, lam_bar_[k].norm());
      largest2 = std::max(largest2, lam_bar2_[k].norm());
    }
    const Eigen::Vector2d bounds = dense_.error_bounds(degree, weights_);
    info_.error_bound = std::max(bounds(0) / dt / largest, 2.0 * bounds(1) / (dt * dt) / largest);
    if (info_.error_bound <= options_.tolerance) break;
  }
  info_.products = products;
}

void ForceAverages::update_block_stiffness(const StiffSystem& system) {
  C_.resize(system.active_blocks());
  for (Matrix6d& C : C_) C.setZero();
  for (std::size_t k = 0; k < system.active(); ++k) {
    const StiffSystem::Row& row = system.rows()[k];
    if (system.blocks()[row.block].size == 3) {
      C_[row.block].topLeftCorner<3, 3>() = row.K;
    } else {
      const Matrix36d G = system.G(row);
      C_[row.block].noalias() += G.transpose() * row.K * G;
    }
  }
  for (std::size_t i = 0; i < C_.size(); ++i) {
    factor_semidefinite(C_[i], system.blocks()[i].size);
    C_[i].triangularView<Eigen::StrictlyUpper>().setZero();
  }
}

void ForceAverages::solve_C_in_place(const StiffSystem& system, Eigen::Ref<MatrixXd> x) const {
  for (std::size_t b = 0; b < C_.size(); ++b) {
    const Block& block = system.blocks()[b];
    for (Index column = 0; column < x.cols(); ++column) {
      auto y = x.col(column).segment(block.first, block.size);
      for (Index i = 0; i < block.size; ++i) {
        double rest = y(i);
        for (Index j = 0; j < i; ++j) rest -= C_[b](i, j) * y(j);
        y(i) = C_[b](i, i) > 0.0 ? rest / C_[b](i, i) : 0.0;
      }
    }
  }
}

void ForceAverages::solve_Ct_in_place(const StiffSystem& system, Eigen::Ref<MatrixXd> x) const {
  for (std::size_t b = 0; b < C_.size(); ++b) {
    const Block& block = system.blocks()[b];
    for (Index column = 0; column < x.cols(); ++column) {
      auto y = x.col(column).segment(block.first, block.size);
      for (Index i = block.size - 1; i >= 0; --i) {
        double rest = y(i);
        for (Index j = i + 1; j < block.size; ++j) rest -= C_[b](j, i) * y(j);
        y(i) = C_[b](i, i) > 0.0 ? rest / C_[b](i, i) : 0.0;
      }
    }
  }
}

void ForceAverages::fit_blocks(const StiffSystem& system) {
  start_.setZero(system.active_size(), 3);
  for (std::size_t k = 0; k < system.active(); ++k) {
    const StiffSystem::Row& row = system.rows()[k];
    system.add_wrench(row, row.K * row.delta_p, start_.col(0));
    system.add_wrench(row, row.K * row.delta_dp, start_.col(1));
    system.add_wrench(row, row.K * row.ddp_bar, start_.col(2));
  }
  solve_C_in_place(system, start_);  // y = C⁻¹ GᵀK Δp = Cᵀd, d the K-weighted least squares fit
}

void ForceAverages::integrate_strands(const StiffSystem& system, double dt) {
  const Index m = x_int_.size() / 2;
  for (std::size_t k = 0; k < system.active(); ++k) {
    const StiffSystem::Row& row = system.rows()[k];
    const Index first = 3 * static_cast<Index>(k);
    auto p_int = x_int_.segment<3>(first), dp_int = x_int_.segment<3>(m + first);
    auto p_int2 = x_int2_.segment<3>(first), dp_int2 = x_int2_.segment<3>(m + first);
    p_int = system.motion_of(row, d_int_);
    dp_int = system.motion_of(row, dd_int_);
    p_int2 = system.motion_of(row, d_int2_);
    dp_int2 = system.motion_of(row, dd_int2_);
    if (system.blocks()[row.block].size != 6) continue;
    // What the body's motion does not explain of the point's start: no spring resultant acts on it.
    const Vector3d p = row.delta_p - system.motion_of(row, start_.col(0));
    const Vector3d dp = row.delta_dp - system.motion_of(row, start_.col(1));
    const Vector3d ddp = row.ddp_bar - system.motion_of(row, start_.col(2));
    const Vector3d left = dt * (p + dt / 2.0 * (dp + dt / 3.0 * ddp));
    p_int += left;
    dp_int += dt * (dp + dt / 2.0 * ddp);
    p_int2 += dt * dt / 2.0 * (p + dt / 3.0 * (dp + dt / 4.0 * ddp));
    dp_int2 += left - dt * p;
  }
}

void ForceAverages::bound_deviations(const StiffSystem& system, double dt) {
  for (std::size_t k = 0; k < system.active(); ++k) {
    const StiffSystem::Row& row = system.rows()[k];
    // λ = K G C⁻ᵀ z, and ‖K^½ G C⁻ᵀ‖ ≤ 1 because C Cᵀ has GᵀKG among its terms.
    const double K = row.K_max, B = row.B_max;
    deviation_[k] = std::sqrt(K) * modal_.radius();
    if (system.blocks()[row.block].size != 6) continue;
    // What the body does not explain moves freely.
    const Vector3d dp = row.delta_dp - system.motion_of(row, start_.col(1));
    const Vector3d ddp = row.ddp_bar - system.motion_of(row, start_.col(2));
    deviation_[k] += dt * (K * dp.norm() + (B + 0.5 * K * dt) * ddp.norm());
  }
}

void ForceAverages::average_forces(const StiffSystem& system, double dt) {
  const Index m = x_int_.size() / 2;
  for (std::size_t k = 0; k < system.active(); ++k) {
    const StiffSystem::Row& row = system.rows()[k];
    const Index first = 3 * static_cast<Index>(k);
    lam_bar_[k] = -(row.K * x_int_.segment<3>(first) + row.B * x_int_.segment<3>(m + first)) / dt;
    lam_bar2_[k] = -(row.K * x_int2_.segment<3>(first) + row.B * x_int2_.segment<3>(m + first)) * (2.0 / (dt * dt));
  }
}

}  // namespace exposim
