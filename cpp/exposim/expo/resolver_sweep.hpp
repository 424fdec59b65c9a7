#pragma once

#include <Eigen/Core>
#include <array>
#include <vector>

#include "exposim/expo/drive_tangent.hpp"
#include "exposim/expo/law_tangent.hpp"
#include "exposim/expo/resolver_record.hpp"
#include "exposim/expo/tangent_products.hpp"

namespace exposim {

/// What some outputs change by with each number that strands and drives of a group have at an instant: to each number a
/// row of all outputs.
class SensitivityRows {
 public:
  void resize(std::size_t strands, std::size_t drives, Eigen::Index length);
  Eigen::Index length() const { return length_; }

  Rows3 delta(std::size_t k) { return three(k, 0); }
  Rows3 dp(std::size_t k) { return three(k, 3); }
  Rows3 slide(std::size_t k) { return three(k, 6); }
  Rows3 lam(std::size_t k) { return three(k, 9); }
  Rows3 compliance(std::size_t k) { return three(k, 12); }
  double* material(std::size_t k, Eigen::Index m) { return row(k, 15 + m); }
  double* mu(std::size_t k) { return row(k, 20); }
  double* turning(std::size_t k) { return row(k, 21); }
  double* x(std::size_t d) { return of_drive(d, DriveTangent::kRows); }
  /// The last of these is of its velocity.
  double* given(std::size_t d, DriveTangent::Row which) { return of_drive(d, which); }
  double* v(std::size_t d) { return given(d, DriveTangent::kV); }
  /// Of the length of the present micro-step, and of what is left of the step.
  double* h() { return numbers_.data(); }
  double* left() { return numbers_.data() + length_; }

  /// All rows, one behind the other; those of the two come first.
  static constexpr Eigen::Index kTimes = 2;
  std::vector<double>& numbers() { return numbers_; }

 private:
  static constexpr Eigen::Index kOfStrand = 22, kOfDrive = DriveTangent::kRows + 1;

  double* row(std::size_t k, Eigen::Index i) {
    return numbers_.data() + (kTimes + static_cast<Eigen::Index>(k) * kOfStrand + i) * length_;
  }
  Rows3 three(std::size_t k, Eigen::Index i) { return {row(k, i), length_}; }
  double* of_drive(std::size_t d, Eigen::Index i) {
    const Eigen::Index first = kTimes + static_cast<Eigen::Index>(strands_) * kOfStrand;
    return numbers_.data() + (first + static_cast<Eigen::Index>(d) * kOfDrive + i) * length_;
  }

  std::size_t strands_ = 0;
  Eigen::Index length_ = 0;
  std::vector<double> numbers_;
};

/// Goes back through what a Resolver has done with a group, from what came of it to what it began with.
///
/// Outputs are ∫Gᵀλ, ∫∫Gᵀλ and the stretches that are remembered; there are fewer of them than directions, and dΥ,
/// which acts by forces that are known, need not go along. With V, D what outputs change by with ṗ and Δp at the end of
/// a micro-step, Λᵢ by forces of the stages for what else these do, and R = (I + ΥQ)⁻¹Υ,
///
///   A₂ = gV + g²D,   A₁ = (h − g)(V + 2gD) − (2g(h − g)K + (h − g)B)ᵀΛ₂,
///   y = Rᵀ(Aᵢ − QᵀΛᵢ),   Λᵢ ← Λᵢ + y,   Aᵢ ← Aᵢ − QᵀΛᵢ,
///   V ← V + hD − KᵀΣ hᵢΛᵢ,   by λ at the start: ΣΛᵢ;
///
/// A₂ first, hᵢ = g, h. Aᵢ is what they change by with dp̈̄ + dΥ λᵢ in stage i.
class ResolverSweep {
 public:
  /// Where outputs stand, or the first of them; negative: nowhere.
  struct Forces {
    Eigen::Index lam = -1, lam2 = -1;  ///< ∫λ and ∫∫λ
  };
  struct Outputs {
    Forces cut;                              ///< its own, where they are to be projected
    Eigen::Index stretch[3] = {-1, -1, -1};  // NOLINT
  };

  /// @param all or ∫∫λ alone.
  /// @param laws of all strands, as @param tracks at the end.
  /// @param materials whether they change, of all strands.
  void sweep(const ResolverRecord& record, const std::vector<LawTangent>& laws, const std::vector<StrandTrack>& tracks,
             const std::vector<char>& materials, bool all);

  Eigen::Index outputs() const { return outputs_; }
  /// Strands of the record that act: others change nothing. All that follows is of these.
  const std::vector<std::size_t>& strands() const { return strands_; }
  /// Their coordinates, and drives, among places of the record.
  const std::vector<std::size_t>& places() const { return places_; }
  const Outputs& of_strand(std::size_t k) const { return of_strands_[k]; }
  /// Of coordinates in which forces are asked for.
  const Forces& of_coordinate(std::size_t c) const { return of_coordinates_[c]; }
  const Forces& of_drive(std::size_t d) const { return of_drives_[d]; }
  SensitivityRows& start() { return rows_; }
  /// By accelerations without stiff forces in all stages, one behind the other: a row to each place. Behind those of
  /// micro-steps come some by compliances: one to each strand that may be held back.
  const double* stages() const { return stages_.data(); }
  Eigen::Index stage_count() const { return stage_count_; }

