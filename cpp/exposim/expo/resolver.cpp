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

/// By how many halvings a micro-step is to be shorter that is so many times too inaccurate, an error of third order.
int rungs_down(double off) { return off < 64.0 ? off < 8.0 ? 1 : 2 : 3; }

int most_events(std::size_t strands) {
  return thresholds::kEventsPerStep +
         thresholds::kEventsPerContact * std::min(thresholds::kMostCounted, static_cast<int>(strands));
}

/// Where a quantity that is linear in time falls from `from` to `to` within h, if it becomes negative; else h.
double crossing(double from, double to, double h) { return to < 0.0 && from > 0.0 ? h * from / (from - to) : h; }

/// When an open contact closes within h, by a parabola; else h.
double closing(const Phase& phase, const Vector3d& dp_end, double h) {
  const double phi = phase.gap(), dphi = phase.n.dot(phase.dp);
  const double a = (phase.n.dot(dp_end) - dphi) / h;
  if (phi <= 0.0) return 0.0;
  if (lowest_gap(phi, dphi, a, h) > 0.0) return h;
  return std::min(h, 2.0 * phi / (std::sqrt(std::max(0.0, dphi * dphi - 2.0 * a * phi)) - dphi));
}

}  // namespace

void Resolver::resolve(const StiffSystem& system, const StrandList& strands, double dt, const MicroSteps& how) {
  const double longest = dt / how.least, shortest = thresholds::kShortestShare * dt;
  start(system, strands, kGamma * std::ldexp(longest, -thresholds::kRungsToJam));
  info_ = {};
  unchanged_ = std::none_of(strands.all().begin(), strands.all().end(), [](const Strand& strand) {
    return strand.memory.slipping();  // even if it begins to hold at once: the closed form does not know
  });
  const int most = most_events(tracks_.size());
  int rung = 0;
  double left = dt;
  while (left > 1e-12 * dt) {
    const double h = micro_step(left, std::ldexp(longest, -rung));
    if (factored_for_ != h) factor(system, h);
    if (factors_.determinant() < thresholds::kMostOfStage && rung < thresholds::kRungsToJam) {
      ++rung;
      continue;
    }
    attempt(system, h);
    const double off = how.tolerance < kNoMargin ? error(system, h) / how.tolerance : 0.0;
    if (off > 1.0 && rung < thresholds::kMostRungs) {
      rung = std::min(thresholds::kMostRungs, rung + rungs_down(off));
      continue;
    }
    const bool locate = info_.events < most;
    double until = locate ? next_event(h) : h;
    const bool event = until < (1.0 - 1e-9) * h;
    if (event) until = cut(system, until, shortest);
    const double taken = !event || until > shortest ? until : 0.0;
    if (taken > 0.0) accept(taken);
    left -= taken;
    if (update_modes(event, dt - left)) {
      factored_for_ = -1.0;
      unchanged_ = false;
      info_.limited |= !locate;
    }
    info_.events += event;
    if (!event && off < thresholds::kUpwards && rung > 0) --rung;
  }
  info_.resolved = !unchanged_;
  for (Track& track : tracks_) {
    // All forces on the way were in the cone, and so are their averages, but for what implicit stages and rounding add.
    track.lam_bar = track.law->project(track.lam_bar / dt, track.phase.n);
    track.lam_bar2 = track.law->project(track.lam_bar2 * (2.0 / (dt * dt)), track.phase.n);
  }
}

double Resolver::micro_step(double left, double longest) const {
  const double h = left / std::max(1.0, std::ceil(left / longest - 1e-6));
  return std::abs(h - factored_for_) < 1e-9 * h ? factored_for_ : h;  // but for rounding it is the one before
}

double Resolver::error(const StiffSystem& system, double h) {
  wrench_.setZero(system.Upsilon_block().rows());
  for (const Track& track : tracks_) {
    const Phase& phase = track.phase;
    const Vector3d bend = (track.lam2 - track.lam1) / (1.0 - kGamma) - (track.lam1 - phase.lam) / kGamma;
    const Vector3d beyond = track.law->beyond_linear(phase, phase.delta + track.way, track.dp_end);
    system.add_wrench(*track.row, kErrorOfBend * bend + kErrorOfLinear * beyond, wrench_);
  }
  solve();
  double most = 0.0;
  for (const Track& track : tracks_) most = std::max(most, system.motion_of(*track.row, alpha_).squaredNorm());
  return h * std::sqrt(most);
}

