// What a sweep through a resolver's record makes of the change of Υ.

#include <Eigen/Geometry>
#include <algorithm>

#include "exposim/expo/resolver_tangent.hpp"
#include "exposim/kernels/fours.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Kind = ResolverRecord::Kind;

namespace {

/// What is left of a force when its mean is taken away from it is none at this share of it.
constexpr double kRounding = 1e-11;

const double* row_of(const Tangent& x, Index i) { return x.data() + i * x.cols(); }

/// Of Σ (e × r) × f by e: r fᵀ − (r·f) 1; and of a × (e × r).
Matrix3d moment_by_turn(const Vector3d& r, const Vector3d& f) {
  Matrix3d by = r * f.transpose();
  by.diagonal().array() -= r.dot(f);
  return by;
}
Matrix3d motion_by_turn(const Vector3d& r, const Vector3d& a) { return -moment_by_turn(r, a); }

}  // namespace

void ResolverTangent::load_forces(const ResolverRecord& record, const Eigen::VectorXd& held) {
  const std::vector<std::size_t>&strands = sweep_.strands(), &places = sweep_.places();
  const std::size_t drives = record.drives.size(), count = places.size(), first_drive = count - drives;
  std::size_t stages = record.stages;
  for (const std::size_t k : strands) stages += record.held_back[k];
  stride_ = padded(static_cast<Index>(stages));
  forces_.assign((count + 1) * static_cast<std::size_t>(stride_), 0.0);
  const auto force = [&](std::size_t p, std::size_t stage) -> double& {
    return forces_[p * static_cast<std::size_t>(stride_) + stage];
  };
  for (std::size_t p = 0; p < count; ++p) {
    const double mean = held.size() > 0 ? held(record.places[places[p]]) : 0.0;
    std::fill_n(&force(p, 0), record.stages, -mean);
  }
  std::fill_n(&force(count, 0), record.stages, 1.0);
  for (const ResolverRecord::Entry& entry : record.entries) {
    if (entry.kind != Kind::kTaken && entry.kind != Kind::kCut) continue;
    for (std::size_t k = 0; k < strands.size(); ++k) {
      const StrandTrack& track = record.tracks[entry.tracks + strands[k]];
      if (track.is_free()) continue;
      for (std::size_t i = 0; i < 3; ++i) {
        force(3 * k + i, entry.stage) += track.lam1(static_cast<Index>(i));
        force(3 * k + i, entry.stage + 1) += track.lam2(static_cast<Index>(i));
      }
    }
    for (std::size_t d = 0; d < drives; ++d) {
      const FollowedDrives::Track& track = record.drive_tracks[entry.drives + d];
      force(first_drive + d, entry.stage) += track.force + track.drive.X * track.a1 - track.drive.fitted;
      force(first_drive + d, entry.stage + 1) += track.force2 + track.drive.X * track.a2 - track.drive.fitted;
    }
  }
  std::size_t stage = record.stages;  // those of which compliances are made
  for (std::size_t k = 0; k < strands.size(); ++k) {
    if (!record.held_back[strands[k]]) continue;
    const Vector3d& n = (*tracks_)[record.strands[strands[k]]].phase.n;
    for (std::size_t i = 0; i < 3; ++i) {
      const double along = n(static_cast<Index>(i));
      force(3 * k + i, stage) = along;
      for (std::size_t d = 0; d < drives; ++d) {
        force(first_drive + d, stage) += record.laws_of_drives[d].X * record.push_of(places[3 * k + i], d) * along;
      }
    }
    ++stage;
  }
}

void ResolverTangent::find_acting(const ResolverRecord& record) {
  acting_.clear();
  for (const std::size_t k : sweep_.strands()) {
    const StrandCoordinates::Place& place = record.asked.of[k];
    if (std::find(acting_.begin(), acting_.end(), place.first) != acting_.end()) continue;
    for (Index i = 0; i < place.size; ++i) acting_.push_back(place.first + i);
  }
  acting_places_.clear();
  for (const Index c : acting_) acting_places_.push_back(record.asked_places[static_cast<std::size_t>(c)]);
  const std::size_t strands = record.strands.size();
  for (std::size_t d = 0; d < record.drives.size(); ++d) {
    const Index dof = record.places[3 * strands + d] - 3 * static_cast<Index>(tracks_->size());
    acting_places_.push_back(coordinates_ + dof);
  }
}

