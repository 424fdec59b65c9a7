#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "exposim/force_course.hpp"
#include "exposim/instant.hpp"
#include "exposim/robot/input.hpp"
#include "exposim/workspace.hpp"
#include "exposim/world.hpp"

namespace exposim {

/// Where a step went: q, v and forces at any time in it, continuous but for the forces at events.
///
/// Within a piece terms are frozen, v̇ = a + R λ(t); what that leaves to where the piece ends is added in proportion to
/// time, and of q to its square. A scheme that knows nothing of its inside has one piece, with forces and v on straight
/// lines and q on a cubic.
class Path {
 public:
  struct Piece {
    double start = 0.0, length = 0.0;  ///< since the start of the step, and how long it lasts [s]
    Eigen::VectorXd q, v, q_end, v_end;
    Eigen::VectorXd free;      ///< a; empty: not known
    Eigen::MatrixXd response;  ///< R, three columns to a course
    std::vector<ForceCourse> courses;
  };

  Path(std::shared_ptr<const World> world, Input input, Instant before, Instant after);

  /// Adds a piece that begins at an instant. One that begins where the last one does, or before, takes its place.
  void add(Piece piece, const Instant& from);
  /// The step as a whole, if no piece was added.
  void complete();

  double start() const { return before_.state.t; }
  double end() const { return after_.state.t; }
  const World& world() const { return *world_; }

  // At a time from start to end [s]:
  void at(double t, Eigen::VectorXd& q, Eigen::VectorXd& v) const;
  /// Of all strands, three rows to each.
  void forces(double t, Eigen::VectorXd& lam) const;
  /// v̇ with these forces, by all terms as they are there; where laws of joints feel how these move, which within a step
  /// is known on average only, the slope of v.
  Eigen::VectorXd acceleration(double t);

 private:
  const Piece& piece_at(double t) const;
  bool has_limits(const Piece& piece) const;
  /// v̇ by the terms of the piece.
  Eigen::VectorXd slope(const Piece& piece, double t) const;
  bool is_start(double t) const { return t <= before_.state.t; }
  bool is_end(double t) const { return t >= after_.state.t; }

  std::shared_ptr<const World> world_;
  Input input_;
  Instant before_, after_;
  std::vector<Piece> pieces_;
  Workspace workspace_;
};

}  // namespace exposim
