#include "exposim/contact/transitions.hpp"

#include <algorithm>
#include <cmath>

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

/// No open contact is expected to accelerate towards a surface by more than this within a step [m/s²].
constexpr double kMaxAcceleration = 1500.0;

/// Events located in a step: these, and some for each contact, up to a number of them.
constexpr int kEventsPerStep = 16, kEventsPerContact = 4, kMostCounted = 16;

/// A quantity that is due to reach zero has reached it at this share of what it was.
constexpr double kAsGoodAsZero = 1e-6;

/// Friction that would press a sliding contact into the ground harder than it is pushed out (Painlevé) is held back, to
/// leave this share of the normal direction's compliance.
constexpr double kLeastCompliance = 0.05;

/// Sliding velocities below this [m/s] have no direction.
constexpr double kNoSpeed = 1e-9;
/// Slower ones [m/s] turn as if they were this fast: Coulomb friction has no derivative at rest.
constexpr double kSlowest = 1e-6;

/// Alexander's L-stable method: stages at γ and 1, the second one is the result.
const double kGamma = 1.0 - std::sqrt(0.5);

/// Lowest value of φ + dφ t + a t²/2 for 0 ≤ t ≤ dt.
double lowest(double phi, double dphi, double a, double dt) {
  const double at_end = phi + dt * (dphi + 0.5 * dt * a);
  if (dphi < 0.0 && a > 0.0 && -dphi < a * dt) return phi - 0.5 * dphi * dphi / a;
  return std::min(phi, at_end);
}

}  // namespace

void find_near_contacts(const ContactSet& contacts, const State& state, double dt, std::vector<std::size_t>& near) {
  near.clear();
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    if (state.contacts[i].active) continue;
    const ContactMotion& motion = contacts.motion(i);
    if (lowest(motion.phi, motion.n.dot(motion.dp), -kMaxAcceleration, dt) <= 0.0) near.push_back(i);
  }
}

bool may_change(const ContactDynamics& system, const ContactSet& contacts, const State& state,
                const ContactIntegrals& integrals, double dt) {
  for (std::size_t k = 0; k < system.points().size(); ++k) {
    const ContactDynamics::Point& point = system.points()[k];
    const ContactLaw& law = contacts.pair(point.contact).law;
    if (law.bilateral()) continue;
    if (state.contacts[point.contact].slipping) return true;
    // Is the ball around λ̄ in the cone? Then the force pushes throughout, so that the gap stays closed as well.
    const Vector3d& n = contacts.motion(point.contact).n;
    const double mu = law.material().mu, lam_n = integrals.lam_bar(k).dot(n);
    const double lam_t = (integrals.lam_bar(k) - lam_n * n).norm();
    if (!(mu * lam_n - lam_t > std::sqrt(1.0 + mu * mu) * integrals.deviation(k))) return true;
  }
  for (const ContactDynamics::Point& open : system.near()) {
    const ContactMotion& motion = contacts.motion(open.contact);
    double a = motion.n.dot(open.ddp_bar);
    for (std::size_t k = 0; k < system.points().size(); ++k) {
      const ContactDynamics::Point& point = system.points()[k];
      const Eigen::RowVector3d effect = motion.n.transpose() * system.Upsilon(open, point);
      a += effect.dot(integrals.lam_bar(k)) - effect.norm() * integrals.deviation(k);
    }
    if (!(lowest(motion.phi, motion.n.dot(motion.dp), a, dt) > 0.0)) return true;
  }
  return false;
}

