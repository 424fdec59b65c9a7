#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/expo/tangent_products.hpp"
#include "exposim/kernels/identity_plus.hpp"

namespace exposim {

/// Springs Q on strands, each by itself: what accelerations (I + ΥQ)⁻¹ and forces Q (I + ΥQ)⁻¹ they leave.
class SprungStrands {
 public:
  void clear(std::size_t strands) {
    springs_.resize(strands);
    for (std::size_t k = 0; k < strands; ++k) {
      springs_[k].first = 3 * static_cast<Eigen::Index>(k);
      springs_[k].size = 3;
      springs_[k].zero = true;
      springs_[k].lasting = false;
      springs_[k].values.setZero();
    }
  }
  void put(std::size_t k, const Eigen::Matrix3d& Q) {
    springs_[k].zero = false;
    springs_[k].values.topLeftCorner<3, 3>() = Q;
  }
  /// @param Upsilon of which the leading rows are meant.
  template <typename Symmetric>
  void attach(const Symmetric& Upsilon) {
    const Eigen::Index m = 3 * static_cast<Eigen::Index>(springs_.size());
    attached_.load(m, Upsilon.data(), Upsilon.rows());
    attached_.attach(springs_, false, IdentityPlus::Forces::kOnBlocks);
    left_.setIdentity(m, m);
    for (const DiagonalBlock& each : springs_) {
      if (each.zero) continue;
      for (Eigen::Index i = 0; i < m; ++i) {
        const Eigen::RowVector3d X(attached_.X(i, each.first), attached_.X(i, each.first + 1),
                                   attached_.X(i, each.first + 2));
        left_.row(i).segment<3>(each.first) -= X * each.values.topLeftCorner<3, 3>();
      }
    }
    forces_.setZero(m, m);
    for (const DiagonalBlock& each : springs_) {
      if (each.zero) continue;
      forces_.middleRows<3>(each.first).noalias() =
          each.values.topLeftCorner<3, 3>().lazyProduct(left_.middleRows<3>(each.first));
    }
  }

  /// (I + ΥQ)⁻¹
  const RowMatrixXd& accelerations() const { return left_; }
  /// Q (I + ΥQ)⁻¹, which is symmetric
  const RowMatrixXd& forces() const { return forces_; }

 private:
  std::vector<DiagonalBlock> springs_;
  IdentityPlus attached_;
  RowMatrixXd left_, forces_;
};

}  // namespace exposim
