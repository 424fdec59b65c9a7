#pragma once

#include <vector>

#include "exposim/robot/pinocchio_model.hpp"
#include "exposim/robot/robot_data.hpp"

namespace exposim {

// Pinocchio's library holds instantiations for this argument type only; any other is compiled here, slowly.
using ConstRef = Eigen::Ref<const Eigen::VectorXd>;

struct RobotData::Pinocchio {
  explicit Pinocchio(const pinocchio::Model& m)
      : data(m),
        forces(static_cast<std::size_t>(m.njoints), pinocchio::Force::Zero()),
        joint_forces(Eigen::VectorXd::Zero(m.nv)),
        tau(m.nv) {}

  pinocchio::Data data;
  std::vector<pinocchio::Force> forces;  // on every body, in its joint's frame
  Eigen::VectorXd joint_forces;          // on every degree of freedom
  Eigen::VectorXd tau;
  Eigen::MatrixXd M_inverse;
};

/// Calls f(i) for every degree of freedom that moves the body of `joint`; none for the world, 0.
template <typename Function>
void for_each_supporting_dof(const pinocchio::Model& model, std::size_t joint, Function&& f) {
  for (const std::size_t ancestor : model.supports[joint]) {
    const int begin = model.idx_vs[ancestor];
    for (int i = begin; i < begin + model.nvs[ancestor]; ++i) f(i);
  }
}

}  // namespace exposim
