#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/instant.hpp"
#include "exposim/integrators/dynamics_tangent.hpp"
#include "exposim/step.hpp"
#include "exposim/step_tangent.hpp"

namespace exposim {

/// Derivatives of steps that are made of accelerations v̇ at instants, after such a step: what its stages found is held.
class SchemeTangent {
 public:
  /// @param paper how contacts project that are PaperContact; null: there are none.
  SchemeTangent(const World& world, const Instant& now, const Input& input, StepTangent& out,
                const Projection* paper = nullptr)
      : world_(world), now_(now), out_(out), paper_(paper), dynamics_(world, input, out), to_(dynamics_.to()) {}

  /// Whether joints and strands of a world are differentiated so.
  static bool supports(const World& world);
  /// Whether all that took part turned out to be.
  bool supported() const { return supported_; }
  /// Of a contact or limit.
  bool supports(const Law& law, const Motion& motion) const;

  PlaceTangent start() const { return dynamics_.start(); }
  DynamicsTangent& dynamics() { return dynamics_; }
  Tangent start_stretch(std::size_t contact) const;
  ContactAt contact(const Law& law, const Motion& motion, const ContactPointTangent& point,
                    const Tangent& material) const {
    return {law, motion, point, material, paper_ ? *paper_ : Projection::kHorizontal};
  }
  /// Of q ⊕ way.
  Tangent moved(const Eigen::VectorXd& q, const Eigen::VectorXd& way, const Tangent& dq, const Tangent& dway) {
    return dynamics_.moved(q, way, dq, dway);
  }
  /// Contacts of the start, before all else.
  void begin(RobotData& data);
  const ContactPointTangent& point_at_start(std::size_t contact) const { return starts_[contact]; }
  /// Of v̇ = a with the committed forces of the start.
  Tangent accelerate(RobotData& data, const Eigen::VectorXd& a);
  /// Of v̇ = a at an instant that the laws have come to from the memories of the start.
  Tangent accelerate(RobotData& data, const Instant& at, const PlaceTangent& place, const Eigen::VectorXd& a);
  /// The step is committed.
  void end(RobotData& data, const Step& step, const PlaceTangent& next);

 private:
  Tangent accelerate(RobotData& data, const Instant& at, const PlaceTangent& place, const Eigen::VectorXd& a,
                     bool at_start);
  /// Of the stretch of a contact before its law is applied at an instant. @return the memory.
  Memory carry_along(std::size_t contact, const Motion& to, const ContactPointTangent& point, Tangent& ds) const;
  /// Where modes are about to change: of a contact whose law is applied, and of all that hardly touch.
  void note(std::size_t contact, const ContactAt& at, const Memory& before, const Memory& committed);
  void note_touches(const Instant& at);
  /// By the last kinematics, whose movers are known.
  void update_point(const RobotData& data, const ContactPoint& shape, const Motion& motion, const PlaceTangent& at,
                    ContactPointTangent& out);

  const World& world_;
  const Instant& now_;
  StepTangent& out_;
  const Projection* paper_;
  DynamicsTangent dynamics_;
  const Directions& to_;
  bool supported_ = true;
  std::vector<ContactPointTangent> starts_;  // of contacts that touch
  std::vector<DynamicsTangent::Push> pushes_;
  Movers movers_;
  PointTangent of_point_;
  ContactPointTangent point_;
};

}  // namespace exposim
