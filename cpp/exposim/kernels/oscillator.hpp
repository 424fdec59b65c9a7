#pragma once

#include <Eigen/Core>
#include <array>

namespace exposim {

/// A damped oscillator y'' + cω y' + ω y = 0 with y(0) = 0, y'(0) = 1, and its repeated integrals from 0 to t.
///
/// They solve every motion of it: with a start y0, y0' and a constant force f,
///
///   y(t)  = y0 (dG + cω G)  + y0' G  + f G1        where  1   − ω G1 = dG + cω G
///   ∫y    = y0 (G  + cω G1) + y0' G1 + f G2               t   − ω G2 = G  + cω G1
///   ∫∫y   = y0 (G1 + cω G2) + y0' G2 + f G3               t²/2 − ω G3 = G1 + cω G2
///
/// Nothing divides by ω, so ω = 0 (a motion that no spring feels) is a case like others.
struct OscillatorIntegrals {
  double dG;  ///< G'
  double G, G1, G2, G3;
};

/// With y'' + rate y' + ω y = 0 instead: also for a damper without a spring.
OscillatorIntegrals damped_oscillator(double omega, double rate, double t);
/// dG, G and G1 alone, of four at once, which costs a fraction of it where ωt² and rate·t are small.
struct OscillatorResponse {
  double dG, G, G1;
};
std::array<OscillatorResponse, 4> oscillator_responses(const std::array<double, 4>& omega,
                                                       const std::array<double, 4>& rate, double t);
/// To full precision for every ω ≥ 0, c ≥ 0, t ≥ 0: under-, critically and overdamped.
inline OscillatorIntegrals oscillator_integrals(double omega, double c, double t) {
  return damped_oscillator(omega, c * omega, t);
}

}  // namespace exposim
