#include "exposim/derivatives/differences.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace exposim {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

// By which things are moved: far below what a contact's depth, stretch and sliding velocity are.
constexpr double kOfPosition = 1e-6;  // [m, rad]
constexpr double kOfVelocity = 1e-5;  // [m/s, rad/s]
constexpr double kOfStretch = 1e-8;   // [m]
constexpr double kOfForce = 1e-4;     // [N, N·m]; beyond one, of itself
constexpr double kShrinks = 0.1;      // where choices change nearby, at most so often
constexpr int kMostShrinkings = 2;

/// Takes a step that differs by a share of a direction.
class Around {
 public:
  Around(const StepTaken& taken, Workspace& workspace) : taken_(taken), workspace_(workspace) {}

  /// Where a state that is displaced leads to, as seen from where the step led to.
  bool from(const VectorXd& dx, VectorXd& led) {
    const World& world = taken_.world;
    world.plus(taken_.start.state, dx, start_.state);
    evaluate(world, workspace_.robot, start_);
    bool flattened = false;
    for (std::size_t i = 0; i < world.contacts().size(); ++i) {
      Memory& memory = start_.state.memory[i];
      if (memory.mode == Mode::kBound || !memory.active()) continue;
      memory.s = tangent(memory.s, start_.motions[i].n);
      flattened = true;
    }
    if (flattened) evaluate(world, workspace_.robot, start_);
    return take(world, start_, taken_.input, led);
  }
  bool with(const Input& input, VectorXd& led) { return take(taken_.world, taken_.start, input, led); }
  bool in(const World& world, VectorXd& led) {
    // With other masses the same state moves otherwise; what touches has other forces.
    become(world);
    start_ = taken_.start;
    evaluate(world, workspace_.robot, start_);
    const bool same = take(world, start_, taken_.input, led);
    become(taken_.world);
    return same;
  }

 private:
  void become(const World& world) {
    if (!workspace_.robot.adopt(world.shared_robot())) workspace_.scratch = taken_.integrator.make_scratch();
  }
  bool take(const World& world, const Instant& start, const Input& input, VectorXd& led) {
    taken_.integrator.step(world, workspace_, start, input, taken_.dt, step_);
    return compare(led);
  }

  /// @return whether all choices were the same.
  bool compare(VectorXd& led) {
    const Step& base = taken_.step;
    if (step_.diverged) {
      led.setZero(taken_.world.tangent_size());
      return false;
    }
    taken_.world.minus(step_.next.state, base.next.state, led);
    return step_.parts.count == base.parts.count && step_.parts.redone == base.parts.redone &&
           step_.transitions.resolved == base.transitions.resolved &&
           step_.transitions.micro_steps == base.transitions.micro_steps &&
           step_.motors.at_bound == base.motors.at_bound && same_events(base) && same_modes(base);
  }
  bool same_events(const Step& base) const {
    const auto same = [](const Event& a, const Event& b) { return a.strand == b.strand && a.kind == b.kind; };
    return std::equal(step_.events.begin(), step_.events.end(), base.events.begin(), base.events.end(), same);
  }
  bool same_modes(const Step& base) const {
    const auto same = [](const Memory& a, const Memory& b) { return a.mode == b.mode && a.surface == b.surface; };
    const auto &now = step_.next.state.memory, &then = base.next.state.memory;
    return std::equal(now.begin(), now.end(), then.begin(), then.end(), same);
  }

  const StepTaken& taken_;
  Workspace& workspace_;
  Instant start_;
  Step step_;
};

/// A column: the derivative of what `move` leads to by its argument, at zero.
/// @param move (by, led): whether it leads there by the same choices.
template <typename Move, typename Column>
void differentiate(double by, Move&& move, Column&& column, std::vector<Grazing>& grazing) {
  VectorXd more, less, further;
  bool noted = false;
  for (int shrunk = 0; shrunk <= kMostShrinkings; ++shrunk, by *= kShrinks) {
    const bool up = move(by, more), down = move(-by, less);
    if (up && down) {
      column = (more - less) / (2.0 * by);
      return;
    }
    if (!noted) grazing.push_back({0.0, Grazing::kNoStrand, Grazing::Kind::kChoice});
    noted = true;
    if (!up && !down) continue;
    const double side = up ? by : -by;
    const VectorXd& near = up ? more : less;
    if (move(2.0 * side, further)) {
      column = (4.0 * near - further) / (2.0 * side);
    } else {
      column = near / side;
    }
    return;
  }
  column = (more - less) / (2.0 * by / kShrinks);
}

double displacement_of(const World& world, Index i) {
  const Index nv = world.robot().nv();
  return i < nv ? kOfPosition : i < 2 * nv ? kOfVelocity : kOfStretch;
}

double relative_to(double force) { return kOfForce * std::max(1.0, std::abs(force)); }

/// Wrenches and parameters.
void differentiate_rest(const StepTaken& taken, Workspace& workspace, const DerivativeRequest& request,
                        StepDerivatives& out) {
  Around around(taken, workspace);
  Input input = taken.input;
  for (Index i = 0; i < out.wrench().cols(); ++i) {
    ExternalWrench& wrench = input.wrenches[static_cast<std::size_t>(i / 6)];
    double& entry = i % 6 < 3 ? wrench.force(i % 3) : wrench.torque(i % 3);
    const double given = entry;
    const auto move = [&](double by, VectorXd& led) {
      entry = given + by;
      const bool same = around.with(input, led);
      entry = given;
      return same;
    };
    differentiate(relative_to(given), move, out.wrench().col(i), out.grazing);
  }
  for (std::size_t k = 0; k < request.parameters.size(); ++k) {
    const Parameter& parameter = request.parameters[k];
    VectorXd more, less;
    const bool same = around.in(*parameter.more, more) & around.in(*parameter.less, less);
    if (!same) out.grazing.push_back({0.0, Grazing::kNoStrand, Grazing::Kind::kChoice});
    out.parameters().col(static_cast<Index>(k)) = (more - less) / parameter.between;
  }
}

}  // namespace

void differentiate_by_differences(const StepTaken& taken, Workspace& workspace, const DerivativeRequest& request,
                                  StepDerivatives& out) {
  const World& world = taken.world;
  const Index size = world.tangent_size(), nv = world.robot().nv();
  Around around(taken, workspace);
  out.differences = true;
  out.by =
      Directions(world, request.forces, request.wrenches ? taken.input.wrenches.size() : 0, request.parameters.size());
  out.all.setZero(size, out.by.size);
  VectorXd dx = VectorXd::Zero(size);
  for (Index i = 0; i < size; ++i) {
    const Index of_contact = i - 2 * nv;
    if (of_contact >= 0 && of_contact < 3 * static_cast<Index>(world.contacts().size()) &&
        !taken.start.state.memory[static_cast<std::size_t>(of_contact / 3)].active()) {
      continue;  // it has no stretch
    }
    const auto move = [&](double by, VectorXd& led) {
      dx(i) = by;
      const bool same = around.from(dx, led);
      dx(i) = 0.0;
      return same;
    };
    differentiate(displacement_of(world, i), move, out.x().col(i), out.grazing);
  }
  Input input = taken.input;
  for (Index i = 0; i < out.force().cols(); ++i) {
    const double given = input.tau(i);
    const auto move = [&](double by, VectorXd& led) {
      input.tau(i) = given + by;
      const bool same = around.with(input, led);
      input.tau(i) = given;
      return same;
    };
    differentiate(relative_to(given), move, out.force().col(i), out.grazing);
  }
  differentiate_rest(taken, workspace, request, out);
}

}  // namespace exposim
