#include "exposim/kernels/series_loops.hpp"

#include "exposim/kernels/fours.hpp"

namespace exposim {

using Eigen::Index;

namespace {

EXPOSIM_INLINE const Four* in_fours(const double* x) { return reinterpret_cast<const Four*>(x); }
EXPOSIM_INLINE Four* in_fours(double* x) { return reinterpret_cast<Four*>(x); }

/// The loops below for columns of so many fours, or of any number (0).
template <Index Fours>
struct Columns {
  Index any;

  EXPOSIM_INLINE Index count() const { return Fours > 0 ? Fours : any; }
  EXPOSIM_INLINE Index stride() const { return kFour * count(); }

  /// x −= A w, in halves that do not wait for each other.
  EXPOSIM_INLINE void subtract_product(Index n, const double* A, const double* w, double* x) const {
    if constexpr (Fours > 0) {
      Four odd[Fours], even[Fours];
      for (Index i = 0; i < Fours; ++i) {
        even[i] = in_fours(x)[i];
        odd[i] = Four{0.0, 0.0, 0.0, 0.0};
      }
      Index j = 0;
      for (; j + 1 < n; j += 2, A += 2 * stride()) {
        for (Index i = 0; i < Fours; ++i) even[i] -= w[j] * in_fours(A)[i];
        for (Index i = 0; i < Fours; ++i) odd[i] -= w[j + 1] * in_fours(A + stride())[i];
      }
      if (j < n) {
        for (Index i = 0; i < Fours; ++i) even[i] -= w[j] * in_fours(A)[i];
      }
      for (Index i = 0; i < Fours; ++i) in_fours(x)[i] = even[i] + odd[i];
    } else {
      for (Index j = 0; j < n; ++j, A += stride()) {
        for (Index i = 0; i < count(); ++i) in_fours(x)[i] -= w[j] * in_fours(A)[i];
      }
    }
  }

  /// A B of a matrix of blocks.
  EXPOSIM_INLINE void set_product(const double* A, const DiagonalBlock* B, std::size_t blocks, double* product) const {
    for (const DiagonalBlock* block = B; block != B + blocks; ++block) {
      for (Index j = 0; j < block->size; ++j) {
        double* const column = product + (block->first + j) * stride();
        for (Index i = 0; i < count(); ++i) in_fours(column)[i] = Four{0.0, 0.0, 0.0, 0.0};
        for (Index k = 0; k < block->size; ++k) {
          const double factor = block->values(k, j);
          if (factor == 0.0) continue;
          const double* const from = A + (block->first + k) * stride();
          for (Index i = 0; i < count(); ++i) in_fours(column)[i] += factor * in_fours(from)[i];
        }
      }
    }
  }

  /// sums += |A| w
  EXPOSIM_INLINE void add_magnitudes(Index n, const double* A, const double* w, double* sums) const {
    for (Index j = 0; j < n; ++j, A += stride()) {
      for (Index i = 0; i < count(); ++i) {
        const Four a = in_fours(A)[i];
        in_fours(sums)[i] += w[j] * (a < 0.0 ? -a : a);
      }
    }
  }

  EXPOSIM_INLINE void expand(Index n, const double* UK, const double* UB, const FaberRecursion& by, std::size_t terms,
                             double* x, double* w) const {
    const Index step = 2 * stride();
    for (std::size_t k = 0; k + 1 < terms; ++k, x += step) {
      const double s = k == 1 ? 2.0 * by.s : by.s;
      const Four *const y = in_fours(x), *const dy = in_fours(x + stride());
      double* const next = x + step;
      Four *const y_next = in_fours(next), *const dy_next = in_fours(next + stride());
      for (Index i = 0; i < count(); ++i) {
        y_next[i] = by.shift * y[i] + by.inverse * dy[i];
        dy_next[i] = by.shift * dy[i];
        in_fours(w)[i] = UB ? by.by_y * y[i] : by.by_y * y[i] + by.by_dy * dy[i];
      }
      if (k > 0) {
        const Four *const y_last = in_fours(x - step), *const dy_last = in_fours(x - stride());
        for (Index i = 0; i < count(); ++i) {
          y_next[i] -= s * y_last[i];
          dy_next[i] -= s * dy_last[i];
        }
      }
      subtract_product(n, UK, w, next + stride());
      if (!UB) continue;
      for (Index i = 0; i < count(); ++i) in_fours(w)[i] = by.by_dy * dy[i];
      subtract_product(n, UB, w, next + stride());
    }
  }

