#include "exposim/kernels/modal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "exposim/kernels/oscillator.hpp"
#include "exposim/kernels/row_parts.hpp"

namespace exposim {

using Eigen::Index;

namespace {

/// Largest distance of z = y + c y' from its mean over [0, t], from above.
///
/// z moves like y: z(s) = z0 + (f − ω z0) G1(s) + z0' G(s). G is never above 1/√ω or s; where it has not yet crossed
/// zero (overdamped, or before half a period), it is not negative and G1 rises.
double distance_from_mean(double omega, double c, double t, double y0, double dy0, double f, double z_mean, double G1) {
  const double z0 = y0 + c * dy0, dz0 = dy0 + c * (f - omega * z0), push = f - omega * z0;
  const bool overdamped = c * c * omega >= 4.0;
  constexpr double kPi = 3.14159265358979323846;
  const bool positive = overdamped || omega * t * t < kPi * kPi;
  double G_max = std::min(t, 1.0 / std::sqrt(omega));
  if (overdamped) G_max = std::min(G_max, 2.0 / (c * omega + std::sqrt(omega * (c * c * omega - 4.0))));
  const double G_min = positive ? 0.0 : -G_max;
  const double G1_max = positive ? G1 : std::min(t * t / 2.0, 2.0 / omega);
  double lowest = z0 + std::min(0.0, push * G1_max) + std::min(dz0 * G_min, dz0 * G_max);
  double highest = z0 + std::max(0.0, push * G1_max) + std::max(dz0 * G_min, dz0 * G_max);
  if (!positive) {  // several swings: within their envelope around the equilibrium
    const double centre = f / omega, rate = 0.5 * c * omega;
    const double envelope = std::hypot(z0 - centre, (dz0 + rate * (z0 - centre)) / std::sqrt(omega - rate * rate));
    lowest = std::max(lowest, centre - envelope);
    highest = std::min(highest, centre + envelope);
  }
  return std::max(highest - z_mean, z_mean - lowest);
}

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Rotates the first of so many rows with the next, what comes of it with the one after that, and so on, by rotations
/// from the last to the first, each of which begins so many numbers behind the one before.
EXPOSIM_FOR_EACH_MACHINE
void rotate_rows(Index length, Index count, const double* c, const double* s, Index stride, double* rows) {
  for_each_part(length, [&](const auto at_once, Index from) EXPOSIM_INLINE_CALL {
    constexpr Index kFours = decltype(at_once)::value;
    Four above[kFours];  // NOLINT
    double* row = rows + from;
    for (Index i = 0; i < kFours; ++i) above[i] = four(row, i);
    for (Index k = count; k-- > 0; row += length) {
      const double by_c = c[k * stride], by_s = s[k * stride];
      for (Index i = 0; i < kFours; ++i) {
        const Four below = four(row + length, i);
        four(row, i) = by_c * above[i] + by_s * below;
        above[i] = by_c * below - by_s * above[i];
      }
    }
    for (Index i = 0; i < kFours; ++i) four(row, i) = above[i];
  });
}

/// rows ← (I − τ v vᵀ) rows
EXPOSIM_FOR_EACH_MACHINE
void reflect_rows(Index length, Index count, double tau, const double* v, double* rows) {
  for_each_part(length, [&](const auto at_once, Index from) EXPOSIM_INLINE_CALL {
    constexpr Index kFours = decltype(at_once)::value;
    Four sum[kFours] = {};  // NOLINT
    for (Index k = 0; k < count; ++k) {
      for (Index i = 0; i < kFours; ++i) sum[i] += v[k] * four(rows + k * length + from, i);
    }
    for (Index k = 0; k < count; ++k) {
      const double by = tau * v[k];
      for (Index i = 0; i < kFours; ++i) four(rows + k * length + from, i) -= by * sum[i];
    }
  });
}

}  // namespace

void ModalKernel::compute(const Eigen::MatrixXd& S, double c, const Eigen::MatrixX3d& start, double t) {
  resize(S.rows());
  work_ = S;
  for (Index i = 0; i < n_; ++i) vectors_[i] << start(i, 0), start(i, 1), start(i, 2), 0.0;
  make_tridiagonal();
  if (!make_diagonal()) {
    result_.setConstant(std::numeric_limits<double>::quiet_NaN());
    return;
  }
  double square = 0.0;
  for (Index i = 0; i < n_; ++i) {
    omega_(i) = std::max(omega_(i), 0.0);
    const double damping = c * omega_(i);
    const OscillatorIntegrals g = oscillator_integrals(omega_(i), c, t);
    const double y0 = vectors_[i](0), dy0 = vectors_[i](1), f = vectors_[i](2);
    // ∫y' = y(t) − y(0) and ∫∫y' = ∫y − t y(0), without taking the difference.
    vectors_[i] << y0 * (g.G + damping * g.G1) + dy0 * g.G1 + f * g.G2, -omega_(i) * g.G1 * y0 + dy0 * g.G + f * g.G1,
        y0 * (g.G1 + damping * g.G2) + dy0 * g.G2 + f * g.G3, -omega_(i) * g.G2 * y0 + dy0 * g.G1 + f * g.G2;
    const double z_mean = (vectors_[i](0) + c * vectors_[i](1)) / t;
    const double off = distance_from_mean(omega_(i), c, t, y0, dy0, f, z_mean, g.G1);
    square += off * off;
  }
  radius_ = std::sqrt(square);
  transform_back();
  for (Index i = 0; i < n_; ++i) result_.row(i) = vectors_[i];
}

void ModalKernel::find_modes(const Eigen::MatrixXd& S, Eigen::MatrixXd& U) {
  resize(S.rows());
  work_ = S;
  std::fill(vectors_.begin(), vectors_.end(), Row::Zero());
  make_tridiagonal();
  if (!make_diagonal()) {
    U.setConstant(n_, n_, std::numeric_limits<double>::quiet_NaN());
    return;
  }
  omega_ = omega_.cwiseMax(0.0);
  // All columns at once, as transform_back() does with four.
  const Index length = padded(n_);
  std::vector<double> rows(static_cast<std::size_t>(n_ * length), 0.0);
  for (Index i = 0; i < n_; ++i) rows[static_cast<std::size_t>(i * length + i)] = 1.0;
  for (auto sweep = sweeps_.rbegin(); sweep != sweeps_.rend(); ++sweep) {
    const auto count = static_cast<Index>(sweep->end - sweep->begin);
    if (count == 0) continue;
    const Rotation* const first = rotations_.data() + sweep->begin;
    rotate_rows(length, count, &first->c, &first->s, sizeof(Rotation) / sizeof(double),
                rows.data() + (sweep->last + 1 - count) * length);
  }
  for (Index k = n_ - 2; k >= 0; --k) {
    if (tau_(k) == 0.0) continue;
    reflect_rows(length, n_ - k - 1, tau_(k), work_.data() + k * n_ + k + 1, rows.data() + (k + 1) * length);
  }
  U = Eigen::Map<const RowMajor, 0, Eigen::OuterStride<>>(rows.data(), n_, n_, Eigen::OuterStride<>(length));
}

void ModalKernel::resize(Index n) {
  if (n == n_) return;
  n_ = n;
  tau_.resize(n);
  p_.resize(n);
  omega_.resize(n);
  beside_.resize(n);
  result_.resize(n, 4);
  vectors_.resize(static_cast<std::size_t>(n));
  rotations_.reserve(static_cast<std::size_t>(4 * n * n + 16));
  sweeps_.reserve(static_cast<std::size_t>(8 * n + 16));
}

void ModalKernel::make_tridiagonal() {
  double* const A = work_.data();
  double* const p = p_.data();
  for (Index k = 0; k + 1 < n_; ++k) {
    // H = I − τ v vᵀ with v(0) = 1 takes column k below the diagonal to its first entry.
    double* const v = A + k * n_ + k + 1;
    const Index m = n_ - k - 1;
    double rest = 0.0;
    for (Index i = 1; i < m; ++i) rest += v[i] * v[i];
    const double head = v[0];
    double tau = 0.0;
    beside_(k) = head;
    if (rest > 0.0) {
      const double norm = std::sqrt(head * head + rest);
      const double beta = head > 0.0 ? -norm : norm;
      tau = (beta - head) / beta;
      const double scale = 1.0 / (head - beta);
      for (Index i = 1; i < m; ++i) v[i] *= scale;
      beside_(k) = beta;
    }
    v[0] = 1.0;
    tau_(k) = tau;
    if (tau == 0.0) continue;

    // A ← H A H = A − v wᵀ − w vᵀ,  w = p − τ/2 (pᵀv) v,  p = τ A v, on the block behind; full storage, for speed.
    double* const block = A + (k + 1) * n_ + k + 1;
    for (Index i = 0; i < m; ++i) p[i] = 0.0;
    for (Index j = 0; j < m; ++j) {
      const double factor = tau * v[j];
      const double* const column = block + j * n_;
      for (Index i = 0; i < m; ++i) p[i] += factor * column[i];
    }
    double product = 0.0;
    for (Index i = 0; i < m; ++i) product += p[i] * v[i];
    product *= 0.5 * tau;
    for (Index i = 0; i < m; ++i) p[i] -= product * v[i];
    for (Index j = 0; j < m; ++j) {
      double* const column = block + j * n_;
      const double vj = v[j], wj = p[j];
      for (Index i = 0; i < m; ++i) column[i] -= v[i] * wj + p[i] * vj;
    }
    Row sum = Row::Zero();
    for (Index i = 0; i < m; ++i) sum += v[i] * vectors_[k + 1 + i];
    sum *= tau;
    for (Index i = 0; i < m; ++i) vectors_[k + 1 + i] -= v[i] * sum;
  }
  for (Index i = 0; i < n_; ++i) omega_(i) = A[i * n_ + i];
  beside_(n_ - 1) = 0.0;
}

bool ModalKernel::make_diagonal() {
  constexpr int kMaxSweeps = 50;  // per eigenvalue; three are usual
  double* const d = omega_.data();
  double* const e = beside_.data();
  const double eps = std::numeric_limits<double>::epsilon();
  rotations_.clear();
  sweeps_.clear();
  for (Index l = 0; l < n_; ++l) {
    for (int sweep = 0;; ++sweep) {
      Index m = l;
      while (m + 1 < n_ && std::abs(e[m]) > eps * (std::abs(d[m]) + std::abs(d[m + 1]))) ++m;
      if (m == l) break;
      if (sweep == kMaxSweeps || !std::isfinite(e[l])) return false;

      // Wilkinson's shift, then the bulge is chased from m up to l.
      double g = (d[l + 1] - d[l]) / (2.0 * e[l]);
      g = d[m] - d[l] + e[l] / (g + std::copysign(std::sqrt(g * g + 1.0), g));
      double s = 1.0, c = 1.0, p = 0.0;
      const std::size_t begin = rotations_.size();
      Row below = vectors_[m];
      Index i = m - 1;
      for (; i >= l; --i) {
        const double f = s * e[i], b = c * e[i];
        const double square = f * f + g * g;
        if (square == 0.0) {
          e[i + 1] = 0.0;
          d[i + 1] -= p;
          e[m] = 0.0;
          break;
        }
        double r = std::sqrt(square);
        const double inverse = r * (1.0 / square);  // rather than 1/r: does not wait for the root
        e[i + 1] = r;
        s = f * inverse;
        c = g * inverse;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2.0 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        rotations_.push_back({c, s});
        const Row above = vectors_[i];
        vectors_[i + 1] = s * above + c * below;
        below = c * above - s * below;
      }
      vectors_[i + 1] = below;
      sweeps_.push_back({m - 1, begin, rotations_.size()});
      if (i >= l) continue;  // the bulge vanished on the way
      d[l] -= p;
      e[l] = g;
      e[m] = 0.0;
    }
  }
  return true;
}

void ModalKernel::transform_back() {
  for (auto sweep = sweeps_.rbegin(); sweep != sweeps_.rend(); ++sweep) {
    Index i = sweep->last + 1 - static_cast<Index>(sweep->end - sweep->begin);
    Row above = vectors_[i];
    for (std::size_t k = sweep->end; k-- > sweep->begin; ++i) {
      const double c = rotations_[k].c, s = rotations_[k].s;
      const Row below = vectors_[i + 1];
      vectors_[i] = c * above + s * below;
      above = c * below - s * above;
    }
    vectors_[i] = above;
  }
  for (Index k = n_ - 2; k >= 0; --k) {
    if (tau_(k) == 0.0) continue;
    const double* const v = work_.data() + k * n_ + k + 1;
    const Index m = n_ - k - 1;
    Row sum = Row::Zero();
    for (Index i = 0; i < m; ++i) sum += v[i] * vectors_[k + 1 + i];
    sum *= tau_(k);
    for (Index i = 0; i < m; ++i) vectors_[k + 1 + i] -= v[i] * sum;
  }
}

}  // namespace exposim