void TransitionResolver::resolve(const ContactDynamics& system, const ContactSet& contacts, const State& state,
                                 double dt, int micro_steps) {
  start(system, contacts, state);
  info_ = {};
  unchanged_ = std::none_of(tracks_.begin(), tracks_.end(), [](const Track& track) {
    return track.mode == Mode::kSlipping || track.mode == Mode::kIdle;
  });
  const int most_events = kEventsPerStep + kEventsPerContact * std::min(kMostCounted, static_cast<int>(tracks_.size()));
  const double longest = dt / micro_steps;
  double left = dt;
  while (left > 1e-12 * dt) {
    const double count = std::max(1.0, std::ceil(left / longest - 1e-6));
    const double h = left / count;
    for (double done = 0.0; done < count; done += 1.0) {
      attempt(system, h);
      const bool locate = info_.events < most_events;
      const double until = locate ? next_event(h) : h;
      const bool event = until < (1.0 - 1e-9) * h;
      if (event && until > 1e-9 * dt) attempt(system, until);
      const double taken = !event ? h : until > 1e-9 * dt ? until : 0.0;
      if (taken > 0.0) accept(taken);
      left -= taken;
      bool changed = false;
      for (Track& track : tracks_) {
        const bool due = event && track.due;
        const bool changes = update_mode(track, due);
        changed |= changes;
        info_.limited |= changes && !locate;
      }
      if (changed) {
        factored_for_ = -1.0;
        unchanged_ = false;
      }
      if (!event) continue;
      ++info_.events;
      break;  // a new grid for what is left
    }
    if (left < 1e-12 * dt) break;
  }
  info_.resolved = !unchanged_;
  for (Track& track : tracks_) {
    track.lam_bar /= dt;
    track.lam_bar2 *= 2.0 / (dt * dt);
  }
}

void TransitionResolver::start(const ContactDynamics& system, const ContactSet& contacts, const State& state) {
  tracks_.reserve(contacts.size());
  tracks_.resize(system.points().size() + system.near().size());
  for (std::size_t k = 0; k < tracks_.size(); ++k) {
    Track& track = tracks_[k];
    const bool active = k < system.points().size();
    track.point = active ? &system.points()[k] : &system.near()[k - system.points().size()];
    const std::size_t contact = track.point->contact;
    const ContactMotion& motion = contacts.motion(contact);
    const ContactLaw& law = contacts.pair(contact).law;
    const ContactState& given = state.contacts[contact];
    track.n = motion.n;
    track.material = law.material();
    track.p = motion.p;
    track.v = motion.dp;
    track.p0 = given.p0;
    track.compliance = system.Upsilon(*track.point, *track.point) * motion.n;
    track.offset = motion.phi - motion.n.dot(motion.p);
    track.slide.setZero();
    track.speed = 0.0;
    track.lam_bar.setZero();
    track.lam_bar2.setZero();
    track.due = false;
    track.mode = law.bilateral() ? Mode::kBound : !active ? Mode::kOpen : Mode::kSticking;
    if (active && !law.bilateral() && given.slipping) {
      track.mode = normal_force(track, track.p, track.v) > 0.0 ? Mode::kSlipping : Mode::kIdle;
      track.slide = tangent(track, track.p - track.p0);
      aim(track);
    }
    linearise(track);
  }
  factored_for_ = -1.0;
}

void TransitionResolver::attempt(const ContactDynamics& system, double h) {
  const Index r = system.Upsilon_body().rows();
  const double g = kGamma * h;
  if (factored_for_ != h) {
    stiffness_.setZero(r, r);
    for (Track& track : tracks_) {
      track.Q = g * (track.B + g * track.K);
      const ContactDynamics::Body& body = system.bodies()[track.point->body];
      if (body.size == 3) {
        stiffness_.block<3, 3>(body.first, body.first) += track.Q;
      } else {
        const Eigen::Matrix<double, 3, 6> G = system.G(*track.point);
        stiffness_.block<6, 6>(body.first, body.first) += G.transpose() * track.Q * G;
      }
    }
    factors_.factor_product(system.Upsilon_body(), stiffness_);
    factored_for_ = h;
  }
  ++info_.micro_steps;

  // First stage: v1 = v + g a1, p1 = p + g v1.
  wrench_.setZero(r);
  for (Track& track : tracks_) {
    const Vector3d& c = track.point->ddp_bar;
    track.lam1 = track.lam - g * (track.K * (track.v + g * c) + track.B * c);
    system.add_wrench(*track.point, track.lam1, wrench_);
  }
  alpha_.noalias() = system.Upsilon_body().lazyProduct(wrench_);
  factors_.solve_in_place(alpha_);
  // Second stage: v2 = v + (h − g) a1 + g a2, p2 = p + (h − g) v1 + g v2.
  wrench_.setZero();
  for (Track& track : tracks_) {
    const Vector3d& c = track.point->ddp_bar;
    const Vector3d pushed = system.point_of(*track.point, alpha_);
    track.lam1 -= track.Q * pushed;
    const Vector3d a1 = c + pushed, v1 = track.v + g * a1;
    track.v_end = track.v + (h - g) * a1;                    // without a2 so far
    track.p_end = track.p + (h - g) * v1 + g * track.v_end;  // likewise
    track.lam2 = track.lam - track.K * (track.p_end - track.p + g * g * c) - track.B * (track.v_end - track.v + g * c);
    system.add_wrench(*track.point, track.lam2, wrench_);
  }
  alpha_.noalias() = system.Upsilon_body().lazyProduct(wrench_);
  factors_.solve_in_place(alpha_);
  for (Track& track : tracks_) {
    const Vector3d pushed = system.point_of(*track.point, alpha_);
    const Vector3d a2 = track.point->ddp_bar + pushed;
    track.lam2 -= track.Q * pushed;
    track.v_end += g * a2;
    track.p_end += g * g * a2;
  }
}

