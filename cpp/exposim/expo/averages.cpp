#include "exposim/expo/averages.hpp"

#include <algorithm>
#include <cmath>

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

void ForceAverages::compute(const StiffSystem& system, double dt) {
  lam_bar_.resize(system.active());
  lam_bar2_.resize(system.active());
  x_int_.resize(6 * static_cast<Index>(system.active()));
  x_int2_.resize(x_int_.size());
  info_ = {};
  dt_ = dt;
  source_ = Source::kOther;
  if (options_.method == ContactKernel::Method::kDense) return by_full_system(system, dt);
  const double c = proportional_damping(system);
  if (options_.method == ContactKernel::Method::kAuto && by_series(system, c, dt)) {
    source_ = Source::kSeries;
  } else if (c >= 0.0) {
    by_modes(system, c, dt);
    source_ = Source::kModes;
  } else {
    by_tolerance(system, dt);
  }
}

ForcePieces ForceAverages::bounds(const StiffSystem& system, bool closely) {
  if (source_ == Source::kSeries && !(closely && forced_)) {
    return bounds_.by_series(system, series_, fit_.unexplained(), closely);
  }
  if (source_ == Source::kModes && !closely) {
    return bounds_.by_modes(system, modal_.radius(), fit_.unexplained(), lam_bar_, dt_);
  }
  return {nullptr, 0};
}

bool ForceAverages::by_series(const StiffSystem& system, double c, double dt) {
  const bool proportional = c >= 0.0;
  fit_.compute(system, false);
  const Index r = system.active_size();
  start_.resize(r, 4);
  start_.leftCols<3>() = fit_.start();
  start_.col(3).setZero();
  forced_ = fit_.find_unexplained(system) && !proportional;
  if (!proportional) {
    system.clear_stiffness(system.active_blocks(), B_);
    for (std::size_t k = 0; k < system.active(); ++k) {
      const StiffSystem::Row& row = system.rows()[k];
      StiffSystem::add_stiffness(row, row.B, B_[row.block]);
    }
  }
  if (forced_) {
    start_.rightCols<2>().noalias() -= system.Upsilon_block().topLeftCorner(r, r) * fit_.left_wrenches(system);
  }
  const SeriesKernel::System linear{system.Upsilon_block(), fit_.K(), proportional ? nullptr : &B_, std::max(c, 0.0)};
  if (!series_.compute(linear, start_, forced_, dt)) return false;
  info_.terms = series_.terms();
  blocks_ = series_.result();
  integrate_strands(system, dt);
  average_forces(system, dt);
  return true;
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
  fit_.compute(system, true);
  const Index r = system.active_size();
  const auto Upsilon = system.Upsilon_block().topLeftCorner(r, r);
  half_.resize(r, r);
  S_.resize(r, r);
  for (std::size_t i = 0; i < system.active_blocks(); ++i) {
    const Index first = system.blocks()[i].first;
    if (system.blocks()[i].size == 3) {
      half_.middleCols<3>(first) = Upsilon.middleCols<3>(first).lazyProduct(fit_.C(i).topLeftCorner<3, 3>());
    } else if (system.blocks()[i].size == 6) {
      half_.middleCols<6>(first) = Upsilon.middleCols<6>(first).lazyProduct(fit_.C(i));
    } else {
      half_.col(first) = Upsilon.col(first) * fit_.C(i)(0, 0);
    }
  }
  for (std::size_t i = 0; i < system.active_blocks(); ++i) {
    const Index first = system.blocks()[i].first;
    if (system.blocks()[i].size == 3) {
      S_.middleRows<3>(first) = fit_.C(i).topLeftCorner<3, 3>().transpose().lazyProduct(half_.middleRows<3>(first));
    } else if (system.blocks()[i].size == 6) {
      S_.middleRows<6>(first) = fit_.C(i).transpose().lazyProduct(half_.middleRows<6>(first));
    } else {
      S_.row(first) = fit_.C(i)(0, 0) * half_.row(first);
    }
  }
  modal_.compute(S_, c, fit_.start(), dt);

  blocks_ = modal_.result();  // of y, then of d
  fit_.solve_Ct_in_place(system, blocks_);
  fit_.turn_into_displacements(system);
  fit_.find_unexplained(system);
  integrate_strands(system, dt);
  average_forces(system, dt);
}

