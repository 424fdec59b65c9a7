#include "exposim/expo/block_fit.hpp"

#include <algorithm>
#include <cmath>

namespace exposim {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Matrix6d = Eigen::Matrix<double, 6, 6>;

namespace {

/// Marks a block without factors.
constexpr double kNotFactored = -1.0;

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

void BlockFit::factor(const StiffSystem& system, bool points_too) {
  C_.resize(system.active_blocks());
  for (std::size_t b = 0; b < C_.size(); ++b) {
    const bool factored = points_too || system.blocks()[b].size != 3;
    if (!factored) {
      C_[b](0, 0) = kNotFactored;
      continue;
    }
    C_[b] = K_[b].values.topRows<6>();
    factor_semidefinite(C_[b], system.blocks()[b].size);
    C_[b].triangularView<Eigen::StrictlyUpper>().setZero();
  }
}

void BlockFit::solve_C_in_place(const StiffSystem& system, Eigen::Ref<MatrixXd> x) const {
  for (std::size_t b = 0; b < C_.size(); ++b) {
    const Block& block = system.blocks()[b];
    if (C_[b](0, 0) == kNotFactored) continue;
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

void BlockFit::solve_Ct_in_place(const StiffSystem& system, Eigen::Ref<MatrixXd> x) const {
  for (std::size_t b = 0; b < C_.size(); ++b) {
    const Block& block = system.blocks()[b];
    if (C_[b](0, 0) == kNotFactored) continue;
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

void BlockFit::compute(const StiffSystem& system, bool points_too) {
  system.clear_stiffness(system.active_blocks(), K_);
  for (std::size_t k = 0; k < system.active(); ++k) {
    const StiffSystem::Row& row = system.rows()[k];
    StiffSystem::add_stiffness(row, row.K, K_[row.block]);
  }
  factor(system, points_too);
  start_.setZero(system.active_size(), 3);
  for (std::size_t k = 0; k < system.active(); ++k) {
    const StiffSystem::Row& row = system.rows()[k];
    const Block& block = system.blocks()[row.block];
    if (C_[row.block](0, 0) == kNotFactored) {
      start_.middleRows<3>(block.first) << row.delta_p, row.delta_dp, row.ddp_bar;
      continue;
    }
    system.add_wrench(row, row.K * row.delta_p, start_.col(0));
    system.add_wrench(row, row.K * row.delta_dp, start_.col(1));
    system.add_wrench(row, row.K * row.ddp_bar, start_.col(2));
  }
  solve_C_in_place(system, start_);  // y = C⁻¹ GᵀK Δp = Cᵀd, d the K-weighted least squares fit
  if (!points_too) solve_Ct_in_place(system, start_);
}

bool BlockFit::find_unexplained(const StiffSystem& system) {
  unexplained_.clear();
  const bool any_six =
      std::any_of(system.blocks().begin(), system.blocks().begin() + static_cast<Index>(system.active_blocks()),
                  [](const Block& block) { return block.size == 6; });
  if (!any_six) return false;
  for (std::size_t k = 0; k < system.active(); ++k) {
    const StiffSystem::Row& row = system.rows()[k];
    if (system.blocks()[row.block].size != 6) {
      unexplained_.push_back({Vector3d::Zero(), Vector3d::Zero(), Vector3d::Zero()});
      continue;
    }
    unexplained_.push_back({row.delta_p - system.motion_of(row, start_.col(0)),
                            row.delta_dp - system.motion_of(row, start_.col(1)),
                            row.ddp_bar - system.motion_of(row, start_.col(2))});
  }
  return true;
}

const Eigen::MatrixX2d& BlockFit::left_wrenches(const StiffSystem& system) {
  left_.setZero(system.active_size(), 2);
  for (std::size_t k = 0; k < unexplained_.size(); ++k) {
    const StiffSystem::Row& row = system.rows()[k];
    const Unexplained& left = unexplained_[k];
    // K-weighted rests have no resultant of K by construction; those of B remain.
    system.add_wrench(row, row.B * left.dp + row.K * left.p, left_.col(0));
    system.add_wrench(row, row.B * left.ddp + row.K * left.dp, left_.col(1));
  }
  return left_;
}

}  // namespace exposim
