#pragma once

#include <Eigen/Core>
#include <array>
#include <limits>
#include <vector>

#include "exposim/contact/strands.hpp"
#include "exposim/expo/followed_drives.hpp"
#include "exposim/expo/resolver.hpp"
#include "exposim/expo/system.hpp"
#include "exposim/joints/dof_forces.hpp"
#include "exposim/kernels/oscillator.hpp"
#include "exposim/robot/input.hpp"
#include "exposim/robot/robot_data.hpp"
#include "exposim/stiff/laws/followed_servo.hpp"
#include "exposim/world.hpp"

namespace exposim {

/// Servos, dampers and dry friction along the degrees of freedom, as what they do to the inertia over a step.
///
/// Along one of inertia I with spring K and damper D, a constant force f gives the mean acceleration over h
///
///   ā = (f − K (x + Θ v) − D v) / (I + X),    X = I (h/G − 1),  Θ = G1/G              (exponentially fitted)
///
/// with the oscillator's G, G1 (kernels/oscillator.hpp): exact, however stiff. The robot gets M + diag(X) and those
/// forces; I is 1/(M⁻¹)ᵢᵢ. What carries nothing that touches moves by what follows for q: Δq = a v + b v⁺. Where
/// fitting would not be stable, it is mixed with rules that are (docs/theory.md).
///
/// Where contacts change within the step, a drive that reacts within it is better followed with them than by its mean
/// (FollowedDrives). One that reacts very fast becomes a strand along its coordinate, and adds nothing to the inertia.
///
/// Each is linear over a step: a motor within its bounds, or on one; friction that sticks, or slips one way. What a
/// step turns out to be is compared with what it was taken for (settle), and taken again where it was not.
class JointTerms {
 public:
  /// At the start of a step of h.
  /// @param strands that touch, or may: degrees of freedom that move them go with them.
  void begin(const World& world, const State& state, const Input& input, const StrandList& strands, double h);
  /// Nothing is followed.
  void start_over();
  /// Fits to the M of the last update_terms(), and factors M + diag(X).
  void fit(RobotData& data);
  /// Changes the displacement of a step, h v + h²/2 v̇, where it is another.
  void displace(const Eigen::Ref<const Eigen::VectorXd>& dv, Eigen::VectorXd& dq) const;
  /// Forces along all degrees of freedom that go with that.
  const Eigen::VectorXd& force() const { return force_; }

  enum class Which : unsigned char { kFast, kAll };
  /// Lets drives that react within the step, or only those that do so very fast, and that move what touches, be
  /// followed with it as strands from the next fit() on. @return whether there are any.
  bool follow_as_strands(const World& world, const StiffSystem& system, Which which, StrandList& strands);
  /// Lets all others that react be followed beside the strands. They stay in the inertia of the system.
  void follow(const StiffSystem& system, FollowedDrives& drives);
  /// What became of those that were followed: the averages of a step.
  void take_followed(const Resolver& resolver, const FollowedDrives& drives);

  /// Compares what a step is expected to lead to with what motors were taken for, before it is taken for the first
  /// time.
  /// @param look how often that was done.
  /// @return whether some are taken for something else now, to be fitted anew.
  bool settle_ahead(const Eigen::VectorXd& dv, int look);
  /// Compares what a step led to with what motors and friction were taken for.
  /// @return whether some are taken for something else now, so that the step is to be taken again.
  /// @param round how often that has happened in this step.
  bool settle(const Eigen::VectorXd& v_next, int round);
  /// Largest change of velocity that the inertia of servos, dampers and friction has a share in, times that share.
  double most_fitted(const Eigen::VectorXd& v_next) const;
  /// Of one who differentiates: a degree of freedom as it was fitted to the inertia.
  struct Fitted {
    Eigen::Index dof;
    bool loaded;        ///< it moves something that touches, or may
    bool serves;        ///< its motor is within its bounds
    bool as_strand;     ///< it is followed as one, and adds nothing to the inertia
    std::size_t drive;  ///< as which it is followed, or Strand::kNone
    double kp, kd;      ///< of its motor
    double K, D;        ///< of all together
    double v, X, Theta, at_start, at_end;
    double grip;  ///< stiffness of dry friction that sticks; else zero: it is none, or a constant
  };
  /// All of them, and by how much X, Θ and what q is moved by change with the inertias that they were fitted to (a row
  /// to each, a column to each inertia).
  struct Fits {
    std::vector<Fitted> all;
    Eigen::VectorXd I;
    bool own = false;  ///< these are the inertias by themselves, not those felt
    Eigen::MatrixXd X, Theta, at_start, at_end;
  };
  /// @return false if friction comes to rest or turns back in the step, of which this is not known.
  bool fits(Fits& out) const;

