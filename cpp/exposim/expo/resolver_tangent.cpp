#include "exposim/expo/resolver_tangent.hpp"

#include <algorithm>
#include <cmath>

#include "exposim/expo/crossing.hpp"
#include "exposim/kernels/fours.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Vector3d;

namespace {

/// A velocity with which something passes zero is none at this share of its scale.
constexpr double kHardly = 1e-4;

/// Of a strand: its threes of rows, and single ones.
constexpr Index kThrees = 13, kSingles = 4;
constexpr Index kMaterialRows = 5;

}  // namespace

void ResolverTangent::begin(const StiffSystem& system, const std::vector<StrandTrack>& tracks,
                            const FollowedDrives* drives, double dt) {
  system_ = &system;
  tracks_ = &tracks;
  followed_ = drives;
  dt_ = dt;
  grazing_.clear();
  directions_ = inputs_->directions();
  length_ = padded(directions_);
  laws_.clear();
  supported_ = true;
  for (const StrandTrack& track : tracks) {
    laws_.emplace_back(*track.law);
    supported_ &= laws_.back().known();
  }
  allot();

  coordinates_.clear();
  moving_ = 0;
  const Tangent& dq = inputs_->moves();
  for (Index k = 0; k < static_cast<Index>(inputs_->Upsilon_by_q.size()); ++k) {
    if (inputs_->Upsilon_by_q[static_cast<std::size_t>(k)].size() == 0) continue;
    Index last = directions_;
    while (last > 0 && dq(k, last - 1) == 0.0) --last;
    if (last == 0) continue;
    coordinates_.push_back(k);
    moving_ = std::max(moving_, last);
  }
  dq_.assign(coordinates_.size() * static_cast<std::size_t>(length_), 0.0);
  for (std::size_t k = 0; k < coordinates_.size(); ++k) {
    load_rows(dq, coordinates_[k], 1, length_, dq_.data() + static_cast<Index>(k) * length_);
  }
}

void ResolverTangent::allot() {
  const std::size_t count = tracks_->size();
  const bool materials = !inputs_->materials.empty();
  const Index each = 3 * kThrees + kSingles + (materials ? kMaterialRows : 0);
  rows_.assign(count * static_cast<std::size_t>(each * length_), 0.0);
  scratch_.assign(static_cast<std::size_t>(3 * length_), 0.0);
  strands_.resize(count);
  double* next = rows_.data();
  for (std::size_t k = 0; k < count; ++k) {
    StrandTangent& d = strands_[k];
    for (Rows3* const rows : {&d.delta, &d.dp, &d.slide, &d.lam, &d.compliance, &d.lam1, &d.lam2, &d.way, &d.dp_end,
                              &d.moved, &d.lam_bar, &d.lam_bar2, &d.stretch}) {
      *rows = {next, length_};
      next += 3 * length_;
    }
    for (double** const row : {&d.mu, &d.turning, &d.scratch, &d.scratch2}) {
      *row = next;
      next += length_;
    }
    d.mu_changes = d.moved_on = false;
    d.material = nullptr;
    if (materials && inputs_->materials[k].rows() > 0) {
      load_rows(inputs_->materials[k], 0, kMaterialRows, length_, next);
      d.material = next;
      next += kMaterialRows * length_;
    }
    load_rows(inputs_->delta, 3 * static_cast<Index>(k), 3, length_, d.delta.first);
    load_rows(inputs_->dp, 3 * static_cast<Index>(k), 3, length_, d.dp.first);
  }
  allot_drives();
}

