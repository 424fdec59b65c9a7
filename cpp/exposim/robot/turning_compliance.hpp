#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/robot/compliance_derivatives.hpp"

namespace exposim {

/// ComplianceDerivatives of rows some of which are seen from axes that turn, and are of a body past another.
///
/// J_i = Rᵀ(J_a − J_b) at p = c + arm, R = exp(θ) with an arm that turns along; c is a point of a, past which b moves.
/// Beside the degrees of freedom, Υ depends on the θ of each of them, three numbers:
///
///   ∂J_i/∂θ_e = −e × J_i + (J_ω,a − J_ω,b) × (e × arm),      at θ = 0
class TurningCompliance {
 public:
  void clear();
  void add_point(std::size_t joint, const Eigen::Vector3d& position, const Eigen::Vector3d& arm);
  /// @param other the body that it is seen from; 0: the world.
  void add_turning(std::size_t joint, const Eigen::Vector3d& position, const Eigen::Vector3d& arm, std::size_t other);
  void add_spin(std::size_t joint);
  void add_dof(Eigen::Index dof, Eigen::Index rows = 1);
  void compute(const RobotData& data, const Movers& movers);
  /// See ComplianceDerivatives; behind them come three to each that turns.
  void differentiate(const RobotData& data, const Movers& movers, std::vector<Eigen::MatrixXd>& by_q);

  /// As of ComplianceDerivatives, where nothing turns.
  void differentiate_products(const RobotData& data, const Movers& movers, const RowMatrixXd& x,
                              const RowMatrixXd& weights, RowMatrixXd& by_q) {
    plain_.differentiate_products(data, movers, x, weights, by_q);
  }

  const Eigen::MatrixXd& Upsilon() const { return pairs_ > 0 ? Upsilon_ : plain_.Upsilon(); }
  const Eigen::MatrixXd& response() const { return pairs_ > 0 ? response_ : plain_.response(); }

 private:
  struct Turning {
    std::size_t a, b;
    Eigen::Vector3d position, arm;
    Eigen::Index first, first_b;  // rows; of b, behind all others
  };
  /// Rows of a minus those of b, in rows and columns.
  Eigen::MatrixXd past(const Eigen::MatrixXd& all) const;

  ComplianceDerivatives plain_;
  std::vector<Turning> turning_;
  Eigen::Index size_ = 0, pairs_ = 0;
  bool has_others_ = false;  // plain_ has the rows of b
  Eigen::MatrixXd Upsilon_, response_;
};

}  // namespace exposim
