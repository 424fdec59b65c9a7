#include "exposim/expo/resolver_tangent.hpp"

#include <algorithm>
#include <cmath>

#include "exposim/expo/crossing.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Vector3d;
using Eigen::VectorXd;
using Kind = ResolverRecord::Kind;

namespace {

/// A velocity with which something passes zero is none at this share of its scale.
constexpr double kHardly = 1e-4;

}  // namespace

void ResolverTangent::begin(const StiffSystem& system, const std::vector<StrandTrack>& tracks,
                            const FollowedDrives* drives, double dt) {
  system_ = &system;
  tracks_ = &tracks;
  followed_ = drives;
  dt_ = dt;
  grazing_.clear();
  laws_.clear();
  has_material_.clear();
  supported_ = true;
  for (std::size_t k = 0; k < tracks.size(); ++k) {
    laws_.emplace_back(*tracks[k].law);
    supported_ &= laws_.back().known();
    has_material_.push_back(!inputs_->materials.empty() && inputs_->materials[k].rows() > 0);
  }
  groups_ = 0;
}

void ResolverTangent::enter(const std::vector<StrandTrack*>& group, const SprungBlocks& blocks, bool driven) {
  if (records_.size() == groups_) records_.emplace_back();
  record_ = &records_[groups_++];
  ResolverRecord& record = *record_;
  record.clear();
  group_.assign(group.begin(), group.end());
  times_move_ = false;
  left_ = dt_;
  record.blocks.count = blocks.size();
  for (const StrandTrack* const track : group_) {
    const std::size_t strand = index_of(*track);
    const StiffSystem::Row& row = *track->row;
    record.strands.push_back(strand);
    record.blocks.of.push_back(
        {blocks.first_of(row.block), system_->blocks()[row.block].size, row.rows == Rows::kAngular, row.arm});
    for (Index i = 0; i < 3; ++i) record.places.push_back(3 * static_cast<Index>(strand) + i);
    record.acts.push_back(0);
    record.changed.push_back(0);
    record.held_back.push_back(supported_ && laws_[strand].may_be_held_back(track->phase));
    record.mu_changes.push_back(0);
    record.cut.push_back(0);
    record.cut2.push_back(0);
  }
  if (driven) enter_drives();
  enter_Upsilon(driven);
  if (!supported_) return;
  for (std::size_t k = 0; k < group_.size(); ++k) {
    const std::size_t strand = record.strands[k];
    const Phase& phase = group_[k]->phase;
    if (LawTangent::is_linear(phase)) continue;
    StrandTangent& d = basis_.start(has_material_[strand], false);
    laws_[strand].begin(phase, d);
    note_change(k, 0.0, d);
  }
}

void ResolverTangent::enter_drives() {
  ResolverRecord& record = *record_;
  record.drives = followed_->group();
  const std::size_t count = record.drives.size();
  const std::vector<Index>& dofs = inputs_->dofs;
  for (const std::size_t d : record.drives) {
    const FollowedDrives::Drive& drive = followed_->drive(d);
    const auto found = std::find(dofs.begin(), dofs.end(), drive.dof);
    record.laws_of_drives.push_back(drive);
    record.places.push_back(3 * static_cast<Index>(tracks_->size()) + (found - dofs.begin()));
  }
  record.push.resize(record.places.size() * count);
  record.push_of_blocks.resize(static_cast<std::size_t>(record.blocks.count) * count);
  const Index begin = followed_->drives_begin();
  for (std::size_t d = 0; d < count; ++d) {
    const Eigen::Map<const VectorXd> column(followed_->column(d), begin + static_cast<Index>(count));
    for (std::size_t c = 0; c < static_cast<std::size_t>(record.blocks.count); ++c) {
      record.push_of_blocks[c * count + d] = column(static_cast<Index>(c));
    }
    for (std::size_t k = 0; k < group_.size(); ++k) {
      const Vector3d a = system_->motion_of(*group_[k]->row, record.blocks.of[k].first, column);
      for (std::size_t i = 0; i < 3; ++i) record.push[(3 * k + i) * count + d] = a(static_cast<Index>(i));
    }
    for (std::size_t e = 0; e < count; ++e) {
      record.push[(3 * group_.size() + e) * count + d] = column(begin + static_cast<Index>(e));
    }
  }
}