 private:
  struct Stages {
    double *first, *second;
  };

  void begin(const ResolverRecord& record);
  void number_outputs(const std::vector<StrandTrack>& tracks, bool all);
  void number_stretch(std::size_t k, const StrandTrack& track);
  double* stage(std::size_t i) { return stages_.data() + static_cast<Eigen::Index>(i) * each_stage_; }
  const LawTangent& law(std::size_t k) const { return (*laws_)[record_->strands[strands_[k]]]; }
  bool has_material(std::size_t k) const { return (*materials_)[record_->strands[strands_[k]]]; }
  bool may_be_held_back(std::size_t k) const { return record_->held_back[strands_[k]]; }
  double push_of(std::size_t place, std::size_t drive) const { return record_->push_of(places_[place], drive); }
  const StrandTrack& track(const ResolverRecord::Entry& entry, std::size_t k) const {
    return record_->tracks[entry.tracks + strands_[k]];
  }
  const FollowedDrives::Track& drive(const ResolverRecord::Entry& entry, std::size_t d) const {
    return record_->drive_tracks[entry.drives + d];
  }
  /// No forces in either stage change anything by themselves.
  void clear_forces(Eigen::Index length);
  Rows3 force(bool second, std::size_t k, Eigen::Index length) {
    std::vector<double>& of = second ? lam2_ : lam1_;
    return {of.data() + 3 * static_cast<Eigen::Index>(k) * length, length};
  }
  double* drive_force(bool second, std::size_t d, Eigen::Index length) {
    return force(second, strands_.size(), length).first + static_cast<Eigen::Index>(d) * length;
  }

  void take_back(const ResolverRecord::Entry& entry);
  void undo_cut(const ResolverRecord::Entry& entry);
  void undo_change(const ResolverRecord::Entry& entry);
  void undo_compliance(std::size_t k, double* A);
  /// Which outputs integrate which forces of strands.
  void find_integrals();
  /// What outputs change by with forces in the stages, by what integrals are made of; and with the length.
  void add_integrals(const ResolverRecord::Entry& entry);

  // A micro-step (resolver_sweep_stages.cpp):
  /// Through its stages, with what forces do by themselves as given; an event may feel accelerations of the first.
  void go_back(const ResolverRecord::Entry& entry, SensitivityRows& z, const Stages& A, const EventTime* event);
  /// R of strands that act, and those that push.
  void take_response(const ResolverRecord::Entry& entry);
  /// y, Λᵢ and Aᵢ.
  void respond(const ResolverRecord::Entry& entry, bool second, Eigen::Index length, double* A);
  void add_length(const ResolverRecord::Entry& entry, SensitivityRows& z);
  void move_strand(const ResolverRecord::Entry& entry, std::size_t k, SensitivityRows& z);
  void add_linear_changes(const ResolverRecord::Entry& entry, std::size_t k, SensitivityRows& z);
  // Of drives: by their accelerations, and so by forces of strands; then by their own forces.
  void begin_drives(const ResolverRecord::Entry& entry, bool second, SensitivityRows& z, double* A);
  void end_drives(const ResolverRecord::Entry& entry, bool second, SensitivityRows& z, double* A);
  void move_drives(const ResolverRecord::Entry& entry, SensitivityRows& z);

  const ResolverRecord* record_ = nullptr;
  const std::vector<LawTangent>* laws_ = nullptr;
  const std::vector<char>* materials_ = nullptr;

  std::vector<std::size_t> strands_, slot_, places_;  // slot_: of the record's strands, among those that act
  Eigen::Index outputs_ = 0, each_stage_ = 0, stage_count_ = 0;
  std::vector<Outputs> of_strands_;
  std::vector<Forces> of_coordinates_, of_drives_;
  struct Integral {
    std::size_t strand;
    Eigen::Index i;      // its force in this direction
    Eigen::Index r, r2;  // in ∫λ and ∫∫λ
    double by;
  };
  std::vector<Integral> integrals_;
  SensitivityRows rows_, of_event_;
  bool length_counts_ = false;  // that of the present micro-step
  std::vector<double> stages_, stages_of_event_;
  std::vector<double> lam1_, lam2_;   // by forces of strands and drives in the stages
  std::vector<std::size_t> pushing_;  // strands that are not free in the present micro-step
  std::vector<double> y_;             // of these
  RowMatrixXd response_, of_blocks_;  // R, three rows to each; a row of it, by blocks
  std::vector<double> scratch_, by_push_;
  LongRowSum sum_;
  StrandBasis basis_;
  std::vector<std::array<double, 3 * StrandChange::kColumns>> ends_;  // what stretches depend on
};

}  // namespace exposim
