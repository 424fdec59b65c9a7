#include "exposim/kernels/identity_plus.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

// The same operations in the same order, four at a time where the machine can: the same bits.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define EXPOSIM_FOR_EACH_MACHINE __attribute__((target_clones("avx2", "default")))
#else
#define EXPOSIM_FOR_EACH_MACHINE
#endif

namespace exposim {

using Eigen::Index;

namespace {

constexpr Index kFour = 4;
/// Without pivoting, multipliers up to here are no harm.
constexpr double kLargeMultiplier = 1e3;
using Four = double __attribute__((vector_size(kFour * sizeof(double)), aligned(sizeof(double)), may_alias));

constexpr Index fours(Index n) { return (n + kFour - 1) / kFour; }

#define EXPOSIM_INLINE inline __attribute__((always_inline))
#define EXPOSIM_INLINE_CALL __attribute__((always_inline))

/// The loops below for columns of so many fours, or of any number (0).
template <Index Fours>
struct Columns {
  Index any;

  EXPOSIM_INLINE Index count() const { return Fours > 0 ? Fours : any; }
  EXPOSIM_INLINE Index stride() const { return kFour * count(); }

  /// to += factor · from
  EXPOSIM_INLINE void add(double* to, double factor, const double* from) const {
    for (Index i = 0; i < count(); ++i) {
      reinterpret_cast<Four*>(to)[i] += factor * reinterpret_cast<const Four*>(from)[i];
    }
  }

