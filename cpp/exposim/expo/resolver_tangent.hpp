#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "exposim/expo/block_rows.hpp"
#include "exposim/expo/followed_drives.hpp"
#include "exposim/expo/law_tangent.hpp"
#include "exposim/expo/resolver_record.hpp"
#include "exposim/expo/resolver_sweep.hpp"
#include "exposim/expo/sprung_blocks.hpp"
#include "exposim/expo/strand_track.hpp"
#include "exposim/expo/system_tangent.hpp"
#include "exposim/grazing.hpp"

namespace exposim {

/// Derivatives of what a Resolver does, in any number of directions: noted along with it, then taken from its end to
/// its start (ResolverSweep).
///
/// Exact for the recursion as it is: which modes follow each other, into how many micro-steps what is left is divided,
/// which are tried again and how often one is cut are held; lengths of micro-steps that end at an event are not, nor is
/// what is left behind them. With g = γh, stages i and frozen Υ, p̈̄,
///
///   λᵢ = λ − K ξᵢ − B ηᵢ,   aᵢ = p̈̄ + Υ λᵢ,   ξ₁ = gṗ + g²a₁,   ξ₂ = hṗ + 2g(h − g)a₁ + g²a₂,   ηᵢ likewise.
///
/// Drives that are followed beside the strands (FollowedDrives) push with forces fᵢ that are known before a stage.
/// Stacked behind the strands, with Υ′ without their X and Υ with it,
///
///   aᵢ = p̈̄ + Υ Fᵢ,   Fᵢ = λᵢ + fᵢ + X aᵢ − f_fitted,
///   daᵢ = c̄ᵢ + Υ′ (dλᵢ + dfᵢ + X c̄ᵢ + dX aᵢ − df_fitted),   c̄ᵢ = dp̈̄ + dΥ Fᵢ.
class ResolverTangent {
 public:
  using View = Eigen::Map<const RowMatrixXd, 0, Eigen::OuterStride<>>;

  /// What the next step that is resolved changes with. Materials and dofs have to be known before it, all else before
  /// differentiate(). Rows are multiples of four long.
  void take(const SystemTangent& inputs) { inputs_ = &inputs; }

  // After that step:
  /// Whether all that took part is differentiated: contacts, bonds, limits and drives among the strands, not
  /// PaperContact nor laws of others.
  bool supported() const { return supported_; }
  const std::vector<Grazing>& grazing() const { return grazing_; }
  /// All that follows; or double averages of forces alone, and how far drives have come.
  enum class Wanted : unsigned char { kAll, kWay };
  /// @param exact if not, Υ changes against the forces alone that are held.
  void differentiate(Wanted wanted, bool exact);
  /// Of averages and double averages of forces, by the coordinates in which they are asked for.
  View lam_bar() const { return view(lam_bar_, coordinates_); }
  View lam_bar2() const { return view(lam_bar2_, coordinates_); }
  /// Whether a strand has acted: it had a force, or changed.
  bool acts(std::size_t k) const { return acts_[k]; }
  /// Whether an average was projected, so that forces over the step are not those that are held.
  bool cuts() const { return cuts_; }
  // Of the strands, in their order, 3 × directions; see Resolver.
  View moved(std::size_t k) const { return view(strands_[k].moved, 3); }
  View velocity(std::size_t k) const { return view(strands_[k].velocity, 3); }
  /// Of the stretch that is remembered.
  View stretch(std::size_t k) const { return view(strands_[k].stretch, 3); }

  // Of drives that were followed beside them, in the order of FollowedDrives, 1 × directions: averages of the force,
  // its double averages, how far the drive has come, and its velocity.
  View drive_lam_bar(std::size_t k) const { return view(drives_[k].lam_bar, 1); }
  View drive_lam_bar2(std::size_t k) const { return view(drives_[k].lam_bar2, 1); }
  View drive_moved(std::size_t k) const { return view(drives_[k].moved, 1); }
  View drive_velocity(std::size_t k) const { return view(drives_[k].velocity, 1); }

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
  /// All is followed; the tracks still have integrals of forces.
  void finish();

 private:
  /// Rows of all directions. Of forces single and double integrals at first; of strands, where they are projected.
  struct Results {
    double *lam_bar, *lam_bar2, *moved, *velocity, *stretch;
  };
  /// What is held over the step, for integrals or double ones.
  struct Whole {
    const Tangent* ddp_bar;
    const Eigen::VectorXd* held;
    double share;  // dt, or dt²/2
    bool twice;
  };