  /// What the step leaves behind, for the v_next given to settle().
  void end(Motors& motors, State& next) const;

 private:
  enum class Pull : unsigned char { kServo, kTop, kBottom };  ///< of a motor: within its bounds, or at one
  enum class Bound : unsigned char { kFlat, kLine, kNone };   ///< where it has its effort, less, nothing left
  /// Of dry friction: sticking, slipping, coming to rest within the step, or slipping back in it.
  enum class Hold : unsigned char { kNone, kSticking, kForwards, kBackwards, kStopping, kTurning };

  static constexpr double kUnknown = std::numeric_limits<double>::infinity();

  /// A linear law: τ = constant − K x − D v.
  struct Linear {
    double constant = 0.0, K = 0.0, D = 0.0;
  };
  struct Track {
    Eigen::Index dof;
    const DofLaw* law;
    Pull pull;
    Bound bound;
    Hold hold;
    int changes;             ///< of pull, since the start
    double beyond;           ///< its bound, as a servo, by this: if it is at one, and not since the start
    bool alone;              ///< nothing else changed when it did last, nor since
    bool final;              ///< friction is not to change any more
    double stops_after;      ///< where it comes to rest [s]
    bool turns_forwards;     ///< from there on
    double stretched;        ///< force of the stretch that friction has at the start
    Linear motor, friction;  ///< x counted from the start
    double K, D;             ///< of all together
    bool loaded;             ///< it moves something that touches, or may
    double I, X, Theta;
    double at_start, at_end;  ///< Δq = at_start v + at_end v⁺ [s]
    double v;                 ///< at the start
    double x_mean, v_mean;
    std::size_t strand;  ///< by which it is followed, or kNone
    std::size_t drive;   ///< likewise, of FollowedDrives

    double mean(const Linear& linear) const { return linear.constant - linear.K * x_mean - linear.D * v_mean; }
  };

  /// Whether it reacts within the step to what touches.
  static bool reacts(const Track& track, const StiffSystem& system);
  static Linear on_bound(const Track& track);
  /// How a motor at its bound is bounded at a velocity.
  static Bound bound_at(const Track& track, double v);
  Linear servo(const Track& track) const;
  void linearise(Track& track) const;
  /// X and Θ of up to four tracks with springs or dampers, whose inertia is known; notes shortfalls.
  void fit(const std::array<std::size_t, 4>& which, std::size_t count);
  /// The same for one that responds so. @return by how much the inertia falls short of what is certainly stable,
  /// relative to I.
  double fit(Track& track, const OscillatorResponse& y) const;
  /// Takes a motor to be at a bound that is asked for more at the start.
  void guess_pull(Track& track) const;
  /// Mean displacement and velocity of one that was not followed.
  void average(Track& track, double v_next) const;
  bool settle_motor(Track& track, double v_next, bool may_release) const;
  bool settle_friction(Track& track, double v_next) const;
  /// Torque that it takes to bring a joint to rest, beside what its motor and damper do.
  double stopping(const Track& track, double v_next) const;

  std::vector<Track> tracks_;
  std::vector<FollowedServo> followed_;
  std::vector<unsigned char> at_bound_;  // of motors that only pass on what they are told
  std::vector<double> shortfalls_;
  std::vector<unsigned char> loaded_;  // of all degrees of freedom
  Eigen::VectorXd error_, force_, added_, tau_;
  Eigen::VectorXd target_velocity_;
  double h_ = 0.0;
  bool may_settle_ahead_ = false;
  bool slow_ = false;  // fitted to the inertias by themselves
};

}  // namespace exposim
