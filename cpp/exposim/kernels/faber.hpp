#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace exposim {

/// An ellipse that touches the imaginary axis from the left at zero.
///
/// Its Faber polynomials do not grow on it: with the centre z₀ and semi-axes a along the real, b along the imaginary
/// axis, ρ = (a + b)/2 and s = (a − b)/(a + b),
///
///   F₀ = 1,   F₁ = (z − z₀)/ρ,   F₂ = F₁² − 2s,   F_{k+1} = F₁F_k − s F_{k−1}
///
/// (of a segment Chebyshev's, of a disc powers), so that series in them converge fast and do not cancel.
struct Ellipse {
  double real, imaginary;  ///< semi-axes

  double rho() const { return 0.5 * (real + imaginary); }
  double s() const { return (real - imaginary) / (real + imaginary); }
};

/// φ_j(z) = Σ zⁱ/(i + j)!, φ₀ = eᶻ, in the Faber polynomials of an ellipse.
struct FaberSeries {
  static constexpr std::size_t kMostTerms = 160;
  static constexpr std::size_t kInstants = 6;
  using Coefficients = std::array<double, kMostTerms>;

  Ellipse ellipse{0.0, 0.0};
  std::size_t terms = 0;                ///< zero if there are too many
  std::array<Coefficients, 4> phi;      ///< φ₁ to φ₄
  bool sampled = false;                 ///< whether the rest is known
  std::array<double, kInstants> times;  ///< shares of the whole, ascending; denser at first where what decays is fast
  std::array<Coefficients, kInstants> at_times;  ///< of θ φ₁(θz) for these θ
};

/// Remembers the series of the last few ellipses.
class FaberTable {
 public:
  FaberTable() : series_(kRemembered) {}

  /// For an ellipse somewhat larger than the one that is asked for; valid until the next call.
  FaberSeries& around(const Ellipse& ellipse);
  /// Fills in what is known of instants on the way.
  static void sample(FaberSeries& series);

 private:
  static constexpr std::size_t kRemembered = 16;

  std::vector<FaberSeries> series_;
  std::size_t found_ = 0, next_ = 0;
};

}  // namespace exposim