double TransitionResolver::next_event(double h) {
  double first = h;
  for (Track& track : tracks_) {
    track.event = time_of_event(track, h);
    first = std::min(first, track.event);
  }
  for (Track& track : tracks_) track.due = track.event < h && track.event <= first + 1e-6 * h;
  return first;
}

double TransitionResolver::time_of_event(const Track& track, double h) const {
  // Where a quantity that is linear in time falls from `from` to `to`, if it becomes negative.
  const auto crossing = [h](double from, double to) { return to < 0.0 && from > 0.0 ? h * from / (from - to) : h; };
  switch (track.mode) {
    case Mode::kBound:
      return h;
    case Mode::kOpen: {
      const double phi = track.phi(track.p), dphi = track.n.dot(track.v);
      const double a = (track.n.dot(track.v_end) - dphi) / h;
      if (phi <= 0.0) return 0.0;
      if (lowest(phi, dphi, a, h) > 0.0) return h;
      return std::min(h, 2.0 * phi / (std::sqrt(std::max(0.0, dphi * dphi - 2.0 * a * phi)) - dphi));
    }
    case Mode::kIdle:
      return crossing(-normal_force(track, track.p, track.v), -normal_force(track, track.p_end, track.v_end));
    case Mode::kSticking: {
      const auto margin = [&track](const Vector3d& lam) {
        return track.material.mu * track.n.dot(lam) - tangent(track, lam).norm();
      };
      return crossing(margin(track.lam), margin(track.lam2));
    }
    case Mode::kSlipping: {
      const double lifts =
          crossing(normal_force(track, track.p, track.v), normal_force(track, track.p_end, track.v_end));
      if (track.material.mu == 0.0) return lifts;
      return std::min(lifts, crossing(track.slide.dot(track.v), track.slide.dot(track.v_end)));
    }
  }
  return h;
}

void TransitionResolver::accept(double h) {
  const double g = kGamma;
  for (Track& track : tracks_) {
    track.lam_bar2 += h * (track.lam_bar + h * (2.0 * g * (1.0 - g) * track.lam1 + g * g * track.lam2));
    track.lam_bar += h * ((1.0 - g) * track.lam1 + g * track.lam2);
    track.p = track.p_end;
    track.v = track.v_end;
  }
}

bool TransitionResolver::update_mode(Track& track, bool due) const {
  const Mode before = track.mode;
  const double mu = track.material.mu;
  bool moved = false;  // the anchor, or the direction of the force
  switch (track.mode) {
    case Mode::kBound:
      break;
    case Mode::kOpen:
      if (!due && track.phi(track.p) > 0.0) break;
      track.p0 = track.p - track.phi(track.p) * track.n;
      begin_contact(track, false);
      break;
    case Mode::kIdle:
      if (track.phi(track.p) > 0.0) {
        track.mode = Mode::kOpen;
      } else if (due || normal_force(track, track.p, track.v) > 0.0) {
        track.p0 = track.p + track.n.dot(track.p0 - track.p) * track.n;
        begin_contact(track, due);
      }
      break;
    case Mode::kSticking: {
      const Vector3d trial = spring_damper(track);
      const double trial_n = track.n.dot(trial);
      const Vector3d trial_t = tangent(track, trial);
      const double norm_t = trial_t.norm();
      if (!due && norm_t <= mu * trial_n) break;
      if (trial_n <= 0.0) {
        track.mode = Mode::kIdle;
        break;
      }
      // The anchor gives way until the spring alone holds what friction can.
      const Vector3d held = norm_t > 0.0 ? Vector3d(mu * trial_n / norm_t * trial_t) : Vector3d::Zero();
      track.p0 = track.p + held / track.material.K_t + track.n.dot(track.p0 - track.p) * track.n;
      moved = true;
      if (mu == 0.0 || held.dot(track.v) < 0.0) {
        track.mode = Mode::kSlipping;
        track.slide = -held;
        aim(track);
      }
      break;
    }
    case Mode::kSlipping: {
      const double lam_n = normal_force(track, track.p, track.v), speed = track.slide.dot(track.v);
      if (lam_n <= (due ? kAsGoodAsZero * track.n.dot(track.lam) : 0.0)) {
        track.mode = Mode::kIdle;
      } else if (mu > 0.0 && speed <= (due ? std::max(kAsGoodAsZero * track.speed, kSlowest) : 0.0)) {
        track.mode = Mode::kSticking;
        track.p0 = anchor_of_slip(track, lam_n);
      } else {
        aim(track);
        moved = true;
      }
      break;
    }
  }
  track.due = false;
  linearise(track);
  return moved || track.mode != before;
}