void ResolverTangent::gather_asked(const ResolverRecord& record, const double* rows, Index length,
                                   std::vector<const double*>& to) {
  const std::vector<std::size_t>& strands = sweep_.strands();
  const auto row = [&](std::size_t place) { return rows + static_cast<Index>(place) * length; };
  const auto by_itself = [&](std::size_t k) { return record.asked.of[k].size == 3; };
  if (std::all_of(strands.begin(), strands.end(), by_itself)) {  // all coordinates are places
    to.clear();
    for (std::size_t p = 0; p < sweep_.places().size(); ++p) to.push_back(row(p));
    return;
  }
  std::size_t next = 0;
  const std::vector<const double*>& all = blocks_.gather(record.asked, length, [&](std::size_t k) {
    const bool acts = next < strands.size() && strands[next] == k;
    return Rows3{acts ? const_cast<double*>(row(3 * next++)) : nullptr, length};
  });
  to.clear();
  for (const Index c : acting_) to.push_back(all[static_cast<std::size_t>(c)]);
  for (std::size_t d = 0; d < record.drives.size(); ++d) to.push_back(row(3 * strands.size() + d));
}

void ResolverTangent::sum_up_stages(const ResolverRecord& record, const Eigen::VectorXd& held) {
  load_forces(record, held);
  const auto places = static_cast<Index>(sweep_.places().size()), each = places * sweep_.start().length();
  const double* const ones = forces_.data() + places * stride_;
  wrench_.assign(ones, ones + stride_);
  if (!moves_.empty()) {
    find_acting(record);
    gather_asked(record, forces_.data(), stride_, from_);
    for (const double* const row : from_) wrench_.insert(wrench_.end(), row, row + stride_);
  }
  const Index rows = static_cast<Index>(wrench_.size()) / std::max<Index>(stride_, 1);
  summed_.resize(static_cast<std::size_t>(rows * each));
  multiply_rows(rows, sweep_.stage_count(), each, each, wrench_.data(), stride_, sweep_.stages(), nullptr,
                summed_.data());
}

void ResolverTangent::add_change_of_Upsilon(const ResolverRecord& record) {
  // Σ ∂Υ_ij/∂q_k over coordinates i and forces j, times what was summed of these; Υ is symmetric.
  const auto size = static_cast<Index>(acting_places_.size()), count = static_cast<Index>(moves_.size());
  const Index inner = size * (size + 1) / 2, length = sweep_.start().length();
  const Index each = static_cast<Index>(sweep_.places().size()) * length;
  paired_.resize(static_cast<std::size_t>(inner * length));
  // Pairs (i, j) with i ≤ j, those of a j one behind the other.
  const auto pair = [&](Index i, Index j) {
    return paired_.data() + (std::max(i, j) * (std::max(i, j) + 1) / 2 + std::min(i, j)) * length;
  };
  RowSum sum(length);
  for (Index j = 0; j < size; ++j) {
    gather_asked(record, summed_.data() + (1 + j) * each, length, rows_);
    for (Index i = 0; i < size; ++i) {
      sum.add(1.0, rows_[static_cast<std::size_t>(i)]);
      if (i < j) sum.add(1.0, pair(i, j));
      sum.into(pair(i, j));
    }
  }
  const auto row_count = count + 3 * static_cast<Index>(inputs_->arms.size());
  Upsilon_by_q_.resize(static_cast<std::size_t>(inner * count));
  by_q_.resize(static_cast<std::size_t>(row_count * length));
  double* to = Upsilon_by_q_.data();
  for (const Index k : moves_) {
    const MatrixXd& Upsilon = inputs_->Upsilon_by_q[static_cast<std::size_t>(k)];
    for (std::size_t j = 0; j < acting_places_.size(); ++j) {
      const double* const column = Upsilon.data() + acting_places_[j] * Upsilon.rows();
      for (std::size_t i = 0; i <= j; ++i) *to++ = column[acting_places_[i]];
    }
  }
  multiply_rows(count, inner, length, length, Upsilon_by_q_.data(), inner, paired_.data(), nullptr, by_q_.data());
  for (Index k = 0; k < count; ++k) {
    from_.push_back(by_q_.data() + k * length);
    to_.push_back(row_of(inputs_->moves(), moves_[static_cast<std::size_t>(k)]));
  }
}

