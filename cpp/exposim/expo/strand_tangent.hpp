#pragma once

#include "exposim/kernels/row_sums.hpp"

namespace exposim {

/// Derivatives of a strand as its law knows it (Phase), a row of all directions to each number.
struct StrandTangent {
  Rows3 delta, dp, slide, lam;
  double* mu;       ///< friction of a sliding contact, as it is after holding back
  bool mu_changes;  ///< else `mu` says nothing
  double* turning;  ///< what friction resists turning with, μ λ_n/‖ṗᵗ‖
  Rows3 compliance;
  Rows3 stretch;  ///< that is remembered
  /// K_n, K_t, B_n, B_t, μ of its law, five rows (see SystemTangent); null: they do not change.
  const double* material;
  double *scratch, *scratch2;

  // What the last change of mode was like:
  bool no_direction;  ///< it slips, but not anywhere
  bool held_back;     ///< friction is less than the material's

  Eigen::Index length() const { return delta.stride; }
  const double* material_row(Eigen::Index i) const { return material + i * delta.stride; }
};

/// Rows of StrandTangent::material.
enum MaterialRow : Eigen::Index { kRowKn, kRowKt, kRowBn, kRowBt, kRowMu, kRowForce = kRowMu, kMaterialRows };

using MaterialVector = Eigen::Matrix<double, 1, kMaterialRows>;

/// By how much K ξ + B η changes, for ξ and η that do not.
struct LinearChange {
  Eigen::Matrix3d by_slide = Eigen::Matrix3d::Zero();
  Eigen::Vector3d by_mu = Eigen::Vector3d::Zero(), by_turning = by_mu;
  Eigen::Matrix<double, 3, kMaterialRows> by_material = Eigen::Matrix<double, 3, kMaterialRows>::Zero();
  bool slides = false;  ///< else only the last one counts

  /// Adds what a component changes by with the material to a sum.
  void add_to(RowSum& sum, Eigen::Index i, double factor, const StrandTangent& d) const {
    for (Eigen::Index m = 0; m < kMaterialRows; ++m) sum.add(factor * by_material(i, m), d.material_row(m));
  }
};

/// By how much a margin changes.
struct MarginChange {
  Eigen::Vector3d by_delta = Eigen::Vector3d::Zero(), by_dp = by_delta, by_lam = by_delta, by_slide = by_delta;
  double by_mu = 0.0;
  MaterialVector by_material = MaterialVector::Zero();
};

}  // namespace exposim