void ResolverTangent::enter_Upsilon(bool driven) {
  ResolverRecord& record = *record_;
  const Index n = record.blocks.count;
  record.Upsilon.resize(static_cast<std::size_t>(n * n));
  Eigen::Map<RowMatrixXd> to(record.Upsilon.data(), n, n);
  if (driven) {
    to = Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>>(followed_->Upsilon(), n, n,
                                                                    Eigen::OuterStride<>(followed_->stride()));
    return;
  }
  // Where the coordinates of the group are among those of all blocks.
  const std::vector<StrandCoordinates::Place>& of = record.blocks.of;
  const auto comes_again = [&](std::size_t i) {
    return std::any_of(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(i),
                       [&](const auto& each) { return each.first == of[i].first; });
  };
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (comes_again(i)) continue;
    for (std::size_t j = 0; j < of.size(); ++j) {
      if (comes_again(j)) continue;
      const Index row = system_->blocks()[group_[i]->row->block].first;
      const Index column = system_->blocks()[group_[j]->row->block].first;
      to.block(of[i].first, of[j].first, of[i].size, of[j].size) =
          system_->Upsilon_block().block(row, column, of[i].size, of[j].size);
    }
  }
}

ResolverRecord::Entry& ResolverTangent::add(Kind kind, double h) {
  return record_->entries.emplace_back(
      ResolverRecord::Entry{kind, times_move_, h, left_, 0, 0, 0, 0, 0, record_->stages, 0, 0});
}

void ResolverTangent::note_change(std::size_t k, double t, const StrandTangent& d) {
  ResolverRecord::Entry& entry = add(Kind::kChanged, 0.0);
  entry.strand = k;
  entry.which = record_->changes.size();
  record_->changes.push_back(basis_.change());
  record_->mu_changes[k] = d.mu_changes;
  record_->changed[k] = 1;
  if (d.no_direction) note(t, record_->strands[k], Grazing::Kind::kNoDirection);
  if (d.held_back) note(t, record_->strands[k], Grazing::Kind::kHeldBack);
}

void ResolverTangent::divide(double left, double h) {
  left_ = left;
  std::vector<ResolverRecord::Entry>& entries = record_->entries;
  if (!entries.empty() && entries.back().kind == Kind::kDivided) entries.pop_back();
  add(Kind::kDivided, h);
}

void ResolverTangent::add_micro_step(Kind kind, double h, const SprungBlocks& blocks) {
  ResolverRecord& record = *record_;
  ResolverRecord::Entry& entry = add(kind, h);
  record.stages += 2;
  entry.tracks = record.tracks.size();
  entry.drives = record.drive_tracks.size();
  entry.pushed = record.pushed.size();
  entry.response = record.response.size();
  for (std::size_t k = 0; k < group_.size(); ++k) {
    record.tracks.push_back(*group_[k]);
    if (group_[k]->is_free()) continue;
    record.acts[k] = 1;
    const auto begin = record.pushed.begin() + static_cast<std::ptrdiff_t>(entry.pushed);
    const StrandCoordinates::Place& place = record.blocks.of[k];
    if (std::find(begin, record.pushed.end(), place.first) != record.pushed.end()) continue;
    for (Index i = 0; i < place.size; ++i) record.pushed.push_back(place.first + i);
  }
  entry.pushed_end = record.pushed.size();
  record.response.resize(entry.response + (entry.pushed_end - entry.pushed) * static_cast<std::size_t>(blocks.size()));
  double* to = record.response.data() + entry.response;
  for (std::size_t j = entry.pushed; j < entry.pushed_end; ++j) {
    for (Index i = 0; i < blocks.size(); ++i) *to++ = blocks.response(i, record.pushed[j]);
  }
  for (const std::size_t d : record.drives) record.drive_tracks.push_back(followed_->track(d));
}

void ResolverTangent::shorten(double h, double until, double shortest, const SprungBlocks& blocks) {
  std::size_t first = group_.size();
  int due = 0;
  for (std::size_t k = 0; k < group_.size(); ++k) {
    due += group_[k]->due;
    if (first == group_.size() && group_[k]->event == until) first = k;
  }
  const double t = dt_ - left_;
  const std::size_t strand = record_->strands[first];
  if (until <= shortest) return note(t, strand, Grazing::Kind::kAtOnce);
  if (due > 1) note(t + until, strand, Grazing::Kind::kSimultaneous);
  add_micro_step(Kind::kCut, h, blocks);
  record_->entries.back().which = record_->events.size();
  const StrandTrack& track = *group_[first];
  EventTime event = track.phase.mode == Mode::kOpen ? closing(track, h) : crossing_of(track, h);
  event.strand = first;
  record_->events.push_back(event);
  record_->acts[first] = 1;
  times_move_ = true;
}

void ResolverTangent::accept(double h, const SprungBlocks& blocks) {
  add_micro_step(Kind::kTaken, h, blocks);
  left_ -= h;
}

