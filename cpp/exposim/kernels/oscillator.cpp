#include "exposim/kernels/oscillator.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "exposim/kernels/fours.hpp"

namespace exposim {

using Eigen::Index;

namespace {

/// φ_k(z) = ∫₀¹ e^{(1−s)z} s^{k−1}/(k−1)! ds for k = 1, 2, 3 (φ_0 = e^z), z ≤ 0.
std::array<double, 4> phi_functions(double z) {
  std::array<double, 4> phi;
  if (z > -2.0) {
    double term = 1.0 / 6.0, sum = term;
    for (int n = 1; n < 30 && std::abs(term) > 1e-18; ++n) {
      term *= z / (n + 3);
      sum += term;
    }
    phi[3] = sum;
    phi[2] = 0.5 + z * phi[3];
    phi[1] = 1.0 + z * phi[2];
    phi[0] = 1.0 + z * phi[1];
  } else {
    phi[0] = std::exp(z);
    phi[1] = (phi[0] - 1.0) / z;
    phi[2] = (phi[1] - 1.0) / z;
    phi[3] = (phi[2] - 0.5) / z;
  }
  return phi;
}

constexpr int kTerms = 64;

/// What the terms of the series are multiplied by.
struct Reciprocals {
  std::array<double, kTerms> damping{}, spring{}, second{}, third{};
  constexpr Reciprocals() {
    for (int n = 1; n < kTerms; ++n) {
      damping[n] = 1.0 / (n + 1.0);
      spring[n] = 1.0 / ((n + 1.0) * n);
      second[n] = 1.0 / ((n + 1.0) * (n + 2.0));
      third[n] = 1.0 / ((n + 1.0) * (n + 2.0) * (n + 3.0));
    }
  }
};
constexpr Reciprocals kReciprocals;

/// x = ωt² and p = (damping rate) t small: the power series of the highest integrals, the lower ones from the
/// differential equation.
OscillatorIntegrals by_series(double omega, double rate, double t) {
  const double x = omega * t * t, p = rate * t;
  // h_n = g_n tⁿ with G = Σ g_n tⁿ;  G2 = Σ h_n t²/((n+1)(n+2)),  G3 likewise.
  double h_previous = 0.0, h = 1.0;  // in units of t
  double sum2 = 0.0, sum3 = 0.0;
  for (int n = 1; n < kTerms; ++n) {
    sum2 += h * kReciprocals.second[n];
    sum3 += h * kReciprocals.third[n];
    const double h_next = -p * h * kReciprocals.damping[n] - x * h_previous * kReciprocals.spring[n];
    h_previous = h;
    h = h_next;
    if (std::abs(h) + std::abs(h_previous) < 1e-19) break;
  }
  const double G2 = t * t * t * sum2, G3 = t * t * t * t * sum3;
  const double G1 = 0.5 * t * t - rate * G2 - omega * G3;
  const double G = t - rate * G1 - omega * G2;
  return {1.0 - rate * G - omega * G1, G, G1, G2, G3};
}

/// Two real roots well apart: divided differences of the φ functions of the roots.
OscillatorIntegrals by_roots(double omega, double a, double root, double t) {
  const double slow = -omega / (a + root), fast = -(a + root);  // no cancellation in the slow one
  const std::array<double, 4> phi_slow = phi_functions(slow * t), phi_fast = phi_functions(fast * t);
  const double gap = 2.0 * root;
  std::array<double, 4> integrals;
  double power = 1.0;
  for (int k = 0; k < 4; ++k, power *= t) integrals[k] = power * (phi_slow[k] - phi_fast[k]) / gap;
  const double dG = (slow * phi_slow[0] - fast * phi_fast[0]) / gap;
  return {dG, integrals[0], integrals[1], integrals[2], integrals[3]};
}

/// ωt² of order one or more, roots complex or close: closed form of G, its integrals from the differential equation.
OscillatorIntegrals by_closed_form(double omega, double a, double discriminant, double t) {
  const double decay = std::exp(-a * t);
  const double u = -discriminant * t * t;  // (frequency · t)², negative if slightly overdamped
  double sinc, cosine;
  if (std::abs(u) < 1e-2) {
    sinc = 1.0 - u / 6.0 * (1.0 - u / 20.0 * (1.0 - u / 42.0 * (1.0 - u / 72.0)));
    cosine = 1.0 - u / 2.0 * (1.0 - u / 12.0 * (1.0 - u / 30.0 * (1.0 - u / 56.0 * (1.0 - u / 90.0))));
  } else if (u > 0.0) {
    const double angle = std::sqrt(u);
    sinc = std::sin(angle) / angle;
    cosine = std::cos(angle);
  } else {
    const double angle = std::sqrt(-u);
    sinc = std::sinh(angle) / angle;
    cosine = std::cosh(angle);
  }
  const double G = t * decay * sinc;
  const double dG = decay * (cosine - a * t * sinc);
  const double G1 = (1.0 - dG - 2.0 * a * G) / omega;
  const double G2 = (t - G - 2.0 * a * G1) / omega;
  const double G3 = (0.5 * t * t - G1 - 2.0 * a * G2) / omega;
  return {dG, G, G1, G2, G3};
}

/// G/t and G1/t² of four of them, with x = ωt² and p = (damping rate) t small.
EXPOSIM_FOR_EACH_MACHINE
void sum_responses(const double* x, const double* p, const double* damping, const double* spring, double* G,
                   double* G1) {
  Four h_previous = {0.0, 0.0, 0.0, 0.0}, h = {1.0, 1.0, 1.0, 1.0}, sum = h_previous, sum1 = h_previous;
  for (int n = 1; n < kTerms; ++n) {
    sum += h;
    sum1 += h * damping[n];
    const Four h_next = -four(p, 0) * h * damping[n] - four(x, 0) * h_previous * spring[n];
    h_previous = h;
    h = h_next;
    const Four left = h * h + h_previous * h_previous;
    if ((left[0] + left[2]) + (left[1] + left[3]) < 1e-36) break;
  }
  four(G, 0) = sum;
  four(G1, 0) = sum1;
}

}  // namespace

std::array<OscillatorResponse, 4> oscillator_responses(const std::array<double, 4>& omega,
                                                       const std::array<double, 4>& rate, double t) {
  constexpr double kSmall = 4.0;  // hardly any cancellation below
  std::array<double, 4> x, p, sum, sum1;
  std::array<bool, 4> small;
  for (std::size_t i = 0; i < 4; ++i) {
    x[i] = omega[i] * t * t;
    p[i] = rate[i] * t;
    small[i] = x[i] + p[i] <= kSmall;
    if (!small[i]) x[i] = p[i] = 0.0;
  }
  sum_responses(x.data(), p.data(), kReciprocals.damping.data(), kReciprocals.spring.data(), sum.data(), sum1.data());
  std::array<OscillatorResponse, 4> found;
  for (std::size_t i = 0; i < 4; ++i) {
    if (small[i]) {
      const double G = t * sum[i], G1 = t * t * sum1[i];
      found[i] = {1.0 - rate[i] * G - omega[i] * G1, G, G1};
    } else {
      const OscillatorIntegrals all = damped_oscillator(omega[i], rate[i], t);
      found[i] = {all.dG, all.G, all.G1};
    }
  }
  return found;
}

OscillatorIntegrals damped_oscillator(double omega, double rate, double t) {
  constexpr double kSeries = 4.0;  // up to here of ωt² and cωt
  constexpr double kApart = 2.0;   // (r₁ − r₂) t of roots that are well apart
  const double x = omega * t * t, p = rate * t;
  if (x <= kSeries && p <= kSeries) return by_series(omega, rate, t);
  const double a = 0.5 * rate;
  const double discriminant = a * a - omega;
  if (discriminant > 0.0) {
    const double root = std::sqrt(discriminant);
    if (2.0 * root * t >= kApart) return by_roots(omega, a, root, t);
  }
  return by_closed_form(omega, a, discriminant, t);
}

}  // namespace exposim
