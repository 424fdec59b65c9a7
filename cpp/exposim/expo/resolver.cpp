#include "exposim/expo/resolver.hpp"

#include <algorithm>
#include <cmath>

#include "exposim/thresholds.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Vector3d;

namespace {

/// Alexander's L-stable method: stages at γ and 1, the second one is the result.
const double kGamma = 1.0 - std::sqrt(0.5);
/// Error of the velocity after h, by how far forces at its start, first and second stage are from a straight line: the
/// method loses 0.0404 z³ of y' = λy, z = hλ, and the bend is then 0.293 z² of it.
constexpr double kErrorOfBend = 0.138;
/// The same by how far the law is from linear at the end, which it approaches with the square of time.
constexpr double kErrorOfLinear = 1.0 / 3.0;

/// By how many halvings a micro-step is to be shorter that is so many times too inaccurate: an error of third order,
/// and a margin.
int rungs_down(double off) { return off < 16.0 ? off < 2.0 ? 1 : 2 : 3; }

int most_events(std::size_t strands) {
  return thresholds::kEventsPerStep +
         thresholds::kEventsPerContact * std::min(thresholds::kMostCounted, static_cast<int>(strands));
}

/// Where a quantity that is linear in time falls from `from` to `to` within h, if it becomes negative; else h.
double crossing(double from, double to, double h) { return to < 0.0 && from > 0.0 ? h * from / (from - to) : h; }

/// The same for a parabola, which passes `between` at γh.
double crossing(double from, double between, double to, double h) {
  const double linear = crossing(from, to, h);
  if (linear == h) return h;
  // from + b t + c t², t = 1 at the end.
  const double c = ((to - from) - (between - from) / kGamma) / (1.0 - kGamma), b = to - from - c;
  const double root = std::sqrt(std::max(0.0, b * b - 4.0 * c * from));
  const double t = 2.0 * from / (root - b);
  return t > 0.0 && t < 1.0 ? h * t : linear;
}

/// When an open contact closes within h, by a parabola; else h.
double closing(const Phase& phase, const Vector3d& dp_end, double h) {
  const double phi = phase.gap(), dphi = phase.n.dot(phase.dp);
  const double a = (phase.n.dot(dp_end) - dphi) / h;
  if (phi <= 0.0) return 0.0;
  if (lowest_gap(phi, dphi, a, h) > 0.0) return h;
  return std::min(h, 2.0 * phi / (std::sqrt(std::max(0.0, dphi * dphi - 2.0 * a * phi)) - dphi));
}

/// Keeps the order of events at the same time, and allocates nothing.
void sort_by_time(std::vector<ModeChange>& changes) {
  const auto earlier = [](const ModeChange& a, const ModeChange& b) { return a.t < b.t; };
  for (auto each = changes.begin(); each != changes.end(); ++each) {
    std::rotate(std::upper_bound(changes.begin(), each, *each, earlier), each, each + 1);
  }
}

}  // namespace

void Resolver::resolve(const StiffSystem& system, const StrandList& strands, double dt, const MicroSteps& how) {
  start(system, strands, kGamma * std::ldexp(dt / how.least, -thresholds::kRungsToJam));
  info_ = {};
  error_ = 0.0;
  unchanged_ = !strands.slips();  // even if it begins to hold at once: the closed form does not know
  for (std::size_t group = 0; group < system.groups(); ++group) {
    blocks_of_group_.clear();
    for (std::size_t b = 0; b < system.blocks().size(); ++b) {
      if (system.group_of(b) == group) blocks_of_group_.push_back(b);
    }
    if (blocks_of_group_.empty()) continue;  // it was joined with another
    group_.clear();
    for (Track& track : tracks_) {
      if (system.group_of(track.row->block) == group) group_.push_back(&track);
    }
    blocks_.begin(system, blocks_of_group_);
    attached_for_ = modes_attached_for_ = -1.0;
    follow(dt, how);
  }
  if (system.groups() > 1) sort_by_time(changes_);
  info_.resolved = !unchanged_;
  for (Track& track : tracks_) {
    // All forces on the way were in the cone, and so are their averages, but for what implicit stages and rounding add.
    track.lam_bar = track.law->project(track.lam_bar / dt, track.phase.n);
    track.lam_bar2 = track.law->project(track.lam_bar2 * (2.0 / (dt * dt)), track.phase.n);
  }
}

void Resolver::follow(double dt, const MicroSteps& how) {
  const double longest = dt / how.least, shortest = thresholds::kShortestShare * dt;
  const int most = most_events(group_.size());
  int rung = 0, events = 0;
  double left = dt;
  while (left > 1e-12 * dt) {
    const double h = micro_step(left, std::ldexp(longest, -rung));
    if (attached_for_ != h) attach_springs(h);
    if (blocks_.determinant() < thresholds::kMostOfStage && rung < thresholds::kRungsToJam) {
      ++rung;
      continue;
    }
    attempt(h);
    const double off = how.tolerance < kNoMargin ? error_of(h) / how.tolerance : 0.0;
    if (off > 1.0 && rung < thresholds::kMostRungs) {
      rung = std::min(thresholds::kMostRungs, rung + rungs_down(off));
      continue;
    }
    const bool locate = events < most;
    double until = locate ? next_event(h) : h;
    const bool event = until < (1.0 - 1e-9) * h;
    if (event) until = cut(until, shortest, how.cuts);
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
    if (!event && off < thresholds::kUpwards && rung > 0) --rung;
  }
  info_.events += events;
}

