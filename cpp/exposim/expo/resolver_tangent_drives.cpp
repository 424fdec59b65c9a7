// Derivatives of drives that are followed beside the strands of a resolver.

#include <algorithm>

#include "exposim/expo/micro_step.hpp"
#include "exposim/expo/resolver_tangent.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Vector3d;
using Eigen::VectorXd;

void ResolverTangent::allot_drives() {
  constexpr Index kOwn = 8;
  const std::size_t count = followed_ ? followed_->size() : 0;
  drives_.resize(count);
  rows_of_drives_.assign(count * static_cast<std::size_t>((kOwn + DriveTangent::kRows) * length_), 0.0);
  double* next = rows_of_drives_.data();
  RowSum sum(length_);
  for (std::size_t d = 0; d < count; ++d) {
    DriveTangent& tangent = drives_[d];
    for (double** const row : {&tangent.x, &tangent.v, &tangent.force, &tangent.force2, &tangent.way, &tangent.v_end,
                               &tangent.lam_bar, &tangent.lam_bar2}) {
      *row = next;
      next += length_;
    }
    tangent.length = length_;
    tangent.given = nullptr;
    const bool changes = d < inputs_->drives.size() && inputs_->drives[d].rows() > 0;
    if (!changes) continue;
    load_rows(inputs_->drives[d], 0, DriveTangent::kRows, length_, next);
    tangent.given = next;
    next += DriveTangent::kRows * length_;
    std::copy_n(tangent.row(DriveTangent::kV), length_, tangent.v);
    const FollowedDrives::Drive& drive = followed_->drive(d);
    sum.add(1.0, tangent.row(DriveTangent::kForce)).add(-drive.v, tangent.row(DriveTangent::kD));
    sum.add(-drive.D, tangent.v).into(tangent.force);
  }
}

void ResolverTangent::enter_drives() {
  const std::vector<Index>& dofs = inputs_->dofs;
  for (std::size_t d = 0; d < driven_; ++d) {
    const auto found = std::find(dofs.begin(), dofs.end(), followed_->drive(followed_->group()[d]).dof);
    places_.push_back(3 * static_cast<Index>(tracks_->size()) + (found - dofs.begin()));
  }
  push_.resize(places_.size() * driven_);
  pushing_.assign(driven_ * static_cast<std::size_t>(length_), 0.0);
  const Index begin = followed_->drives_begin();
  for (std::size_t d = 0; d < driven_; ++d) {
    const Eigen::Map<const VectorXd> column(followed_->column(d), begin + static_cast<Index>(driven_));
    for (std::size_t k = 0; k < group_.size(); ++k) {
      const Vector3d a = system_->motion_of(*group_[k]->row, first_of_[k], column);
      for (std::size_t i = 0; i < 3; ++i) push_[(3 * k + i) * driven_ + d] = a(static_cast<Index>(i));
    }
    for (std::size_t e = 0; e < driven_; ++e) {
      push_[(3 * group_.size() + e) * driven_ + d] = column(begin + static_cast<Index>(e));
    }
  }
}

void ResolverTangent::push_by_drives(bool second, double* c) {
  const auto strands = 3 * static_cast<Index>(group_.size()), count = static_cast<Index>(driven_);
  RowSum sum(length_);
  for (std::size_t d = 0; d < driven_; ++d) {
    const FollowedDrives::Track track = drive(d);
    const DriveTangent& tangent = of_drive(d);
    sum.add(track.drive.X, c + (strands + static_cast<Index>(d)) * length_);
    sum.add(1.0, second ? tangent.force2 : tangent.force);
    if (tangent.given) {
      sum.add(second ? track.a2 : track.a1, tangent.row(DriveTangent::kX));
      sum.add(-1.0, tangent.row(DriveTangent::kFitted));
    }
    sum.into(pushing_.data() + static_cast<Index>(d) * length_);
  }
  multiply_rows(strands + count, count, length_, length_, push_.data(), count, pushing_.data(), c, c);
}

