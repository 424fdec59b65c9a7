// Back through a micro-step of a resolver.

#include <algorithm>

#include "exposim/expo/micro_step.hpp"
#include "exposim/expo/resolver_sweep.hpp"
#include "exposim/kernels/row_triples.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Entry = ResolverRecord::Entry;
using Place = StrandCoordinates::Place;

namespace {

/// Row i of G x, for rows x of its coordinates; put together in `room` where it is none of these.
const double* row_of_motion(const Place& place, Index i, const double* x, Index length, double* room) {
  if (place.size == 3 || (place.size == 1 && i == 0)) return x + i * length;
  if (place.size == 1) return std::fill_n(room, length, 0.0) - length;
  if (place.angular) return x + (3 + i) * length;
  const Index j = (i + 1) % 3, l = (i + 2) % 3;
  const double *const along = x + i * length, *const about_j = x + (3 + j) * length, *about_l = x + (3 + l) * length;
  for (Index n = 0; n < length; ++n) room[n] = along[n] + place.arm(l) * about_j[n] - place.arm(j) * about_l[n];
  return room;
}

/// G x of a motion x of all coordinates. @return behind it.
double* put_motion(const Place& place, const double* x, double* to) {
  x += place.first;
  if (place.size == 3) {
    to[0] = x[0];
    to[1] = x[1];
    to[2] = x[2];
    return to + 3;
  }
  if (place.size == 6 && place.angular) x += 3;
  const bool turns = place.size == 6 && !place.angular, one = place.size == 1;
  const double* const arm = place.arm.data();
  to[0] = turns ? x[0] + x[4] * arm[2] - x[5] * arm[1] : x[0];
  to[1] = turns ? x[1] + x[5] * arm[0] - x[3] * arm[2] : one ? 0.0 : x[1];
  to[2] = turns ? x[2] + x[3] * arm[1] - x[4] * arm[0] : one ? 0.0 : x[2];
  return to + 3;
}

}  // namespace

void ResolverSweep::go_back(const Entry& entry, SensitivityRows& z, const Stages& A, const EventTime* event) {
  const Index length = z.length();
  const double h = entry.h, g = kGamma * h, rest = h - g;
  const bool driven = !record_->drives.empty();
  RowSum three(3 * length);
  const auto rows_of = [&](double* stage, std::size_t k) {
    return Rows3{stage + 3 * static_cast<Index>(k) * length, length};
  };
  take_response(entry);
  if (driven) begin_drives(entry, true, z, A.second);
  for (std::size_t k = 0; k < strands_.size(); ++k) {
    const StrandTrack& at = track(entry, k);
    const Rows3 a = rows_of(A.second, k), lam2 = force(true, k, length);
    if (at.is_free()) {
      three.add(g, z.dp(k).first).add(g * g, z.delta(k).first).into(a.first);
    } else {
      sum_triples(length, g, z.dp(k).first, g * g, z.delta(k).first, -at.Q, lam2.first, a.first);
    }
  }
  respond(entry, true, length, A.second);
  if (driven) end_drives(entry, true, z, A.second);

  if (driven) begin_drives(entry, false, z, A.first);
  for (std::size_t k = 0; k < strands_.size(); ++k) {
    const StrandTrack& at = track(entry, k);
    const Rows3 a = rows_of(A.first, k), lam1 = force(false, k, length), lam2 = force(true, k, length);
    const double by_dp = rest, by_delta = 2.0 * g * rest;
    if (at.is_free()) {
      three.add(by_dp, z.dp(k).first).add(by_delta, z.delta(k).first).into(a.first);
    } else {
      const Matrix3d by_a1 = -2.0 * g * rest * at.phase.K - rest * at.phase.B;
      sum_triples(length, by_dp, z.dp(k).first, by_delta, z.delta(k).first, by_a1, lam2.first, -at.Q, lam1.first,
                  a.first);
    }
    for (Index i = 0; event && slot_[event->strand] == k && i < 3; ++i) a[i][0] += event->by_a1(i);
  }
  respond(entry, false, length, A.first);
  if (driven) end_drives(entry, false, z, A.first);

  if (entry.times_move) add_length(entry, z);
  for (std::size_t k = 0; k < strands_.size(); ++k) move_strand(entry, k, z);
  if (driven) move_drives(entry, z);
}

void ResolverSweep::take_response(const Entry& entry) {
  const std::vector<Place>& places = record_->blocks.of;
  const Index count = record_->blocks.count;
  const auto begin = record_->pushed.begin() + static_cast<std::ptrdiff_t>(entry.pushed);
  pushing_.clear();
  for (std::size_t k = 0; k < strands_.size(); ++k) {
    if (!track(entry, k).is_free()) pushing_.push_back(k);
  }
  response_.resize(3 * static_cast<Index>(pushing_.size()), 3 * static_cast<Index>(strands_.size()));
  of_blocks_.resize(1, count);
  for (std::size_t p = 0; p < pushing_.size(); ++p) {
    const Place& place = places[strands_[pushing_[p]]];
    const auto end = record_->pushed.begin() + static_cast<std::ptrdiff_t>(entry.pushed_end);
    const Index j = static_cast<Index>(entry.response) + (std::find(begin, end, place.first) - begin) * count;
    for (Index i = 0; i < 3; ++i) {
      double* to = response_.row(3 * static_cast<Index>(p) + i).data();
      const double* const row = row_of_motion(place, i, record_->response.data() + j, count, of_blocks_.data());
      for (const std::size_t k : strands_) to = put_motion(places[k], row, to);
    }
  }
}

