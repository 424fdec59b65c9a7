#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "exposim/geometry/ball_tree.hpp"
#include "exposim/geometry/edge.hpp"
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
///
/// Edges have points too, for shapes that bodies carry: such a shape has slots for them, its guests.
class World {
 public:
  /// What Robot::points() has at this index, as a contact.
  struct Point {
    bool bilateral = false;                 ///< bound to an anchor, whatever the surfaces
    std::shared_ptr<const Law> law;         ///< instead of the surface's, or of a bilateral point
    std::optional<Eigen::Vector3d> anchor;  ///< of a bilateral point; none: where it is at reset
  };
  struct Ground {
    std::shared_ptr<const Surface> surface;  ///< in the frame of the body that carries it
    std::shared_ptr<const Law> law;
    std::size_t joint = 0;  ///< of that body; 0: the world
    /// One to a point, whose own law is no longer asked for; null where the two never touch. Empty: `law` for all.
    std::vector<std::shared_ptr<const Law>> laws;
    int guests = 0;  ///< slots for points of edges
    /// One to a surface whose edges it may meet, null where it does not; empty: it meets none.
    std::vector<std::shared_ptr<const Law>> guest_laws;
  };
  /// A slot of a point, or of a surface for guests.
  struct Contact {
    static constexpr std::size_t kGuest = static_cast<std::size_t>(-1);

    std::size_t point;  ///< or kGuest: of an edge
    int surface;        ///< that it belongs to for ever, or −1
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
        std::vector<Bond> bonds, int slots, JointLaws joints, int history, std::vector<Edge> edges);

  /// The same world with a robot that is alike, other laws of its points and of contacts with surfaces, none of them on
  /// bodies, and of its joints.
  /// @param points, surfaces one to each; null: as it is. @param joints null: as they are.
  std::shared_ptr<World> varied(std::shared_ptr<const Robot> robot,
                                const std::vector<std::shared_ptr<const Law>>& points,
                                const std::vector<std::shared_ptr<const Law>>& surfaces, const JointLaws* joints) const;

  const Robot& robot() const { return *robot_; }
  const std::shared_ptr<const Robot>& shared_robot() const { return robot_; }
  const std::vector<Point>& points() const { return points_; }
  const std::vector<Ground>& surfaces() const { return surfaces_; }
  const Surface& surface(int k) const { return *surfaces_[static_cast<std::size_t>(k)].surface; }
  const std::vector<Bond>& bonds() const { return bonds_; }
  /// Surfaces that stand still, and those that bodies carry.
  const BallTree& standing() const { return standing_; }
  const std::vector<int>& carried() const { return carried_; }
  /// Whether threads that simulate it wait for each other.
  bool makes_wait() const;
  const Ball& bounds(int surface) const { return bounds_[static_cast<std::size_t>(surface)]; }
  bool may_touch(std::size_t point, int surface) const {
    const Ground& ground = surfaces_[static_cast<std::size_t>(surface)];
    return ground.laws.empty() || ground.laws[point];
  }

  /// Slots of all points, in order; then those for guests.
  const std::vector<Contact>& contacts() const { return contacts_; }
  bool is_guest(std::size_t contact) const { return contacts_[contact].point == Contact::kGuest; }
  /// Slots that a point can have with a surface, from the first to before the last.
  std::pair<std::size_t, std::size_t> slots(std::size_t point, int surface) const {
    if (is_on_edge(point)) return guest_slots_[static_cast<std::size_t>(surface)];
    return {first_contact_[point], first_contact_[point + 1]};
  }
  /// Whether slots of points are taken and given back; those for guests always are.
  bool has_free_slots() const { return free_slots_; }
  bool changes_hands(std::size_t contact) const {
    return is_guest(contact) || (free_slots_ && !points_[contacts_[contact].point].bilateral);
  }

