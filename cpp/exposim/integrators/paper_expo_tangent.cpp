// Derivatives of a step of PaperExpo.

#include "exposim/expo/averages_tangent.hpp"
#include "exposim/expo/tangent_products.hpp"
#include "exposim/expo/uneven_averages_tangent.hpp"
#include "exposim/integrators/paper_expo.hpp"
#include "exposim/integrators/paper_scratch.hpp"
#include "exposim/integrators/scheme_tangent.hpp"
#include "exposim/robot/compliance_derivatives.hpp"
#include "exposim/robot/kinematics.hpp"
#include "exposim/robot/mass_matrix.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

Index row(std::size_t strand) { return 3 * static_cast<Index>(strand); }
bool is_limit(const Strand& strand) { return strand.rows == Rows::kCoordinate; }

/// The stiff system of the start and the averages of its forces, after such a step.
class PaperTangent {
 public:
  PaperTangent(RobotData& data, const PaperScratch& scratch, SchemeTangent& scheme, const StepTangent& asked)
      : data_(data),
        strands_(scratch.strands.all()),
        scratch_(scratch),
        scheme_(scheme),
        dynamics_(scheme.dynamics()),
        to_(dynamics_.to()) {
    for (const Strand& strand : strands_) {
      materials_.push_back(is_limit(strand) ? limit_tangent(asked, to_, strand.index)
                                            : material_tangent(asked, to_, strand.point, strand.memory.surface));
    }
  }

  /// Of M⁻¹(u + Jᵀλ) with the averages after projection.
  /// @param twice with the double averages.
  Tangent accelerate(bool twice) {
    const Index m = row(strands_.size());
    VectorXd lam(m), a = free_;
    Tangent dlam(m, to_.size);
    pushes_.clear();
    for (std::size_t k = 0; k < strands_.size(); ++k) {
      const Strand& strand = strands_[k];
      const Vector3d average = twice ? scratch_.averages.lam_bar2(k) : scratch_.averages.lam_bar(k);
      const ContactAt at = scheme_.contact(*strand.law, strand.motion, start_of(strand), materials_[k]);
      lam.segment<3>(row(k)) = strand.law->project(average, strand.motion.n);
      dlam.middleRows<3>(row(k)) =
          projection_tangent(at, average, (twice ? dlam_bar2_ : dlam_bar_).middleRows<3>(row(k)));
      if (!is_limit(strand)) {
        pushes_.push_back({strand.a, strand.position, strand.motion.arm, lam.segment<3>(row(k))});
      }
    }
    a.noalias() += compliance_.response() * lam;
    Tangent da = -dynamics_.solve(dynamics_.hold(data_, a, pushes_));
    add_product(compliance_.response(), dlam, da);
    return da;
  }

  /// Of the averages before projection. @return false where they are not those of the closed form.
  bool average(double dt) {
    free_ = scratch_.system.w();
    solve_Lt_in_place(data_, free_);
    compliance_.clear();
    for (const Strand& strand : strands_) {
      if (is_limit(strand)) {
        compliance_.add_dof(static_cast<Index>(strand.b), 3);
      } else {
        compliance_.add_point(strand.a, strand.position, strand.motion.arm);
      }
    }
    std::vector<MatrixXd> Upsilon_by_q;
    compliance_.compute(data_, dynamics_.movers());
    compliance_.differentiate(data_, dynamics_.movers(), Upsilon_by_q);
    if (strands_.empty()) return true;
    for (const InertiaChanges& changes : dynamics_.masses()) {
      Upsilon_by_q.push_back(-products_by_inertia(data_.robot(), dynamics_.movers(), compliance_.response(), changes));
    }
    std::vector<AveragesTangent::Holding> holding;
    for (std::size_t k = 0; k < strands_.size(); ++k) {
      const StiffSystem::Row& each = scratch_.system.rows()[k];
      holding.push_back({each.K, each.B, each.delta_p, each.delta_dp, each.ddp_bar, strands_[k].motion.n});
    }
    find_start();
    const auto add_by_q = [&](const RowMatrixXd& A, Tangent& to) { dynamics_.add_by_q(A, to); };
    const double c = ForceAverages::proportional_damping(scratch_.system);
    AveragesTangent averages;
    UnevenAveragesTangent uneven;
    if (c >= 0.0) {
      averages.begin(compliance_.Upsilon(), holding, c, dt);
      const auto products = [&](const RowMatrixXd& x, const RowMatrixXd& y, RowMatrixXd& by_q) {
        AveragesTangent::products_by(Upsilon_by_q, x, y, by_q);
      };
      const AveragesTangent::ChangeOfUpsilon change{products, add_by_q};
      averages.differentiate(free_accelerations(), VectorXd::Zero(compliance_.Upsilon().rows()), delta_, delta_dp_,
                             &change, all_materials(), nullptr, dlam_bar_, dlam_bar2_);
    } else {
      if (!uneven.begin(compliance_.Upsilon(), holding, dt)) return false;
      uneven.differentiate(free_accelerations(), delta_, delta_dp_, &Upsilon_by_q, add_by_q, all_materials(), dlam_bar_,
                           dlam_bar2_);
    }
    return true;
  }