void ResolverTangent::find_points(const ResolverRecord& record, const SystemTangent::Arms& arms) {
  points_.clear();
  for (std::size_t i = 0; i < arms.strands.size(); ++i) {
    const auto found = std::find(record.strands.begin(), record.strands.end(), arms.strands[i]);
    if (found == record.strands.end()) continue;
    points_.push_back({static_cast<std::size_t>(found - record.strands.begin()), arms.turning[i]});
  }
}

void ResolverTangent::add_turning_arms(const ResolverRecord& record) {
  const std::vector<std::size_t>& strands = sweep_.strands();
  const auto places = static_cast<Index>(sweep_.places().size()), stages = sweep_.stage_count();
  const auto coordinates = static_cast<Index>(acting_places_.size());
  const Index length = sweep_.start().length();
  double* by = by_q_.data() + static_cast<Index>(moves_.size()) * length;
  const Eigen::Map<const RowMatrixXd> wrench(wrench_.data() + stride_, coordinates, stride_);
  turned_.resize(static_cast<std::size_t>(3 * places * stages));
  for (std::size_t b = 0; b < inputs_->arms.size(); ++b) {
    const SystemTangent::Arms& arms = inputs_->arms[b];
    find_points(record, arms);
    if (std::none_of(points_.begin(), points_.end(), [&](const Point& each) { return record.acts[each.strand]; })) {
      continue;
    }
    // By a torque on the body, and its spin by all forces.
    Eigen::Matrix<double, Eigen::Dynamic, 3> of_coordinates(coordinates, 3), of_places(places, 3);
    for (Index c = 0; c < coordinates; ++c) {
      of_coordinates.row(c) = inputs_->Upsilon.block<1, 3>(acting_places_[static_cast<std::size_t>(c)], arms.first + 3);
    }
    const Eigen::Matrix3Xd spin = of_coordinates.transpose() * wrench;
    of_places.bottomRows(record.drives.size()) = of_coordinates.bottomRows(record.drives.size());
    for (std::size_t k = 0; k < strands.size(); ++k) {
      for (Index i = 0; i < 3; ++i) {
        auto row = of_places.row(3 * static_cast<Index>(k) + i);
        row.setZero();
        record.asked.of[strands[k]].for_each(i, [&](Index c, double factor) {
          const Index place = record.asked_places[static_cast<std::size_t>(c)];
          row += factor * inputs_->Upsilon.block<1, 3>(place, arms.first + 3);
        });
      }
    }
    for (Index s = 0; s < stages; ++s) {
      Matrix3d torque = Matrix3d::Zero();
      const auto slot_of = [&](const Point& each) {
        return static_cast<Index>(std::find(strands.begin(), strands.end(), each.strand) - strands.begin());
      };
      const auto for_each_point = [&](const auto& f) {
        for (const Point& each : points_) {
          if (record.acts[each.strand]) f(3 * slot_of(each), each.arm);
        }
      };
      for_each_point([&](Index first, const Vector3d& arm) {
        const auto force = [&](Index i) { return forces_[static_cast<std::size_t>((first + i) * stride_ + s)]; };
        torque += moment_by_turn(arm, Vector3d(force(0), force(1), force(2)));
      });
      Eigen::Matrix<double, Eigen::Dynamic, 3> by_turn = of_places * torque;
      for_each_point(
          [&](Index first, const Vector3d& arm) { by_turn.middleRows<3>(first) += motion_by_turn(arm, spin.col(s)); });
      for (Index e = 0; e < 3; ++e) {
        std::copy_n(by_turn.col(e).data(), places, turned_.data() + (e * stages + s) * places);
      }
    }
    multiply_rows(3, stages * places, length, length, turned_.data(), stages * places, sweep_.stages(), nullptr, by);
    for (Index e = 0; e < 3; ++e, by += length) {
      from_.push_back(by);
      to_.push_back(row_of(inputs_->arms_turn, 3 * static_cast<Index>(b) + e));
    }
  }
}

