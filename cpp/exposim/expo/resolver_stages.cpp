// How a resolver starts, and what it does in a micro-step.

#include <algorithm>
#include <cmath>

#include "exposim/expo/micro_step.hpp"
#include "exposim/expo/resolver.hpp"
#include "exposim/expo/resolver_tangent.hpp"
#include "exposim/thresholds.hpp"

namespace exposim {

using Eigen::Vector3d;

namespace {

/// Error of the velocity after h, by how far forces at its start, first and second stage are from a straight line: the
/// method loses 0.0404 z³ of y' = λy, z = hλ, and the bend is then 0.293 z² of it.
constexpr double kErrorOfBend = 0.138;
/// The same by how far the law is from linear at the end, which it approaches with the square of time.
constexpr double kErrorOfLinear = 1.0 / 3.0;

}  // namespace

void Resolver::start(const StiffSystem& system, const StrandList& strands) {
  tracks_.resize(strands.all().size());
  if (courses_) courses_->assign(tracks_.size(), ForceCourse{});
  for (std::size_t k = 0; k < tracks_.size(); ++k) {
    const Strand& strand = strands.all()[k];
    Track& track = tracks_[k];
    track.row = &system.rows()[k];
    track.law = strand.law;
    track.due = false;
    track.moved.setZero();
    track.lam_bar.setZero();
    track.lam_bar2.setZero();
    Phase& phase = track.phase;
    phase.mode = strand.memory.mode;
    phase.n = strand.motion.n;
    phase.phi0 = strand.memory.phi0;
    phase.delta = displacement(strand.motion, strand.memory);
    phase.dp = strand.motion.dp;
    phase.most.fill(0.0);
    phase.share = thresholds::kMostOfStage / static_cast<double>(tracks_.size());
    phase.yielding = false;
    phase.cuts = 0;
  }
}

void Resolver::enter(const StiffSystem& system, std::size_t group, double stage) {
  if (drives_) {
    blocks_.begin(system, blocks_of_group_, drives_->Upsilon(), drives_->stride());
  } else {
    blocks_.begin(system, blocks_of_group_);
  }
  attached_for_ = modes_attached_for_ = -1.0;
  group_.clear();
  for (std::size_t k = 0; k < tracks_.size(); ++k) {
    Track& track = tracks_[k];
    if (system.group_of(track.row->block) != group) continue;
    group_.push_back(&track);
    Phase& phase = track.phase;
    phase.stage = stage;
    track.ddp_bar = track.row->ddp_bar;
    if (drives_) {
      track.ddp_bar += blocks_.motion_of(*track.row, drives_->change());
      blocks_.clear_forces();
      blocks_.add_force(*track.row, phase.n);
      blocks_.solve();
      phase.compliance = blocks_.acceleration_of(*track.row);
    } else {
      phase.compliance = system.response(*track.row, *track.row, phase.n);
    }
    track.law->begin(phase);
    if (courses_) (*courses_)[k].begin(phase.lam);
  }
  if (tangent_) tangent_->enter(group_, blocks_, drives_ != nullptr);
}

void Resolver::attach_springs(double h) {
  const double g = kGamma * h;
  blocks_.detach();
  for (Track* const each : group_) {
    Track& track = *each;
    if (track.is_free()) {
      track.lam1.setZero();
      track.lam2.setZero();
      continue;
    }
    track.Q = g * (track.phase.B + g * track.phase.K);
    track.Qc.noalias() = track.Q * track.ddp_bar;
    blocks_.add_spring(*track.row, track.Q, track.phase.mode != Mode::kSlipping);  // which turns
  }
  blocks_.attach(modes_attached_for_ == h);
  attached_for_ = modes_attached_for_ = h;
}

void Resolver::attempt(double h) {
  if (attached_for_ != h) attach_springs(h);
  ++info_.micro_steps;
  take_first_stage(h);
  take_second_stage(h);
}

void Resolver::take_first_stage(double h) {
  // v1 = v + g a1, p1 = p + g v1, so that λ1 = λ − g K v − Q a1.
  const double g = kGamma * h;
  if (drives_) drives_->begin_stages();
  blocks_.clear_forces();
  for (Track* const each : group_) {
    Track& track = *each;
    if (track.is_free()) continue;
    const Phase& phase = track.phase;
    track.Kv.noalias() = phase.K * phase.dp;
    track.lam1 = phase.lam - g * track.Kv - track.Qc;
    if (drives_) track.lam1.noalias() -= track.Q * pushed_by_drives(track);
    blocks_.add_force(*track.row, track.lam1);
  }
  blocks_.solve();
  for (Track* const each : group_) {
    Track& track = *each;
    const Vector3d pushed = blocks_.acceleration_of(*track.row);
    if (!track.is_free()) track.lam1.noalias() -= track.Q * pushed;
    track.a1 = track.ddp_bar + pushed;
    if (drives_) track.a1 += pushed_by_drives(track);
    track.dp_end = track.phase.dp + (h - g) * track.a1;               // without a2 so far
    track.way = h * track.phase.dp + (2.0 * g * (h - g)) * track.a1;  // likewise
  }
  if (!drives_) return;
  blocks_.clear_forces();
  for (Track* const each : group_) blocks_.add_force(*each->row, each->lam1);
  drives_->end_first_stage(blocks_.wrench(), h);
}

void Resolver::take_second_stage(double h) {
  // v2 = v + (h − g) a1 + g a2, p2 = p + (h − g) v1 + g v2, so that, with ρ = (h − g)/g,
  // λ2 = λ − h K v − ρ (Q a1 + g² K a1) − Q a2.
  const double g = kGamma * h, rho = (h - g) / g;
  blocks_.clear_forces();
  for (Track* const each : group_) {
    Track& track = *each;
    if (track.is_free()) continue;
    const Phase& phase = track.phase;
    const Vector3d Qa1 = phase.lam - g * track.Kv - track.lam1, Ka1 = phase.K * track.a1;
    track.lam2 = phase.lam - h * track.Kv - rho * (Qa1 + g * g * Ka1) - track.Qc;
    if (drives_) track.lam2.noalias() -= track.Q * pushed_by_drives(track);
    blocks_.add_force(*track.row, track.lam2);
  }
  blocks_.solve();
  for (Track* const each : group_) {
    Track& track = *each;
    const Vector3d pushed = blocks_.acceleration_of(*track.row);
    if (!track.is_free()) track.lam2.noalias() -= track.Q * pushed;
    track.a2 = track.ddp_bar + pushed;
    if (drives_) track.a2 += pushed_by_drives(track);
    track.dp_end += g * track.a2;
    track.way += g * g * track.a2;
  }
  if (!drives_) return;
  blocks_.clear_forces();
  for (Track* const each : group_) blocks_.add_force(*each->row, each->lam2);
  drives_->end_second_stage(blocks_.wrench(), h);
}

double Resolver::error_of(double h) {
  if (drives_) drives_->push_by_error();
  blocks_.clear_forces();
  for (const Track* const each : group_) {
    const Track& track = *each;
    if (track.is_free()) continue;
    const Phase& phase = track.phase;
    const Vector3d bend = (track.lam2 - track.lam1) / (1.0 - kGamma) - (track.lam1 - phase.lam) / kGamma;
    const Vector3d beyond = track.law->beyond_linear(phase, phase.delta + track.way, track.dp_end);
    Vector3d off = kErrorOfBend * bend + kErrorOfLinear * beyond;
    if (drives_) off.noalias() -= track.Q * pushed_by_drives(track);
    blocks_.add_force(*track.row, off);
  }
  blocks_.solve();
  double most = 0.0;
  for (const Track* const each : group_) {
    Vector3d a = blocks_.acceleration_of(*each->row);
    if (drives_) a += pushed_by_drives(*each);
    most = std::max(most, a.squaredNorm());
  }
  return h * std::sqrt(most);
}

void Resolver::accept(double h) {
  if (tangent_) tangent_->accept(h, blocks_);
  for (Track* const each : group_) {
    Track& track = *each;
    add_to_integrals(h, track.lam1, track.lam2, track.lam_bar, track.lam_bar2);
    track.phase.delta += track.way;
    track.phase.dp = track.dp_end;
    track.moved += track.way;
  }
  if (drives_) drives_->accept(h);
}

}  // namespace exposim
