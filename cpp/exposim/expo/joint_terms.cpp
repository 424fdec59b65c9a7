#include "exposim/expo/joint_terms.hpp"

#include <algorithm>
#include <cmath>

#include "exposim/thresholds.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::VectorXd;

void JointTerms::begin(const World& world, const State& state, const Input& input, const StrandList& strands,
                       double h) {
  h_ = h;
  tau_ = input.tau;
  at_bound_.assign(static_cast<std::size_t>(tau_.size()), 0);
  for (const Index i : world.acting_dofs()) {
    const DofLaw& law = world.joints().dofs[static_cast<std::size_t>(i)];
    if (law.reacts() || std::abs(tau_(i)) <= law.motor.effort) continue;
    tau_(i) = std::copysign(law.motor.effort, tau_(i));
    at_bound_[static_cast<std::size_t>(i)] = 1;
  }
  tracks_.resize(world.reacting_dofs().size());
  may_settle_ahead_ = !tracks_.empty();
  if (tracks_.empty()) return;
  loaded_.assign(static_cast<std::size_t>(tau_.size()), 0);
  for (const Strand& strand : strands.all()) {
    const std::size_t other = strand.rows == Rows::kCoordinate ? 0 : strand.b;
    for (const std::size_t joint : {strand.a, other}) {
      for (const Index i : world.robot().supports(joint)) loaded_[static_cast<std::size_t>(i)] = 1;
    }
  }
  servo_errors(world, state.q, input.target, error_);
  target_velocity_ = input.target_velocity;
  std::size_t rough = 0;
  for (std::size_t k = 0; k < tracks_.size(); ++k) {
    Track& track = tracks_[k];
    track.dof = world.reacting_dofs()[k];
    track.law = &world.joints().dofs[static_cast<std::size_t>(track.dof)];
    track.v = state.v(track.dof);
    track.loaded = loaded_[static_cast<std::size_t>(track.dof)] != 0;
    track.strand = track.drive = Strand::kNone;
    track.pull = Pull::kServo;
    track.hold = Hold::kNone;
    track.final = false;
    track.changes = 0;
    track.alone = false;
    track.beyond = kUnknown;
    track.friction = {};
    if (track.law->friction.exists()) {
      const Grip& grip = state.grips[rough++];
      const bool slips = grip.slipping && grip.s * track.v > 0.0;
      track.hold = !slips ? Hold::kSticking : track.v > 0.0 ? Hold::kForwards : Hold::kBackwards;
      track.stretched = -track.law->friction.stiffness * grip.s;
    }
    linearise(track);
    guess_pull(track);
  }
}

JointTerms::Linear JointTerms::servo(const Track& track) const {
  const Motor& motor = track.law->motor;
  return {tau_(track.dof) + motor.kp * error_(track.dof) + motor.kd * target_velocity_(track.dof), motor.kp, motor.kd};
}

JointTerms::Bound JointTerms::bound_at(const Track& track, double v) {
  const Motor& motor = track.law->motor;
  const double along = track.pull == Pull::kTop ? v : -v;
  if (along < 0.0 || motor.slope() == 0.0) return Bound::kFlat;
  return along < motor.velocity ? Bound::kLine : Bound::kNone;
}

JointTerms::Linear JointTerms::on_bound(const Track& track) {
  const Motor& motor = track.law->motor;
  if (track.bound == Bound::kNone) return {};
  const double effort = track.pull == Pull::kTop ? motor.effort : -motor.effort;
  return {effort, 0.0, track.bound == Bound::kLine ? motor.slope() : 0.0};
}

void JointTerms::linearise(Track& track) const {
  const DryFriction& friction = track.law->friction;
  track.motor = track.pull == Pull::kServo ? servo(track) : on_bound(track);
  if (track.hold == Hold::kSticking) {
    track.friction = {track.stretched, friction.stiffness, friction.damping};
  } else if (track.hold == Hold::kStopping) {
    track.friction = {};  // whatever brings it to rest
  } else if (track.hold == Hold::kTurning) {
    const double then = track.turns_forwards ? -friction.moving : friction.moving;
    track.friction = {then * (1.0 - 2.0 * track.stops_after / h_), 0.0, 0.0};  // one way, then the other
  } else if (track.hold != Hold::kNone) {
    track.friction = {track.hold == Hold::kForwards ? -friction.moving : friction.moving, 0.0, 0.0};
  }
  track.K = track.motor.K + track.friction.K;
  track.D = track.motor.D + track.friction.D + track.law->damping;
}

void JointTerms::displace(const Eigen::Ref<const VectorXd>& dv, VectorXd& dq) const {
  for (const Track& track : tracks_) {
    if (track.loaded) continue;
    dq(track.dof) = track.at_start * track.v + track.at_end * (track.v + h_ * dv(track.dof));
  }
}

