#include "exposim/contact/events.hpp"

#include <algorithm>
#include <cmath>

namespace exposim {

using Eigen::Vector3d;

namespace {

bool is_same_touch(const Memory& a, const Memory& b) { return a.surface == b.surface && a.guest == b.guest; }

/// One strand on its way through the events of a step.
class Teller {
 public:
  Teller(std::size_t strand, bool limit, Hold start, std::vector<Event>& events)
      : strand_(strand), limit_(limit), hold_(start), events_(events) {}

  Hold hold() const { return hold_; }

  void go(Mode mode, double t, const Vector3d& velocity, const Vector3d& force) {
    const Hold before = hold_, now = hold_in(mode, before);
    hold_ = now;
    const auto tell = [&](Event::Kind kind) { events_.push_back({t, strand_, kind, velocity, force}); };
    if (before == Hold::kNone && now != Hold::kNone) tell(limit_ ? Event::Kind::kLimit : Event::Kind::kLand);
    if (before != Hold::kNone && now == Hold::kNone) tell(limit_ ? Event::Kind::kRelease : Event::Kind::kLift);
    if (limit_) return;
    if (before != Hold::kLoose && now == Hold::kLoose) tell(Event::Kind::kSlip);
    if (before == Hold::kLoose && now == Hold::kFast) tell(Event::Kind::kStick);
  }

 private:
  std::size_t strand_;
  bool limit_;
  Hold hold_;
  std::vector<Event>& events_;
};

/// When a gap passes zero within dt, by a straight line; its end if there is none.
double passing(const Instant& before, const Instant& after, std::size_t i, double dt) {
  if (!is_same_touch(before.state.memory[i], after.state.memory[i])) return dt;
  const double from = before.motions[i].phi, to = after.motions[i].phi;
  return std::isfinite(from) && (from > 0.0) != (to > 0.0) ? dt * from / (from - to) : dt;
}

}  // namespace

void tell_events(const World& world, const Instant& before, double dt, Step& step) {
  step.events.clear();
  Instant& after = step.next;
  after.holds = before.holds;
  const std::size_t strands = world.strands(), contacts = world.contacts().size(), first_limit = world.first_limit();
  for (std::size_t i = 0; i < strands; ++i) {
    const Memory &was = before.state.memory[i], &is = after.state.memory[i];
    const auto is_its = [i](const ModeChange& change) { return change.strand == i; };
    if (was.mode == is.mode && is_same_touch(was, is) &&
        std::none_of(step.changes.begin(), step.changes.end(), is_its)) {
      continue;
    }
    const bool limit = i >= first_limit;
    if (!limit && i >= contacts) continue;  // a bond is what it is
    Teller teller(i, limit, before.holds[i], step.events);
    bool changed = false, lifted = !was.active();
    for (const ModeChange& change : step.changes) {
      if (change.strand != i) continue;
      if (!changed) teller.go(change.from, 0.0, before.motions[i].dp, before.force(i));  // as it was taken up
      teller.go(change.to, change.t, change.velocity, change.force);
      changed = true;
      lifted |= teller.hold() == Hold::kNone;
    }
    const Vector3d &velocity = after.motions[i].dp, force = after.force(i);
    if (!lifted && is.active() && !is_same_touch(was, is)) teller.go(Mode::kOpen, dt, velocity, Vector3d::Zero());
    const bool comes_or_goes = (teller.hold() != Hold::kNone) != is.active();
    teller.go(is.mode, comes_or_goes && !changed ? passing(before, after, i, dt) : dt, velocity, force);
    after.holds[i] = teller.hold();
  }
  const auto earlier = [](const Event& a, const Event& b) { return a.t < b.t; };
  for (auto each = step.events.begin(); each != step.events.end(); ++each) {  // stable, and allocates nothing
    std::rotate(std::upper_bound(step.events.begin(), each, *each, earlier), each, each + 1);
  }
}

}  // namespace exposim