  View view(const double* row, Eigen::Index rows) const {
    return {row, rows, directions_, Eigen::OuterStride<>(directions_)};
  }
  std::size_t index_of(const StrandTrack& track) const { return static_cast<std::size_t>(&track - tracks_->data()); }
  void note(double t, std::size_t strand, Grazing::Kind kind) { grazing_.push_back({t, strand, kind}); }
  void note_change(std::size_t k, double t, const StrandTangent& d);
  /// Finds the coordinates in which forces are asked for.
  void ask(ResolverRecord& record);
  void enter_drives();
  void enter_Upsilon(bool driven);
  ResolverRecord::Entry& add(ResolverRecord::Kind kind, double h);
  void add_micro_step(ResolverRecord::Kind kind, double h, const SprungBlocks& blocks);
  /// How the time of an event changes: when a strand closes, or a margin of it passes zero.
  EventTime closing(const StrandTrack& track, double h);
  EventTime crossing_of(const StrandTrack& track, double h);

  // What comes of it (resolver_tangent_results.cpp):
  void allot();
  void multiply(const ResolverRecord& record, const Whole& whole);
  /// Of strands that stayed what they were.
  void stretch(const ResolverRecord& record);
  /// Of averages of forces, by their integrals.
  void take_averages(const Whole& whole);
  /// What the projection of a strand's average adds.
  void project(const ResolverRecord& record, std::size_t k, const Whole& whole);
  /// Of velocities at the end, or of displacements, by what forces are over the step.
  void move(const ResolverRecord& record, const Whole& whole);
  /// Of forces over the step, by coordinates of blocks.
  const std::vector<const double*>& wrenches(const ResolverRecord& record, bool twice);
  /// What forces over the step are beside those that are held; whether they are anything.
  bool beside_held(const ResolverRecord& record, const Whole& whole);
  const Tangent* given_of(std::size_t drive) const;
  double along_drive(const FollowedDrives::Track& track, bool twice) const;

  // Sums over the stages, and dΥ (resolver_tangent_compliance.cpp):
  /// Forces at the stages, less those that are held: a row to each place of the sweep; and, behind them, ones.
  void load_forces(const ResolverRecord& record, const Eigen::VectorXd& held);
  /// Σ Aᵢ over the stages; and, if Υ changes, Σ Fᵢ Aᵢ for all coordinates F of these forces.
  void sum_up_stages(const ResolverRecord& record, const Eigen::VectorXd& held);
  /// Coordinates of strands that act, and drives.
  void find_acting(const ResolverRecord& record);
  /// Rows of these, by those of the sweep's places.
  void gather_asked(const ResolverRecord& record, const double* rows, Eigen::Index length,
                    std::vector<const double*>& to);
  /// Of a body, those in the record.
  void find_points(const ResolverRecord& record, const SystemTangent::Arms& arms);
  /// Of all outputs, by what was summed up over the stages.
  void add_change_of_Upsilon(const ResolverRecord& record);
  void add_turning_arms(const ResolverRecord& record);
  /// dΥ of what is beside the forces that are held: a row to each place, a column to each move.
  void change_beside(const ResolverRecord& record);

  const SystemTangent* inputs_ = nullptr;
  const StiffSystem* system_ = nullptr;
  const std::vector<StrandTrack>* tracks_ = nullptr;
  const FollowedDrives* followed_ = nullptr;
  std::vector<LawTangent> laws_;
  std::vector<char> has_material_;
  std::vector<char> acts_;  // of all strands
  bool cuts_ = false;
  std::vector<Grazing> grazing_;
  bool supported_ = true;
  double dt_ = 0.0, left_ = 0.0;  // of the step; what is left of it
  bool times_move_ = false;       // lengths of micro-steps depend on the directions
  Phase before_;
  StrandBasis basis_;
  std::vector<ResolverRecord> records_;  // of groups
  std::size_t groups_ = 0;
  ResolverRecord* record_ = nullptr;  // the present one
  std::vector<const StrandTrack*> group_;
  std::vector<Eigen::Matrix<double, 3, 2>> integrals_;  // of forces of strands, single and double

  ResolverSweep sweep_;
  Eigen::Index directions_ = 0;
  Eigen::Index coordinates_ = 0;
  double *lam_bar_ = nullptr, *lam_bar2_ = nullptr;
  std::vector<Results> strands_, drives_;
  std::vector<double> numbers_, scratch_;
  std::vector<double> forces_;                        // at all stages, of each place of the sweep; and ones
  std::vector<double> wrench_;                        // ones, and forces by coordinates
  Eigen::Index stride_ = 0;                           // from a place to the next in these
  std::vector<Eigen::Index> acting_, acting_places_;  // coordinates; they and drives as the inputs have them
  struct Point {
    std::size_t strand;  // of the record
    Eigen::Vector3d arm;
  };
  std::vector<Point> points_;
  std::vector<double> summed_, paired_, turned_;  // what these make of the sweep's stages
  std::vector<double> Upsilon_by_q_, by_q_;       // packed for that
  std::vector<Eigen::Index> moves_;               // coordinates with which Υ changes
  std::vector<const double*> from_, to_;          // rows by outputs, and the rows of inputs that they belong to
  std::vector<const double*> rows_, wrenches_;
  std::vector<double> factors_;
  std::vector<double> beside_, pushing_, motion_;
  Rows3 by_forces_{};
  BlockRows blocks_;
  LongRowSum sum_;
};

}  // namespace exposim
