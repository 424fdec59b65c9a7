#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/contact/evaluation.hpp"
#include "exposim/contact/motion_tangent.hpp"
#include "exposim/expo/agreement.hpp"
#include "exposim/expo/averages.hpp"
#include "exposim/expo/averages_tangent.hpp"
#include "exposim/expo/joint_terms.hpp"
#include "exposim/expo/look_ahead.hpp"
#include "exposim/expo/resolver.hpp"
#include "exposim/expo/resolver_tangent.hpp"
#include "exposim/expo/system_tangent.hpp"
#include "exposim/expo/uneven_averages_tangent.hpp"
#include "exposim/robot/compliance_derivatives.hpp"
#include "exposim/robot/dynamics_derivatives.hpp"
#include "exposim/robot/inertia_changes.hpp"
#include "exposim/robot/motion_derivatives.hpp"
#include "exposim/robot/turning_compliance.hpp"
#include "exposim/step.hpp"

namespace exposim {

/// Derivatives of a step of Expo, taken along with it: it is told of every stage as the step comes to it, with what the
/// stage has computed, so that the choices of the step are held.
///
/// Where M, J and h enter, forces λ are held first,
///
///   da = −M⁻¹(∂(M a + h − Jᵀλ) − df),      dp̈ = J da + ∂(J a + J̇v),
///
/// and then come along: da += M⁻¹Jᵀ dλ, dp̈ += Υ dλ. So what Υ changes by is asked for only where λ(t) is not one force.
class ExpoTangent final : public AgreementWatcher {
 public:
  /// Before a step.
  void start(const World& world, StepTangent& out);

  /// Whether strands and joints of a world are differentiated so.
  static bool supports(const World& world);
  /// What turned out not to be.
  void give_up() { supported_ = false; }
  bool supported() const { return supported_; }

  // The stages of a step, in their order; data, q and v are always where the terms were taken last.
  /// The start of a step of dt, before terms are taken.
  void begin(RobotData& data, const Instant& now, const Input& input, const StrandList& strands, double dt);
  /// Terms were taken at q = start ⊕ dq: dq is nothing, half of dt v, or half of the way foreseen; or where they were
  /// before, with other drives in the inertia.
  enum class At : unsigned char { kStart, kHalfOfVelocity, kHalfOfWay, kAsBefore };
  void take_terms(const RobotData& data, const StrandList& strands, const JointTerms& joints, At at,
                  const Eigen::VectorXd& dq);
  void look_ahead(RobotData& data, const StiffSystem& system, const StrandList& strands, const LookAhead& ahead);
  /// What depends on velocity is now taken at the mean velocity of the way foreseen; or of start and end.
  void take_velocity_of_way() {
    dv_mid_ = dway_ / dt_;
    local_v_ = false;
  }
  void take_mean_velocity() {
    dv_mid_ = 0.5 * (start_velocity() + dv_next_);
    local_v_ = false;
  }
  /// The robot was moved by averages.
  /// @param response the averages are those before, changed as a look ahead responded to another p̈̄; else null.
  void average(RobotData& data, const StiffSystem& system, const StrandList& strands, const ForceAverages& averages,
               const LookAhead* response, const Eigen::VectorXd& v, const State& next, const Eigen::VectorXd& way);
  void aim_at_averages(const StrandList& strands);
  /// Contacts are to be followed; and the robot was moved by what came of it.
  void begin_following(RobotData& data, const StiffSystem& system, const StrandList& strands,
                       const FollowedDrives& drives, Resolver& resolver);
  void follow(RobotData& data, const StiffSystem& system, const StrandList& strands, const Resolver& resolver,
              const FollowedDrives& drives, const Eigen::VectorXd& v, const State& next, const Eigen::VectorXd& way);
  /// The part of a step that was committed last is kept, and another one follows.
  void keep_part();
  /// All parts are taken.
  void join_parts();
  void correct(RobotData& data, const StrandList& strands, const std::vector<AgreementDifference>& differences,
               const Eigen::MatrixX2d& pushed, const Eigen::MatrixX2d& turned, const Eigen::VectorXd& q,
               const State& next) override;
  /// All is committed. @param resolver null: nothing was followed.
  void end(const RobotData& data, const StrandList& strands, const Resolver* resolver, const Step& step);

 private:
  using Vector = Eigen::VectorXd;
  /// Derivatives of a point of a strand at an end of the step: of its centre, of its body's rotation, of its velocity.
  struct PointAt {
    Tangent c, turn, dp;
  };
  /// A contact whose normal may turn.
  struct Turning {
    std::size_t strand;
    bool turns;    // else the surface is flat where it is
    bool unknown;  // how it moves has no derivatives: it is open, and has to stay so
    Motion start;
    MotionTangent of_start, ahead;  // at first, and as the strand has it
    Tangent theta;                  // of axes that keep to its normal
    // Where terms are taken, (3, nv): of the point past what carries the surface, and of what moves the two apart.
    Eigen::Matrix3Xd J, J_omega, J_omega_b, slides;
  };
  static bool is_limit(const Strand& strand) { return strand.rows == Rows::kCoordinate; }
  static Eigen::Index row(std::size_t strand) { return 3 * static_cast<Eigen::Index>(strand); }

