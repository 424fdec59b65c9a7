#include "exposim/rollout/linear_policy.hpp"

#include "exposim/robot/kinematics.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

struct LinearMemory final : Policy::Memory {
  VectorXd q_ref, dq, dx;
};

}  // namespace

std::unique_ptr<Policy::Memory> LinearPolicy::make_memory(const World& world) const {
  auto memory = std::make_unique<LinearMemory>();
  const Index nv = world.robot().nv();
  memory->action.setZero(size());
  memory->q_ref.setZero(world.robot().nq());
  memory->dq.setZero(nv);
  memory->dx.setZero(2 * nv);
  return memory;
}

void LinearPolicy::begin(const Series& /*commands*/, Index /*row*/, Memory& memory) const { memory.action.setZero(); }

void LinearPolicy::act(Simulator& simulator, Index row, Index step, Memory& memory, Input& input) const {
  if (step % hold_ == 0) {
    auto& own = static_cast<LinearMemory&>(memory);
    VectorXd &q_ref = own.q_ref, &dq = own.dq, &dx = own.dx;
    const State& state = simulator.state();
    const Index nv = state.v.size();
    q_ref = VectorXd::Map(q_.at(row, step), state.q.size());
    difference(simulator.world().robot(), q_ref, state.q, dq);
    dx.head(nv) = dq;
    dx.tail(nv) = state.v - VectorXd::Map(v_.at(row, step), nv);
    memory.action.noalias() = RowMatrixXd::Map(gain_.at(row, step), size(), 2 * nv) * dx;
  }
  to_.add(memory.action, input);
}

}  // namespace exposim
