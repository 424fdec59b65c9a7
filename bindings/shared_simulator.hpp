#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "exposim/simulator.hpp"
#include "shared.hpp"

namespace exposim {

/// A simulator that several Python threads may touch: one at a time, without the interpreter lock while it works.
class SharedSimulator : public Shared<Simulator> {
 public:
  Simulator& simulator;
  const bool stops;  ///< where it has diverged, until it is reset
  Input spare;       ///< memory for what a step is given: taken and given back with the interpreter lock held

  SharedSimulator(std::shared_ptr<World> world, std::shared_ptr<Integrator> integrator, double dt, bool stops)
      : Shared(std::make_unique<Simulator>(std::move(world), std::move(integrator), dt)),
        simulator(owned()),
        stops(stops) {}
};

/// Whether these are torques of all degrees of freedom, or of the actuated ones.
inline bool takes(const Robot& robot, const Eigen::Ref<const Eigen::VectorXd>& tau) {
  const bool fits = tau.size() == robot.nv() || tau.size() == static_cast<Eigen::Index>(robot.actuated().size());
  return fits && tau.allFinite();
}

/// Spreads torques that it takes over all degrees of freedom, (nv).
inline void spread(const Robot& robot, const Eigen::Ref<const Eigen::VectorXd>& torques, Eigen::VectorXd& tau) {
  if (torques.size() == robot.nv()) {
    tau = torques;
    return;
  }
  const std::vector<int>& actuated = robot.actuated();
  for (std::size_t i = 0; i < actuated.size(); ++i) tau(actuated[i]) = torques(static_cast<Eigen::Index>(i));
}

/// Spreads tau over the degrees of freedom; without one it is zero. The target is rest.
/// @throws std::invalid_argument
inline Input make_input(const World& world, const std::optional<Eigen::VectorXd>& tau,
                        std::vector<ExternalWrench> wrenches) {
  const Robot& robot = world.robot();
  Input input{Eigen::VectorXd::Zero(robot.nv()), world.joints().rest, Eigen::VectorXd::Zero(robot.nv()),
              std::move(wrenches)};
  if (!tau) return input;
  if (!takes(robot, *tau)) throw std::invalid_argument("tau has the wrong size, or is not finite");
  spread(robot, *tau, input.tau);
  return input;
}

}  // namespace exposim
