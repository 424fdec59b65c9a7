#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "exposim/expo/drive_tangent.hpp"
#include "exposim/expo/followed_drives.hpp"
#include "exposim/expo/law_tangent.hpp"
#include "exposim/expo/sprung_blocks.hpp"
#include "exposim/expo/strand_tangent.hpp"
#include "exposim/expo/strand_track.hpp"
#include "exposim/expo/system_tangent.hpp"
#include "exposim/grazing.hpp"

namespace exposim {

/// Derivatives of what a Resolver does, in any number of directions, along with it.
///
/// Exact for the recursion as it is: which modes follow each other, into how many micro-steps what is left is divided,
/// which are tried again and how often one is cut are held; lengths of micro-steps that end at an event are not, nor is
/// what is left behind them. With g = γh, stages i and frozen Υ, p̈̄,
///
///   λᵢ = λ − K ξᵢ − B ηᵢ,   aᵢ = p̈̄ + Υ λᵢ,   ξ₁ = gṗ + g²a₁,   ξ₂ = hṗ + 2g(h − g)a₁ + g²a₂,   ηᵢ likewise,
///   dλᵢ = wᵢ − Q αᵢ,   daᵢ = cᵢ + αᵢ,   αᵢ = (I + ΥQ)⁻¹ Υ wᵢ,   cᵢ = dp̈̄ + dΥ λᵢ,
///
/// wᵢ being dλᵢ with cᵢ in place of daᵢ. Drives that are followed beside the strands (FollowedDrives) push with forces
/// fᵢ that are known before a stage. Stacked behind the strands, with Υ′ without their X and Υ with it,
///
///   aᵢ = p̈̄ + Υ Fᵢ,   Fᵢ = λᵢ + fᵢ + X aᵢ − f_fitted,
///   cᵢ = c̄ᵢ + Υ′ (X c̄ᵢ + dfᵢ + dX aᵢ − df_fitted),   c̄ᵢ = dp̈̄ + dΥ Fᵢ.
///
/// All of this is sums of rows that are as long as there are directions.
class ResolverTangent {
 public:
  using View = Eigen::Map<const RowMatrixXd, 0, Eigen::OuterStride<>>;

  /// What the next step that is resolved changes with; it has to last until then.
  void take(const SystemTangent& inputs) { inputs_ = &inputs; }

  // After that step:
  /// Whether all that took part is differentiated: contacts, bonds, limits and drives among the strands, not
  /// PaperContact nor laws of others.
  bool supported() const { return supported_; }
  const std::vector<Grazing>& grazing() const { return grazing_; }
  // Of the strands, in their order, 3 × directions; see Resolver.
  View lam_bar(std::size_t k) const { return view(strands_[k].lam_bar); }
  View lam_bar2(std::size_t k) const { return view(strands_[k].lam_bar2); }
  View moved(std::size_t k) const { return view(strands_[k].moved); }
  View velocity(std::size_t k) const { return view(strands_[k].dp); }
  /// Of the stretch that is remembered, and of the displacement from the anchor (Phase::delta).
  View stretch(std::size_t k) const { return view(strands_[k].stretch); }
  View delta(std::size_t k) const { return view(strands_[k].delta); }

  // Of drives that were followed beside them, in the order of FollowedDrives, 1 × directions: averages of the force,
  // its double averages, how far the drive has come, and its velocity.
  View drive_lam_bar(std::size_t k) const { return view(drives_[k].lam_bar); }
  View drive_lam_bar2(std::size_t k) const { return view(drives_[k].lam_bar2); }
  View drive_moved(std::size_t k) const { return view(drives_[k].x); }
  View drive_velocity(std::size_t k) const { return view(drives_[k].v); }

  // For the resolver:
  void begin(const StiffSystem& system, const std::vector<StrandTrack>& tracks, const FollowedDrives* drives,
             double dt);
  /// A group of strands, which have begun.
  /// @param driven by drives of it.
  void enter(const std::vector<StrandTrack*>& group, const SprungBlocks& blocks, bool driven);
  /// What is left is divided into micro-steps of h.
  void divide(double left, double h);
  /// The micro-step of h just tried is to end at the event that was found in it.
  void shorten(double h, double until, double shortest, const SprungBlocks& blocks);
  /// The micro-step of h just tried is taken.
  void accept(double h, const SprungBlocks& blocks);
  void before_update(const StrandTrack& track) { before_ = track.phase; }
  void update(const StrandTrack& track, bool due, double t);
  /// Turns integrals of forces, which the tracks still have, into averages.
  void finish();