  /// Multipliers of what is below the diagonal, zeros above. @return the sum of their squares.
  EXPOSIM_INLINE double divide(const double* column, double inverse, Index k, double* multipliers) const {
    for (Index i = 0; i < count(); ++i) {
      reinterpret_cast<Four*>(multipliers)[i] = inverse * reinterpret_cast<const Four*>(column)[i];
    }
    for (Index i = 0; i <= k; ++i) multipliers[i] = 0.0;
    Four sum = {0.0, 0.0, 0.0, 0.0};
    for (Index i = 0; i < count(); ++i) {
      const Four four = reinterpret_cast<const Four*>(multipliers)[i];
      sum += four * four;
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }

  /// W = I + A B
  EXPOSIM_INLINE void set_product(const double* A, const DiagonalBlock* B, std::size_t blocks, double* W) const {
    for (const DiagonalBlock* block = B; block != B + blocks; ++block) {
      for (Index j = 0; j < block->size; ++j) {
        double* const column = W + (block->first + j) * stride();
        for (Index i = 0; i < count(); ++i) reinterpret_cast<Four*>(column)[i] = Four{0.0, 0.0, 0.0, 0.0};
        for (Index i = 0; i < block->size; ++i) add(column, block->values(i, j), A + (block->first + i) * stride());
        column[block->first + j] += 1.0;
      }
    }
  }

  /// P W = L U, with rows exchanged where they must be; W becomes U without its diagonal. @return the determinant.
  EXPOSIM_INLINE double factor(Index n, double* W, double* lower, double* inverse, Index* rows) const {
    double determinant = 1.0;
    for (Index k = 0; k < n; ++k) {
      double* const column = W + k * stride();
      double* const multipliers = lower + k * stride();
      rows[k] = k;
      inverse[k] = 1.0 / column[k];
      if (!(divide(column, inverse[k], k, multipliers) < kLargeMultiplier * kLargeMultiplier)) {
        for (Index i = k + 1; i < n; ++i) {
          if (std::abs(column[i]) > std::abs(column[rows[k]])) rows[k] = i;
        }
        if (rows[k] != k) {
          determinant = -determinant;
          for (Index j = 0; j < k; ++j) std::swap(lower[j * stride() + k], lower[j * stride() + rows[k]]);
          for (Index j = k; j < n; ++j) std::swap(W[j * stride() + k], W[j * stride() + rows[k]]);
        }
        inverse[k] = 1.0 / column[k];
        divide(column, inverse[k], k, multipliers);
      }
      determinant *= column[k];
      for (Index i = k; i < n; ++i) column[i] = 0.0;
      for (Index j = k + 1; j < n; ++j) {
        const double factor = W[j * stride() + k];
        if (factor != 0.0) add(W + j * stride(), -factor, multipliers);
      }
    }
    return determinant;
  }

  EXPOSIM_INLINE void solve(Index n, const double* lower, const double* upper, const double* inverse, double* x) const {
    for (Index k = 0; k + 1 < n; ++k) {
      if (x[k] != 0.0) add(x, -x[k], lower + k * stride());
    }
    for (Index k = n; k-- > 0;) {
      x[k] *= inverse[k];
      if (x[k] != 0.0) add(x, -x[k], upper + k * stride());
    }
  }

  EXPOSIM_INLINE void add_product(Index n, const double* A, const double* w, double* x) const {
    for (Index j = 0; j < n; ++j) {
      if (w[j] != 0.0) add(x, w[j], A + j * stride());
    }
  }
};

/// Calls f with the columns of n rows: of a length that the compiler knows, for as many as robots have.
template <typename Function>
EXPOSIM_INLINE auto with_columns(Index n, Function&& f) {
  switch (fours(n)) {
    case 1:
      return f(Columns<1>{1});
    case 2:
      return f(Columns<2>{2});
    case 3:
      return f(Columns<3>{3});
    case 6:
      return f(Columns<6>{6});
    default:
      return f(Columns<0>{fours(n)});
  }
}

EXPOSIM_FOR_EACH_MACHINE
double factor_product(Index n, const double* A, const DiagonalBlock* B, std::size_t blocks, double* W, double* lower,
                      double* inverse, Index* rows) {
  return with_columns(n, [&](const auto columns) EXPOSIM_INLINE_CALL {
    columns.set_product(A, B, blocks, W);
    return columns.factor(n, W, lower, inverse, rows);
  });
}

EXPOSIM_FOR_EACH_MACHINE
void add_product(Index n, const double* A, const double* w, double* x) {
  with_columns(n, [&](const auto columns) EXPOSIM_INLINE_CALL { columns.add_product(n, A, w, x); });
}

EXPOSIM_FOR_EACH_MACHINE
void solve_factored(Index n, const double* lower, const double* upper, const double* inverse, double* x) {
  with_columns(n, [&](const auto columns) EXPOSIM_INLINE_CALL { columns.solve(n, lower, upper, inverse, x); });
}

}  // namespace

void subtract_product(const std::vector<DiagonalBlock>& B, const double* x, double* y) {
  for (const DiagonalBlock& block : B) {
    for (Index j = 0; j < block.size; ++j) {
      for (Index i = 0; i < block.size; ++i) y[block.first + i] -= block.values(i, j) * x[block.first + j];
    }
  }
}

void IdentityPlus::load(const Eigen::MatrixXd& A, Index n) {
  n_ = n;
  const Index stride = kFour * fours(n);
  const auto size = static_cast<std::size_t>(n * stride);
  A_.assign(size, 0.0);
  lower_.resize(size);
  upper_.resize(size);
  inverse_.resize(static_cast<std::size_t>(n));
  rows_.resize(static_cast<std::size_t>(n));
  x_.resize(static_cast<std::size_t>(stride));
  for (Index j = 0; j < n; ++j) {
    const double* const column = A.data() + j * A.rows();
    std::copy(column, column + n, A_.data() + j * stride);
  }
}

void IdentityPlus::factor(const std::vector<DiagonalBlock>& B) {
  determinant_ =
      factor_product(n_, A_.data(), B.data(), B.size(), upper_.data(), lower_.data(), inverse_.data(), rows_.data());
}

void IdentityPlus::solve_product(const double* w, double* x) {
  std::fill(x_.begin(), x_.end(), 0.0);
  double* const solved = x_.data();
  add_product(n_, A_.data(), w, solved);
  for (Index k = 0; k < n_; ++k) std::swap(solved[k], solved[rows_[static_cast<std::size_t>(k)]]);
  solve_factored(n_, lower_.data(), upper_.data(), inverse_.data(), solved);
  std::copy(solved, solved + n_, x);
}

}  // namespace exposim
