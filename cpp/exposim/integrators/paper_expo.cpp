#include "exposim/integrators/paper_expo.hpp"

#include "exposim/integrators/paper_scratch.hpp"
#include "exposim/joints/dof_forces.hpp"
#include "exposim/robot/mass_matrix.hpp"

namespace exposim {

using Eigen::Vector3d;

namespace {

constexpr double kNoneNear = -1.0;

}  // namespace

std::shared_ptr<const Law> PaperExpo::contact_law(const Material& material) const {
  return std::make_shared<PaperContact>(material, options_.anchor_rule, options_.projection);
}

std::unique_ptr<Scratch> PaperExpo::make_scratch() const { return std::make_unique<PaperScratch>(options_.kernel); }

void PaperExpo::step(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
                     Step& step) const {
  auto& scratch = static_cast<PaperScratch&>(*workspace.scratch);
  StiffSystem& system = scratch.system;
  step.clear(world.strands());
  step.next.state.memory = now.state.memory;
  {
    const Profiler::Scope scope(workspace.profiler, Stage::kTerms);
    scratch.strands.gather(world, workspace.robot, now, dt, kNoneNear);
    update_dof_forces(world, now.state, input, workspace.dof_forces);
    step.motors = workspace.dof_forces.motors;
    update_terms(workspace.robot, now.state.q, now.state.v);
    factor(workspace.robot);
    system.update(workspace.robot, scratch.strands, {workspace.dof_forces.all, input.wrenches}, true);
  }
  if (system.active() > 0) {
    const Profiler::Scope scope(workspace.profiler, Stage::kKernel);
    scratch.averages.compute(system, dt);
    step.kernel = scratch.averages.info();
  }
  {
    const Profiler::Scope scope(workspace.profiler, Stage::kIntegration);
    scratch.update.clear(system);
    for (std::size_t k = 0; k < system.active(); ++k) {
      const Strand& strand = scratch.strands.all()[k];
      const Vector3d lam_pr = strand.law->project(scratch.averages.lam_bar(k), strand.motion.n);
      Vector3d lam_pr2 = lam_pr;
      if (options_.position_update == PositionUpdate::kDoubleAverage) {
        lam_pr2 = strand.law->project(scratch.averages.lam_bar2(k), strand.motion.n);
      }
      scratch.update.add(system, system.rows()[k], lam_pr, lam_pr2);
      step.lam.segment<3>(3 * static_cast<Eigen::Index>(strand.index)) = lam_pr;
      step.lam2.segment<3>(3 * static_cast<Eigen::Index>(strand.index)) = lam_pr2;
    }
    scratch.update.apply_in_coordinates(workspace.robot, system, now.state, dt, step.next.state.q, step.next.state.v);
  }
  finish(world, workspace, now, nullptr, dt, step);
}

}  // namespace exposim