void JointTerms::guess_pull(Track& track) const {
  const Motor& motor = track.law->motor;
  if (!std::isfinite(motor.effort)) return;
  const double torque = track.motor.constant - track.motor.D * track.v;
  if (torque > motor.cap(track.v)) {
    track.pull = Pull::kTop;
  } else if (-torque > motor.cap(-track.v)) {
    track.pull = Pull::kBottom;
  } else {
    return;
  }
  track.bound = bound_at(track, track.v);
  linearise(track);
}

void JointTerms::start_over() {
  for (Track& track : tracks_) track.strand = track.drive = Strand::kNone;
}

bool JointTerms::reacts(const Track& track, const StiffSystem& system) {
  return track.hold != Hold::kStopping && track.X > thresholds::kReacts * track.I && system.feels(track.dof);
}

bool JointTerms::follow_as_strands(const World& world, const StiffSystem& system, Which which, StrandList& strands) {
  followed_.clear();
  followed_.reserve(tracks_.size());  // strands point to them
  for (Track& track : tracks_) {
    if (!reacts(track, system)) continue;
    const double rate = track.D / track.I + std::sqrt(track.K / track.I);
    if (which == Which::kFast && h_ * rate <= thresholds::kFastDrive) continue;
    followed_.emplace_back(track.motor.constant + track.friction.constant, track.K, track.D);
    track.strand = strands.all().size();
    strands.add_coordinate(world, track.dof, track.v, followed_.back());
  }
  return !followed_.empty();
}

void JointTerms::follow(const StiffSystem& system, FollowedDrives& drives) {
  for (Track& track : tracks_) {
    track.drive = Strand::kNone;
    if (track.strand != Strand::kNone || !reacts(track, system)) continue;
    const double constant = track.motor.constant + track.friction.constant;
    track.drive = drives.add({track.dof, track.v, constant, track.K, track.D, track.X, force_(track.dof)});
  }
}

void JointTerms::take_followed(const Resolver& resolver, const FollowedDrives& drives) {
  for (Track& track : tracks_) {
    const bool as_strand = track.strand != Strand::kNone;
    if (!as_strand && track.drive == Strand::kNone) continue;
    const double mean = as_strand ? resolver.lam_bar(track.strand).x() : drives.mean_force(track.drive, h_);
    const double all = track.motor.constant + track.friction.constant;
    track.v_mean = (as_strand ? resolver.moved(track.strand).x() : drives.displacement(track.drive)) / h_;
    track.x_mean = track.K > 0.0 ? (all - mean - track.D * track.v_mean) / track.K : 0.0;
  }
}

void JointTerms::average(Track& track, double v_next) const {
  if (track.hold == Hold::kStopping) {
    track.v_mean = track.at_start * track.v / h_;
    track.x_mean = h_ * track.v_mean * (1.0 - track.stops_after / (3.0 * h_));
  } else if (track.strand == Strand::kNone && track.drive == Strand::kNone) {
    // Such that all together have the mean that moved it.
    const double dragged = track.D * track.v + track.X * ((v_next - track.v) / h_);
    track.v_mean = (track.at_start * track.v + track.at_end * v_next) / h_;
    if (track.K == 0.0 && track.D > 0.0) track.v_mean = dragged / track.D;
    track.x_mean = track.Theta * track.v + (track.K > 0.0 ? (dragged - track.D * track.v_mean) / track.K : 0.0);
  }
}

bool JointTerms::settle_ahead(const VectorXd& dv, int look) {
  if (look == thresholds::kMostLooksAhead || (look == 0 && !may_settle_ahead_)) return false;
  may_settle_ahead_ = false;
  bool again = false;
  for (Track& track : tracks_) {
    const double v_next = track.v + h_ * dv(track.dof);
    average(track, v_next);
    if (track.hold != Hold::kStopping) again |= settle_motor(track, v_next, true);
  }
  if (again) {
    for (Track& track : tracks_) linearise(track);
  }
  return again;
}

bool JointTerms::settle(const VectorXd& v_next, int round) {
  may_settle_ahead_ = false;
  const bool may_change = round < thresholds::kMostSettlings, may_release = round < thresholds::kMostReleases;
  const Track* changed = nullptr;
  int changes = 0;
  for (Track& track : tracks_) {
    const double v = v_next(track.dof);
    average(track, v);
    if (!may_change) continue;
    bool changes_now = settle_motor(track, v, may_release);
    if (track.hold != Hold::kNone && !track.final) changes_now |= settle_friction(track, v);
    if (!changes_now) continue;
    changed = &track;
    ++changes;
  }
  if (changes == 0) return false;
  for (Track& track : tracks_) {
    track.alone = changes == 1 && &track == changed;
    linearise(track);
  }
  return true;
}

