#include "exposim/integrators/integrator.hpp"

#include <algorithm>
#include <cmath>

#include "exposim/contact/events.hpp"
#include "exposim/stiff/laws/coulomb_contact.hpp"
#include "exposim/thresholds.hpp"

namespace exposim {

namespace {

bool is_sane(const State& state) {
  return state.q.allFinite() && state.v.allFinite() && state.v.cwiseAbs().maxCoeff() < thresholds::kMaxVelocity;
}

}  // namespace

std::shared_ptr<const Law> Integrator::contact_law(const Material& material) const {
  return std::make_shared<CoulombContact>(material);
}

double Integrator::time_after(double t, double dt) {
  const double steps = std::round(t / dt);
  return std::abs(t - steps * dt) < 1e-14 * dt * std::max(1.0, steps) ? (steps + 1.0) * dt : t + dt;
}

void Integrator::finish(const World& world, Workspace& workspace, const Instant& now,
                        const std::vector<Followed>* followed, double dt, Step& step) {
  const Profiler::Scope scope(workspace.profiler, Stage::kContacts);
  State& state = step.next.state;
  state.t = time_after(now.state.t, dt);
  step.diverged = !is_sane(state);
  if (step.diverged) return;
  commit(world, workspace.robot, now, followed, step.next);
  tell_events(world, now, dt, step);
}

}  // namespace exposim
