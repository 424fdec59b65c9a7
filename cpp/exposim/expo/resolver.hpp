#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/contact/strands.hpp"
#include "exposim/event.hpp"
#include "exposim/expo/followed_drives.hpp"
#include "exposim/expo/sprung_blocks.hpp"
#include "exposim/expo/strand_track.hpp"
#include "exposim/expo/system.hpp"
#include "exposim/force_course.hpp"
#include "exposim/step.hpp"

namespace exposim {

class ResolverTangent;

/// Follows the strands through a step by their laws, in contact space.
///
///   p̈ = Υ λ(p, ṗ) + p̈̄,   Υ and p̈̄ frozen;   λ by the law of each strand
///
/// Micro-steps by the L-stable SDIRK method of second order (Alexander 1977), in which each strand is linear: it stays
/// what it is, and a slipping one keeps its direction up to first order. A micro-step in which a strand changes is
/// shortened to end there. Stable however stiff the strands are, and of bounded work.
///
/// Strands that feel nothing of each other are followed one group after the other, each in micro-steps of its own.
///
/// Micro-steps are as long as the error that they make lets them be: their lengths are those of a ladder, halved from
/// rung to rung.
class Resolver {
 public:
  struct MicroSteps {
    double least;      ///< how many at least
    double tolerance;  ///< error of a velocity in one of them [m/s]
    int cuts;          ///< of one that ends at an event, after the first
  };
  /// Lets the forces of all strands be noted on the way, one course to each; null: not any more.
  void watch(std::vector<ForceCourse>* courses) { courses_ = courses; }
  /// Lets what is resolved be differentiated along; null: not any more.
  void differentiate(ResolverTangent* tangent) { tangent_ = tangent; }
  /// @param drives that are followed with them.
  void resolve(const StiffSystem& system, const StrandList& strands, double dt, const MicroSteps& how,
               FollowedDrives* drives = nullptr);

  // Of the strands, in their order:
  const Eigen::Vector3d& lam_bar(std::size_t k) const { return tracks_[k].lam_bar; }
  const Eigen::Vector3d& lam_bar2(std::size_t k) const { return tracks_[k].lam_bar2; }
  /// Memory at the end, without the surface; how far the strand has come, and its velocity.
  Memory end(std::size_t k) const { return tracks_[k].law->end(tracks_[k].phase); }
  const Eigen::Vector3d& moved(std::size_t k) const { return tracks_[k].moved; }
  const Eigen::Vector3d& velocity(std::size_t k) const { return tracks_[k].phase.dp; }

  /// Of the velocities at the end, by what each micro-step adds to it [m/s].
  double error() const { return error_; }
  const TransitionInfo& info() const { return info_; }
  /// Changes of mode, in the order of time; `strand` counts the strands given.
  const std::vector<ModeChange>& changes() const { return changes_; }
  /// Whether all strands stayed what they were, open or holding: then the closed form is exact.
  bool unchanged() const { return unchanged_; }

 private:
  using Track = StrandTrack;

  void start(const StiffSystem& system, const StrandList& strands);
  /// Takes a group of strands, and the drives that move it.
  /// @param stage the longest implicit stage in which friction may grow of itself [s].
  void enter(const StiffSystem& system, std::size_t group, double stage);
  /// Follows the strands of the present group.
  void follow(double dt, const MicroSteps& how);
  /// What is left of the step in parts that are no longer than this.
  double micro_step(double left, double longest) const;
  /// Error of the velocities at the end of the micro-step just tried, with what is stiff damped out [m/s].
  double error_of(double h);
  /// Tries a micro-step of h from where all tracks are.
  void attempt(double h);
  void take_first_stage(double h);
  void take_second_stage(double h);
  void attach_springs(double h);
  /// Margins of a strand at both ends of the micro-step just tried; notes how large they are.
  struct Ends {
    Margins now, then;
  };
  static Ends margins(Track& track);
  /// The same at its first stage.
  static Margins margins_between(const Track& track, double h);
  /// When the first strand changes within the micro-step of h just tried; h if none does.
  double next_event(double h);
  /// Ends the micro-step of h just tried at an event, or earlier where a mode would be over by then.
  /// @return how long it is; nothing was tried if that is not more than `shortest`.
  double cut(double h, double until, double shortest, int cuts);
  /// Whether a mode has ended well before the end of the micro-step just tried.
  bool overshoots();
  void accept(double h);
  /// Updates all modes. @return whether the linear terms of any strand changed.
  bool update_modes(bool at_event, double t);

  std::vector<Track> tracks_;
  std::vector<ForceCourse>* courses_ = nullptr;
  ResolverTangent* tangent_ = nullptr;
  std::vector<ModeChange> changes_;
  TransitionInfo info_;
  double error_ = 0.0;
  bool unchanged_ = true;
  // h of what is attached below; negative if since then linear terms have changed, or modes.
  double attached_for_ = -1.0, modes_attached_for_ = -1.0;
  // Strands that feel something of each other, which share their micro-steps.
  std::vector<Track*> group_;
  std::vector<std::size_t> blocks_of_group_;
  SprungBlocks blocks_;
  FollowedDrives* drives_ = nullptr;  // of the present group, if it has some
};

}  // namespace exposim