void ResolverSweep::respond(const Entry& entry, bool second, Index length, double* A) {
  const auto strands = 3 * static_cast<Index>(strands_.size());
  multiply_rows(response_.rows(), strands, length, length, response_.data(), strands, A, nullptr, y_.data());
  for (std::size_t p = 0; p < pushing_.size(); ++p) {
    const std::size_t k = pushing_[p];
    const double* const y = y_.data() + 3 * static_cast<Index>(p) * length;
    double* const a = A + 3 * static_cast<Index>(k) * length;
    add_triples(length, -track(entry, k).Q, y, a, force(second, k, length).first);
  }
}

void ResolverSweep::add_length(const Entry& entry, SensitivityRows& z) {
  const Index length = z.length();
  const double h = entry.h, g = kGamma * h, rest = h - g;
  sum_.add(1.0, z.h());
  const auto add = [&](const Vector3d& by, const Rows3& rows) {
    for (Index i = 0; i < 3; ++i) sum_.add(by(i), rows[i]);
  };
  for (std::size_t k = 0; k < strands_.size(); ++k) {
    const StrandTrack& at = track(entry, k);
    const Phase& phase = at.phase;
    const Vector3d mean = (1.0 - kGamma) * at.a1 + kGamma * at.a2;
    const Vector3d way = phase.dp + 2.0 * kGamma * (2.0 * rest * at.a1 + g * at.a2);
    add(mean, z.dp(k));
    add(way, z.delta(k));
    if (at.is_free()) continue;
    add(-kGamma * (at.Kv + 2.0 * g * (phase.K * at.a1) + phase.B * at.a1), force(false, k, length));
    add(-(phase.K * way + phase.B * mean), force(true, k, length));
  }
  for (std::size_t d = 0; d < record_->drives.size(); ++d) {
    const FollowedDrives::Track& at = drive(entry, d);
    const double v1 = at.v + g * at.a1, by_v = -(at.drive.D + g * at.drive.K);
    sum_.add((1.0 - kGamma) * at.a1 + kGamma * at.a2, z.v(d));
    sum_.add(at.v + 2.0 * kGamma * (2.0 * rest * at.a1 + g * at.a2), z.x(d));
    sum_.add(kBehind * kGamma * (by_v * at.a1 - at.drive.K * v1), drive_force(true, d, length));
  }
  sum_.into(length, z.h());
}

void ResolverSweep::move_strand(const Entry& entry, std::size_t k, SensitivityRows& z) {
  const StrandTrack& at = track(entry, k);
  const Phase& phase = at.phase;
  const Index length = z.length();
  const double h = entry.h, g = kGamma * h;
  const Rows3 delta = z.delta(k), dp = z.dp(k), lam1 = force(false, k, length), lam2 = force(true, k, length);
  RowSum three(3 * length);
  if (at.is_free()) return three.add(1.0, dp.first).add(h, delta.first).into(dp.first);
  const bool linear = LawTangent::is_linear(phase);
  Matrix3d by_lam1 = -g * phase.K, by_lam2 = -h * phase.K;
  if (linear) {
    by_lam1 -= phase.B;
    by_lam2 -= phase.B;
  }
  sum_triples(length, 1.0, dp.first, h, delta.first, by_lam1, lam1.first, by_lam2, lam2.first, dp.first);
  if (linear) {
    add_both_triples(length, -phase.K, lam1.first, lam2.first, delta.first);
  } else {
    double* const lam = z.lam(k).first;
    three.add(1.0, lam).add(1.0, lam1.first).add(1.0, lam2.first).into(lam);
  }
  if (!linear || has_material(k)) add_linear_changes(entry, k, z);
}

void ResolverSweep::add_linear_changes(const Entry& entry, std::size_t k, SensitivityRows& z) {
  const StrandTrack& at = track(entry, k);
  const Phase& phase = at.phase;
  const Index length = z.length();
  const double h = entry.h, g = kGamma * h, rest = h - g;
  const Rows3 lam1 = force(false, k, length), lam2 = force(true, k, length);
  const Vector3d eta = g * at.a1;
  const LinearChange first = law(k).linear_change(phase, g * (phase.dp + eta), eta);
  const LinearChange second = law(k).linear_change(phase, at.way, rest * at.a1 + g * at.a2);
  constexpr Index kMost = 5 + kMaterialRows;
  Eigen::Matrix<double, kMost, 6, Eigen::RowMajor> by;
  std::array<double*, kMost> rows;
  Index count = 0;
  const auto subtract = [&](const auto& by1, const auto& by2, double* row) {
    by.row(count) << -by1.transpose(), -by2.transpose();
    rows[static_cast<std::size_t>(count++)] = row;
  };
  if (first.slides) {
    for (Index i = 0; i < 3; ++i) subtract(first.by_slide.col(i), second.by_slide.col(i), z.slide(k)[i]);
    subtract(first.by_turning, second.by_turning, z.turning(k));
    subtract(first.by_mu, second.by_mu, z.mu(k));
  }
  if (has_material(k)) {
    Eigen::Matrix<double, 3, kMaterialRows> start = Eigen::Matrix<double, 3, kMaterialRows>::Zero();
    if (!first.slides) start = law(k).force_by_material(phase);
    for (Index m = 0; m < kMaterialRows; ++m) {
      subtract(first.by_material.col(m) - start.col(m), second.by_material.col(m) - start.col(m), z.material(k, m));
    }
  }
  const std::array<const double*, 6> forces{lam1[0], lam1[1], lam1[2], lam2[0], lam2[1], lam2[2]};
  multiply_rows_at(count, 6, length, by.data(), 6, forces.data(), rows.data(), rows.data());
}

