#pragma once

#include <Eigen/Core>
#include <vector>

namespace exposim {

/// Where a column stands among others: entries of the degrees of freedom that carry its own, then that of its own.
struct TreeColumn {
  std::size_t first;
  int above;  ///< how many carry it
};

/// An entry of a column: of which degree of freedom, and where it stands.
struct TreeEntry {
  int dof;
  std::size_t where;
};

/// Where entries of a matrix stand that has the sparsity of a tree.
struct TreeLayout {
  Eigen::Index count;
  const TreeColumn* columns;
  const int *path, *begins;             ///< which degree of freedom an entry belongs to, and where its column begins
  const std::vector<TreeEntry>* below;  ///< in the columns of all that a degree of freedom carries, those of its own
};

/// M = U D Uᵀ of a matrix with the sparsity of a tree, U with ones on its diagonal: column k has entries at k and at
/// the degrees of freedom that carry it, and these are kept side by side, from the root on. What is above an ancestor
/// is the beginning of what is above k, so that all loops run over neighbours; columns are filled up to fours.
class TreeFactor {
 public:
  TreeFactor() = default;
  /// @param parents of every degree of freedom, −1 for none; each before what it carries.
  explicit TreeFactor(const std::vector<int>& parents);

  /// Factors M, or M + diag(added). M is packed: its columns one after another, each from the diagonal upwards.
  void factor(const std::vector<double>& M);
  void factor(const std::vector<double>& M, const Eigen::VectorXd& added);
  /// Where a column begins in the packed M, with the entry on the diagonal.
  std::size_t first(Eigen::Index dof) const { return packed_[static_cast<std::size_t>(dof)]; }

  // With L = U D^½, M = L Lᵀ:
  /// Solves L y = x in place.
  void solve_L(double* x) const;
  /// The same for rows of `size` entries, at most six, which are zero but for the given degrees of freedom, ascending;
  /// with each of them those that carry it are given.
  void solve_L(const Eigen::Index* dofs, std::size_t count, Eigen::Index size, double* rows) const;
  /// Solves Lᵀ y = x in place.
  void solve_Lt(double* x) const;
  /// The same for two.
  void solve_Lt(double* x, double* y) const;

  // Of rows of many numbers, a multiple of four, one behind the other and a row to each degree of freedom:
  /// M⁻¹ times them, in place; times a factor.
  void solve_rows(Eigen::Index length, double* rows, double factor = 1.0) const;
  /// to += A times them, with A of the sparsity of M + Mᵀ, row by row.
  void add_product(const double* A, Eigen::Index length, const double* rows, double* to) const;

  /// For others of the same sparsity.
  TreeLayout layout() const {
    return {static_cast<Eigen::Index>(columns_.size()), columns_.data(), path_.data(), begins_.data(), below_.data()};
  }

  /// 1/(M⁻¹)ᵢᵢ
  double felt(Eigen::Index dof) const;
  /// A column of L⁻¹, which is zero but for a degree of freedom and those above: calls f(which, entry) with these.
  template <typename Function>
  void for_each_in_inverse_L(Eigen::Index dof, Function&& f) const {
    const auto [first, above] = columns_[static_cast<std::size_t>(dof)];
    const double* const entries = inverse_column(dof);
    for (std::size_t p = 0; p <= static_cast<std::size_t>(above); ++p) {
      f(static_cast<Eigen::Index>(path_[first + p]), entries[p]);
    }
  }

 private:
  void load(const std::vector<double>& M);
  void factor_columns();
  const double* inverse_column(Eigen::Index dof) const;
  /// Where supports are not those of one body.
  void solve_L_apart(const Eigen::Index* dofs, std::size_t count, Eigen::Index size, double* rows) const;

  std::vector<std::size_t> packed_;
  std::vector<TreeColumn> columns_;
  std::vector<std::vector<TreeEntry>> below_;
  // As the columns are laid out: which degree of freedom an entry belongs to, and where the column of that begins.
  std::vector<int> path_, begins_;
  std::vector<double> U_;  // above the diagonal, which is zero here
  std::vector<double> inverse_root_D_;
  mutable std::vector<double> inverse_L_;
  mutable std::vector<unsigned char> inverted_;  // columns of it that are known
  mutable std::vector<double> y_;
  mutable std::vector<std::size_t> place_;  // of degrees of freedom among those given
  mutable std::vector<double> factors_;
};

}  // namespace exposim
