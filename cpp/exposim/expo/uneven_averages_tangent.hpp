#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/expo/averages_tangent.hpp"

namespace exposim {

/// Derivatives of the closed form (AveragesTangent) where damping is not the same multiple of stiffness for all
/// strands, so that they have no modes of their own: a contact while a joint is at its limit, or on ground of another
/// kind.
///
///   ẋ = A x + (0, p̈̄),   x = (Δp, Δṗ),   λ = D x = −K Δp − B Δṗ
///
/// With S(t)ᵀ = D ∫₀ᵗ exp(A τ) dτ, by its series from node to node, a further acceleration w(t) of the strands changes
/// ∫λ by ∫ S(dt − t)ᵀ (0, w(t)) dt, where w = dp̈̄ + dΥ λ(t); by Gauss's rule, as there.
class UnevenAveragesTangent {
 public:
  using Holding = AveragesTangent::Holding;

  /// @return false where it would take too many nodes.
  bool begin(const Eigen::MatrixXd& Upsilon, const std::vector<Holding>& strands, double dt);
  /// As AveragesTangent::differentiate(), of p̈̄. @param Upsilon_by_q null: Υ is not changed.
  void differentiate(const Tangent& ddp_bar, const Tangent& delta_p, const Tangent& delta_dp,
                     const std::vector<Eigen::MatrixXd>* Upsilon_by_q, const AveragesTangent::AddByQ& add_by_q,
                     const std::vector<Tangent>& materials, Tangent& lam_bar, Tangent& lam_bar2) const;

 private:
  /// S and its integrals, or x, somewhere in the step.
  struct Along {
    Eigen::MatrixXd S, S2, S3;
    Eigen::VectorXd x, x_int, x_int2;
  };
  /// Takes them on by h, which is short beside what is fastest.
  void advance(double h, Along& at) const;
  void add_materials(const std::vector<Tangent>& materials, Tangent& once, Tangent& twice) const;

  std::vector<Holding> strands_;
  Eigen::Index m_ = 0;
  double dt_ = 0.0;
  Eigen::MatrixXd Upsilon_, A_, D_;
  Eigen::VectorXd b_;
  std::vector<double> weights_;  // of nodes
  std::vector<Along> nodes_;
  Along end_;
};

}  // namespace exposim
