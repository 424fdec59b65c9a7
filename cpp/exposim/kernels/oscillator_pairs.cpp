#include "exposim/kernels/oscillator_pairs.hpp"

#include <algorithm>

namespace exposim {

using Eigen::Index;

namespace {

/// Up to here of ωt² and cωt so many terms of the series are enough.
constexpr double kShort = 0.25;
constexpr Index kTerms = 12;

/// G2 and G3 at a time are Σ αₙ(−ω)ⁿ, with the same coefficients for all oscillators.
struct Series {
  double second[kTerms], third[kTerms];  // NOLINT

  /// αₙ = Σᵢ (n over i) cⁱ t^(2n + 3 − i)/(2n + 3 − i)!
  Series(double c, double t) {
    double powers[2 * kTerms + 3];  // tᵏ/k!, NOLINT
    powers[0] = 1.0;
    for (Index k = 1; k < 2 * kTerms + 3; ++k) powers[k] = powers[k - 1] * t / static_cast<double>(k);
    for (Index n = 0; n < kTerms; ++n) {
      double by = 1.0;
      second[n] = third[n] = 0.0;
      for (Index i = 0; i <= n; ++i) {
        second[n] += by * powers[2 * n + 3 - i];
        third[n] += by * powers[2 * n + 4 - i];
        by *= c * static_cast<double>(n - i) / static_cast<double>(i + 1);
      }
    }
  }
};

/// Of four oscillators.
struct Responses {
  Four dG, G, G1, G2, G3;
};

EXPOSIM_INLINE Responses load(const double* row, Index length, Index i) {
  return {four(row, i), four(row + length, i), four(row + 2 * length, i), four(row + 3 * length, i),
          four(row + 4 * length, i)};
}
EXPOSIM_INLINE void store(const Responses& y, double* row, Index length, Index i) {
  four(row, i) = y.dG;
  four(row + length, i) = y.G;
  four(row + 2 * length, i) = y.G1;
  four(row + 3 * length, i) = y.G2;
  four(row + 4 * length, i) = y.G3;
}

EXPOSIM_FOR_EACH_MACHINE
void begin_courses(Index length, const double* omega, double c, double t, const Series& series, double* out) {
  for (Index i = 0; i < fours(length); ++i) {
    const Four w = four(omega, i), rate = c * w;
    Responses y;
    y.G2 = y.G3 = Four{0.0, 0.0, 0.0, 0.0};
    for (Index n = kTerms; n-- > 0;) {
      y.G2 = series.second[n] - w * y.G2;
      y.G3 = series.third[n] - w * y.G3;
    }
    y.G1 = 0.5 * t * t - rate * y.G2 - w * y.G3;
    y.G = t - rate * y.G1 - w * y.G2;
    y.dG = 1.0 - rate * y.G - w * y.G1;
    store(y, out, length, i);
  }
}

/// From t to twice that, by where they are at t.
EXPOSIM_FOR_EACH_MACHINE
void double_courses(Index length, const double* omega, double c, double t, const double* from, double* to) {
  for (Index i = 0; i < fours(length); ++i) {
    const Four w = four(omega, i), rate = c * w;
    const auto [dG, G, G1, G2, G3] = load(from, length, i);
    const Responses y = {dG * dG - w * G * G, G * (2.0 * dG + rate * G), G1 + G * (G + rate * G1) + dG * G1,
                         G2 + t * G1 + G * (G1 + rate * G2) + dG * G2,
                         G3 + t * G2 + 0.5 * t * t * G1 + G * (G2 + rate * G3) + dG * G3};
    store(y, to, length, i);
  }
}

/// Of one with four others: by the series at t, then as often twice that as there are courses behind the first.
EXPOSIM_FOR_EACH_MACHINE
void pair_up(Index length, Index k, Index doublings, const double* omega, double c, double t, const Series& series,
             const double* courses, double* const* out) {
  const double w = omega[k];
  double own2[kTerms], own3[kTerms];  // of what is left of the series from a term on, NOLINT
  own2[kTerms - 1] = series.second[kTerms - 1];
  own3[kTerms - 1] = series.third[kTerms - 1];
  for (Index n = kTerms - 1; n-- > 0;) {
    own2[n] = series.second[n] - w * own2[n + 1];
    own3[n] = series.third[n] - w * own3[n + 1];
  }
  for (Index i = k / kFour; i < fours(length); ++i) {
    const Four others = four(omega, i);
    Four E2 = {0.0, 0.0, 0.0, 0.0}, E3 = E2;
    for (Index n = kTerms; n-- > 1;) {
      E2 = own2[n] - others * E2;
      E3 = own3[n] - others * E3;
    }
    const double* row = courses;
    Responses y = load(row, length, i);
    // (ωf)[ω_k, ω_j] = f_j − ω_k E_f.
    Four E1 = c * (y.G2 - w * E2) + (y.G3 - w * E3);
    Four E = c * (y.G1 - w * E1) + (y.G2 - w * E2);
    Four dE = c * (y.G - w * E) + (y.G1 - w * E1);
    double time = t;
    for (Index doubling = 0; doubling < doublings; ++doubling, time += time) {
      const double* const own = row + k;
      const double dG = own[0], G = own[length];
      const Four rate = c * others;
      const Four next3 = E3 + time * E2 + 0.5 * time * time * E1 + G * (E2 - c * (y.G3 - w * E3)) +
                         E * (y.G2 + rate * y.G3) + dG * E3 + dE * y.G3;
      const Four next2 =
          E2 + time * E1 + G * (E1 - c * (y.G2 - w * E2)) + E * (y.G1 + rate * y.G2) + dG * E2 + dE * y.G2;
      const Four next1 = E1 + G * (E - c * (y.G1 - w * E1)) + E * (y.G + rate * y.G1) + dG * E1 + dE * y.G1;
      const Four next = G * (2.0 * dE - c * (y.G - w * E)) + E * (2.0 * y.dG + rate * y.G);
      dE = dE * (dG + y.dG) - w * E * (G + y.G) + y.G * y.G;
      E = next;
      E1 = next1;
      E2 = next2;
      E3 = next3;
      row += 5 * length;
      y = load(row, length, i);
    }
    four(out[0] + k * length, i) = E;
    four(out[1] + k * length, i) = E1;
    four(out[2] + k * length, i) = E2;
    four(out[3] + k * length, i) = E3;
  }
}

}  // namespace

void OscillatorPairs::compute(const Eigen::VectorXd& omega, double c, double t) {
  size_ = omega.size();
  const Index length = padded(size_);
  omega_.assign(static_cast<std::size_t>(length), 0.0);
  std::copy_n(omega.data(), size_, omega_.data());
  const double fastest = size_ > 0 ? omega.maxCoeff() : 0.0;
  Index doublings = 0;
  double start = t;
  for (; fastest * start * start > kShort || c * fastest * start > kShort; start *= 0.5) ++doublings;
  course_.resize(static_cast<std::size_t>((doublings + 1) * kFunctions * length));
  const Series series(c, start);
  begin_courses(length, omega_.data(), c, start, series, course(0));
  double time = start;
  for (Index k = 0; k < doublings; ++k, time += time) {
    double_courses(length, omega_.data(), c, time, course(k), course(k + 1));
  }
  double* out[4];  // NOLINT
  for (std::size_t i = 0; i < 4; ++i) {
    pairs_[i].resize(static_cast<std::size_t>(size_ * length));
    out[i] = pairs_[i].data();
  }
  for (Index k = 0; k < size_; ++k) {
    pair_up(length, k, doublings, omega_.data(), c, start, series, course_.data(), out);
  }
  for (double* const each : out) {  // E(ω_k, ω_j) = E(ω_j, ω_k)
    for (Index k = 0; k < size_; ++k) {
      for (Index j = 0; j < k / kFour * kFour; ++j) each[k * length + j] = each[j * length + k];
    }
  }
}

}  // namespace exposim
