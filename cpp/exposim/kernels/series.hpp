#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/kernels/faber.hpp"
#include "exposim/kernels/identity_plus.hpp"

namespace exposim {

/// Integrals of stiff springs and dampers by a power series, one product of a matrix and a vector a term.
///
///   y'' = f₀ + f₁ s − Υ (K y + B y'),    Υ symmetric, positive semidefinite; K and B likewise, of blocks
///
/// With x = (y, t y') and time counted in t, x' = A x + …, and all that is asked for are φ functions of A times one
/// vector, x'(0): a series in the Faber polynomials of an ellipse that has the eigenvalues of A in it. They lie between
/// zero and −t‖ΥB‖ along the real axis, and no further than √(t²‖ΥK‖) off it. Exact to rounding; nothing is factored,
/// nothing divided by. The number of terms grows with the root of the one, and in proportion to the other.
///
/// Holds its scratch: no allocation once it has been as large.
class SeriesKernel {
 public:
  struct System {
    const Eigen::MatrixXd& Upsilon;  ///< its first rows and columns
    const std::vector<DiagonalBlock>& K;
    const std::vector<DiagonalBlock>* B;  ///< none: B = c K
    double c;
  };
  /// Columns y(0), y'(0), f₀, f₁.
  using Start = Eigen::MatrixX4d;

  /// @param forced whether f₁ is not zero.
  /// @return false if there would be too many terms: then there is no result.
  bool compute(const System& system, const Start& start, bool forced, double t);

  /// Columns ∫y, ∫y', ∫∫y, ∫∫y'.
  const Eigen::MatrixX4d& result() const { return result_; }
  bool is_proportional() const { return proportional_; }
  double c() const { return c_; }
  /// No eigenvalue of ΥK is above this.
  double norm() const { return norm_K_; }
  /// Terms that it took.
  int terms() const { return static_cast<int>(series_->terms); }

  /// y and y' of an instant, and, where it was asked for, how fast they change: squared norms ‖x‖² = xᵀKx.
  struct Instant {
    double s;  ///< since the start
    Eigen::VectorXd y, dy;
    double velocity, acceleration, jerk;
    double unbraked;                          ///< of the acceleration without dampers
    double strain_rate, strain_acceleration;  ///< xᵀKΥKx of velocity and acceleration
  };
  /// The start is the first, the end the last of a few.
  static constexpr std::size_t kLast = FaberSeries::kInstants + 1;
  /// Not between start and end if it was forced.
  const Instant& at(std::size_t i);
  const Instant& rates_at(std::size_t i);

 private:
  void load(const System& system);
  /// All terms of the series that begins with x. @return whether they stay as small as they should.
  bool expand(const Eigen::VectorXd& y, const Eigen::VectorXd& dy);
  void find(std::size_t i);
  void find_rates(Instant& instant);
  /// x −= ΥK w, or ΥB w.
  void subtract_product(const std::vector<double>& A, const Eigen::VectorXd& w, Eigen::VectorXd& x);

  Eigen::Index n_ = 0;
  const std::vector<DiagonalBlock>* K_ = nullptr;
  bool proportional_ = true;
  double c_ = 0.0, norm_K_ = 0.0, norm_B_ = 0.0, t_ = 0.0;
  FaberTable table_;
  FaberSeries* series_ = nullptr;
  // Columns begin at multiples of four, and are filled up with zeros: loops need no ends of their own.
  std::vector<double> Upsilon_, UK_, UB_;  // the latter ΥK and ΥB
  std::vector<double> terms_;              // F_k(A) x'(0): y, then t y', one after the other
  std::vector<double> sums_, w_, x_;
  Eigen::VectorXd f0_, f1_, acceleration_, jerk_, along_, weighted_;
  std::vector<Instant> instants_;
  std::size_t known_ = 0, rated_ = 0;  // bits of instants whose motion, whose rates are known
  Eigen::MatrixX4d result_;
};

}  // namespace exposim