 private:
  View view(const Rows3& rows) const { return {rows.first, 3, directions_, Eigen::OuterStride<>(rows.stride)}; }
  View view(const double* row) const { return {row, 1, directions_, Eigen::OuterStride<>(length_)}; }
  std::size_t index_of(const StrandTrack& track) const { return static_cast<std::size_t>(&track - tracks_->data()); }
  void note(double t, std::size_t strand, Grazing::Kind kind) { grazing_.push_back({t, strand, kind}); }

  void allot();
  void allot_drives();
  /// How drives move the group.
  void enter_drives();
  /// Turns c̄ of all coordinates of the group into c, for forces of the drives and accelerations in a stage.
  void push_by_drives(bool second, double* c);
  /// Adds what the strands' forces do to the drives.
  void reply_to_strands(bool second, double* a);
  /// Of the force of a drive at another place and velocity, by rows of these.
  void force_at(std::size_t d, double x, double v, RowSum& sum);
  /// Forces of the drives in the second stage; what the micro-step does to them.
  void end_first_stage(double h);
  void end_second_stage(double h);
  void accept_drives(double h);
  FollowedDrives::Track drive(std::size_t d) const { return followed_->track(followed_->group()[d]); }
  DriveTangent& of_drive(std::size_t d) { return drives_[followed_->group()[d]]; }
  /// ∂Υ/∂q of the present group, so that forces contract it at once.
  void pack_Upsilon();
  /// Of the response of a strand of the group to a unit force along its normal, where that is asked for.
  void find_compliance(std::size_t k);
  /// dΥ f by all of q, for forces on the coordinates of the group; zeros cost nothing.
  void contract(const std::vector<double>& forces);
  /// Derivatives of the forces and accelerations in the micro-step of h just tried; then of where a strand ends.
  void differentiate_stages(double h, const SprungBlocks& blocks);
  void end_of(const StrandTrack& track, double h);
  /// Takes what the forces in the stages do to the blocks, of those with forces.
  void load_response(const SprungBlocks& blocks);
  /// cᵢ of all strands of the group, from their forces in a stage.
  void free_accelerations(bool second, double* c);
  void first_forces(double h, const StrandTrack& track, const StrandTangent& d) const;
  void second_forces(double h, const StrandTrack& track, const StrandTangent& d) const;
  /// αᵢ of the blocks, from wᵢ in lam1 or lam2 of the strands.
  void respond(bool second);
  /// αᵢ of a strand.
  Rows3 motion_of(const StrandTrack& track, Eigen::Index first);
  /// aᵢ and λᵢ from cᵢ, wᵢ and αᵢ.
  void take_response(bool second);
  /// dh of an event: when a strand closes, or a margin of it passes zero.
  void find_closing(const StrandTrack& track, double h);
  void find_crossing(const StrandTrack& track, double h);

  const SystemTangent* inputs_ = nullptr;
  const StiffSystem* system_ = nullptr;
  const std::vector<StrandTrack>* tracks_ = nullptr;
  std::vector<LawTangent> laws_;
  std::vector<StrandTangent> strands_;
  std::vector<Grazing> grazing_;
  bool supported_ = true;
  double dt_ = 0.0, t_ = 0.0;  // of the step; where the present micro-step begins
  Phase before_;

  Eigen::Index directions_ = 0, length_ = 0;  // length of a row: a multiple of four
  Eigen::Index moving_ = 0;                   // directions in which Υ changes: no more than the first so many
  std::vector<double> rows_;                  // of all strands
  std::vector<double> dq_;
  std::vector<Eigen::Index> coordinates_;  // with which Υ changes
  bool times_move_ = false;                // the length of a micro-step depends on the directions
  std::vector<double> dh_, dleft_, scratch_;

  const FollowedDrives* followed_ = nullptr;
  std::vector<DriveTangent> drives_;
  std::vector<double> rows_of_drives_;

  // Of the present group:
  std::vector<const StrandTrack*> group_;
  std::size_t driven_ = 0;            // how many drives move it
  std::vector<Eigen::Index> places_;  // of its coordinates in the inputs: strands, drives
  std::vector<double> push_;          // Υ′ of all coordinates by forces of drives, row by row
  std::vector<double> pushing_;       // what those forces change by
  std::vector<double> replies_;
  std::vector<double> ddp_bar_, a1_, a2_, motion_;
  std::vector<double> Upsilon_by_q_;  // for every coordinate of a force: of all accelerations, by all of q
  std::vector<double> by_q_;          // dΥ f: of all accelerations, by all of q
  std::vector<double> forces_, factors_, response_;
  std::vector<const double*> pointers_;
  std::vector<Eigen::Index> first_of_;    // of a strand in the group: where its block begins
  std::vector<Eigen::Index> pushed_;      // coordinates of blocks with forces
  std::vector<double> wrenches_, alpha_;  // of blocks; the former where several strands share one
};

}  // namespace exposim
