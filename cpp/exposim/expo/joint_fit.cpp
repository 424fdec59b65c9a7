// What drives, dampers and friction that sticks add to the inertia.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "exposim/expo/joint_terms.hpp"
#include "exposim/robot/mass_matrix.hpp"
#include "exposim/thresholds.hpp"

namespace exposim {

namespace {

constexpr double kPi = 3.14159265358979323846;

}  // namespace

void JointTerms::fit(RobotData& data) {
  force_ = tau_;
  if (tracks_.empty()) {
    factor(data);
    return;
  }
  if (may_settle_ahead_) {  // motors that leave their bounds, each by itself, before anything is factored for them
    for (Track& track : tracks_) {
      if (track.pull == Pull::kServo || track.loaded || track.hold != Hold::kNone) continue;
      const double force = track.motor.constant - track.D * track.v - data.tree().h(track.dof);
      const double a = force / (own_inertia(data, track.dof) + h_ * track.D);
      if (settle_motor(track, track.v + h_ * a, true)) linearise(track);
    }
  }
  // Slow ones hardly mind which inertia they are fitted to.
  const bool slow = std::all_of(tracks_.begin(), tracks_.end(), [&](const Track& track) {
    return h_ * (track.D + h_ * track.K) <= thresholds::kSlow * own_inertia(data, track.dof);
  });
  slow_ = slow;
  if (!slow) exposim::factor(data);
  added_.setZero(force_.size());
  shortfalls_.assign(tracks_.size(), 0.0);
  std::array<std::size_t, 4> which;
  std::size_t count = 0;
  for (std::size_t k = 0; k < tracks_.size(); ++k) {
    Track& track = tracks_[k];
    track.I = std::numeric_limits<double>::infinity();
    track.X = 0.0;
    track.Theta = track.at_start = track.at_end = 0.5 * h_;
    if (track.strand != Strand::kNone) continue;
    if (track.hold == Hold::kStopping) {
      track.I = slow ? own_inertia(data, track.dof) : felt_inertia(data, track.dof);
      track.X = thresholds::kRigid * track.I;
      track.at_start = 0.5 * track.stops_after;
      track.at_end = 0.0;
      continue;
    }
    if (track.K == 0.0 && track.D == 0.0) continue;
    track.I = slow ? own_inertia(data, track.dof) : felt_inertia(data, track.dof);
    which[count++] = k;
    if (count < which.size()) continue;
    fit(which, count);
    count = 0;
  }
  fit(which, count);
  double all = std::accumulate(shortfalls_.begin(), shortfalls_.end(), 0.0);
  // M − diag(Iᵢ δᵢ) has no negative eigenvalue while Σδᵢ ≤ 1, because (M⁻¹)ᵢᵢ = 1/Iᵢ: the trace bounds the largest.
  if (slow) all *= thresholds::kMostOfFelt;
  const double kept = all > 1.0 ? 1.0 / all : 1.0;
  for (std::size_t k = 0; k < tracks_.size(); ++k) {
    Track& track = tracks_[k];
    if (kept < 1.0 && shortfalls_[k] > 0.0) {
      track.X = kept * track.X + (1.0 - kept) * 0.5 * h_ * (track.D + 0.5 * h_ * track.K);
      for (double* const each : {&track.Theta, &track.at_start, &track.at_end}) {
        *each = kept * *each + (1.0 - kept) * 0.5 * h_;
      }
    }
    if (track.strand != Strand::kNone) {
      force_(track.dof) = 0.0;
      continue;
    }
    added_(track.dof) = track.X;
    if (track.hold == Hold::kStopping) {
      force_(track.dof) = -track.X * track.v / h_;
      continue;
    }
    force_(track.dof) =
        track.motor.constant + track.friction.constant - track.K * track.Theta * track.v - track.D * track.v;
  }
  factor(data, added_);
}

void JointTerms::fit(const std::array<std::size_t, 4>& which, std::size_t count) {
  if (count == 0) return;
  std::array<double, 4> omega{}, rate{};
  for (std::size_t i = 0; i < count; ++i) {
    const Track& track = tracks_[which[i]];
    omega[i] = track.K / track.I;
    rate[i] = track.D / track.I;
  }
  const std::array<OscillatorResponse, 4> responses = oscillator_responses(omega, rate, h_);
  for (std::size_t i = 0; i < count; ++i) shortfalls_[which[i]] = fit(tracks_[which[i]], responses[i]);
}

bool JointTerms::fits(Fits& out) const {
  // Scalar functions of one number each, smooth but where rules meet: their differences are exact to ten digits.
  constexpr double kStep = 1e-5;
  const auto count = static_cast<Eigen::Index>(tracks_.size());
  out.all.clear();
  out.own = slow_;
  out.I.setOnes(count);
  for (Eigen::MatrixXd* each : {&out.X, &out.Theta, &out.at_start, &out.at_end}) each->setZero(count, count);
  double all = 0.0;
  Eigen::VectorXd shortfall = Eigen::VectorXd::Zero(count);  // by inertia
  for (Eigen::Index k = 0; k < count; ++k) {
    const Track& track = tracks_[static_cast<std::size_t>(k)];
    if (track.hold == Hold::kStopping || track.hold == Hold::kTurning) return false;
    const Motor& motor = track.law->motor;
    out.all.push_back({track.dof, track.loaded, track.pull == Pull::kServo, track.strand != Strand::kNone, track.drive,
                       motor.kp, motor.kd, track.K, track.D, track.v, track.X, track.Theta, track.at_start,
                       track.at_end, track.friction.K});
    if (track.strand != Strand::kNone || (track.K == 0.0 && track.D == 0.0)) continue;
    out.I(k) = track.I;
    Track more = track, less = track;
    more.I *= 1.0 + kStep;
    less.I *= 1.0 - kStep;
    const auto responses =
        oscillator_responses({track.K / more.I, track.K / less.I}, {track.D / more.I, track.D / less.I}, h_);
    const double by = 2.0 * kStep * track.I;
    const double up = fit(more, responses[0]), down = fit(less, responses[1]);
    shortfall(k) = (up - down) / by;
    all += 0.5 * (up + down);
    out.X(k, k) = (more.X - less.X) / by;
    out.Theta(k, k) = (more.Theta - less.Theta) / by;
    out.at_start(k, k) = (more.at_start - less.at_start) / by;
    out.at_end(k, k) = (more.at_end - less.at_end) / by;
  }
  const double factor = slow_ ? thresholds::kMostOfFelt : 1.0;
  if (!(factor * all > 1.0)) return true;
  const double kept = 1.0 / (factor * all);
  const Eigen::RowVectorXd by_I = -kept * kept * factor * shortfall.transpose();  // of what is kept
  for (Eigen::Index k = 0; k < count; ++k) {
    const Track& track = tracks_[static_cast<std::size_t>(k)];
    if (!(shortfalls_[static_cast<std::size_t>(k)] > 0.0)) continue;
    const double half = 0.5 * h_;
    const auto mix = [&](Eigen::MatrixXd& of, double mixed, double rest) {
      of(k, k) *= kept;
      of.row(k) += (mixed - rest) / kept * by_I;
    };
    mix(out.X, track.X, half * (track.D + half * track.K));
    mix(out.Theta, track.Theta, half);
    mix(out.at_start, track.at_start, half);
    mix(out.at_end, track.at_end, half);
  }
  return true;
}

double JointTerms::fit(Track& track, const OscillatorResponse& y) const {
  const double K = track.K, D = track.D, I = track.I;
  // Far beyond what a step resolves: settles at once, however large K and D.
  const double stiff_X = h_ * (D + h_ * K), stiff_Theta = 1.5 * h_;
  const double rate = D / I, frequency = std::sqrt(std::max(0.0, K / I - 0.25 * rate * rate));
  const bool swings_back = !(y.G > 0.0) || frequency * h_ >= kPi;
  const double X = swings_back ? 0.0 : I * (h_ / y.G - 1.0);
  const bool exact = !track.loaded && frequency == 0.0;
  const double fitted = swings_back ? 0.0 : exact ? 1.0 : std::clamp(thresholds::kTooStiff - X / stiff_X, 0.0, 1.0);
  track.X = stiff_X;
  track.Theta = stiff_Theta;
  track.at_start = track.at_end = 0.5 * h_;
  if (fitted == 0.0) return 0.0;
  const double Theta = y.G1 / y.G, at_start = y.G - y.dG * Theta;
  track.X += fitted * (X - stiff_X);
  track.Theta += fitted * (Theta - stiff_Theta);
  if (track.loaded) return fitted * std::max(0.0, 1.0 - 0.5 * h_ * (1.0 + y.dG) / y.G);
  track.at_start += fitted * (at_start - 0.5 * h_);
  track.at_end += fitted * (Theta - 0.5 * h_);
  return fitted * std::max(0.0, 1.0 - h_ / y.G + 0.5 * h_ * (rate + 0.5 * K / I * (3.0 * Theta - at_start)));
}

}  // namespace exposim