void ForceAverages::by_tolerance(const StiffSystem& system, double dt) {
  // Coordinates of the bodies: d̈ = −Υ_body Gᵀ(K Δp + B Δṗ) + d̈_free with Δp = G d + what is left of the points, which
  // moves freely; B is not proportional to K, so that it still damps: a force that is linear in time.
  fit_.compute(system, true);
  fit_.turn_into_displacements(system);
  fit_.find_unexplained(system);
  const Index r = system.active_size();
  const auto Upsilon = system.Upsilon_block().topLeftCorner(r, r);
  A_.setZero(2 * r, 2 * r);
  A_.topRightCorner(r, r).setIdentity();
  W_.setZero(2 * r, 3);  // w₁, w₀, x₀
  W_.col(2).head(r) = fit_.start().col(0);
  W_.col(2).tail(r) = fit_.start().col(1);
  weights_.setZero(2 * r);
  half_.setZero(r, 2 * r);  // [GᵀKG GᵀBG]
  const Eigen::MatrixX2d& left = fit_.left_wrenches(system);
  for (std::size_t k = 0; k < system.active(); ++k) {
    const StiffSystem::Row& row = system.rows()[k];
    const Block& block = system.blocks()[row.block];
    const Matrix36d G = system.G(row);
    const auto g = G.leftCols(block.size);
    const Matrix36d KG = row.K * G, BG = row.B * G;
    half_.block(block.first, block.first, block.size, block.size).noalias() += g.transpose() * KG.leftCols(block.size);
    half_.block(block.first, r + block.first, block.size, block.size).noalias() +=
        g.transpose() * BG.leftCols(block.size);
    for (Index j = 0; j < block.size; ++j) {
      weights_(block.first + j) = std::max(weights_(block.first + j), KG.col(j).norm());
      weights_(r + block.first + j) = std::max(weights_(r + block.first + j), BG.col(j).norm());
    }
  }
  A_.bottomRows(r).noalias() = -Upsilon * half_;
  W_.block(r, 0, r, 1).noalias() = -Upsilon * left.col(1);
  W_.block(r, 1, r, 1).noalias() = -Upsilon * left.col(0);
  W_.col(1).tail(r) += fit_.start().col(2);

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
    blocks_.resize(r, 4);
    blocks_ << dense_.x_int().head(r), dense_.x_int().tail(r), dense_.x_int2().head(r), dense_.x_int2().tail(r);
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

void ForceAverages::integrate_strands(const StiffSystem& system, double dt) {
  const Index m = x_int_.size() / 2;
  for (std::size_t k = 0; k < system.active(); ++k) {
    const StiffSystem::Row& row = system.rows()[k];
    const Index first = 3 * static_cast<Index>(k);
    auto p_int = x_int_.segment<3>(first), dp_int = x_int_.segment<3>(m + first);
    auto p_int2 = x_int2_.segment<3>(first), dp_int2 = x_int2_.segment<3>(m + first);
    p_int = system.motion_of(row, blocks_.col(0));
    dp_int = system.motion_of(row, blocks_.col(1));
    p_int2 = system.motion_of(row, blocks_.col(2));
    dp_int2 = system.motion_of(row, blocks_.col(3));
    if (fit_.unexplained().empty()) continue;
    const auto& [p, dp, ddp] = fit_.unexplained()[k];
    const Vector3d left = dt * (p + dt / 2.0 * (dp + dt / 3.0 * ddp));
    p_int += left;
    dp_int += dt * (dp + dt / 2.0 * ddp);
    p_int2 += dt * dt / 2.0 * (p + dt / 3.0 * (dp + dt / 4.0 * ddp));
    dp_int2 += left - dt * p;
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