  // Points are those of the robot, and behind them those of edges.
  const std::vector<Edge>& edges() const { return edges_; }
  /// Those that stand still, and the surfaces of bodies that have some.
  const BallTree& standing_edges() const { return standing_edges_; }
  struct CarriedEdges {
    int surface;
    int first, last;  ///< their numbers, the last not among them
  };
  const std::vector<CarriedEdges>& carried_edges() const { return carried_edges_; }
  bool may_meet(int surface, int of_edge) const {
    const Ground& ground = surfaces_[static_cast<std::size_t>(surface)];
    return !ground.guest_laws.empty() && ground.guest_laws[static_cast<std::size_t>(of_edge)];
  }
  bool is_on_edge(std::size_t point) const { return point >= points_.size(); }
  /// Number of the i-th point of an edge among guests, and of the one that is closest to the shape it touches.
  int guest(int edge, int i) const {
    return edge + static_cast<int>(edges_.size()) * (1 + (i >= 0 ? 2 * i : -2 * i - 1));
  }
  int closest_guest(int edge) const { return edge; }
  bool is_closest(std::size_t point) const { return point < points_.size() + edges_.size(); }
  std::size_t guest_point(int guest) const { return points_.size() + static_cast<std::size_t>(guest); }
  int number_of_edge(std::size_t point) const { return static_cast<int>((point - points_.size()) % edges_.size()); }
  const Edge& edge_of(std::size_t point) const { return edges_[static_cast<std::size_t>(number_of_edge(point))]; }
  /// Where a point is fixed, and how large it is; of the closest one of an edge, where that starts.
  ContactPoint shape(std::size_t point) const;
  /// The point that has a contact's slot; kGuest: none has.
  std::size_t point_of(std::size_t contact, const Memory& memory) const {
    if (!is_guest(contact)) return contacts_[contact].point;
    return memory.guest < 0 ? Contact::kGuest : guest_point(memory.guest);
  }
  std::size_t joint_of(int surface) const {
    return surface < 0 ? 0 : surfaces_[static_cast<std::size_t>(surface)].joint;
  }

  const std::vector<BondStrand>& bond_strands() const { return bond_strands_; }
  std::size_t first_limit() const { return contacts_.size() + bond_strands_.size(); }
  const Limit& limit(std::size_t strand) const { return joints_.limits[strand - first_limit()]; }
  std::size_t strands() const { return first_limit() + joints_.limits.size(); }
  /// @param memory of a contact; of no meaning for all else.
  const Law& law(std::size_t strand, const Memory& memory) const {
    if (strand < contacts_.size()) return contact_law(point_of(strand, memory), memory.surface);
    return strand < first_limit() ? bond_law(strand) : *limit(strand).law;
  }
  const Law& contact_law(std::size_t point, int surface) const {
    if (is_on_edge(point)) {
      const Ground& ground = surfaces_[static_cast<std::size_t>(surface)];
      return *ground.guest_laws[static_cast<std::size_t>(edge_of(point).surface)];
    }
    const Law* const own = points_[point].law.get();
    if (surface < 0) return *own;
    const Ground& ground = surfaces_[static_cast<std::size_t>(surface)];
    if (!ground.laws.empty()) return *ground.laws[point];
    return own ? *own : *ground.law;
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
  /// Which degrees of freedom have which laws.
  void sort_joints();
  const Law& bond_law(std::size_t strand) const;
  bool is_guest_of(int guest, int surface) const;
  bool unpack_contact(const double* entry, const State& state, std::size_t contact, Memory& memory) const;

  std::shared_ptr<const Robot> robot_;
  std::vector<Point> points_;
  std::vector<Ground> surfaces_;
  std::vector<Bond> bonds_;
  std::vector<Ball> bounds_;
  BallTree standing_;
  std::vector<int> carried_;
  std::vector<Edge> edges_;
  BallTree standing_edges_;
  std::vector<CarriedEdges> carried_edges_;
  std::vector<Contact> contacts_;
  std::vector<std::pair<std::size_t, std::size_t>> guest_slots_;  // of every surface
  std::vector<std::size_t> first_contact_;                        // of every point, and one behind the last
  std::vector<BondStrand> bond_strands_;
  JointLaws joints_;
  std::vector<Eigen::Index> acting_, reacting_, rough_;
  std::size_t history_;
  double longest_delay_ = 0.0;
  bool free_slots_, curved_servos_ = false, curved_grips_ = false;
};

}  // namespace exposim
