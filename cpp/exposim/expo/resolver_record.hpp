#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "exposim/expo/followed_drives.hpp"
#include "exposim/expo/strand_basis.hpp"
#include "exposim/expo/strand_coordinates.hpp"
#include "exposim/expo/strand_track.hpp"

namespace exposim {

/// How the time of an event depends on the strand that has it, in the micro-step in which it was found.
struct EventTime {
  std::size_t strand = 0;  ///< in the group
  Eigen::Vector3d by_delta = Eigen::Vector3d::Zero(), by_dp = by_delta, by_lam = by_delta, by_slide = by_delta;
  Eigen::Vector3d by_lam1 = by_delta, by_lam2 = by_delta, by_a1 = by_delta, by_way = by_delta, by_dp_end = by_delta;
  double by_mu = 0.0;
  double by_h = 0.0;  ///< the length of the micro-step
  MaterialVector by_material = MaterialVector::Zero();
};

/// What a Resolver has done with a group of strands, in the order in which it did it.
struct ResolverRecord {
  enum class Kind : unsigned char {
    kDivided,  ///< what is left, into micro-steps of h
    kCut,      ///< a micro-step of h was tried, and is to end at an event
    kTaken,    ///< a micro-step of h
    kChanged,  ///< a strand, by its law
  };
  struct Entry {
    Kind kind;
    bool times_move;             ///< its length depends on the directions
    double h, left;              ///< left of the step before it
    std::size_t tracks, drives;  ///< where those of the micro-step begin
    std::size_t pushed, pushed_end, response;
    std::size_t stage;   ///< its first
    std::size_t strand;  ///< of the group, that was changed
    std::size_t which;   ///< event or change
  };

  std::vector<std::size_t> strands;        ///< among all
  StrandCoordinates blocks;                ///< that they are followed in
  std::vector<double> Upsilon;             ///< of these, without drives that are followed
  StrandCoordinates asked;                 ///< in which it is asked for forces
  std::vector<Eigen::Index> asked_places;  ///< of these among all of the inputs
  std::vector<std::size_t> drives;         ///< that move it, among all
  std::vector<FollowedDrives::Drive> laws_of_drives;
  std::vector<double> push;            ///< that Υ of all strands and drives by forces of drives, row by row
  std::vector<double> push_of_blocks;  ///< the same of coordinates of blocks
  std::vector<Eigen::Index> places;    ///< of its strands' coordinates and drives in the inputs

  std::vector<Entry> entries;
  std::vector<StrandTrack> tracks;
  std::vector<FollowedDrives::Track> drive_tracks;
  std::vector<Eigen::Index> pushed;  ///< coordinates of blocks with forces
  std::vector<double> response;      ///< (I + ΥQ)⁻¹Υ transposed: a row to each of those
  std::vector<EventTime> events;
  std::vector<StrandChange> changes;
  // Of strands:
  std::vector<char> acts;        ///< it had a force
  std::vector<char> changed;     ///< its law has changed more of it than its force
  std::vector<char> held_back;   ///< its friction may be
  std::vector<char> cut, cut2;   ///< its average, or double average, was projected to what it can bear
  std::vector<char> mu_changes;  ///< at the end (StrandTangent)
  std::size_t stages = 0;        ///< at which forces act

  /// Υ of a coordinate of the strands, or of a drive, by the force of a drive.
  double push_of(std::size_t place, std::size_t drive) const { return push[place * drives.size() + drive]; }

  void clear() {
    strands.clear(), blocks.clear(), Upsilon.clear(), asked.clear(), asked_places.clear(), drives.clear();
    laws_of_drives.clear(), push.clear(), push_of_blocks.clear(), places.clear(), entries.clear(), tracks.clear();
    drive_tracks.clear(), pushed.clear(), response.clear(), events.clear(), changes.clear(), acts.clear();
    held_back.clear(), cut.clear(), cut2.clear(), mu_changes.clear(), changed.clear();
    stages = 0;
  }
};

}  // namespace exposim