  Tangent start_velocity() const;
  void add_start_velocity(double factor, Tangent& to) const;
  void begin_materials(const StrandList& strands);
  /// Masses that are differentiated by stand behind the degrees of freedom in system_.dq, and wherever matrices have a
  /// column to each row of it.
  void begin_masses();
  Eigen::Index coordinates() const { return to_.nv + static_cast<Eigen::Index>(masses_.size()); }
  /// Adds what M v̇ + h changes by with masses at v̇ = a, with what drives add to M; or M v̇ alone.
  void add_by_masses(const RobotData& data, const Vector& a, Tangent& to) const;
  void add_by_masses(const Vector& a, Tangent& to) const;
  void add_by_drives(const Vector& a, Tangent& to) const;
  /// Drives that are followed as strands, behind those that it began with.
  void add_strands(const StrandList& strands);
  void add_rows(const RobotData& data, const StrandList& strands);
  /// Derivatives of the constant force of a drive.
  void add_constant(const JointTerms::Fitted& fitted, Eigen::Ref<Eigen::RowVectorXd> force) const;
  /// What drives and dampers, as fitted where terms were taken, do to inertia and forces.
  void take_fits(const RobotData& data, const JointTerms& joints);
  /// Of the stretches of dry friction.
  void grip(const State& next);
  /// Where joints that move nothing that touches are led by a mean acceleration, instead.
  void displace(const Vector& a, const Tangent& da, Tangent& way) const;
  void update_point(const RobotData& data, std::size_t joint, const Eigen::Vector3d& position,
                    const Eigen::Vector3d& arm, const Tangent& dq, const Tangent& dv, PointAt& out);
  /// Of U = travel(from, to, arm).
  static void add_travelled(const Eigen::Matrix3d& factor, const Motion& from, const Motion& to,
                            const Eigen::Vector3d& arm, const PointAt& start, const PointAt& end, Rows3Sum& sum);
  /// dΥ/dq, where it was not yet asked for since terms were taken.
  void update_compliance_derivatives(const RobotData& data);
  /// Subtracts dΥ f; nothing where Υ is taken to change against mean forces alone.
  void subtract_change_of_Upsilon(const Vector& f, Tangent& from) const;
  /// dQ x of a strand with Q = h (B + h K), where its material changes.
  void add_change_of_Q(const StrandList& strands, std::size_t k, double h, const Eigen::Vector3d& x, Tangent& to) const;
  Vector free_acceleration(const RobotData& data, const StiffSystem& system) const;
  /// Derivatives of v̇ = a and of the accelerations of strands, with forces held.
  void hold_forces(RobotData& data, const StrandList& strands, const Vector& a, const Vector& lam, Tangent& da,
                   Tangent& ddp);
  /// Those of a = M⁻¹Jᵀf.
  void hold_response(const StrandList& strands, const Vector& a, const Vector& f, Tangent& da);
  /// y += A dq, y += A dv for what depends on where, and how fast the robot is as terms are taken.
  /// A has three rows to each strand, zero where its Jacobian is, or (null) a row to each degree of freedom.
  void add_by_q(const RowMatrixXd& A, const StrandList* strands, Tangent& y) const;
  void add_by_v(const RowMatrixXd& A, const StrandList* strands, Tangent& y) const;
  /// The same for any A by all that Υ depends on.
  void add_by_moves(const RowMatrixXd& A, Tangent& y) const;
  void add_by_local_q(const RowMatrixXd& A, Tangent& y) const;
  /// The same for any x with a row to each degree of freedom.
  void add_sparse(const RowMatrixXd& A, const StrandList* strands, const Tangent& x, Tangent& y) const;
  /// A stage of the look ahead: derivatives of its forces, of the accelerations of strands and of the robot.
  void look_stage(RobotData& data, const StiffSystem& system, const StrandList& strands,
                  const std::vector<LookAhead::Glance>& glances);
  void begin_looking(const StrandList& strands, const std::vector<LookAhead::Glance>& glances);
  void reconsider(const StrandList& strands, const std::vector<LookAhead::Glance>& first,
                  const std::vector<LookAhead::Glance>& last);
  /// Of left_when_closed().
  void close(const Strand& strand, std::size_t k, double left, const Tangent& da);
  void slide(const Strand& strand, std::size_t k, double eta, double lam_n, const Tangent& dlam_n);
  /// Where contacts and the robot part, that are to agree.
  void compare(const RobotData& data, const StrandList& strands, std::size_t k);
  /// Of a correction M⁻¹Jᵀw with w = Q x, x = (1 + ΥQ)⁻¹ values, by what the values change by.
  void push(const StrandList& strands, const std::vector<AgreementDifference>& differences, const Vector& a,
            const Vector& x, const Vector& w, const RowMatrixXd& by_change, Tangent& change, Tangent& da);
  /// Free bodies are pushed where terms were taken, and moved where they are.
  void turn_pushed(const RobotData& data, std::size_t body, const Eigen::MatrixX2d& pushed);
  void add_pushed(std::size_t body, const Vector& q, const State& next);
  void move_free_body(const RobotData& data, std::size_t body, const Vector& v, const State& next);
  void move(const RobotData& data, const Vector& v, const State& next, const Vector& way);
  void stretch(const RobotData& data, const StrandList& strands, const Resolver* resolver, const Step& step);
  /// Of the stretch of a contact before its law is applied. @return that stretch.
  Memory carried(const StrandList& strands, std::size_t k, const Resolver* resolver, const Motion& to,
                 Tangent& ds) const;
  void commit(const Motion& motion, const Memory& carried, const Memory& committed, const Law& law, const PointAt& at,
              const Tangent* material, Tangent& ds) const;

