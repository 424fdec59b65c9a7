#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/kernels/row_sums.hpp"
#include "exposim/robot/motion_derivatives.hpp"

namespace exposim {

/// Υ = J M⁻¹Jᵀ of rows that are three of a point or of a body's spin (world axes), or one of a degree of freedom, and
/// its derivatives.
///
/// With a_i = M⁻¹J_iᵀ, V_i the velocities of bodies at those rates, F_i the momenta that go with them of all that a
/// degree of freedom k carries, S_k its motion, V_p that of what carries it,
///
///   ∂Υ_ij/∂q_k = (∂J_i/∂q_k) a_j + (∂J_j/∂q_k) a_i + (S_k × V_p,i)·F_j + F_i·(S_k × V_p,j)
///
/// since turning all that k carries is, seen from there, turning V_p back.
class ComplianceDerivatives {
 public:
  void clear();
  void add_point(std::size_t joint, const Eigen::Vector3d& position, const Eigen::Vector3d& arm);
  /// @param rows that it takes, all but the first zero.
  void add_dof(Eigen::Index dof, Eigen::Index rows = 1);
  /// The spin of a body, three rows.
  void add_spin(std::size_t joint);
  /// Υ and M⁻¹Jᵀ, of the last terms and factor.
  void compute(const RobotData& data, const Movers& movers);
  /// ∂Υ/∂q, after compute().
  void differentiate(const RobotData& data, const Movers& movers, std::vector<Eigen::MatrixXd>& by_q);

  /// Σ_j w_ji xᵢᵀ ∂Υ/∂q_k x_j of columns, without ∂Υ/∂q: with f the forces of a column, P = F − Jᵀf of all that k
  /// carries,
  ///
  ///   xᵢᵀ ∂Υ/∂q_k x_j = (S_k × V_p,i)·P_j + P_i·(S_k × V_p,j) + ω_k·Σ (uᵢ × f_j + u_j × fᵢ)   (at points)
  ///
  /// After compute(), of points and degrees of freedom. @param x of the leading rows, its columns filled up to fours.
  /// @param weights a row to each j that counts, and groups of columns like those of x. @param by_q a row to each k.
  void differentiate_products(const RobotData& data, const Movers& movers, const RowMatrixXd& x,
                              const RowMatrixXd& weights, RowMatrixXd& by_q);

  const Eigen::MatrixXd& Upsilon() const { return Upsilon_; }
  /// M⁻¹Jᵀ, (nv, rows)
  const Eigen::MatrixXd& response() const { return responses_; }

 private:
  enum class Kind : unsigned char { kPoint, kSpin, kDof };
  struct Row {
    Kind kind;
    std::size_t joint;
    Eigen::Vector3d position, arm;
    Eigen::Index dof;
    Eigen::Index first;
  };
  std::vector<Row> rows_;
  Eigen::Index size_ = 0;
  /// Velocities and momenta of bodies at rates, the columns of a matrix, each by itself.
  void move_bodies(const RobotData& data, const Movers& movers, const RowMatrixXd& rates);
  /// Adds to what each body has what all that it carries has.
  static void sum_up(const std::vector<TreeJoint>& joints, RowMatrixXd& of_bodies);
  /// Adds the changes of a point's or a spin's Jacobian with a degree of freedom that moves it.
  void add_row(const Row& row, const Eigen::Vector3d& c, const Mover& mover, double* out);
  Eigen::Index stride() const { return response_.cols(); }
  double* velocity(std::size_t body) { return velocities_.row(6 * static_cast<Eigen::Index>(body)).data(); }
  double* momentum(std::size_t body) { return momenta_.row(6 * static_cast<Eigen::Index>(body)).data(); }

  RowMatrixXd J_, response_;  // of padded rows, J transposed
  RowMatrixXd products_;      // Υ, of such rows
  LongRowSum sum_;
  Eigen::MatrixXd Upsilon_, responses_;
  // At some rates, angular and linear about the origin of each tree: six rows to a body, a column to each of these.
  RowMatrixXd velocities_, momenta_, turned_, by_q_;
  RowMatrixXd rates_, moved_, weighed_;
  std::vector<Eigen::Vector3d> origins_;
  std::vector<Eigen::Vector3d> centres_;                      // of points, from there
  Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic> moves_;  // whether a degree of freedom moves them
};

}  // namespace exposim
