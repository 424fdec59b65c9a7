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
#include "exposim/expo/sprung_strands.hpp"
#include "exposim/expo/system_tangent.hpp"
#include "exposim/expo/uneven_averages_tangent.hpp"
#include "exposim/integrators/asked_strands.hpp"
#include "exposim/integrators/mean_of_ends.hpp"
#include "exposim/robot/compliance_derivatives.hpp"
#include "exposim/robot/dynamics_derivatives.hpp"
#include "exposim/robot/inertia_changes.hpp"
#include "exposim/robot/kinematics.hpp"
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
  /// @param all_strands takes along what seems to do nothing in the step, too.
  void start(const World& world, StepTangent& out, bool all_strands = false);

  /// Whether strands and joints of a world are differentiated so.
  static bool supports(const World& world);
  /// What turned out not to be.
  void give_up() { supported_ = false; }
  bool supported() const { return supported_; }
  /// Whether one of those had to be corrected where the step ends: it has to be differentiated with all of them.
  bool missed_strand() const { return missed_strand_; }

  // The stages of a step, in their order; data, q and v are always where the terms were taken last.
  /// The start of a step of dt, before terms are taken.
  void begin(RobotData& data, const Instant& now, const Input& input, const StrandList& strands, double dt);
  /// Terms were taken at q = start ⊕ dq: dq is nothing, half of dt v, or half of the way foreseen; or where they were
  /// before, with other drives in the inertia.
  enum class At : unsigned char { kStart, kHalfOfVelocity, kHalfOfWay, kAsBefore };
  void take_terms(const RobotData& data, const StrandList& strands, const JointTerms& joints, At at,
                  const Eigen::VectorXd& dq);
  /// @param changing contacts change; else it may be left to averages to find out where the step leads.
  void look_ahead(RobotData& data, const StiffSystem& system, const StrandList& strands, const LookAhead& ahead,
                  bool changing);
  bool foreseen() const { return foreseen_; }
  /// What depends on velocity is now taken at the mean velocity of the way foreseen; or of start and end.
  void take_velocity_of_way();
  void take_mean_velocity();
  /// What moved the robot by averages, with terms at v.
  struct Averaged {
    const StiffSystem& system;
    const ForceAverages& averages;
    const LookAhead* response;  ///< that they were changed by, to another p̈̄; else null
    const Eigen::VectorXd& v;
    const State& next;
    const Eigen::VectorXd& way;
  };
  void average(RobotData& data, const StrandList& strands, const Averaged& averaged);
  /// That is where contact space is to be.
  void aim_at_averages(RobotData& data, const StrandList& strands, const Averaged& last);
  /// Contacts are to be followed; and the robot was moved by what came of it.
  void begin_following(RobotData& data, const StrandList& strands, const FollowedDrives& drives, Resolver& resolver);
  struct Followed {
    const Resolver& resolver;
    const FollowedDrives& drives;
  };
  void follow(RobotData& data, const StiffSystem& system, const StrandList& strands, const Followed& followed,
              const Eigen::VectorXd& v, const State& next, const Eigen::VectorXd& way);
  /// It led somewhere else, and is done once more with terms taken on the way there.
  void follow_way(RobotData& data, const StiffSystem& system, const StrandList& strands, const Followed& followed);
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
  /// Where terms are taken.
  void place_terms(At at, const Vector& dq);
  /// Υ and M⁻¹Jᵀ of so many leading strands, and of drives that are followed.
  void add_rows(const RobotData& data, const StrandList& strands, std::size_t count);
  /// The same, if they are not yet known.
  void know(const RobotData& data, const StrandList& strands, std::size_t count);
  /// Leading strands beyond which none does anything: by the look ahead; where so many are active.
  std::size_t acting(const StrandList& strands, const LookAhead& ahead) const;
  std::size_t counted(const StrandList& strands, std::size_t active) const {
    return all_strands_ || !turning_.empty() ? strands.all().size() : active;
  }
  /// Derivatives of the constant force of a drive.
  void add_constant(const JointTerms::Fitted& fitted, Eigen::Ref<Eigen::RowVectorXd> force) const;
  /// Whether masses change how dry friction that sticks is damped, of which this is not known.
  bool friction_follows_masses() const;
  /// What drives and dampers, as fitted where terms were taken, do to inertia and forces.
  void take_fits(const RobotData& data, const JointTerms& joints);
  /// Of the stretches of dry friction.
  void grip(const State& next);
  /// Where joints that move nothing that touches are led by a mean acceleration, instead.
  void displace(const Vector& a, const Tangent& da, Tangent& way) const;
  /// @param dv null: its velocity is not asked for.
  void update_point(const RobotData& data, std::size_t joint, const Eigen::Vector3d& position,
                    const Eigen::Vector3d& arm, const Tangent& dq, const Tangent* dv, PointAt& out);
  /// Of U = travel(from, to, arm).
  static void add_travelled(const Eigen::Matrix3d& factor, const Motion& from, const Motion& to,
                            const Eigen::Vector3d& arm, const PointAt& start, const PointAt& end, Rows3Sum& sum);
  /// dΥ/dq of strands, where it was not yet asked for since terms were taken.
  void update_compliance_derivatives(const RobotData& data);
  void differentiate(const RobotData& data, TurningCompliance& compliance);
  /// Coordinates in which what was followed is asked for forces, unless normals turn: of points that have acted, or of
  /// bodies with several of these.
  void share_coordinates(const RobotData& data, const StiffSystem& system, const StrandList& strands);
  void differentiate_shared(const RobotData& data);
  const TurningCompliance& shared() const { return turning_.empty() ? of_blocks_ : compliance_; }
  /// da += M⁻¹Jᵀ dλ, of these coordinates.
  void add_response(ResolverTangent::View dlam, Tangent& da) const;
  /// Subtracts dΥ f; nothing where Υ is taken to change against mean forces alone.
  void subtract_change_of_Upsilon(const Vector& f, Tangent& from) const;
  /// dQ x of a strand with Q = h (B + h K), where its material changes.
  void add_change_of_Q(const StrandList& strands, std::size_t k, double h, const Eigen::Vector3d& x, Tangent& to) const;
  // Of averages (expo_tangent_averages.cpp):
  void differentiate_averages(RobotData& data, const StrandList& strands, const Averaged& averaged);
  void restart_velocity();
  /// Where the look ahead was not differentiated: what depends on velocity is taken where half of the step leads to.
  void foresee(const StiffSystem& system, const StrandList& strands);
  /// Or, where averages were repeated, at the mean of start and end.
  bool at_mean_of_ends() const { return !foreseen_ && repeats_; }
  /// Of λ̄ and λ̄̄, from dp̈ with λ̄ held. @return false where that is not known.
  bool average_forces(RobotData& data, const StiffSystem& system, const StrandList& strands, const Vector& lam);
  /// See AveragesTangent::ChangeOfUpsilon.
  void differentiate_products(const RobotData& data, const RowMatrixXd& x, const RowMatrixXd& weights,
                              RowMatrixXd& by_q);
  void respond(const StiffSystem& system, const StrandList& strands, const LookAhead& response, const Vector& ddp_bar);
  /// What double averages have beside averages, with forces held.
  void spread(RobotData& data, const StrandList& strands, const Vector& lam, const Vector& lam2);
  /// Where strands are to be, if averages say so: only once that is asked for.
  void find_targets();
  Vector free_acceleration(const RobotData& data, const StiffSystem& system) const;
  /// Derivatives of v̇ = a and of the accelerations of strands, with forces held.
  void hold_forces(RobotData& data, const StrandList& strands, const Vector& a, const Vector& lam, Tangent& da,
                   Tangent& ddp);
  /// The same of what was followed, with drives along degrees of freedom behind the strands.
  /// @param held these forces.
  void hold_followed(RobotData& data, const StrandList& strands, const Vector& a, const Vector& lam,
                     const Vector& along, Tangent& da, Tangent& ddp, Vector& held);
  /// By what double averages of forces have beside averages, which are held already.
  void hold_double_averages(RobotData& data, const StrandList& strands);
  /// Forces over the step, of strands and along degrees of freedom, and the accelerations that they lead to.
  void take_followed(RobotData& data, const StiffSystem& system, const StrandList& strands, const Followed& followed);
  void add_averages_of_drives(const FollowedDrives& drives);
  void add_double_averages_of_drives(const FollowedDrives& drives);
  /// Adds those of a = M⁻¹Jᵀf, with f held; and times a factor those of Υf, if asked for.
  void add_change_of_response(const StrandList& strands, const Vector& a, const Vector& f, Tangent& da, double factor,
                              Tangent* ddp);
  /// Subtracts the derivatives of Υf, with f held, from those of accelerations.
  void subtract_response(const RobotData& data, const StrandList& strands, const Vector& f, Tangent& ddp);
  void add_forces(const StrandList& strands, const Vector& lam);
  /// Puts what accelerations of leading strands change by, with those of the robot, q and v, into matrices.
  void put_accelerations(const StrandList& strands, Eigen::Index rows, RowMatrixXd* by_v);
  /// y += A dq, y += A dv for what depends on where, and how fast the robot is as terms are taken. A has three rows to
  /// each strand, zero where its Jacobian is, or (null) a row to each degree of freedom.
  void add_by_q(const RowMatrixXd& A, const StrandList* strands, Tangent& y) const;
  void add_by_v(const RowMatrixXd& A, const StrandList* strands, Tangent& y) const;
  /// Both, which meet in one product where both are those of the way foreseen.
  void add_by_q_and_v(const RowMatrixXd& by_q, const RowMatrixXd& by_v, const StrandList* strands, Tangent& y);
  /// The same for any A by all that Υ depends on.
  void add_by_moves(const RowMatrixXd& A, Tangent& y) const;
  void add_by_local_q(const RowMatrixXd& A, Tangent& y) const { add_by_local_q(A, 0, A.rows(), y); }
  void add_by_local_q(const RowMatrixXd& A, Eigen::Index first, Eigen::Index rows, Tangent& y) const;
  /// The same for any A by q, whose rows may be filled up.
  void add_by_any_q(const RowMatrixXd& A, Eigen::Index first, Eigen::Index rows, Tangent& y) const;
  /// The same for any x with a row to each degree of freedom.
  void add_sparse(const RowMatrixXd& A, const StrandList* strands, const Tangent& x, Tangent& y) const;
  /// So many leading strands, in both stages of the look ahead: what the robot's acceleration changes by.
  void look_at_strands(RobotData& data, const StiffSystem& system, const StrandList& strands, std::size_t count,
                       const LookAhead& ahead);
  /// A stage of it: derivatives of its forces and of the accelerations of strands.
  void look_stage(const StiffSystem& system, const StrandList& strands, std::size_t count,
                  const std::vector<LookAhead::Glance>& glances);
  void begin_looking(const StrandList& strands, const std::vector<LookAhead::Glance>& glances);
  void reconsider(const StrandList& strands, const std::vector<LookAhead::Glance>& first,
                  const std::vector<LookAhead::Glance>& last);
  /// Of left_when_closed().
  void close(const Strand& strand, std::size_t k, double left, const Tangent& da);
  void slide(const Strand& strand, std::size_t k, double eta, double lam_n, const Tangent& dlam_n);
  /// Where contacts and the robot part, that are to agree.
  void compare(const RobotData& data, const StrandList& strands, std::size_t k);
  /// Of a correction M⁻¹Jᵀw with w = Q x, x = (1 + ΥQ)⁻¹ values, by what these change by.
  void push(const StrandList& strands, const std::vector<AgreementDifference>& differences, const Vector& a,
            const Vector& x, const Vector& w, const RowMatrixXd& by_change, Tangent& change, Tangent& da);
  /// Free bodies are pushed where terms were taken, and moved where they are.
  void turn_pushed(const RobotData& data, std::size_t body, const Eigen::MatrixX2d& pushed);
  void add_pushed(std::size_t body, const Vector& turned, const Vector& q, const State& next);
  void move_free_body(const RobotData& data, std::size_t body, const Vector& v, const State& next, const Vector& way);
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
  Directions all_;
  CountingDirections to_;
  bool supported_ = true, all_strands_ = false, missed_strand_ = false;
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
  bool q_of_way_ = false, v_of_way_ = false;              // or dway_ alone and q at the start, and dway_
  std::vector<MoveDerivatives> half_ways_;                // of free bodies, as q is taken
  Tangent dway_;
  Tangent dlam_, ddp_, da_, dlam2_, da2_;  // of forces, accelerations of strands and of the robot; double averages
  Tangent da_apart_, ddp_apart_;           // what those have beside averages; forces held in ddp_*
  Tangent before_;
  bool aims_at_averages_ = false;
  bool foreseen_ = false;                 // dway_ is known
  bool waits_ = false, repeats_ = false;  // until averages are what they stay; these, at the mean velocity
  Eigen::MatrixX2d a_;
  // Forces of what was followed, averages and double averages; of strands, in the coordinates it is asked for them.
  Eigen::MatrixX2d followed_, along_, shared_;
  Vector ddp_bar_;
  Tangent deta_, dleft_, ddrag_;    // of glances
  Tangent ddp_held_, ddp_free_;     // of strands there, with forces held, and without them
  std::vector<Mode> modes_;         // that strands end in ...
  Tangent way_target_, dp_target_;  // ... where they are to be
  Tangent dq_next_, dv_next_;
  bool parted_ = false;
  Tangent parts_;  // from the start of the step to the end of its last part
  std::vector<Grazing> grazing_of_parts_;

  std::vector<Turning> turning_;
  Movers movers_mid_, movers_;
  std::vector<Eigen::Vector3d> c_mid_;
  std::size_t known_ = 0;  // leading strands of which it knows
  AskedStrands asked_;
  TurningCompliance compliance_, of_blocks_;
  bool has_compliance_derivatives_ = false;
  AveragesTangent averages_;
  UnevenAveragesTangent uneven_averages_;
  ResolverTangent resolver_;
  SprungStrands springs_;
  DynamicsDerivatives dynamics_;
  PointTangent point_;
  std::vector<const double*> rows_of_point_;
  Eigen::Matrix<double, 3, Eigen::Dynamic, Eigen::RowMajor> factors_of_point_;
  PointAt at_end_;
  TreeFactor factor_;  // where terms are taken
  MeanOfEnds mean_of_ends_;
  RowMatrixXd by_q_, by_v_, by_way_, response_by_q_, accelerations_by_q_;
  Tangent moved_, off_, doff_, dv_, dq_, dw_, dQ_, six_;  // scratch
  mutable LongRowSum sum_;
  RowMatrixXd by_acceleration_, by_position_, by_velocity_;  // of the accelerations of strands
};

}  // namespace exposim
