#include "exposim/kernels/faber.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <complex>

namespace exposim {

namespace {

using Complex = std::complex<double>;

constexpr double kPi = 3.14159265358979323846;
/// Coefficients below this are left out.
constexpr double kNegligible = 1e-15;
/// Smaller ellipses are not worth their own series.
constexpr double kSmallest = 0.125;

constexpr std::array<double, 32> reciprocals() {
  std::array<double, 32> result{};
  for (std::size_t i = 1; i < result.size(); ++i) result[i] = 1.0 / static_cast<double>(i);
  return result;
}
constexpr std::array<double, 32> kReciprocals = reciprocals();

/// Up to the next number with so many binary digits: series are made for few ellipses.
double round_up(double x, int digits) {
  int exponent = 0;
  const double mantissa = std::frexp(std::max(x, kSmallest), &exponent);
  return std::ldexp(std::ceil(std::ldexp(mantissa, digits)), exponent - digits);
}

/// Without regard to infinities.
Complex product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// φ₁ to φ₄.
std::array<Complex, 4> phi_functions(Complex z) {
  constexpr double kFactorials[] = {1.0, 1.0, 2.0, 6.0, 24.0};
  std::array<Complex, 4> phi;
  if (std::abs(z) > 2.0) {
    const Complex inverse = std::conj(z) / std::norm(z);
    Complex last = std::exp(z);
    for (std::size_t j = 0; j < 4; ++j) last = phi[j] = product(last - 1.0 / kFactorials[j], inverse);
    return phi;
  }
  // φ₄ by its power series, the others upwards from it: nothing cancels.
  constexpr int kPowers = 24;
  Complex sum = 1.0;
  for (int i = kPowers; i > 0; --i) sum = 1.0 + product(sum, z) * kReciprocals[static_cast<std::size_t>(i + 4)];
  phi[3] = sum / kFactorials[4];
  for (std::size_t j = 3; j-- > 0;) phi[j] = product(phi[j + 1], z) + 1.0 / kFactorials[j + 1];
  return phi;
}

/// Four functions that are real on the real axis, or one and three that say nothing.
using Values = std::array<Eigen::Array4d, FaberSeries::kMostTerms + 1>;

/// Points of the upper half of an ellipse, at equal steps of the angle, both ends included.
class Contour {
 public:
  Contour(const Ellipse& ellipse, std::size_t intervals) : ellipse_(ellipse), intervals_(intervals) {
    const double step = kPi / static_cast<double>(intervals_);
    for (std::size_t i = 0; i <= intervals_; ++i) {
      const double angle = step * static_cast<double>(i);
      cosines_[i] = std::cos(angle);
      sines_[i] = i == intervals_ ? 0.0 : std::sin(angle);
    }
    for (std::size_t i = 1; i < intervals_; ++i) {
      cosines_[2 * intervals_ - i] = cosines_[i];
      sines_[2 * intervals_ - i] = -sines_[i];
    }
  }
  std::size_t intervals() const { return intervals_; }
  Complex point(std::size_t i) const { return {ellipse_.real * (cosines_[i] - 1.0), ellipse_.imaginary * sines_[i]}; }
  /// (1/2π) ∫ f e^{−ikθ}, by the trapezoidal rule.
  Eigen::Array4d coefficients(const Values& real, const Values& imaginary, std::size_t k) const {
    Eigen::Array4d sum = 0.5 * (real[0] + (k % 2 == 0 ? 1.0 : -1.0) * real[intervals_]);
    std::size_t turn = 0;
    for (std::size_t i = 1; i < intervals_; ++i) {
      turn += k;
      if (turn >= 2 * intervals_) turn -= 2 * intervals_;
      sum += cosines_[turn] * real[i] + sines_[turn] * imaginary[i];
    }
    return sum / static_cast<double>(intervals_);
  }

 private:
  Ellipse ellipse_;
  std::size_t intervals_;
  std::array<double, 2 * FaberSeries::kMostTerms> cosines_, sines_;
};

/// More than there are terms; rough, from experience.
std::size_t most_terms(const Ellipse& ellipse) {
  const double most = 14.0 + 10.0 * std::sqrt(ellipse.real) + 2.0 * ellipse.imaginary;
  return most < static_cast<double>(FaberSeries::kMostTerms) ? static_cast<std::size_t>(most) : 0;
}

void fill(FaberSeries& series) {
  series.sampled = false;
  series.terms = 0;
  const std::size_t most = most_terms(series.ellipse);
  if (most == 0) return;
  const Contour contour(series.ellipse, most);
  Values real, imaginary;
  for (std::size_t i = 0; i <= most; ++i) {
    const std::array<Complex, 4> phi = phi_functions(contour.point(i));
    real[i] << phi[0].real(), phi[1].real(), phi[2].real(), phi[3].real();
    imaginary[i] << phi[0].imag(), phi[1].imag(), phi[2].imag(), phi[3].imag();
  }
  for (std::size_t k = 0; k < most; ++k) {
    const Eigen::Array4d found = contour.coefficients(real, imaginary, k);
    for (Eigen::Index j = 0; j < 4; ++j) series.phi[static_cast<std::size_t>(j)][k] = found(j);
    if ((found.abs() > kNegligible).any()) series.terms = k + 1;
    if (k > series.terms + 4) return;  // they fall ever faster
  }
  if (series.terms == most) series.terms = 0;
}

}  // namespace

FaberSeries& FaberTable::around(const Ellipse& ellipse) {
  const Ellipse larger{round_up(ellipse.real, 3), round_up(ellipse.imaginary, 3)};
  const auto is_it = [&](const FaberSeries& series) {
    return series.ellipse.real == larger.real && series.ellipse.imaginary == larger.imaginary;
  };
  if (is_it(series_[found_])) return series_[found_];
  for (found_ = 0; found_ < kRemembered; ++found_) {
    if (is_it(series_[found_])) return series_[found_];
  }
  found_ = next_;
  next_ = (next_ + 1) % kRemembered;
  series_[found_].ellipse = larger;
  fill(series_[found_]);
  return series_[found_];
}

void FaberTable::sample(FaberSeries& series) {
  if (series.sampled || series.terms == 0) return;
  const std::size_t most = most_terms(series.ellipse);
  const Contour contour(series.ellipse, most);
  // The first instant is where the fastest has about decayed, the last is the end.
  const double parts = static_cast<double>(FaberSeries::kInstants + 1);
  const double grading = std::max(1.0, std::log(series.ellipse.real) / std::log(parts));
  Values real, imaginary;
  for (std::size_t first = 0; first < FaberSeries::kInstants; first += 4) {
    const std::size_t count = std::min<std::size_t>(4, FaberSeries::kInstants - first);
    for (std::size_t i = 0; i <= most; ++i) {
      real[i].setZero();
      imaginary[i].setZero();
      for (std::size_t j = 0; j < count; ++j) {
        const double time = std::pow(static_cast<double>(first + j + 1) / parts, grading);
        const Complex value = time * phi_functions(time * contour.point(i))[0];
        series.times[first + j] = time;
        real[i](static_cast<Eigen::Index>(j)) = value.real();
        imaginary[i](static_cast<Eigen::Index>(j)) = value.imag();
      }
    }
    for (std::size_t k = 0; k < series.terms; ++k) {
      const Eigen::Array4d found = contour.coefficients(real, imaginary, k);
      for (std::size_t j = 0; j < count; ++j) series.at_times[first + j][k] = found(static_cast<Eigen::Index>(j));
    }
  }
  series.sampled = true;
}

}  // namespace exposim