double Resolver::micro_step(double left, double longest) const {
  const double h = left / std::max(1.0, std::ceil(left / longest - 1e-6));
  return std::abs(h - attached_for_) < 1e-9 * h ? attached_for_ : h;  // but for rounding it is the one before
}

double Resolver::error_of(double h) {
  blocks_.clear_forces();
  for (const Track* const each : group_) {
    const Track& track = *each;
    if (track.is_free()) continue;
    const Phase& phase = track.phase;
    const Vector3d bend = (track.lam2 - track.lam1) / (1.0 - kGamma) - (track.lam1 - phase.lam) / kGamma;
    const Vector3d beyond = track.law->beyond_linear(phase, phase.delta + track.way, track.dp_end);
    blocks_.add_force(*track.row, kErrorOfBend * bend + kErrorOfLinear * beyond);
  }
  blocks_.solve();
  double most = 0.0;
  for (const Track* const each : group_) most = std::max(most, blocks_.acceleration_of(*each->row).squaredNorm());
  return h * std::sqrt(most);
}

void Resolver::start(const StiffSystem& system, const StrandList& strands, double stage) {
  tracks_.resize(strands.all().size());
  if (courses_) courses_->assign(tracks_.size(), ForceCourse{});
  changes_.clear();
  changes_.reserve(4 * static_cast<std::size_t>(most_events(tracks_.size())));
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
    phase.stage = stage;
    phase.compliance = system.response(*track.row, *track.row, phase.n);
    track.law->begin(phase);
    if (courses_) (*courses_)[k].begin(phase.lam);
  }
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
    track.Qc.noalias() = track.Q * track.row->ddp_bar;
    blocks_.add_spring(*track.row, track.Q, track.phase.mode != Mode::kSlipping);  // which turns
  }
  blocks_.attach(modes_attached_for_ == h);
  attached_for_ = modes_attached_for_ = h;
}

void Resolver::attempt(double h) {
  const double g = kGamma * h;
  if (attached_for_ != h) attach_springs(h);
  ++info_.micro_steps;

  // First stage: v1 = v + g a1, p1 = p + g v1, so that λ1 = λ − g K v − Q a1.
  blocks_.clear_forces();
  for (Track* const each : group_) {
    Track& track = *each;
    if (track.is_free()) continue;
    const Phase& phase = track.phase;
    track.Kv.noalias() = phase.K * phase.dp;
    track.lam1 = phase.lam - g * track.Kv - track.Qc;
    blocks_.add_force(*track.row, track.lam1);
  }
  blocks_.solve();
  // Second stage: v2 = v + (h − g) a1 + g a2, p2 = p + (h − g) v1 + g v2, so that, with ρ = (h − g)/g,
  // λ2 = λ − h K v − ρ (Q a1 + g² K a1) − Q a2.
  const double rho = (h - g) / g;
  blocks_.clear_forces();
  for (Track* const each : group_) {
    Track& track = *each;
    const Phase& phase = track.phase;
    const Vector3d pushed = blocks_.acceleration_of(*track.row), a1 = track.row->ddp_bar + pushed;
    track.dp1 = (h - g) * a1;
    track.dp_end = phase.dp + track.dp1;                  // without a2 so far
    track.way = h * phase.dp + (2.0 * g * (h - g)) * a1;  // likewise
    if (track.is_free()) continue;
    track.lam1.noalias() -= track.Q * pushed;
    const Vector3d Qa1 = phase.lam - g * track.Kv - track.lam1, Ka1 = phase.K * a1;
    track.lam2 = phase.lam - h * track.Kv - rho * (Qa1 + g * g * Ka1) - track.Qc;
    blocks_.add_force(*track.row, track.lam2);
  }
  blocks_.solve();
  for (Track* const each : group_) {
    Track& track = *each;
    const Vector3d pushed = blocks_.acceleration_of(*track.row), a2 = track.row->ddp_bar + pushed;
    track.dp_end += g * a2;
    track.way += g * g * a2;
    if (!track.is_free()) track.lam2.noalias() -= track.Q * pushed;
  }
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
  const Vector3d dp = phase.dp + kGamma / (1.0 - kGamma) * track.dp1;
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

double Resolver::cut(double until, double shortest, int cuts) {
  for (int again = 0; until > shortest; ++again) {
    attempt(until);
    if (again == cuts || !overshoots()) break;
    until = next_event(until);
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

void Resolver::accept(double h) {
  const double g = kGamma;
  for (Track* const each : group_) {
    Track& track = *each;
    track.lam_bar2 += h * (track.lam_bar + h * (2.0 * g * (1.0 - g) * track.lam1 + g * g * track.lam2));
    track.lam_bar += h * ((1.0 - g) * track.lam1 + g * track.lam2);
    track.phase.delta += track.way;
    track.phase.dp = track.dp_end;
    track.moved += track.way;
  }
}

bool Resolver::update_modes(bool at_event, double t) {
  bool changed = false;
  for (Track* const each : group_) {
    Track& track = *each;
    const Mode before = track.phase.mode;
    const Vector3d velocity = track.phase.dp;
    changed |= track.law->update(track.phase, at_event && track.due);
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
