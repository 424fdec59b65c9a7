#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <functional>
#include <vector>

#include "exposim/grazing.hpp"
#include "exposim/instant.hpp"
#include "exposim/robot/robot_data.hpp"
#include "exposim/world.hpp"

namespace exposim {

/// A quantity's derivatives: its rows, by as many columns as there are directions in which a step is differentiated.
using Tangent = RowMatrixXd;

/// Which directions these are: displacements of the state (World::plus), then forces along the degrees of freedom if
/// they are asked for, then force and torque of every wrench, then parameters.
struct Directions {
  Directions() = default;
  Directions(const World& world, bool by_forces, std::size_t wrenches, std::size_t parameters)
      : nv(world.robot().nv()),
        stretches(2 * nv),
        grips(stretches + 3 * static_cast<Eigen::Index>(world.contacts().size())),
        forces(world.tangent_size()),
        wrenches(forces + (by_forces ? nv : 0)),
        parameters(this->wrenches + 6 * static_cast<Eigen::Index>(wrenches)),
        count(static_cast<Eigen::Index>(parameters)),
        size((this->parameters + count + 3) / 4 * 4) {}

  Eigen::Index nv = 0;
  Eigen::Index stretches = 0, grips = 0, forces = 0, wrenches = 0, parameters = 0;  ///< where they begin
  Eigen::Index count = 0;                                                           ///< of parameters
  Eigen::Index size = 0;  ///< of all, filled up to a multiple of four by none

  Eigen::Index q(Eigen::Index dof) const { return dof; }
  Eigen::Index v(Eigen::Index dof) const { return nv + dof; }
  Eigen::Index stretch(std::size_t contact) const { return stretches + 3 * static_cast<Eigen::Index>(contact); }
  Eigen::Index force(Eigen::Index dof) const { return forces + dof; }
  bool by_forces() const { return wrenches > forces; }
};

/// Those of them that count in a step: not stretches of contacts that are open, nor upwards of those on level ground,
/// nor forces where nothing is actuated.
class CountingDirections : public Directions {
 public:
  CountingDirections() = default;
  /// @param turns whether a contact's normal may turn in the step.
  CountingDirections(const Directions& all, const World& world, const Instant& start, std::size_t parameters,
                     const std::function<bool(std::size_t contact)>& turns);

  /// to += A ds, of a stretch; of one that does not count upwards A has no third column.
  template <typename Rows>
  void add_stretch(std::size_t contact, const Eigen::Matrix3d& A, Rows&& to) const {
    const auto& [first, count] = stretch_of_[contact];
    to.middleCols(first, count) += A.leftCols(count);
  }
  Eigen::Index force(Eigen::Index dof) const { return force_of_[static_cast<std::size_t>(dof)]; }
  /// f(first, count) with those of all directions before `end` that they are, as many at a time as follow each other.
  template <typename Function>
  void for_each_run(Eigen::Index end, const Function& f) const {
    for (const Run& each : runs_) {
      if (each.to < end) f(each.to, std::min(each.count, end - each.to));
    }
  }
  /// Puts rows by these directions into some by all of them, which are zero.
  void put(const Tangent& rows, Eigen::Index first, Tangent& all) const;

 private:
  struct Run {
    Eigen::Index from, to, count;
  };
  /// @return where among these it begins.
  Eigen::Index add(Eigen::Index of_all, Eigen::Index count);

  struct Columns {
    Eigen::Index first, count;
  };
  std::vector<Columns> stretch_of_;
  std::vector<Eigen::Index> force_of_;
  std::vector<Run> runs_;
};

/// A parameter of materials or masses: worlds that differ in nothing else, and by how much it differs in them.
struct WorldParameter {
  const World* more;
  const World* less;
  double between;
};

/// What a step is to be differentiated by, and the derivatives of where it leads to (World::minus).
struct StepTangent {
  bool forces = true;        ///< along the degrees of freedom
  std::size_t wrenches = 0;  ///< all of the input's, or none
  std::vector<WorldParameter> parameters;
  bool exact = true;  ///< if not, Υ changes against the mean force alone

  Tangent next;
  std::vector<Grazing> grazing;
};

}  // namespace exposim
