#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/instant.hpp"
#include "exposim/robot/input.hpp"
#include "exposim/robot/robot_data.hpp"
#include "exposim/workspace.hpp"
#include "exposim/world.hpp"

namespace exposim {

/// A strand that a scheme followed through the step itself: its memory is that of the end already.
struct Followed {
  const Motion* start = nullptr;  ///< of the step, with the normal and arm that it was followed with; null: it was not
  Eigen::Vector3d moved;          ///< how far it has come by that [m]
};

/// Motion of a contact point against a surface, by the last kinematics.
Motion contact_motion(const World& world, const RobotData& data, std::size_t point, int surface);

bool has_slot(const World& world, const State& state, std::size_t point, int surface);
/// A slot for a point and a surface that is free, or the end of these.
std::size_t free_slot(const World& world, const State& state, std::size_t point, int surface);

/// Motions and forces of a state that was committed before, here or elsewhere. A contact that is open below its
/// surface, or active above it, is none of a committed state (its q was changed): there the law is applied anew.
void evaluate(const World& world, RobotData& data, Instant& instant);

/// Starts at (q, v) without history: bilateral points at their anchors, all else by the law.
void start(const World& world, RobotData& data, const Eigen::VectorXd& q, const Eigen::VectorXd& v, Instant& instant);

/// Applies the laws at a new (q, v), once, and evaluates: stretches are carried along from the instant before, slots
/// are taken and given back.
/// @param next has t, q, v, and the memory that the step starts from, or of what was followed its end.
/// @param followed one entry per contact, or null: none was.
void commit(const World& world, RobotData& data, const Instant& before, const std::vector<Followed>* followed,
            Instant& next);

/// v̇ with the forces of an instant; those along degrees of freedom are left in the workspace.
const Eigen::VectorXd& acceleration(const World& world, Workspace& workspace, const Instant& instant,
                                    const Input& input);

}  // namespace exposim