  // Of contacts whose normals turn (expo_tangent_turning.cpp):
  bool may_turn(int surface) const;
  const Turning* turning(std::size_t strand) const;
  void begin_turning(const RobotData& data, const StrandList& strands, std::size_t k);
  void add_turns(const Turning& turning);
  void update_turning(const RobotData& data, const StrandList& strands);
  bool has_pairs() const;
  /// Gives up if a contact of which too little is known has come to act: as it was foreseen, or as it was followed.
  void watch_unknown(const std::vector<LookAhead::Glance>& glances);
  void watch_unknown(const Resolver& resolver);
  /// What acts on the carriers of surfaces; that it acts somewhere else on them; and what turning axes do to Jᵀλ.
  void add_reactions(const StrandList& strands, const Vector& lam);
  void slide_reactions(const StrandList& strands, const Vector& lam);
  void turn_forces(const StrandList& strands, const Vector& lam, Tangent& residual) const;
  /// What is left to the accelerations of those strands, in axes that turn.
  void turn_accelerations(const RobotData& data, const StrandList& strands, const Tangent& da, Tangent& ddp) const;
  void compare_turning(const RobotData& data, const Strand& strand, const Turning& turning, Eigen::Ref<Tangent> off,
                       Eigen::Ref<Tangent> doff);
  Memory carried_turning(const Strand& strand, const Turning& turning, const Resolver* resolver, const Motion& to,
                         const MotionTangent& at, Tangent& ds) const;
  void stretch_turning(const RobotData& data, const StrandList& strands, const Resolver* resolver, std::size_t contact,
                       const Instant& next);

  const World* world_ = nullptr;
  StepTangent* out_ = nullptr;
  Directions to_;
  bool supported_ = true;
  const Instant* now_ = nullptr;
  const Input* input_ = nullptr;
  double dt_ = 0.0;

  SystemTangent system_;
  std::vector<PointAt> starts_;  // of strands
  Tangent dphi_;                 // a row to a strand
  Tangent delta_dp_;             // of the rates of displacement that the closed form starts with
  Tangent dforce_;               // along degrees of freedom
  RowMatrixXd by_wrenches_;      // of all that acts along these, where terms are taken
  struct Mass {
    Eigen::Index direction;
    InertiaChanges of_bodies;
    InertiaChanges changes;  // where terms are taken, in world axes
  };
  std::vector<Mass> masses_;
  JointTerms::Fits fits_;
  Eigen::MatrixXd X_by_q_, at_start_by_q_, at_end_by_q_;  // of all degrees of freedom, where terms are taken
  Tangent dv_mid_;                                        // where terms are taken; of q, system_.dq
  bool local_q_ = false, local_v_ = false;                // whether these are by every joint's own q and v alone
  Tangent dway_;
  Tangent dlam_, ddp_, da_;     // of forces, accelerations of strands and of the robot: averages, ...
  Tangent dlam2_, ddp2_, da2_;  // ... double averages
  Eigen::MatrixX2d a_;
  Vector ddp_bar_;
  Tangent deta_, dleft_, ddrag_;    // of glances
  std::vector<Mode> modes_;         // that strands end in ...
  Tangent way_target_, dp_target_;  // ... where they are to be
  Tangent dq_next_, dv_next_;
  bool parted_ = false;
  Tangent parts_;  // from the start of the step to the end of its last part
  std::vector<Grazing> grazing_of_parts_;

  std::vector<Turning> turning_;
  Movers movers_mid_, movers_;
  std::vector<Eigen::Vector3d> c_mid_;
  TurningCompliance compliance_;
  bool has_compliance_derivatives_ = false;
  AveragesTangent averages_;
  UnevenAveragesTangent uneven_averages_;
  ResolverTangent resolver_;
  DynamicsDerivatives dynamics_;
  PointTangent point_;
  PointAt at_end_;
  TreeFactor factor_;  // where terms are taken
  Eigen::MatrixXd A0_, A1_;
  RowMatrixXd by_q_, by_v_;
  Tangent moved_, off_, doff_, dv_, dq_, dw_, dQ_, six_;  // scratch
  mutable LongRowSum sum_;
  RowMatrixXd by_acceleration_, by_position_, by_velocity_;  // of the accelerations of strands
};

}  // namespace exposim