void ResolverTangent::update(const StrandTrack& track, bool due, double t) {
  const std::size_t strand = index_of(track);
  if (!supported_ || laws_[strand].moves_on(before_, track.phase, due)) return;
  const std::vector<std::size_t>& strands = record_->strands;
  const auto k = static_cast<std::size_t>(std::find(strands.begin(), strands.end(), strand) - strands.begin());
  StrandTangent& d = basis_.start(has_material_[strand], record_->mu_changes[k]);
  laws_[strand].update(before_, track.phase, d);
  note_change(k, t, d);
}

void ResolverTangent::finish() {
  integrals_.resize(tracks_->size());
  for (std::size_t k = 0; k < tracks_->size(); ++k) {
    integrals_[k] << (*tracks_)[k].lam_bar, (*tracks_)[k].lam_bar2;
  }
  acts_.assign(tracks_->size(), 0);
  cuts_ = false;
  for (std::size_t group = 0; supported_ && group < groups_; ++group) {
    ResolverRecord& record = records_[group];
    for (std::size_t k = 0; k < record.strands.size(); ++k) {
      const std::size_t strand = record.strands[k];
      const Vector3d& n = (*tracks_)[strand].phase.n;
      acts_[strand] = record.acts[k];
      record.cut[k] = !laws_[strand].keeps(integrals_[strand].col(0) / dt_, n);
      record.cut2[k] = !laws_[strand].keeps(integrals_[strand].col(1) * (2.0 / (dt_ * dt_)), n);
      cuts_ |= record.acts[k] && (record.cut[k] || record.cut2[k]);
    }
  }
}

EventTime ResolverTangent::closing(const StrandTrack& track, double h) {
  // t = 2φ/(r − φ̇), r² = φ̇² − 2aφ: it touches with φ̇ + at = −r.
  const Phase& phase = track.phase;
  const double phi = phase.gap(), dphi = phase.n.dot(phase.dp), a = (phase.n.dot(track.dp_end) - dphi) / h;
  const double root = std::sqrt(std::max(0.0, dphi * dphi - 2.0 * a * phi)), t = 2.0 * phi / (root - dphi);
  const bool grazes = !(root > kHardly * (std::abs(dphi) + std::abs(a) * h));
  if (grazes) note(dt_ - left_ + t, index_of(track), Grazing::Kind::kTouch);
  EventTime event;
  if (root == 0.0) return event;
  // 0 = dφ + t dφ̇ + t²/2 da − r dt
  const double by_a = 0.5 * t * t / root;
  event.by_delta = phase.n / root;
  event.by_dp = (t / root - by_a / h) * phase.n;
  event.by_dp_end = by_a / h * phase.n;
  event.by_h = -by_a * a / h;
  return event;
}

EventTime ResolverTangent::crossing_of(const StrandTrack& track, double h) {
  const Phase& phase = track.phase;
  const std::size_t strand = index_of(track);
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
  if (!(parabola.root > kHardly * scale)) note(dt_ - left_ + h * t, strand, Grazing::Kind::kTangential);

  const MarginChange at_start = laws_[strand].margin_change(phase, i, phase.delta, phase.dp, phase.lam);
  const MarginChange at_stage = laws_[strand].margin_change(phase, i, delta_between, dp_between, track.lam1);
  const MarginChange at_end = laws_[strand].margin_change(phase, i, delta_end, track.dp_end, track.lam2);
  by_now *= h;
  by_between *= h;
  by_then *= h;
  const Vector3d by_dp_between = at_stage.by_dp + g * at_stage.by_delta;
  EventTime event;
  event.by_delta = by_now * at_start.by_delta + by_between * at_stage.by_delta;
  event.by_way = by_then * at_end.by_delta;
  event.by_dp = by_now * at_start.by_dp + by_between * by_dp_between;
  event.by_dp_end = by_then * at_end.by_dp;
  event.by_lam = by_now * at_start.by_lam;
  event.by_lam1 = by_between * at_stage.by_lam;
  event.by_lam2 = by_then * at_end.by_lam;
  event.by_a1 = by_between * g * by_dp_between;
  event.by_slide = by_now * at_start.by_slide + by_between * at_stage.by_slide + by_then * at_end.by_slide;
  event.by_mu = by_now * at_start.by_mu + by_between * at_stage.by_mu + by_then * at_end.by_mu;
  event.by_h = t + by_between * kGamma * (by_dp_between.dot(track.a1) + at_stage.by_delta.dot(dp_between));
  event.by_material = by_now * at_start.by_material + by_between * at_stage.by_material + by_then * at_end.by_material;
  return event;
}

}  // namespace exposim
