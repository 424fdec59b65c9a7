#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <functional>
#include <vector>

#include "exposim/expo/system_tangent.hpp"
#include "exposim/kernels/modal.hpp"
#include "exposim/kernels/oscillator_pairs.hpp"

namespace exposim {

/// Derivatives of the closed form: of the averages of λ(t) over a step in which all strands hold (ForceAverages).
///
/// With B = cK, K = CCᵀ and the modes of S = CᵀΥC = UΩUᵀ, η = UᵀCᵀΔp and μ = η + cη' go as
///
///   η'' + cωη' + ωη = f,   λ = −CU μ,   f = (CU)ᵀ p̈̄
///
/// Where Υ changes, dΥ λ(t) is a further force on the modes: with E = (CU)ᵀ dΥ CU
///
///   δ∫μ_k = −Σ_j E_kj ∫ z_k(dt − t) μ_j(t) dt,   z = G1 + cG   (the response of ∫μ to an impulse; of ∫∫μ: G2 + cG1)
///
/// and these integrals, one to each pair of modes, are those of OscillatorPairs: with z_k(s) = (1 + cs)/(s p_k),
///
///   ∫ z_k(dt − t) η_j(t) dt  = η₀ (E + cω_j E1) + η₀' E1 + f E2,      ∫ z_k(dt − t) η_j'(t) dt = η₀' E + (f − ω_j η₀)
///   E1.
class AveragesTangent {
 public:
  /// A strand that holds.
  struct Holding {
    Eigen::Matrix3d K, B;
    Eigen::Vector3d delta_p, delta_dp, ddp_bar, n;
  };

  /// Of a body with many points, or of limits, some modes push nothing: they are at rest in Υ, ω = 0.
  enum class AtRest : unsigned char { kAsked, kLeftOut };
  /// @param Upsilon of the strands, three rows to each.
  /// @param c with B = cK.
  /// @param at_rest whether it is asked for forces of modes at rest, too.
  void begin(const Eigen::MatrixXd& Upsilon, const std::vector<Holding>& strands, double c, double dt,
             AtRest at_rest = AtRest::kAsked);
  /// Averages, which the kernel knows already.
  Eigen::VectorXd lam_bar() const { return -(V_ * once_) / dt_; }

  using AddByQ = std::function<void(const RowMatrixXd& A, Tangent& to)>;
  /// How Υ changes with q.
  struct ChangeOfUpsilon {
    /// Σ_j w_ji xᵢᵀ ∂Υ/∂q_k x_j: see ComplianceDerivatives::differentiate_products.
    std::function<void(const RowMatrixXd& x, const RowMatrixXd& weights, RowMatrixXd& by_q)> products;
    AddByQ add_by_q;  ///< adds A dq to a tangent
  };
  /// The same from matrices ∂Υ/∂q_k, as in SystemTangent, whose leading rows are meant.
  static void products_by(const std::vector<Eigen::MatrixXd>& Upsilon_by_q, const RowMatrixXd& x,
                          const RowMatrixXd& weights, RowMatrixXd& by_q);
  /// @param ddp with forces `lam` held: of p̈̄ + Υ lam; of displacements, and of their rates at the start; three rows to
  /// a strand, and any behind those.
  /// @param change null: none, but against `lam`.
  /// @param materials as in SystemTangent, or empty.
  /// @param more what λ̄ does to p̈̄ beside Υ λ̄, by where that is taken; null: nothing.
  void differentiate(const Tangent& ddp, const Eigen::VectorXd& lam, const Tangent& delta_p, const Tangent& delta_dp,
                     const ChangeOfUpsilon* change, const std::vector<Tangent>& materials, const Eigen::MatrixXd* more,
                     Tangent& lam_bar, Tangent& lam_bar2);

 private:
  void put_modes_at_rest_last();
  void pair_modes();
  /// Those at rest move alike.
  const double* paired(Eigen::Index integrals, Eigen::Index mode) const {
    return pairs_.E(integrals, std::min(mode, asked_));
  }
  /// Of −dΥ (λ(t) − lam), as a force on the modes.
  void add_change_of_Upsilon(const ChangeOfUpsilon& change, const Eigen::VectorXd& lam, Tangent& once, Tangent& twice);
  /// That p̈̄ changes with what comes of it.
  void feed_back(const Eigen::MatrixXd& more, Tangent& once, Tangent& twice) const;
  /// What a strand's K or B changes by.
  Eigen::Matrix3d changed(std::size_t k, double along, double across) const;
  /// @param directions in which K or B of any strand changes.
  void add_materials(const std::vector<Tangent>& materials, const std::vector<Eigen::Index>& directions, Tangent& once,
                     Tangent& twice);
  void add_forces_of_materials(const std::vector<Tangent>& materials, const std::vector<Eigen::Index>& directions,
                               Tangent& lam_bar, Tangent& lam_bar2) const;

  std::vector<Holding> strands_;
  double c_ = 0.0, dt_ = 0.0;
  ModalKernel modal_;
  Eigen::MatrixXd S_, C_, U_, V_, Z_;  // V = CU, ZᵀV = 1
  Eigen::Index asked_ = 0;             // leading modes
  Eigen::VectorXd omega_, eta0_, deta0_, f_;
  Eigen::VectorXd once_, twice_;                                          // of μ
  Eigen::VectorXd by_eta_, by_deta_, by_f_, by_eta2_, by_deta2_, by_f2_;  // of those
  bool has_pairs_ = false;
  OscillatorPairs pairs_;
  Tangent once_tangent_, twice_tangent_;
};

}  // namespace exposim
