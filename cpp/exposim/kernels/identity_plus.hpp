#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/kernels/fours.hpp"

namespace exposim {

/// A block on the diagonal of a matrix that is zero elsewhere.
struct DiagonalBlock {
  Eigen::Index first, size;            ///< at most six
  bool zero;                           ///< there is nothing in it
  bool lasting;                        ///< it stays while others change
  Eigen::Matrix<double, 8, 6> values;  ///< in its upper left; columns begin at multiples of four
};

/// X = (I + A B)⁻¹A for a small A and a block-diagonal B, which changes often: what a mass does to forces when springs
/// are attached to it. One block after the other,
///
///   X ← X − Xᵢ Bᵢ (I + Xᵢᵢ Bᵢ)⁻¹ Xᵢᵀ,      from X = A,
///
/// so that no right-hand side waits for a substitution, and blocks that are zero or feel nothing of each other cost
/// little. No allocation once it has been as large.
class IdentityPlus {
 public:
  IdentityPlus() = default;
  IdentityPlus(const IdentityPlus&) = delete;  // it points into itself
  IdentityPlus& operator=(const IdentityPlus&) = delete;

  /// Takes A: some rows and columns of a matrix.
  void load(const Eigen::MatrixXd& whole, const std::vector<Eigen::Index>& rows);
  /// The first n rows and columns of one, of which a column begins every `stride` numbers.
  void load(Eigen::Index n, const double* whole, Eigen::Index stride);
  /// Where x will be asked for: for any w, or for those that are zero where blocks are.
  enum class Forces : unsigned char { kAnywhere, kOnBlocks };
  /// @param B blocks that are left out are zero.
  /// @param lasting_as_before those that last are the same as at the last call: only the others are attached again.
  void attach(const std::vector<DiagonalBlock>& B, bool lasting_as_before = false, Forces forces = Forces::kAnywhere);
  /// Of I + A B.
  double determinant() const { return all_.determinant; }

  /// x = X w. @param x has room for a multiple of four.
  void apply(const double* w, double* x) const;
  double X(Eigen::Index i, Eigen::Index j) const { return all_.from[j * padded(n_) + i]; }

 private:
  void resize(Eigen::Index n);

  /// (I + A B)⁻¹A of some blocks of B.
  struct Attached {
    const double* from = nullptr;  ///< where it stands
    double determinant = 1.0;
  };
  /// Attaches those that last, or the others. @param result where it is to stand.
  void attach_some(const std::vector<DiagonalBlock>& B, bool lasting, Attached& to, std::vector<double>& result);

  // Columns begin at multiples of four, and are filled up with zeros: loops need no ends of their own. Behind the last
  // one there is room to read on.
  Eigen::Index n_ = 0;
  std::vector<double> A_, with_lasting_, with_all_;
  Attached kept_, all_;
  std::vector<double> columns_;             // of X Bᵢ (I + Xᵢᵢ Bᵢ)⁻¹ that belong to a block
  std::vector<Eigen::Index> pushed_;        // columns that w may have
  std::vector<const DiagonalBlock*> left_;  // blocks that are yet to be attached
};

}  // namespace exposim
