#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/contact/strands.hpp"
#include "exposim/expo/sprung_blocks.hpp"

namespace exposim {

/// How a step of dt goes on average, roughly: by implicit stages in contact space, which what is stiff does not blow
/// up.
///
///   a = p̈̄ + Υλ,      λ = f − Q a,      δ = dt/2
///
///   holds    −K (Δp + δΔṗ + δ²a) − B (Δṗ + δa)
///   slides   the same along n; across it −η (ṗ + δa), η = μλ_n/‖ṗ_t‖: friction as a damper
///   drags    the same along n; across it the most that friction holds
///   closes   with r of the step left, ρ = r/2: −(r/dt)² (B + ρK) (φ̇ + ρ n·p̈̄) − ρ (B + ρK) n·Υλ along n;
///            across it like one that slides
///
/// A first stage has λ_n of the start in η; a second one is taken where that shows something to change: strands that
/// let go or do not hold, open ones that close, η.
class LookAhead {
 public:
  /// Mean acceleration of the robot.
  /// @return whether all strands keep their modes, by this estimate.
  bool look(const RobotData& data, const StiffSystem& system, const StrandList& strands, double dt, Eigen::VectorXd& a);

  enum class Does : unsigned char { kNothing, kHold, kSlide, kDrag, kClose };
  struct Glance {
    Does does;
    double left;           ///< of the step when it closes [s]
    double eta;            ///< of friction as a damper [N·s/m]
    Eigen::Vector3d drag;  ///< friction that is known [N]
    Eigen::Vector3d f;     ///< force without acceleration
    Eigen::Matrix3d Q;
    Eigen::Vector3d lam;
    bool keeps_mode;
  };
  /// Lets the first stage be remembered, for one who differentiates.
  void remember(bool on) { remembers_ = on; }
  /// What strands were taken to do in the first stage, and in the last one; the same if there was one only.
  const std::vector<Glance>& first() const { return first_; }
  const std::vector<Glance>& last() const { return glances_; }
  bool took_two() const { return took_two_; }

  /// By how much the average forces of strands that all hold change if p̈̄ does, since what is given.
  void respond(const StiffSystem& system, const std::vector<Eigen::Vector3d>& ddp_bar);
  const Eigen::Vector3d& response(std::size_t k) const { return glances_[k].lam; }

 private:
  static void begin(const Strand& strand, double dt, Glance& glance);
  static void linearise(const StiffSystem& system, const StiffSystem::Row& row, const Strand& strand, double dt,
                        Glance& glance);
  /// Looks at what a stage led to. @return whether the strand does something else in the next one.
  static bool reconsider(const StiffSystem::Row& row, const Strand& strand, const Eigen::Vector3d& pushed, double dt,
                         Glance& glance);
  void take_stage(const StiffSystem& system, const StrandList& strands, double dt);

  std::vector<Glance> glances_, first_;
  bool remembers_ = false, took_two_ = false;
  SprungBlocks blocks_;
  Eigen::VectorXd wrench_;
};

}  // namespace exposim