void ResolverTangent::reply_to_strands(bool second, double* a) {
  const std::size_t strands = 3 * group_.size();
  for (std::size_t d = 0; d < driven_; ++d) {
    double* const row = a + static_cast<Index>(strands + d) * length_;
    for (std::size_t k = 0; k < group_.size(); ++k) {
      if (group_[k]->is_free()) continue;
      const StrandTangent& tangent = strands_[index_of(*group_[k])];
      const Rows3& lam = second ? tangent.lam2 : tangent.lam1;
      RowSum sum(length_);
      sum.add(1.0, row);
      for (std::size_t i = 0; i < 3; ++i) sum.add(push_[(3 * k + i) * driven_ + d], lam[static_cast<Index>(i)]);
      sum.into(row);
    }
  }
}

void ResolverTangent::force_at(std::size_t d, double x, double v, RowSum& sum) {
  const DriveTangent& tangent = of_drive(d);
  if (!tangent.given) return;
  sum.add(1.0, tangent.row(DriveTangent::kForce));
  sum.add(-x, tangent.row(DriveTangent::kK)).add(-v, tangent.row(DriveTangent::kD));
}

void ResolverTangent::end_first_stage(double h) {
  reply_to_strands(false, a1_.data());
  const double g = kGamma * h;
  RowSum sum(length_);
  for (std::size_t d = 0; d < driven_; ++d) {
    const FollowedDrives::Track track = drive(d);
    const DriveTangent& tangent = of_drive(d);
    const double* const a1 = a1_.data() + static_cast<Index>(3 * group_.size() + d) * length_;
    const double v1 = track.v + g * track.a1, by_v = -(track.drive.D + g * track.drive.K);
    force_at(d, track.x + g * v1, v1, sum);
    sum.add(-track.drive.K, tangent.x).add(by_v, tangent.v).add(by_v * g, a1);
    if (times_move_) sum.add(kGamma * (by_v * track.a1 - track.drive.K * v1), dh_.data());
    sum.into(tangent.force2);  // of the first stage
    sum.add(1.0 - kBehind, tangent.force).add(kBehind, tangent.force2).into(tangent.force2);
  }
}

void ResolverTangent::end_second_stage(double h) {
  reply_to_strands(true, a2_.data());
  const double g = kGamma * h, rest = h - g;
  RowSum sum(length_);
  for (std::size_t d = 0; d < driven_; ++d) {
    const FollowedDrives::Track track = drive(d);
    const DriveTangent& tangent = of_drive(d);
    const Index at = static_cast<Index>(3 * group_.size() + d) * length_;
    const double *const a1 = a1_.data() + at, *const a2 = a2_.data() + at;
    sum.add(1.0, tangent.v).add(rest, a1).add(g, a2);
    if (times_move_) sum.add((1.0 - kGamma) * track.a1 + kGamma * track.a2, dh_.data());
    sum.into(tangent.v_end);
    sum.add(h, tangent.v).add(2.0 * g * rest, a1).add(g * g, a2);
    if (times_move_) sum.add(track.v + 2.0 * kGamma * (2.0 * rest * track.a1 + g * track.a2), dh_.data());
    sum.into(tangent.way);
  }
}

void ResolverTangent::accept_drives(double h) {
  const double g = kGamma, one = 1.0 - g;
  RowSum sum(length_);
  for (std::size_t d = 0; d < driven_; ++d) {
    const FollowedDrives::Track track = drive(d);
    const DriveTangent& tangent = of_drive(d);
    sum.add(1.0, tangent.lam_bar2).add(h, tangent.lam_bar);
    sum.add(2.0 * h * h * g * one, tangent.force).add(h * h * g * g, tangent.force2);
    if (times_move_) {
      sum.add(track.lam_bar + 2.0 * h * g * (2.0 * one * track.force + g * track.force2), dh_.data());
    }
    sum.into(tangent.lam_bar2);
    sum.add(1.0, tangent.lam_bar).add(h * one, tangent.force).add(h * g, tangent.force2);
    if (times_move_) sum.add(one * track.force + g * track.force2, dh_.data());
    sum.into(tangent.lam_bar);
    sum.add(1.0, tangent.x).add(1.0, tangent.way).into(tangent.x);
    std::copy_n(tangent.v_end, length_, tangent.v);
    force_at(d, track.x + track.way, track.v_end, sum);
    sum.add(-track.drive.K, tangent.x).add(-track.drive.D, tangent.v).into(tangent.force);
  }
}

}  // namespace exposim