void TransitionResolver::begin_contact(Track& track, bool pushes) const {
  const Vector3d trial = spring_damper(track);
  const double trial_n = std::max(track.n.dot(trial), 0.0);
  if (trial_n == 0.0 && !pushes) {
    track.mode = Mode::kIdle;
  } else if (tangent(track, trial).norm() > track.material.mu * trial_n) {
    track.mode = Mode::kSlipping;
    track.slide = -tangent(track, trial);
    aim(track);
  } else {
    track.mode = Mode::kSticking;
  }
}

void TransitionResolver::aim(Track& track) {
  const Vector3d velocity = tangent(track, track.v);
  if (velocity.norm() > kNoSpeed) track.slide = velocity;
  const double norm = track.slide.norm();
  track.slide = norm > 0.0 ? Vector3d(track.slide / norm) : track.n.unitOrthogonal();
}

void TransitionResolver::linearise(Track& track) const {
  const Vector3d& n = track.n;
  const Material& m = track.material;
  switch (track.mode) {
    case Mode::kOpen:
    case Mode::kIdle:
      track.lam.setZero();
      track.K.setZero();
      track.B.setZero();
      break;
    case Mode::kSticking:
    case Mode::kBound:
      track.lam = spring_damper(track);
      track.K = track.point->K;
      track.B = track.point->B;
      break;
    case Mode::kSlipping: {
      const double lam_n = normal_force(track, track.p, track.v);
      track.speed = std::max(track.slide.dot(track.v), kSlowest);
      const Vector3d direction = n - mu_of_slip(track) * track.slide;
      track.lam = lam_n * direction;
      track.K = m.K_n * direction * n.transpose();
      track.B = m.B_n * direction * n.transpose() +
                m.mu * std::max(lam_n, 0.0) / track.speed *
                    (Matrix3d::Identity() - n * n.transpose() - track.slide * track.slide.transpose());
      break;
    }
  }
}

double TransitionResolver::mu_of_slip(const Track& track) {
  const double along = track.n.dot(track.compliance), across = track.slide.dot(track.compliance);
  const double most = (1.0 - kLeastCompliance) * along;
  return track.material.mu * across <= most ? track.material.mu : most / across;
}

double TransitionResolver::normal_force(const Track& track, const Vector3d& p, const Vector3d& v) {
  return -track.material.K_n * track.n.dot(p - track.p0) - track.material.B_n * track.n.dot(v);
}

Vector3d TransitionResolver::spring_damper(const Track& track) {
  return -track.point->K * (track.p - track.p0) - track.point->B * track.v;
}

Vector3d TransitionResolver::anchor_of_slip(const Track& track, double lam_n) {
  const Material& m = track.material;
  return track.p - mu_of_slip(track) * std::max(lam_n, 0.0) / m.K_t * track.slide +
         track.n.dot(track.p0 - track.p) * track.n;
}

ContactState TransitionResolver::end(std::size_t k) const {
  const Track& track = tracks_[k];
  ContactState state;
  state.active = track.mode != Mode::kOpen;
  if (!state.active) return state;
  state.slipping = track.mode == Mode::kSlipping || track.mode == Mode::kIdle;
  state.p0 = track.p0;
  if (!state.slipping) return state;
  state.p0 = anchor_of_slip(track, track.mode == Mode::kSlipping ? normal_force(track, track.p, track.v) : 0.0);
  state.dp0 = tangent(track, track.v);
  return state;
}

}  // namespace exposim