void ResolverTangent::enter(const std::vector<StrandTrack*>& group, const SprungBlocks& blocks, bool driven) {
  group_.assign(group.begin(), group.end());
  driven_ = driven ? followed_->group().size() : 0;
  const auto size = (3 * group_.size() + driven_) * static_cast<std::size_t>(length_);
  for (std::vector<double>* const each : {&ddp_bar_, &a1_, &a2_}) each->assign(size, 0.0);
  motion_.assign(static_cast<std::size_t>(3 * length_), 0.0);
  wrenches_.assign(static_cast<std::size_t>(blocks.size() * length_), 0.0);
  alpha_.assign(wrenches_.size(), 0.0);
  for (std::vector<double>* const each : {&dh_, &dleft_}) each->assign(static_cast<std::size_t>(length_), 0.0);
  times_move_ = false;
  first_of_.clear();
  places_.clear();
  for (std::size_t k = 0; k < group_.size(); ++k) {
    const std::size_t strand = index_of(*group_[k]);
    const Index at = 3 * static_cast<Index>(k) * length_;
    first_of_.push_back(blocks.first_of(group_[k]->row->block));
    for (Index i = 0; i < 3; ++i) places_.push_back(3 * static_cast<Index>(strand) + i);
    strands_[strand].a1 = {a1_.data() + at, length_};
    strands_[strand].a2 = {a2_.data() + at, length_};
  }
  if (driven) enter_drives();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    load_rows(inputs_->ddp_bar, places_[i], 1, length_, ddp_bar_.data() + static_cast<Index>(i) * length_);
  }
  pack_Upsilon();
  for (std::size_t k = 0; k < group_.size(); ++k) {
    const std::size_t strand = index_of(*group_[k]);
    const Phase& phase = group_[k]->phase;
    StrandTangent& d = strands_[strand];
    if (laws_[strand].may_be_held_back(phase)) find_compliance(k);
    d.no_direction = d.held_back = false;
    laws_[strand].begin(phase, d);
    if (d.no_direction) note(0.0, strand, Grazing::Kind::kNoDirection);
    if (d.held_back) note(0.0, strand, Grazing::Kind::kHeldBack);
  }
}

void ResolverTangent::divide(double left, double h) {
  t_ = dt_ - left;
  if (times_move_) RowSum(length_).add(h / left, dleft_.data()).into(dh_.data());
}

void ResolverTangent::shorten(double h, double until, double shortest, const SprungBlocks& blocks) {
  const StrandTrack* first = nullptr;
  int due = 0;
  for (const StrandTrack* const each : group_) {
    due += each->due;
    if (!first && each->event == until) first = each;
  }
  const std::size_t strand = index_of(*first);
  if (until <= shortest) return note(t_, strand, Grazing::Kind::kAtOnce);
  if (due > 1) note(t_ + until, strand, Grazing::Kind::kSimultaneous);
  differentiate_stages(h, blocks);
  end_of(*first, h);
  if (first->phase.mode == Mode::kOpen) {
    find_closing(*first, h);
  } else {
    find_crossing(*first, h);
  }
  times_move_ = true;
}

void ResolverTangent::find_closing(const StrandTrack& track, double h) {
  // t = 2φ/(r − φ̇), r² = φ̇² − 2aφ: it touches with φ̇ + at = −r.
  const Phase& phase = track.phase;
  const StrandTangent& d = strands_[index_of(track)];
  const double phi = phase.gap(), dphi = phase.n.dot(phase.dp), a = (phase.n.dot(track.dp_end) - dphi) / h;
  const double root = std::sqrt(std::max(0.0, dphi * dphi - 2.0 * a * phi)), t = 2.0 * phi / (root - dphi);
  const bool grazes = !(root > kHardly * (std::abs(dphi) + std::abs(a) * h));
  if (grazes) note(t_ + t, index_of(track), Grazing::Kind::kTouch);
  if (root == 0.0) return RowSum(length_).into(dh_.data());
  // 0 = dφ + t dφ̇ + t²/2 da − r dt
  const double by_a = 0.5 * t * t / root;
  RowSum sum(length_);
  sum.add(phase.n / root, d.delta).add((t / root - by_a / h) * phase.n, d.dp).add(by_a / h * phase.n, d.dp_end);
  sum.add(-by_a * a / h, dh_.data()).into(dh_.data());
}

