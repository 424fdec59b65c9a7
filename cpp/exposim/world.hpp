#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <vector>

#include "exposim/geometry/surface.hpp"
#include "exposim/robot/robot.hpp"
#include "exposim/state.hpp"
#include "exposim/stiff/bond.hpp"
#include "exposim/stiff/joint_laws.hpp"
#include "exposim/stiff/law.hpp"

namespace exposim {

/// A robot, what it may touch, and by which laws. Never changes; shared by all threads.
///
/// A point has a few *slots*, contacts that it can have at once, each with a memory. Where there are no more surfaces
/// than slots, slot k belongs to surface k for ever; otherwise a slot is taken by the surface that is touched, and
/// given back. The size of a state does not grow with the number of surfaces.
class World {
 public:
  /// What Robot::points() has at this index, as a contact.
  struct Point {
    bool bilateral = false;                 ///< bound to an anchor, whatever the surfaces
    std::shared_ptr<const Law> law;         ///< instead of the surface's, or of a bilateral point
    std::optional<Eigen::Vector3d> anchor;  ///< of a bilateral point; none: where it is at reset
  };
  struct Ground {
    std::shared_ptr<const Surface> surface;
    std::shared_ptr<const Law> law;
  };
  /// A slot of a point.
  struct Contact {
    std::size_t point;
    int surface;  ///< that it belongs to for ever, or −1
  };
  /// A strand of a bond.
  struct BondStrand {
    std::size_t bond;
    Rows rows;
  };

  /// @param slots of every point that is not bilateral; at least 1.
  /// @param joints their laws; damping is the robot's.
  /// @param history how many targets may be on their way at once, to motors that get them late.
  World(std::shared_ptr<const Robot> robot, std::vector<Point> points, std::vector<Ground> surfaces,
        std::vector<Bond> bonds, int slots, JointLaws joints, int history);

  const Robot& robot() const { return *robot_; }
  const std::shared_ptr<const Robot>& shared_robot() const { return robot_; }
  const std::vector<Point>& points() const { return points_; }
  const std::vector<Ground>& surfaces() const { return surfaces_; }
  const std::vector<Bond>& bonds() const { return bonds_; }

  /// Slots of all points, in order.
  const std::vector<Contact>& contacts() const { return contacts_; }
  std::size_t first_contact(std::size_t point) const { return first_contact_[point]; }
  std::size_t end_contact(std::size_t point) const { return first_contact_[point + 1]; }
  /// Whether slots are taken and given back.
  bool has_free_slots() const { return free_slots_; }

  const std::vector<BondStrand>& bond_strands() const { return bond_strands_; }
  std::size_t first_limit() const { return contacts_.size() + bond_strands_.size(); }
  const Limit& limit(std::size_t strand) const { return joints_.limits[strand - first_limit()]; }
  std::size_t strands() const { return first_limit() + joints_.limits.size(); }
  /// @param surface that a contact touches; of no meaning for all else.
  const Law& law(std::size_t strand, int surface) const {
    if (strand < contacts_.size()) return contact_law(contacts_[strand].point, surface);
    return strand < first_limit() ? bond_law(strand) : *limit(strand).law;
  }
  const Law& contact_law(std::size_t point, int surface) const {
    const Law* const own = points_[point].law.get();
    return own ? *own : *surfaces_[static_cast<std::size_t>(surface)].law;
  }

  const JointLaws& joints() const { return joints_; }
  /// Degrees of freedom with a law of their own; of these the ones whose law feels how they move, and those with dry
  /// friction.
  const std::vector<Eigen::Index>& acting_dofs() const { return acting_; }
  const std::vector<Eigen::Index>& reacting_dofs() const { return reacting_; }
  const std::vector<Eigen::Index>& rough_dofs() const { return rough_; }
  /// Whether one with a servo, with dry friction, is of a joint in which q is not linear.
  bool has_curved_servos() const { return curved_servos_; }
  bool has_curved_grips() const { return curved_grips_; }
  /// Longest delay of a motor [s].
  double longest_delay() const { return longest_delay_; }

  // States as flat arrays: t, q, v; of every contact surface, mode, φ0, s; of every dry friction stretch and whether it
  // slips; of delayed targets their number, and for each that may be time, target, velocity; last nq and nv, so that an
  // array tells what it is of.
  static constexpr Eigen::Index kMemorySize = 6;
  /// Gives a state the size that states of this world have.
  void prepare(State& state) const;
  Eigen::Index packed_size() const;
  void pack(const State& state, Eigen::Ref<Eigen::VectorXd> x) const;
  /// @return false, with the state half written, if x is not a state of this world.
  bool unpack(const Eigen::Ref<const Eigen::VectorXd>& x, State& state) const;

  // The manifold of states with their modes held: displacements are (dq, dv, ds), ds three to a contact, then one to
  // every dry friction. Targets on their way stay.
  Eigen::Index tangent_size() const;
  /// state ⊕ dx
  void plus(const State& state, const Eigen::VectorXd& dx, State& result) const;
  /// to ⊖ from
  void minus(const State& to, const State& from, Eigen::VectorXd& dx) const;

 private:
  const Law& bond_law(std::size_t strand) const;

  std::shared_ptr<const Robot> robot_;
  std::vector<Point> points_;
  std::vector<Ground> surfaces_;
  std::vector<Bond> bonds_;
  std::vector<Contact> contacts_;
  std::vector<std::size_t> first_contact_;  // of every point, and one behind the last
  std::vector<BondStrand> bond_strands_;
  JointLaws joints_;
  std::vector<Eigen::Index> acting_, reacting_, rough_;
  std::size_t history_;
  double longest_delay_ = 0.0;
  bool free_slots_, curved_servos_ = false, curved_grips_ = false;
};

}  // namespace exposim
