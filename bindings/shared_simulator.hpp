#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <vector>

#include "bindings.hpp"
#include "exposim/simulator.hpp"

namespace exposim {

/// One contact as Python describes it.
struct ContactSpec {
  std::size_t point;
  std::shared_ptr<Surface> surface;  // null: bilateral
  Material material;
  std::optional<Eigen::Vector3d> anchor;
};

/// A simulator that several Python threads may touch: one at a time, without the interpreter lock while it steps.
struct SharedSimulator {
  Simulator simulator;
  Input input;
  std::mutex mutex;

  SharedSimulator(std::shared_ptr<Robot> robot, const std::vector<ContactSpec>& specs, AnchorRule anchor_rule,
                  Projection projection, const IntegratorFactory& integrator, double dt)
      : simulator(robot, pairs(specs, anchor_rule, projection), anchors(specs), integrator.make(), dt) {
    input.tau.setZero(robot->nv());
  }

  static std::vector<ContactPair> pairs(const std::vector<ContactSpec>& specs, AnchorRule anchor_rule,
                                        Projection projection) {
    std::vector<ContactPair> pairs;
    for (const ContactSpec& spec : specs) {
      pairs.push_back({spec.point, spec.surface, {spec.material, !spec.surface, anchor_rule, projection}});
    }
    return pairs;
  }

  static std::vector<std::optional<Eigen::Vector3d>> anchors(const std::vector<ContactSpec>& specs) {
    std::vector<std::optional<Eigen::Vector3d>> anchors;
    for (const ContactSpec& spec : specs) anchors.push_back(spec.anchor);
    return anchors;
  }

  /// Spreads tau over the degrees of freedom. @throws std::invalid_argument, with nothing changed.
  void set_tau(const Eigen::VectorXd& tau) {
    const std::vector<int>& actuated = simulator.robot().actuated();
    const Eigen::Index nv = simulator.robot().nv();
    if (tau.size() != nv && tau.size() != static_cast<Eigen::Index>(actuated.size())) {
      throw std::invalid_argument("tau has the wrong size");
    }
    if (!tau.allFinite()) throw std::invalid_argument("tau must be finite");
    if (tau.size() == nv) {
      input.tau = tau;
    } else {
      input.tau.setZero();
      for (std::size_t i = 0; i < actuated.size(); ++i) input.tau(actuated[i]) = tau(static_cast<Eigen::Index>(i));
    }
  }
};

}  // namespace exposim
