#include "exposim/expo/resolver.hpp"

#include <algorithm>
#include <cmath>

#include "exposim/expo/crossing.hpp"
#include "exposim/expo/micro_step.hpp"
#include "exposim/expo/resolver_tangent.hpp"
#include "exposim/thresholds.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Vector3d;

namespace {

/// By how many halvings a micro-step is to be shorter that is so many times too inaccurate: an error of third order,
/// and a margin.
int rungs_down(double off) { return off < 16.0 ? off < 2.0 ? 1 : 2 : 3; }

int most_events(std::size_t strands) {
  return thresholds::kEventsPerStep +
         thresholds::kEventsPerContact * std::min(thresholds::kMostCounted, static_cast<int>(strands));
}

/// Keeps the order of events at the same time, and allocates nothing.
void sort_by_time(std::vector<ModeChange>& changes) {
  const auto earlier = [](const ModeChange& a, const ModeChange& b) { return a.t < b.t; };
  for (auto each = changes.begin(); each != changes.end(); ++each) {
    std::rotate(std::upper_bound(changes.begin(), each, *each, earlier), each, each + 1);
  }
}

}  // namespace

void Resolver::resolve(const StiffSystem& system, const StrandList& strands, double dt, const MicroSteps& how,
                       FollowedDrives* drives) {
  const double stage = kGamma * std::ldexp(dt / how.least, -thresholds::kRungsToJam);
  start(system, strands);
  if (tangent_) tangent_->begin(system, tracks_, drives, dt);
  changes_.clear();
  changes_.reserve(4 * static_cast<std::size_t>(most_events(tracks_.size())));
  info_ = {};
  error_ = 0.0;
  unchanged_ = !strands.slips();  // even if it begins to hold at once: the closed form does not know
  for (std::size_t group = 0; group < system.groups(); ++group) {
    blocks_of_group_.clear();
    for (std::size_t b = 0; b < system.blocks().size(); ++b) {
      if (system.group_of(b) == group) blocks_of_group_.push_back(b);
    }
    if (blocks_of_group_.empty()) continue;  // it was joined with another
    drives_ = drives && drives->enter(system, group, blocks_of_group_) ? drives : nullptr;
    enter(system, group, stage);
    follow(dt, how);
  }
  if (system.groups() > 1) sort_by_time(changes_);
  info_.resolved = !unchanged_;
  if (tangent_) tangent_->finish();
  for (Track& track : tracks_) {
    // All forces on the way were in the cone, and so are their averages, but for what implicit stages and rounding add.
    track.lam_bar = track.law->project(track.lam_bar / dt, track.phase.n);
    track.lam_bar2 = track.law->project(track.lam_bar2 * (2.0 / (dt * dt)), track.phase.n);
  }
}

void Resolver::follow(double dt, const MicroSteps& how) {
  const double longest = dt / std::max(how.least, drives_ ? std::ceil(dt / drives_->longest()) : 1.0);
  const double shortest = thresholds::kShortestShare * dt;
  const int most = most_events(group_.size());
  const bool slips = std::any_of(group_.begin(), group_.end(),
                                 [](const Track* track) { return track->phase.mode == Mode::kSlipping; });
  const double first =
      slips && how.tolerance < kNoMargin ? std::ldexp(dt / how.least, -thresholds::kFirstRung) : longest;
  int rung = longest > first ? thresholds::kFirstRung : 0, events = 0;
  double left = dt, length = std::ldexp(longest, -rung);
  const auto go_to = [&](int next) {
    rung = next;
    length = std::ldexp(longest, -rung);
  };
  while (left > 1e-12 * dt) {
    const double h = micro_step(left, length);
    if (tangent_) tangent_->divide(left, h);
    if (attached_for_ != h) attach_springs(h);
    if (blocks_.determinant() < thresholds::kMostOfStage && rung < thresholds::kRungsToJam) {
      go_to(rung + 1);
      continue;
    }
    attempt(h);
    const double off = how.tolerance < kNoMargin ? error_of(h) / how.tolerance : 0.0;
    if (off > 1.0 && rung < thresholds::kMostRungs) {
      go_to(std::min(thresholds::kMostRungs, rung + rungs_down(off)));
      continue;
    }
    const bool locate = events < most;
    double until = locate ? next_event(h) : h;
    const bool event = until < (1.0 - 1e-9) * h;
    if (event) until = cut(h, until, shortest, how.cuts);
    const double taken = !event || until > shortest ? until : 0.0;
    if (taken > 0.0) {
      accept(taken);
      const double share = taken / h;
      error_ += off * how.tolerance * share * share * share;  // of one that an event ends
    }
    left -= taken;
    if (update_modes(event, dt - left)) {
      attached_for_ = -1.0;
      unchanged_ = false;
      info_.limited |= !locate;
    }
    events += event;
    if (!event && off < thresholds::kUpwards && rung > 0) go_to(rung - 1);
  }
  info_.events += events;
}

