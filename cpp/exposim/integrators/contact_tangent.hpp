#pragma once

#include <Eigen/Core>

#include "exposim/robot/motion_derivatives.hpp"
#include "exposim/step_tangent.hpp"
#include "exposim/stiff/law.hpp"
#include "exposim/stiff/laws/paper_contact.hpp"
#include "exposim/stiff/motion.hpp"
#include "exposim/world.hpp"

namespace exposim {

// Derivatives of what the law of a contact with flat ground that stands still does at an instant.

/// Of a point at an instant, three rows each: of its centre, of its body's rotation, of its velocity.
struct ContactPointTangent {
  Tangent c, turn, dp;

  void take(const PointTangent& point, const Tangent& dq, const Tangent& dv);
};

/// Of travel(from, to).
Tangent travel_tangent(const Motion& from, const Motion& to, const ContactPointTangent& start,
                       const ContactPointTangent& end);

/// Of K_n, K_t, B_n, B_t, μ of a contact, a row to each; without rows where nothing is asked for that changes them.
Tangent material_tangent(const StepTangent& asked, const Directions& to, std::size_t point, int surface);
/// The same of a limit, which is as stiff as what its joint moves asks for, unless that is said.
Tangent limit_tangent(const StepTangent& asked, const Directions& to, std::size_t strand);

/// Of a contact as an instant has it.
struct ContactAt {
  const Law& law;
  const Motion& motion;
  const ContactPointTangent& point;
  const Tangent& material;
  Projection projection = Projection::kHorizontal;  ///< by which forces come onto the friction cone
};

/// Of project(lam), by those of λ.
Tangent projection_tangent(const ContactAt& at, const Eigen::Vector3d& lam, const Tangent& dlam);
/// Of force(), by those of the stretch that is remembered.
Tangent force_tangent(const ContactAt& at, const Memory& memory, const Tangent& ds);
/// Of what commit() leaves.
/// @param before, committed the memory before and after it.
/// @param ds of the stretch: before it, then after it.
void commit_tangent(const ContactAt& at, const Memory& before, const Memory& committed, Tangent& ds);

}  // namespace exposim