 private:
  const ContactPointTangent& start_of(const Strand& strand) {
    return is_limit(strand) ? none_ : scheme_.point_at_start(strand.index);
  }

  /// Of displacements from the anchor and their rates.
  void find_start() {
    const Index m = row(strands_.size());
    delta_.setZero(m, to_.size);
    delta_dp_.setZero(m, to_.size);
    for (std::size_t k = 0; k < strands_.size(); ++k) {
      const Strand& strand = strands_[k];
      auto delta = delta_.middleRows<3>(row(k)), rate = delta_dp_.middleRows<3>(row(k));
      if (is_limit(strand)) {
        const auto dof = static_cast<Index>(strand.b);
        delta(0, to_.q(dof)) = rate(0, to_.v(dof)) = 1.0;
        continue;
      }
      const Vector3d& n = strand.motion.n;
      const ContactPointTangent& point = start_of(strand);
      delta = scheme_.start_stretch(strand.index);
      if (strand.memory.mode != Mode::kBound) delta += n * (n.transpose() * point.c);
      rate = strand.memory.slipping() ? Tangent(n * (n.transpose() * point.dp)) : point.dp;
    }
  }

  /// Of p̈̄.
  Tangent free_accelerations() {
    const Index m = row(strands_.size()), nv = to_.nv;
    const Tangent da = -dynamics_.solve(dynamics_.hold(data_, free_, {}));
    RowMatrixXd J = RowMatrixXd::Zero(m, nv), by_q = J, by_v = J;
    for (std::size_t k = 0; k < strands_.size(); ++k) {
      const Strand& strand = strands_[k];
      if (is_limit(strand)) {
        J(row(k), static_cast<Index>(strand.b)) = 1.0;
      } else {
        const Vector3d c = world_position(data_, strand.a, strand.position);
        dynamics_.derivatives().put_acceleration(strand.a, c, strand.motion.arm, row(k), J, by_q, &by_v);
      }
    }
    Tangent ddp = product(J, da);
    dynamics_.add_by_q(by_q, ddp);
    dynamics_.add_by_v(by_v, ddp);
    return ddp;
  }

  /// One to each strand, or none at all.
  std::vector<Tangent> all_materials() const {
    std::vector<Tangent> all;
    bool any = false;
    for (const Tangent& each : materials_) {
      any = any || each.rows() > 0;
      all.push_back(each.rows() > 0 ? each : Tangent::Zero(5, to_.size));
    }
    return any ? all : std::vector<Tangent>{};
  }

  RobotData& data_;
  const std::vector<Strand>& strands_;
  const PaperScratch& scratch_;
  SchemeTangent& scheme_;
  DynamicsTangent& dynamics_;
  const Directions& to_;
  std::vector<Tangent> materials_;
  ContactPointTangent none_;
  VectorXd free_;  // v̇ without stiff forces
  ComplianceDerivatives compliance_;
  Tangent delta_, delta_dp_, dlam_bar_, dlam_bar2_;
  std::vector<DynamicsTangent::Push> pushes_;
};

}  // namespace

bool PaperExpo::differentiate(const World& world, Workspace& workspace, const Instant& now, const Input& input,
                              double dt, Step& step, StepTangent& out) const {
  if (!SchemeTangent::supports(world)) return false;
  this->step(world, workspace, now, input, dt, step);
  const auto& scratch = static_cast<const PaperScratch&>(*workspace.scratch);
  const bool by_pade = options_.kernel.method == ContactKernel::Method::kDense &&
                       options_.kernel.dense.method == KernelOptions::Method::kPade;
  if (step.diverged || (by_pade && scratch.system.active() > 0)) return false;
  SchemeTangent scheme(world, now, input, out, &options_.projection);
  for (const Strand& strand : scratch.strands.all()) {
    if (!scheme.supports(*strand.law, strand.motion)) return false;
  }
  scheme.begin(workspace.robot);
  const PlaceTangent start = scheme.start();
  scheme.dynamics().take_terms(workspace.robot, now.state, start);
  PaperTangent tangent(workspace.robot, scratch, scheme, out);
  if (!tangent.average(dt)) return false;
  PlaceTangent next;
  const Tangent da = tangent.accelerate(false);
  next.dv = start.dv + dt * da;
  const bool twice = options_.position_update == PositionUpdate::kDoubleAverage;
  const Tangent dway = dt * start.dv + 0.5 * dt * dt * (twice ? tangent.accelerate(true) : da);
  next.dq = scheme.moved(now.state.q, scratch.update.way(), start.dq, dway);
  scheme.end(workspace.robot, step, next);
  return scheme.supported();
}

}  // namespace exposim