void ResolverSweep::begin_drives(const Entry& entry, bool second, SensitivityRows& z, double* A) {
  const Index length = z.length();
  const double h = entry.h, g = kGamma * h, rest = h - g;
  const std::size_t strands = strands_.size(), drives = record_->drives.size();
  const auto row = [&](std::size_t d) { return A + static_cast<Index>(3 * strands + d) * length; };
  RowSum sum(length);
  for (std::size_t d = 0; d < drives; ++d) {
    if (second) {
      sum.add(g, z.v(d)).add(g * g, z.x(d));
    } else {
      const FollowedDrives::Drive& law = record_->laws_of_drives[d];
      sum.add(rest, z.v(d)).add(2.0 * g * rest, z.x(d));
      sum.add(-kBehind * g * (law.D + g * law.K), drive_force(true, d, length));
    }
    sum.into(row(d));
  }
  for (std::size_t k = 0; k < strands; ++k) {
    if (track(entry, k).is_free()) continue;
    const Rows3 lam = force(second, k, length);
    for (std::size_t i = 0; i < 3; ++i) {
      double* const to = lam[static_cast<Index>(i)];
      sum_.add(1.0, to);
      for (std::size_t d = 0; d < drives; ++d) sum_.add(push_of(3 * k + i, d), row(d));
      sum_.into(length, to);
    }
  }
}

void ResolverSweep::end_drives(const Entry& entry, bool second, SensitivityRows& z, double* A) {
  const Index length = z.length();
  const std::size_t drives = record_->drives.size(), places = places_.size();
  RowSum sum(length);
  by_push_.resize(drives * static_cast<std::size_t>(length));
  for (std::size_t d = 0; d < drives; ++d) {
    for (std::size_t p = 0; p < places; ++p) sum_.add(push_of(p, d), A + static_cast<Index>(p) * length);
    sum_.into(length, by_push_.data() + static_cast<Index>(d) * length);
  }
  for (std::size_t d = 0; d < drives; ++d) {
    const FollowedDrives::Track& at = drive(entry, d);
    const double* const u = by_push_.data() + static_cast<Index>(d) * length;
    double* const a = A + static_cast<Index>(places - drives + d) * length;
    sum.add(1.0, a).add(at.drive.X, u).into(a);
    double* const f = drive_force(second, d, length);
    sum.add(1.0, f).add(1.0, u);
    if (!second) sum.add(1.0 - kBehind, drive_force(true, d, length));
    sum.into(f);
    double *const by_X = z.given(d, DriveTangent::kX), *const by_fitted = z.given(d, DriveTangent::kFitted);
    sum.add(1.0, by_X).add(second ? at.a2 : at.a1, u).into(by_X);
    sum.add(1.0, by_fitted).add(-1.0, u).into(by_fitted);
  }
}

void ResolverSweep::move_drives(const Entry& entry, SensitivityRows& z) {
  const Index length = z.length();
  const double h = entry.h, g = kGamma * h;
  RowSum sum(length);
  for (std::size_t d = 0; d < record_->drives.size(); ++d) {
    // By the forces at the start, and at the first stage, of which the second has a share.
    const FollowedDrives::Track& at = drive(entry, d);
    const FollowedDrives::Drive& law = at.drive;
    const double v1 = at.v + g * at.a1, x1 = at.x + g * v1;
    const double *const f = drive_force(false, d, length), *const f2 = drive_force(true, d, length);
    double *const x = z.x(d), *const v = z.v(d);
    sum.add(1.0, v).add(h, x).add(-kBehind * (law.D + g * law.K), f2).add(-law.D, f).into(v);
    sum.add(1.0, x).add(-kBehind * law.K, f2).add(-law.K, f).into(x);
    const auto add = [&](DriveTangent::Row which, double by_f, double by_f2) {
      double* const to = z.given(d, which);
      sum.add(1.0, to).add(by_f, f).add(kBehind * by_f2, f2).into(to);
    };
    add(DriveTangent::kForce, 1.0, 1.0);
    add(DriveTangent::kK, -at.x, -x1);
    add(DriveTangent::kD, -at.v, -v1);
  }
}

}  // namespace exposim