bool ResolverTangent::beside_held(const ResolverRecord& record, const Whole& whole) {
  const std::size_t strands = record.strands.size();
  beside_.clear();
  double most = 0.0, off = 0.0;
  for (std::size_t p = 0; p < record.places.size(); ++p) {
    double force = 0.0;
    if (p < 3 * strands) {
      force = integrals_[record.strands[p / 3]](static_cast<Index>(p % 3), whole.twice ? 1 : 0);
    } else {
      const FollowedDrives::Track track = followed_->track(record.drives[p - 3 * strands]);
      force = (whole.twice ? track.lam_bar2 : track.lam_bar) + track.drive.X * along_drive(track, whole.twice) -
              whole.share * track.drive.fitted;
    }
    const double held = whole.held->size() > 0 ? whole.share * (*whole.held)(record.places[p]) : 0.0;
    beside_.push_back(force - held);
    most = std::max({most, std::abs(force), std::abs(held)});
    off = std::max(off, std::abs(force - held));
  }
  for (double& each : beside_) {
    if (std::abs(each) <= kRounding * most) each = 0.0;
  }
  return off > kRounding * most;
}

void ResolverTangent::change_beside(const ResolverRecord& record) {
  const std::size_t strands = record.strands.size();
  std::vector<Index> ids = record.asked_places;
  for (std::size_t d = 0; d < record.drives.size(); ++d) {
    ids.push_back(coordinates_ + record.places[3 * strands + d] - 3 * static_cast<Index>(tracks_->size()));
  }
  const auto count = static_cast<Index>(ids.size());
  Eigen::VectorXd forces = Eigen::VectorXd::Zero(count), a(count);
  const auto for_each = [&](const auto& f) {  // of places and coordinates
    for (std::size_t p = 0; p < record.places.size(); ++p) {
      if (p >= 3 * strands) {
        f(p, record.asked.count + static_cast<Index>(p - 3 * strands), 1.0);
        continue;
      }
      record.asked.of[p / 3].for_each(static_cast<Index>(p % 3), [&](Index c, double factor) { f(p, c, factor); });
    }
  };
  for_each([&](std::size_t p, Index c, double factor) { forces(c) += factor * beside_[p]; });
  const std::vector<Index> pushing = [&] {
    std::vector<Index> found;
    for (Index j = 0; j < count; ++j) {
      if (forces(j) != 0.0) found.push_back(j);
    }
    return found;
  }();
  to_.clear();
  const std::size_t columns = moves_.size() + 3 * inputs_->arms.size();
  by_q_.assign(record.places.size() * columns, 0.0);
  const auto put = [&](const double* row) {
    for_each([&](std::size_t p, Index c, double factor) { by_q_[p * columns + to_.size()] += factor * a(c); });
    to_.push_back(row);
  };
  for (const Index k : moves_) {
    const MatrixXd& Upsilon = inputs_->Upsilon_by_q[static_cast<std::size_t>(k)];
    a.setZero();
    for (const Index j : pushing) {
      const double* const column = Upsilon.data() + ids[static_cast<std::size_t>(j)] * Upsilon.rows();
      for (Index i = 0; i < count; ++i) a(i) += forces(j) * column[ids[static_cast<std::size_t>(i)]];
    }
    put(row_of(inputs_->moves(), k));
  }
  for (std::size_t b = 0; b < inputs_->arms.size(); ++b) {
    const SystemTangent::Arms& arms = inputs_->arms[b];
    find_points(record, arms);
    const Eigen::Matrix3Xd of_spin = inputs_->Upsilon(ids, Eigen::seqN(arms.first + 3, 3)).transpose();
    const Vector3d spin = of_spin * forces;
    Matrix3d torque = Matrix3d::Zero();
    for (const Point& each : points_) {
      torque += moment_by_turn(each.arm, Eigen::Map<const Vector3d>(beside_.data() + 3 * each.strand));
    }
    for (Index e = 0; e < 3; ++e) {
      for (const Point& each : points_) {
        const Vector3d moved = motion_by_turn(each.arm, spin).col(e);
        for (std::size_t i = 0; i < 3; ++i) {
          by_q_[(3 * each.strand + i) * columns + to_.size()] = moved(static_cast<Index>(i));
        }
      }
      a.noalias() = of_spin.transpose() * torque.col(e);
      put(row_of(inputs_->arms_turn, 3 * static_cast<Index>(b) + e));
    }
  }
}

}  // namespace exposim