bool JointTerms::settle_motor(Track& track, double v_next, bool may_release) const {
  const Motor& motor = track.law->motor;
  if (!std::isfinite(motor.effort)) return false;
  const double v = 0.5 * (track.v + v_next), slack = thresholds::kBeyondBound * motor.effort;
  double torque = track.mean(track.motor);
  if (track.pull != Pull::kServo) {  // what it is asked for, on average
    const Linear asked = servo(track);
    torque = asked.constant - asked.K * 0.25 * h_ * (track.v + v) - asked.D * v;
  }
  const double beyond_top = torque - motor.cap(v), beyond_bottom = -torque - motor.cap(-v);
  Pull wanted = beyond_top > slack ? Pull::kTop : beyond_bottom > slack ? Pull::kBottom : Pull::kServo;
  // From one bound to the other it goes within the step: on either of them all the way it would overshoot.
  if (track.pull != Pull::kServo && wanted != track.pull) wanted = Pull::kServo;
  if (wanted != track.pull) {
    // Back and forth between a bound and the servo it may go without end: then the bound is near enough, or at once
    // where the servo was hardly beyond it, or would be where it was before.
    const bool undecided = wanted == Pull::kServo && (torque > 0.0) == (track.pull == Pull::kTop);
    const bool hardly = track.beyond <= thresholds::kHardlyBeyond * motor.effort;
    const bool as_before = track.alone && std::isfinite(track.beyond);
    if (undecided && (hardly || as_before || !may_release || track.changes >= thresholds::kMostChanges)) return false;
    ++track.changes;
    track.beyond = wanted == Pull::kServo ? kUnknown : std::max(beyond_top, beyond_bottom);
    track.pull = wanted;
    track.bound = bound_at(track, track.v);
    return true;
  }
  if (track.pull == Pull::kServo) return false;
  const Bound bound = bound_at(track, v);
  if (bound == track.bound) return false;
  // Step by step: beyond the line it may be only because it had its effort all the way.
  const bool far = bound != Bound::kLine && track.bound != Bound::kLine;
  track.bound = far ? Bound::kLine : bound;
  return true;
}

double JointTerms::stopping(const Track& track, double v_next) const {
  const double all = -track.X * (v_next / h_);  // with X far above the inertia: −X (v/h + a)
  return all - track.mean(track.motor) + track.law->damping * track.v_mean;
}

bool JointTerms::settle_friction(Track& track, double v_next) const {
  const DryFriction& friction = track.law->friction;
  if (track.hold == Hold::kSticking) {
    const double torque = track.mean(track.friction);
    if (std::abs(torque) <= friction.still) return false;
    track.hold = torque < 0.0 ? Hold::kForwards : Hold::kBackwards;
    return true;
  }
  if (track.hold == Hold::kStopping) {
    track.final = true;
    const double torque = stopping(track, v_next);
    if (std::abs(torque) <= friction.moving) return false;
    track.hold = Hold::kTurning;
    track.turns_forwards = torque < 0.0;
    return true;
  }
  const double sign = track.hold == Hold::kForwards ? 1.0 : -1.0;
  const double from = sign * track.v, to = sign * v_next;
  if (to > 0.0) return false;
  if (from < 0.0) {  // it was on its way the other way
    track.hold = track.hold == Hold::kForwards ? Hold::kBackwards : Hold::kForwards;
    return true;
  }
  track.hold = Hold::kStopping;  // it comes to rest within the step, or does not begin to move
  track.stops_after = from > 0.0 ? h_ * from / (from - to) : 0.0;
  return true;
}

double JointTerms::most_fitted(const Eigen::VectorXd& v_next) const {
  double most = 0.0;
  for (const Track& track : tracks_) {
    if (track.X > 0.0 && track.drive == Strand::kNone)
      most = std::max(most, std::abs(v_next(track.dof) - track.v) * track.X / (track.I + track.X));
  }
  return most;
}

void JointTerms::end(Motors& motors, State& next) const {
  motors.torque = tau_;
  motors.at_bound = at_bound_;
  std::size_t rough = 0;
  for (const Track& track : tracks_) {
    motors.torque(track.dof) = track.mean(track.motor);
    motors.at_bound[static_cast<std::size_t>(track.dof)] = track.pull != Pull::kServo;
    if (track.hold == Hold::kNone) continue;
    Grip& grip = next.grips[rough++];
    if (track.hold == Hold::kSticking) continue;  // carried along, by its law
    const double moving = track.law->friction.moving / track.law->friction.stiffness;
    const bool stops = track.hold == Hold::kStopping, turns = track.hold == Hold::kTurning;
    const bool forwards = stops ? track.v > 0.0 : turns ? track.turns_forwards : track.hold == Hold::kForwards;
    grip = {forwards ? moving : -moving, !stops};
  }
}

}  // namespace exposim