  /// Sums of y and dy.
  EXPOSIM_INLINE void sum_motion(std::size_t terms, const double* x, const double* factors, double* sums) const {
    for (Index i = 0; i < 2 * count(); ++i) {
      Four sum = {0.0, 0.0, 0.0, 0.0};
      const double* from = x;
      for (std::size_t k = 0; k < terms; ++k, from += 2 * stride()) sum += factors[k] * in_fours(from)[i];
      in_fours(sums)[i] = sum;
    }
  }

  /// Sums of y with three, and of dy with the first, of three series.
  EXPOSIM_INLINE void sum(std::size_t terms, const double* x, const double* first, const double* second,
                          const double* third, double* sums) const {
    for (Index i = 0; i < count(); ++i) {
      Four a = {0.0, 0.0, 0.0, 0.0}, b = a, c = a, d = a;
      const double* from = x;
      for (std::size_t k = 0; k < terms; ++k, from += 2 * stride()) {
        const Four y = in_fours(from)[i], dy = in_fours(from + stride())[i];
        a += first[k] * y;
        b += second[k] * y;
        c += third[k] * y;
        d += first[k] * dy;
      }
      in_fours(sums)[i] = a;
      in_fours(sums + stride())[i] = b;
      in_fours(sums + 2 * stride())[i] = c;
      in_fours(sums + 3 * stride())[i] = d;
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
    default:
      return f(Columns<0>{fours(n)});
  }
}

}  // namespace

EXPOSIM_FOR_EACH_MACHINE
void set_product(Index n, const double* A, const DiagonalBlock* B, std::size_t blocks, double* product) {
  with_columns(n, [&](const auto columns) EXPOSIM_INLINE_CALL { columns.set_product(A, B, blocks, product); });
}

EXPOSIM_FOR_EACH_MACHINE
void add_magnitudes(Index n, const double* A, const double* w, double* sums) {
  with_columns(n, [&](const auto columns) EXPOSIM_INLINE_CALL { columns.add_magnitudes(n, A, w, sums); });
}

EXPOSIM_FOR_EACH_MACHINE
void subtract_columns(Index n, const double* A, const double* w, double* x) {
  with_columns(n, [&](const auto columns) EXPOSIM_INLINE_CALL { columns.subtract_product(n, A, w, x); });
}

EXPOSIM_FOR_EACH_MACHINE
void expand_series(Index n, const double* UK, const double* UB, const FaberRecursion& by, std::size_t terms, double* x,
                   double* w) {
  with_columns(n, [&](const auto columns) EXPOSIM_INLINE_CALL { columns.expand(n, UK, UB, by, terms, x, w); });
}

EXPOSIM_FOR_EACH_MACHINE
void sum_series(Index n, std::size_t terms, const double* x, const double* first, const double* second,
                const double* third, double* sums) {
  with_columns(n, [&](const auto columns) EXPOSIM_INLINE_CALL { columns.sum(terms, x, first, second, third, sums); });
}

EXPOSIM_FOR_EACH_MACHINE
void sum_motion(Index n, std::size_t terms, const double* x, const double* factors, double* sums) {
  with_columns(n, [&](const auto columns) EXPOSIM_INLINE_CALL { columns.sum_motion(terms, x, factors, sums); });
}

}  // namespace exposim
