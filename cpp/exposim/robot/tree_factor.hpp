#pragma once

#include <Eigen/Core>
#include <vector>

namespace exposim {

/// Where a column stands among others: an entry for its degree of freedom, then those of its ancestors upwards.
struct TreeColumn {
  std::size_t first;
  int size;
};

/// M = U D Uᵀ of a matrix with the sparsity of a tree, U with ones on its diagonal: column k has entries at k and at
/// the degrees of freedom that carry it, and these are kept side by side. What is above an ancestor is the end of what
/// is above k, so that all loops run over neighbours.
class TreeFactor {
 public:
  TreeFactor() = default;
  /// @param parents of every degree of freedom, −1 for none; each before what it carries.
  explicit TreeFactor(const std::vector<int>& parents);

  /// Factors M, or M + diag(added). M is packed: its columns one after another, each from the diagonal upwards.
  void factor(const std::vector<double>& M);
  void factor(const std::vector<double>& M, const Eigen::VectorXd& added);
  /// Where a column begins, with the entry on the diagonal.
  std::size_t first(Eigen::Index dof) const { return columns_[static_cast<std::size_t>(dof)].first; }

  // With L = U D^½, M = L Lᵀ:
  /// Solves L y = x in place.
  void solve_L(double* x) const;
  /// The same for rows of `size` entries, which are zero but for the given degrees of freedom, ascending; with each of
  /// them those that carry it are given.
  void solve_L(const Eigen::Index* dofs, std::size_t count, Eigen::Index size, double* rows) const;
  /// Solves Lᵀ y = x in place.
  void solve_Lt(double* x) const;
  /// The same for two.
  void solve_Lt(double* x, double* y) const;

  /// 1/(M⁻¹)ᵢᵢ
  double felt(Eigen::Index dof) const;
  /// Calls f with a degree of freedom and those above it.
  template <typename Function>
  void for_each_above(Eigen::Index dof, Function&& f) const {
    const auto [first, size] = columns_[static_cast<std::size_t>(dof)];
    for (std::size_t p = first; p < first + static_cast<std::size_t>(size); ++p)
      f(static_cast<Eigen::Index>(above_[p]));
  }
  /// A column of L⁻¹, which is zero but for a degree of freedom and those above: calls f(which, entry) with these.
  template <typename Function>
  void for_each_in_inverse_L(Eigen::Index dof, Function&& f) const {
    const auto [first, size] = columns_[static_cast<std::size_t>(dof)];
    double* const y = y_.data();
    y[0] = 1.0;
    for (int p = 1; p < size; ++p) y[p] = 0.0;
    for (int p = 0; p < size; ++p) {
      const auto k = static_cast<std::size_t>(above_[first + static_cast<std::size_t>(p)]);
      const double* const column = packed_.data() + columns_[k].first;
      for (int r = 1; r < size - p; ++r) y[p + r] -= column[r] * y[p];
      f(static_cast<Eigen::Index>(k), y[p] * inverse_root_D_[k]);
    }
  }

 private:
  void factor_packed();
  /// @tparam Size of the rows, or zero: any.
  template <Eigen::Index Size>
  void solve_L(const Eigen::Index* dofs, std::size_t count, Eigen::Index size, double* rows) const;

  std::vector<TreeColumn> columns_;
  std::vector<int> above_;
  std::vector<double> packed_, inverse_D_, inverse_root_D_;
  mutable std::vector<double> y_;
  mutable std::vector<std::size_t> place_;  // of degrees of freedom among those given
};

}  // namespace exposim