double Resolver::micro_step(double left, double longest) const {
  const double count = std::ceil(left / longest - 1e-6), h = count > 1.0 ? left / count : left;
  return std::abs(h - attached_for_) < 1e-9 * h ? attached_for_ : h;  // but for rounding it is the one before
}

Resolver::Ends Resolver::margins(Track& track) {
  const Phase& phase = track.phase;
  const Ends ends{track.law->margins(phase, phase.delta, phase.dp, phase.lam),
                  track.law->margins(phase, phase.delta + track.way, track.dp_end, track.lam2)};
  for (std::size_t i = 0; i < ends.now.size(); ++i) {
    track.phase.most[i] = std::max({track.phase.most[i], std::abs(ends.now[i]), std::abs(ends.then[i])});
  }
  return ends;
}

Margins Resolver::margins_between(const Track& track, double h) {
  const Phase& phase = track.phase;
  const Vector3d dp = phase.dp + kGamma * h * track.a1;
  return track.law->margins(phase, phase.delta + kGamma * h * dp, dp, track.lam1);
}

double Resolver::next_event(double h) {
  double first = h;
  for (Track* const each : group_) {
    Track& track = *each;
    if (track.phase.mode == Mode::kOpen) {
      track.event = closing(track.phase, track.dp_end, h);
    } else {
      const Ends ends = margins(track);
      track.event = h;
      if (std::min(ends.then[0], ends.then[1]) < 0.0) {
        const Margins between = margins_between(track, h);
        for (std::size_t i = 0; i < ends.now.size(); ++i) {
          track.event = std::min(track.event, crossing(ends.now[i], between[i], ends.then[i], h));
        }
      }
    }
    first = std::min(first, track.event);
  }
  for (Track* const each : group_) {
    Track& track = *each;
    track.due = track.event < h && track.event <= first + thresholds::kSimultaneous * h;
  }
  return first;
}

double Resolver::cut(double h, double until, double shortest, int cuts) {
  for (int again = 0;; ++again) {
    if (tangent_) tangent_->shorten(h, until, shortest, blocks_);
    if (until <= shortest) break;
    attempt(until);
    if (again == cuts || !overshoots()) break;
    h = until;
    until = next_event(h);
  }
  return until;
}

bool Resolver::overshoots() {
  bool any = false;
  for (Track* const each : group_) {
    Track& track = *each;
    if (track.phase.mode == Mode::kOpen) continue;
    const Ends ends = margins(track);
    for (std::size_t i = 0; i < ends.now.size(); ++i) {
      any |= ends.now[i] > 0.0 && ends.then[i] < -thresholds::kOvershoot * track.phase.most[i];
    }
  }
  return any;
}

bool Resolver::update_modes(bool at_event, double t) {
  bool changed = false;
  for (Track* const each : group_) {
    Track& track = *each;
    const Mode before = track.phase.mode;
    const Vector3d velocity = track.phase.dp;
    if (tangent_) tangent_->before_update(track);
    changed |= track.law->update(track.phase, at_event && track.due);
    if (tangent_) tangent_->update(track, at_event && track.due, t);
    track.due = false;
    if (courses_) {
      ForceCourse& course = (*courses_)[static_cast<std::size_t>(each - tracks_.data())];
      if (track.phase.mode != before && t > course.t.back()) course.add(t, track.lam2);
      course.add(t, track.phase.lam);
    }
    if (track.phase.mode == before) continue;
    track.phase.most.fill(0.0);
    modes_attached_for_ = -1.0;
    changes_.push_back(
        {t, static_cast<std::size_t>(each - tracks_.data()), before, track.phase.mode, velocity, track.phase.lam});
  }
  return changed;
}

}  // namespace exposim
