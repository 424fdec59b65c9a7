#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/contact/contact_dynamics.hpp"
#include "exposim/contact/contact_integrals.hpp"
#include "exposim/contact/contact_set.hpp"
#include "exposim/kernels/small_lu.hpp"

namespace exposim {

/// What happened to the contacts within a step.
struct TransitionInfo {
  bool resolved = false;  ///< contacts changed or slipped: the step was followed in contact space
  int micro_steps = 0;    ///< more than none if a change could not be ruled out beforehand
  int events = 0;         ///< landings, lift-offs, slips and sticks that were located
  bool limited = false;   ///< more events than are located in one step: the rest took effect at the next micro-step
};

/// Open contacts that may close within dt: none travels further than its speed and kMaxAcceleration let it.
void find_near_contacts(const ContactSet& contacts, const State& state, double dt, std::vector<std::size_t>& near);

/// Whether any contact may land, lift, slip or stick within the step, by bounds on λ(t) and φ(t) that hold throughout.
bool may_change(const ContactDynamics& system, const ContactSet& contacts, const State& state,
                const ContactIntegrals& integrals, double dt);

/// Follows the contacts through a step with the continuous contact law, in contact space.
///
///   p̈ = Υ λ(p, ṗ) + p̈̄,   Υ and p̈̄ frozen;   λ: zero, spring-damper to an anchor, or Coulomb friction
///
/// Micro-steps by the L-stable SDIRK method of second order (Alexander 1977), in which each contact is linear: it stays
/// what it is, and a slipping one keeps its direction up to first order. A micro-step in which a contact changes is
/// shortened to end there. Stable however stiff the contacts are, and of bounded work.
class TransitionResolver {
 public:
  /// @param micro_steps of a step in which nothing is located.
  void resolve(const ContactDynamics& system, const ContactSet& contacts, const State& state, double dt,
               int micro_steps);

  // Of the points of the system, then of those near:
  const Eigen::Vector3d& lam_bar(std::size_t k) const { return tracks_[k].lam_bar; }
  const Eigen::Vector3d& lam_bar2(std::size_t k) const { return tracks_[k].lam_bar2; }
  /// Contact state at the end, and the position in contact space to which its anchor belongs.
  ContactState end(std::size_t k) const;
  const Eigen::Vector3d& position(std::size_t k) const { return tracks_[k].p; }
  const TransitionInfo& info() const { return info_; }
  /// Whether all contacts stayed what they were, open or sticking: then the closed form is exact.
  bool unchanged() const { return unchanged_; }

 private:
  enum class Mode {
    kOpen,      ///< above the surface
    kIdle,      ///< below it, but moving away too fast for a pushing force
    kSticking,  ///< spring-damper to the anchor
    kSlipping,  ///< Coulomb friction against the sliding velocity
    kBound,     ///< bilateral
  };
  /// A contact on its way through the step.
  struct Track {
    const ContactDynamics::Point* point;
    Material material;
    Mode mode;
    bool due;                           ///< the event that ends this micro-step is its own
    double event;                       ///< when it changes within the micro-step [s]
    double offset;                      ///< φ = offset + n·p
    Eigen::Vector3d n;                  ///< normal
    Eigen::Vector3d p, v, p0;           ///< now [m, m/s], and the anchor
    Eigen::Vector3d compliance;         ///< Υn: acceleration of the point by a unit normal force
    Eigen::Vector3d slide;              ///< unit vector of the sliding velocity
    double speed;                       ///< along it, where the mode was last linearised [m/s]
    Eigen::Vector3d lam;                ///< now [N]
    Eigen::Matrix3d K, B;               ///< −∂λ/∂p and −∂λ/∂ṗ in the present mode
    Eigen::Matrix3d Q;                  ///< −∂λ/∂p̈ within a stage
    Eigen::Vector3d lam1, lam2;         ///< of the stages
    Eigen::Vector3d p_end, v_end;       ///< of the micro-step
    Eigen::Vector3d lam_bar, lam_bar2;  ///< single and double integral of λ; at the end the averages

    double phi(const Eigen::Vector3d& at) const { return offset + n.dot(at); }
  };

  void start(const ContactDynamics& system, const ContactSet& contacts, const State& state);
  /// Tries a micro-step of h from where all tracks are.
  void attempt(const ContactDynamics& system, double h);
  /// When the first contact changes within the micro-step of h just tried; h if none does.
  double next_event(double h);
  double time_of_event(const Track& track, double h) const;
  void accept(double h);
  /// Changes the mode where the present one has ended, or is due to. @return whether the linear terms changed.
  bool update_mode(Track& track, bool due) const;
  /// Sticking or slipping of a contact that begins to push, anchored at the point.
  /// @param pushes it is known to, whatever rounding says.
  void begin_contact(Track& track, bool pushes) const;
  /// Force and its derivatives in the present mode.
  void linearise(Track& track) const;

  /// Turns the sliding direction to the velocity, if there is one.
  static void aim(Track& track);
  static Eigen::Vector3d tangent(const Track& track, const Eigen::Vector3d& a) { return a - track.n.dot(a) * track.n; }
  static double normal_force(const Track& track, const Eigen::Vector3d& p, const Eigen::Vector3d& v);
  /// Friction of a sliding contact: the material's, unless that has no solution.
  static double mu_of_slip(const Track& track);
  /// As if sticking.
  static Eigen::Vector3d spring_damper(const Track& track);
  /// Where the spring alone holds the friction force.
  static Eigen::Vector3d anchor_of_slip(const Track& track, double lam_n);

  std::vector<Track> tracks_;
  TransitionInfo info_;
  bool unchanged_ = true;
  double factored_for_ = -1.0;  // h of the factors below; negative if a mode has changed since
  Eigen::MatrixXd stiffness_;
  IdentityPlus factors_;
  Eigen::VectorXd wrench_, alpha_;
};

}  // namespace exposim
