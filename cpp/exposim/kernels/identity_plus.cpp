#include "exposim/kernels/identity_plus.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "exposim/kernels/fours.hpp"
#include "exposim/kernels/small_inverse.hpp"

namespace exposim {

using Eigen::Index;

namespace {

/// A block whose own equation has a smaller determinant waits until the others are attached.
constexpr double kSmallDeterminant = 0.5;

/// Columns that begin so many of their elements apart.
template <typename Element>
struct Apart {
  Element* first;
  Index stride;
};

/// So many fours of some columns, times a small matrix.
template <Index Size, Index Fours>
EXPOSIM_INLINE void combine(Apart<const Four> columns, Apart<const double> matrix, Apart<Four> to) {
  for (Index j = 0; j < Size; ++j) {
    Four sum[Fours] = {};  // NOLINT
    for (Index k = 0; k < Size; ++k) {
      const double share = matrix.first[j * matrix.stride + k];
      for (Index i = 0; i < Fours; ++i) sum[i] += share * columns.first[k * columns.stride + i];
    }
    for (Index i = 0; i < Fours; ++i) to.first[j * to.stride + i] = sum[i];
  }
}

/// The loops below for columns of so many fours, or of any number (0).
template <Index Fours>
struct Columns {
  Index any;

  EXPOSIM_INLINE Index count() const { return Fours > 0 ? Fours : any; }
  EXPOSIM_INLINE Index stride() const { return kFour * count(); }

  /// Attaches a block to some columns of `from`, which may be X itself, unless its determinant is too small and it may
  /// wait. @return the determinant, zero if it waits.
  template <Index Size>
  EXPOSIM_INLINE double attach(const DiagonalBlock& block, Index n, const Index* which, bool may_wait,
                               const double* from, double* X, double* columns) const {
    constexpr Index kFours = Small<Size>::kFours;
    const double* const Q = block.values.data();
    const double* const own = from + block.first * stride();  // X_i
    Small<Size> T;                                            // I + X_ii Q
    for (Index j = 0; j < Size; ++j) {
      for (Index i = 0; i < kFours; ++i) {
        Four sum = four(kUnits + 8 - j, i);
        for (Index k = 0; k < Size; ++k) sum += Q[8 * j + k] * four(own + k * stride() + block.first, i);
        four(T.column(j), i) = sum;
      }
    }
    const Divided inverse = invert_undivided<Size>(T);
    if (may_wait && !(inverse.determinant >= kSmallDeterminant)) return 0.0;
    // X_i Q T⁻¹, but for the factor, for which nothing waits; columns of known length at once, on the stack.
    constexpr Index kAtOnce = std::max(Fours, Index{1});
    Four pushed[Size * kAtOnce], kept[Size * kAtOnce];  // NOLINT
    Four* const pulled = Fours > 0 ? kept : reinterpret_cast<Four*>(columns);
    for (Index i = 0; i < count(); i += kAtOnce) {
      combine<Size, kAtOnce>({reinterpret_cast<const Four*>(own) + i, count()}, {Q, 8}, {pushed, kAtOnce});
      combine<Size, kAtOnce>({pushed, kAtOnce}, {T.column(0), Small<Size>::kStride}, {pulled + i, count()});
    }
    for (Index j = 0; j < n; ++j) {
      const double* const before = from + which[j] * stride();
      double* const column = X + which[j] * stride();
      double felt[Size];
      for (Index k = 0; k < Size; ++k) felt[k] = inverse.factor * before[block.first + k];
      if constexpr (Fours == 0) {  // of many, most feel nothing
        double any = from == X ? 0.0 : 1.0;
        for (Index k = 0; k < Size; ++k) any += magnitude(felt[k]);
        if (any == 0.0) continue;
      }
      for (Index i = 0; i < count(); ++i) {
        Four rest = four(before, i);
        for (Index k = 0; k < Size; ++k) rest -= felt[k] * pulled[k * count() + i];
        four(column, i) = rest;
      }
    }
    return inverse.determinant;
  }