void ResolverTangent::find_crossing(const StrandTrack& track, double h) {
  const Phase& phase = track.phase;
  const std::size_t strand = index_of(track);
  const StrandTangent& d = strands_[strand];
  const double g = kGamma * h;
  const Vector3d dp_between = phase.dp + g * track.a1, delta_between = phase.delta + g * dp_between;
  const Vector3d delta_end = phase.delta + track.way;
  const Margins now = track.law->margins(phase, phase.delta, phase.dp, phase.lam);
  const Margins between = track.law->margins(phase, delta_between, dp_between, track.lam1);
  const Margins then = track.law->margins(phase, delta_end, track.dp_end, track.lam2);
  const bool second = crossing(now[1], between[1], then[1], h) < crossing(now[0], between[0], then[0], h);
  const std::size_t i = second ? 1 : 0;

  // When it is, by the three values and h.
  const Parabola parabola(now[i], between[i], then[i]);
  double by_now, by_between, by_then, t;
  if (parabola.falls_within()) {
    // 0 = dfrom + t db + t² dc − root dt, with b and c linear in the three.
    t = parabola.t;
    const double c_by_between = -1.0 / (kGamma * (1.0 - kGamma)), c_by_then = 1.0 / (1.0 - kGamma);
    by_between = (t * t - t) * c_by_between / parabola.root;
    by_then = (t + (t * t - t) * c_by_then) / parabola.root;
    by_now = 1.0 / parabola.root - by_between - by_then;
  } else {
    const double fall = now[i] - then[i];
    t = now[i] / fall;
    by_now = -then[i] / (fall * fall);
    by_between = 0.0;
    by_then = now[i] / (fall * fall);
  }
  const double scale = std::abs(now[i]) + std::abs(between[i]) + std::abs(then[i]);
  if (!(parabola.root > kHardly * scale)) note(t_ + h * t, strand, Grazing::Kind::kTangential);

  const MarginChange at_start = laws_[strand].margin_change(phase, i, phase.delta, phase.dp, phase.lam);
  const MarginChange at_stage = laws_[strand].margin_change(phase, i, delta_between, dp_between, track.lam1);
  const MarginChange at_end = laws_[strand].margin_change(phase, i, delta_end, track.dp_end, track.lam2);
  by_now *= h;
  by_between *= h;
  by_then *= h;
  const Vector3d by_dp_between = at_stage.by_dp + g * at_stage.by_delta;
  RowSum sum(length_);
  sum.add(by_now * at_start.by_delta + by_between * at_stage.by_delta + by_then * at_end.by_delta, d.delta);
  sum.add(by_now * at_start.by_dp + by_between * by_dp_between, d.dp).add(by_now * at_start.by_lam, d.lam);
  sum.add(by_between * at_stage.by_lam, d.lam1).add(by_between * g * by_dp_between, d.a1);
  sum.add(by_then * at_end.by_delta, d.way).add(by_then * at_end.by_dp, d.dp_end).add(by_then * at_end.by_lam, d.lam2);
  sum.add(by_now * at_start.by_slide + by_between * at_stage.by_slide + by_then * at_end.by_slide, d.slide);
  if (d.mu_changes) sum.add(by_now * at_start.by_mu + by_between * at_stage.by_mu + by_then * at_end.by_mu, d.mu);
  const double by_h = by_between * kGamma * (by_dp_between.dot(track.a1) + at_stage.by_delta.dot(dp_between));
  sum.add(t + by_h, dh_.data());
  if (d.material) {
    const MaterialVector by =
        by_now * at_start.by_material + by_between * at_stage.by_material + by_then * at_end.by_material;
    for (Index m = 0; m < kMaterialRows; ++m) sum.add(by(m), d.material_row(m));
  }
  sum.into(dh_.data());
}

void ResolverTangent::update(const StrandTrack& track, bool due, double t) {
  const std::size_t k = index_of(track);
  StrandTangent& d = strands_[k];
  d.no_direction = d.held_back = false;
  laws_[k].update(before_, track.phase, due, d);
  d.moved_on = false;
  if (d.no_direction) note(t, k, Grazing::Kind::kNoDirection);
  if (d.held_back) note(t, k, Grazing::Kind::kHeldBack);
}

void ResolverTangent::finish() {
  RowSum sum(length_);
  for (std::size_t k = 0; k < strands_.size(); ++k) {
    const StrandTrack& track = (*tracks_)[k];
    StrandTangent& d = strands_[k];
    const double once = 1.0 / dt_, twice = 2.0 / (dt_ * dt_);
    for (Index i = 0; i < 3; ++i) {
      sum.add(once, d.lam_bar[i]).into(d.lam_bar[i]);
      sum.add(twice, d.lam_bar2[i]).into(d.lam_bar2[i]);
    }
    laws_[k].project(once * track.lam_bar, track.phase.n, d, scratch_.data(), d.lam_bar);
    laws_[k].project(twice * track.lam_bar2, track.phase.n, d, scratch_.data(), d.lam_bar2);
    laws_[k].end(track.phase, d, d.stretch);
  }
  for (const DriveTangent& d : drives_) {
    sum.add(1.0 / dt_, d.lam_bar).into(d.lam_bar);
    sum.add(2.0 / (dt_ * dt_), d.lam_bar2).into(d.lam_bar2);
  }
}

}  // namespace exposim