void Resolver::start(const StiffSystem& system, const StrandList& strands, double stage) {
  tracks_.resize(strands.all().size());
  events_.clear();
  events_.reserve(4 * static_cast<std::size_t>(most_events(tracks_.size())));
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
    phase.compliance = system.Upsilon(*track.row, *track.row) * phase.n;
    track.law->begin(phase);
  }
  factored_for_ = -1.0;
  factors_.load(system.Upsilon_block(), system.Upsilon_block().rows());
}

void Resolver::factor(const StiffSystem& system, double h) {
  const double g = kGamma * h;
  system.clear_stiffness(system.blocks().size(), stiffness_);
  for (Track& track : tracks_) {
    track.Q = g * (track.phase.B + g * track.phase.K);
    system.add_stiffness(*track.row, track.Q, stiffness_);
  }
  factors_.factor(stiffness_);
  factored_for_ = h;
}

void Resolver::solve() {
  alpha_.resize(wrench_.size());
  factors_.solve_product(wrench_.data(), alpha_.data());
}

void Resolver::attempt(const StiffSystem& system, double h) {
  const double g = kGamma * h;
  if (factored_for_ != h) factor(system, h);
  ++info_.micro_steps;

  // First stage: v1 = v + g a1, p1 = p + g v1.
  wrench_.setZero(system.Upsilon_block().rows());
  for (Track& track : tracks_) {
    const Phase& phase = track.phase;
    const Vector3d& c = track.row->ddp_bar;
    track.lam1 = phase.lam - g * (phase.K * (phase.dp + g * c) + phase.B * c);
    system.add_wrench(*track.row, track.lam1, wrench_);
  }
  solve();
  // Second stage: v2 = v + (h − g) a1 + g a2, p2 = p + (h − g) v1 + g v2.
  wrench_.setZero();
  for (Track& track : tracks_) {
    const Phase& phase = track.phase;
    const Vector3d& c = track.row->ddp_bar;
    const Vector3d pushed = system.motion_of(*track.row, alpha_);
    track.lam1 -= track.Q * pushed;
    const Vector3d a1 = c + pushed, v1 = phase.dp + g * a1;
    track.dp_end = phase.dp + (h - g) * a1;       // without a2 so far
    track.way = (h - g) * v1 + g * track.dp_end;  // likewise
    track.lam2 = phase.lam - phase.K * (track.way + g * g * c) - phase.B * (track.dp_end - phase.dp + g * c);
    system.add_wrench(*track.row, track.lam2, wrench_);
  }
  solve();
  for (Track& track : tracks_) {
    const Vector3d pushed = system.motion_of(*track.row, alpha_);
    const Vector3d a2 = track.row->ddp_bar + pushed;
    track.lam2 -= track.Q * pushed;
    track.dp_end += g * a2;
    track.way += g * g * a2;
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

double Resolver::next_event(double h) {
  double first = h;
  for (Track& track : tracks_) {
    if (track.phase.mode == Mode::kOpen) {
      track.event = closing(track.phase, track.dp_end, h);
    } else {
      const Ends ends = margins(track);
      track.event = std::min(crossing(ends.now[0], ends.then[0], h), crossing(ends.now[1], ends.then[1], h));
    }
    first = std::min(first, track.event);
  }
  for (Track& track : tracks_) {
    track.due = track.event < h && track.event <= first + thresholds::kSimultaneous * h;
  }
  return first;
}

double Resolver::cut(const StiffSystem& system, double until, double shortest) {
  for (int again = 0; until > shortest; ++again) {
    attempt(system, until);
    if (again == thresholds::kCutsPerEvent || !overshoots()) break;
    until = next_event(until);
  }
  return until;
}

bool Resolver::overshoots() {
  bool any = false;
  for (Track& track : tracks_) {
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
  for (Track& track : tracks_) {
    track.lam_bar2 += h * (track.lam_bar + h * (2.0 * g * (1.0 - g) * track.lam1 + g * g * track.lam2));
    track.lam_bar += h * ((1.0 - g) * track.lam1 + g * track.lam2);
    track.phase.delta += track.way;
    track.phase.dp = track.dp_end;
    track.moved += track.way;
  }
}

bool Resolver::update_modes(bool at_event, double t) {
  bool changed = false;
  for (std::size_t k = 0; k < tracks_.size(); ++k) {
    Track& track = tracks_[k];
    const Mode before = track.phase.mode;
    changed |= track.law->update(track.phase, at_event && track.due);
    track.due = false;
    if (track.phase.mode == before) continue;
    track.phase.most.fill(0.0);
    events_.push_back({t, k, before, track.phase.mode});
  }
  return changed;
}

}  // namespace exposim