  EXPOSIM_INLINE void apply(Index n, const Index* which, const double* X, const double* w, double* x) const {
    if constexpr (Fours > 0) {
      Four sum[Fours] = {};  // NOLINT
      for (Index k = 0; k < n; ++k) {
        const Index j = which[k];
        for (Index i = 0; i < Fours; ++i) sum[i] += w[j] * four(X + j * stride(), i);
      }
      for (Index i = 0; i < Fours; ++i) four(x, i) = sum[i];
    } else {
      for (Index i = 0; i < count(); ++i) four(x, i) = Four{0.0, 0.0, 0.0, 0.0};
      for (Index k = 0; k < n; ++k) {
        const Index j = which[k];
        if (w[j] == 0.0) continue;
        for (Index i = 0; i < count(); ++i) {
          four(x, i) += w[j] * four(X + j * stride(), i);
        }
      }
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

/// @param n rows, and how many columns count, which of them.
EXPOSIM_FOR_EACH_MACHINE
double attach_block(Index n, Index count, const Index* which, const DiagonalBlock& block, bool may_wait,
                    const double* from, double* X, double* columns) {
  return with_columns(n, [&](const auto each) EXPOSIM_INLINE_CALL {
    if (block.size == 3) return each.template attach<3>(block, count, which, may_wait, from, X, columns);
    if (block.size == 6) return each.template attach<6>(block, count, which, may_wait, from, X, columns);
    return each.template attach<1>(block, count, which, may_wait, from, X, columns);
  });
}

EXPOSIM_FOR_EACH_MACHINE
void apply_columns(Index n, Index count, const Index* which, const double* X, const double* w, double* x) {
  with_columns(n, [&](const auto each) EXPOSIM_INLINE_CALL { each.apply(count, which, X, w, x); });
}

}  // namespace

void IdentityPlus::resize(Index n) {
  n_ = n;
  const Index stride = padded(n_);
  for (std::vector<double>* const each : {&A_, &with_lasting_, &with_all_}) {
    each->resize(static_cast<std::size_t>(n_ * stride) + 2 * kFour);
  }
  columns_.resize(static_cast<std::size_t>(6 * stride));
  pushed_.resize(static_cast<std::size_t>(n_));
  std::iota(pushed_.begin(), pushed_.end(), Index{0});
}

void IdentityPlus::load(const Eigen::MatrixXd& whole, const std::vector<Index>& rows) {
  const auto n = static_cast<Index>(rows.size());
  Index side_by_side = 0;
  while (side_by_side < n && rows[static_cast<std::size_t>(side_by_side)] == rows.front() + side_by_side)
    ++side_by_side;
  if (n > 0 && side_by_side == n) return load(n, whole.data() + rows.front() * (whole.rows() + 1), whole.rows());
  resize(n);
  const Index stride = padded(n_);
  for (Index j = 0; j < n_; ++j) {
    const double* const column = whole.data() + rows[static_cast<std::size_t>(j)] * whole.rows();
    double* const to = A_.data() + j * stride;
    for (Index i = 0; i < n_; ++i) to[i] = column[rows[static_cast<std::size_t>(i)]];
    for (Index i = n_; i < stride; ++i) to[i] = 0.0;
  }
  all_ = kept_ = {A_.data(), 1.0};
}

void IdentityPlus::load(Index n, const double* whole, Index stride) {
  resize(n);
  for (Index j = 0; j < n_; ++j) {
    double* const to = A_.data() + j * padded(n_);
    const double* const column = whole + j * stride;
    for (Index i = 0; i < n_; ++i) to[i] = column[i];
    for (Index i = n_; i < padded(n_); ++i) to[i] = 0.0;
  }
  all_ = kept_ = {A_.data(), 1.0};
}

void IdentityPlus::attach(const std::vector<DiagonalBlock>& B, bool lasting_as_before, Forces forces) {
  const auto counts = [&](const DiagonalBlock& block) { return forces == Forces::kAnywhere || !block.zero; };
  std::size_t count = 0;
  bool same = true;
  for (const DiagonalBlock& block : B) {
    if (!counts(block)) continue;
    same &= count < pushed_.size() && pushed_[count] == block.first;
    count += static_cast<std::size_t>(block.size);
  }
  if (!same || count != pushed_.size()) {
    pushed_.clear();
    for (const DiagonalBlock& block : B) {
      for (Index j = 0; j < (counts(block) ? block.size : 0); ++j) pushed_.push_back(block.first + j);
    }
    lasting_as_before = false;  // of these columns nothing is kept
  }
  if (!lasting_as_before) {
    kept_.from = A_.data();
    kept_.determinant = 1.0;
    attach_some(B, true, kept_, with_lasting_);
  }
  all_ = kept_;
  attach_some(B, false, all_, with_all_);
}

void IdentityPlus::attach_some(const std::vector<DiagonalBlock>& B, bool lasting, Attached& to,
                               std::vector<double>& result) {
  const auto attach = [&](const DiagonalBlock& block, bool may_wait) {
    const double determinant = attach_block(n_, static_cast<Index>(pushed_.size()), pushed_.data(), block, may_wait,
                                            to.from, result.data(), columns_.data());
    if (determinant == 0.0 && may_wait) return false;
    to.from = result.data();
    to.determinant *= determinant;
    return true;
  };
  std::size_t tried = 0;
  left_.clear();
  for (const DiagonalBlock& block : B) {
    if (block.zero || block.lasting != lasting) continue;
    ++tried;
    if (!attach(block, true)) left_.push_back(&block);
  }
  while (!left_.empty()) {
    const bool may_wait = left_.size() < tried;  // until all that are left wait
    std::size_t waiting = 0;
    for (const DiagonalBlock* const block : left_) {
      if (!attach(*block, may_wait)) left_[waiting++] = block;
    }
    tried = left_.size();
    left_.resize(waiting);
  }
}

void IdentityPlus::apply(const double* w, double* x) const {
  apply_columns(n_, static_cast<Index>(pushed_.size()), pushed_.data(), all_.from, w, x);
}

}  // namespace exposim
