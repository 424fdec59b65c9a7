#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <vector>

#include "exposim/geometry/surface.hpp"
#include "exposim/robot/robot.hpp"
#include "exposim/state.hpp"
#include "exposim/stiff/bond.hpp"
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
  World(std::shared_ptr<const Robot> robot, std::vector<Point> points, std::vector<Ground> surfaces,
        std::vector<Bond> bonds, int slots);

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
  std::size_t strands() const { return contacts_.size() + bond_strands_.size(); }
  /// @param surface that a contact touches; of no meaning for bilateral points and bonds.
  const Law& law(std::size_t strand, int surface) const {
    return strand < contacts_.size() ? contact_law(contacts_[strand].point, surface) : bond_law(strand);
  }
  const Law& contact_law(std::size_t point, int surface) const {
    const Law* const own = points_[point].law.get();
    return own ? *own : *surfaces_[static_cast<std::size_t>(surface)].law;
  }

  // States as flat arrays: t, q, v, and of every contact surface, mode, φ0, s; last nq and nv, so that an array tells
  // what it is of.
  static constexpr Eigen::Index kMemorySize = 6;
  Eigen::Index packed_size() const;
  void pack(const State& state, Eigen::Ref<Eigen::VectorXd> x) const;
  /// @return false, with the state half written, if x is not a state of this world.
  bool unpack(const Eigen::Ref<const Eigen::VectorXd>& x, State& state) const;

  // The manifold of states with their modes held: displacements are (dq, dv, ds), ds three to a contact.
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
  bool free_slots_;
};

}  // namespace exposim
