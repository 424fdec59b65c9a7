// Derivatives of what a resolver does in a micro-step.

#include <algorithm>
#include <utility>

#include "exposim/expo/micro_step.hpp"
#include "exposim/expo/resolver_tangent.hpp"
#include "exposim/kernels/fours.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::Vector3d;

void ResolverTangent::pack_Upsilon() {
  const auto rows = static_cast<Index>(places_.size()), by = static_cast<Index>(coordinates_.size());
  const Index each = padded(rows * by);
  Upsilon_by_q_.assign(static_cast<std::size_t>(rows * each), 0.0);
  by_q_.assign(static_cast<std::size_t>(each), 0.0);
  for (Index k = 0; k < by; ++k) {
    const Index q = coordinates_[static_cast<std::size_t>(k)];
    const Eigen::MatrixXd& Upsilon = inputs_->Upsilon_by_q[static_cast<std::size_t>(q)];
    for (Index j = 0; j < rows; ++j) {
      const double* const column = Upsilon.data() + places_[static_cast<std::size_t>(j)] * Upsilon.rows();
      double* to = Upsilon_by_q_.data() + j * each + k;
      for (const Index place : places_) {
        *to = column[place];
        to += by;
      }
    }
  }
}

void ResolverTangent::contract(const std::vector<double>& forces) {
  const auto each = static_cast<Index>(by_q_.size());
  factors_.clear();
  pointers_.clear();
  for (std::size_t j = 0; j < forces.size(); ++j) {
    if (forces[j] == 0.0) continue;
    factors_.push_back(forces[j]);
    pointers_.push_back(Upsilon_by_q_.data() + static_cast<Index>(j) * each);
  }
  sum_rows(each, static_cast<Index>(factors_.size()), factors_.data(), pointers_.data(), by_q_.data());
}

void ResolverTangent::find_compliance(std::size_t k) {
  const auto rows = static_cast<Index>(places_.size()), by = static_cast<Index>(coordinates_.size());
  const std::size_t first = 3 * k;
  const Vector3d& n = group_[k]->phase.n;
  forces_.assign(places_.size(), 0.0);
  for (std::size_t i = 0; i < 3; ++i) forces_[first + i] = n(static_cast<Index>(i));
  for (std::size_t d = 0; d < driven_; ++d) {
    double a = 0.0;
    for (std::size_t i = 0; i < 3; ++i) a += push_[(first + i) * driven_ + d] * forces_[first + i];
    forces_[3 * group_.size() + d] = drive(d).drive.X * a;
    replies_.push_back(a);
  }
  contract(forces_);
  multiply_rows(rows, by, moving_, length_, by_q_.data(), by, dq_.data(), nullptr, a1_.data());
  for (std::size_t d = 0; d < driven_; ++d) {
    const Index at = static_cast<Index>(3 * group_.size() + d) * length_;
    RowSum sum(length_);
    sum.add(drive(d).drive.X, a1_.data() + at);
    const DriveTangent& tangent = of_drive(d);
    if (tangent.given) sum.add(replies_[d], tangent.row(DriveTangent::kX));
    sum.into(pushing_.data() + static_cast<Index>(d) * length_);
  }
  replies_.clear();
  const Index at = static_cast<Index>(first);
  multiply_rows(3, static_cast<Index>(driven_), length_, length_, push_.data() + at * static_cast<Index>(driven_),
                static_cast<Index>(driven_), pushing_.data(), a1_.data() + at * length_,
                strands_[index_of(*group_[k])].compliance.first);
}

void ResolverTangent::load_response(const SprungBlocks& blocks) {
  pushed_.clear();
  for (std::size_t k = 0; k < group_.size(); ++k) {
    if (group_[k]->is_free()) continue;
    const Index size = system_->blocks()[group_[k]->row->block].size;
    if (std::find(pushed_.begin(), pushed_.end(), first_of_[k]) != pushed_.end()) continue;
    for (Index i = 0; i < size; ++i) pushed_.push_back(first_of_[k] + i);
  }
  response_.resize(static_cast<std::size_t>(blocks.size()) * pushed_.size());
  double* to = response_.data();
  for (Index i = 0; i < blocks.size(); ++i) {
    for (const Index j : pushed_) *to++ = blocks.response(i, j);
  }
}

void ResolverTangent::free_accelerations(bool second, double* c) {
  const auto rows = static_cast<Index>(places_.size()), by = static_cast<Index>(coordinates_.size());
  forces_.assign(places_.size(), 0.0);
  for (std::size_t k = 0; k < group_.size(); ++k) {
    if (group_[k]->is_free()) continue;
    const Vector3d& f = second ? group_[k]->lam2 : group_[k]->lam1;
    std::copy_n(f.data(), 3, forces_.data() + 3 * k);
  }
  for (std::size_t d = 0; d < driven_; ++d) {
    const FollowedDrives::Track track = drive(d);
    const double a = second ? track.a2 : track.a1, force = second ? track.force2 : track.force;
    forces_[3 * group_.size() + d] = force + track.drive.X * a - track.drive.fitted;
  }
  contract(forces_);
  multiply_rows(rows, by, moving_, length_, by_q_.data(), by, dq_.data(), ddp_bar_.data(), c);
  if (driven_ > 0) push_by_drives(second, c);
}

void ResolverTangent::first_forces(double h, const StrandTrack& track, const StrandTangent& d) const {
  const double g = kGamma * h;
  const Phase& phase = track.phase;
  const LawTangent& law = laws_[index_of(track)];
  const Vector3d eta = g * track.a1;
  const LinearChange change = law.linear_change(phase, g * (phase.dp + eta), eta);
  const Vector3d by_h = -kGamma * (track.Kv + 2.0 * g * (phase.K * track.a1) + phase.B * track.a1);
  RowSum sum(length_);
  for (Index i = 0; i < 3; ++i) {
    sum.add(1.0, d.lam[i]).add(-g * phase.K.row(i), d.dp).add(-track.Q.row(i), d.a1);
    change.add_to(sum, i, -1.0, d);
    if (times_move_) sum.add(by_h(i), dh_.data());
    sum.into(d.lam1[i]);
  }
}

void ResolverTangent::second_forces(double h, const StrandTrack& track, const StrandTangent& d) const {
  const double g = kGamma * h, rest = h - g;
  const Phase& phase = track.phase;
  const LawTangent& law = laws_[index_of(track)];
  const LinearChange change = law.linear_change(phase, track.way, rest * track.a1 + g * track.a2);
  const Matrix3d by_a1 = -2.0 * g * rest * phase.K - rest * phase.B;
  const Vector3d mean = (1.0 - kGamma) * track.a1 + kGamma * track.a2;
  const Vector3d way_by_h = phase.dp + 2.0 * kGamma * (2.0 * rest * track.a1 + g * track.a2);
  const Vector3d by_h = -(phase.K * way_by_h + phase.B * mean);
  RowSum sum(length_);
  for (Index i = 0; i < 3; ++i) {
    sum.add(1.0, d.lam[i]).add(-h * phase.K.row(i), d.dp).add(by_a1.row(i), d.a1).add(-track.Q.row(i), d.a2);
    change.add_to(sum, i, -1.0, d);
    if (times_move_) sum.add(by_h(i), dh_.data());
    sum.into(d.lam2[i]);
  }
}

void ResolverTangent::respond(bool second) {
  RowSum sum(length_);
  pointers_.clear();
  const auto forces_of = [&](std::size_t k) {
    const StrandTangent& d = strands_[index_of(*group_[k])];
    return second ? d.lam2 : d.lam1;
  };
  const auto wrench = [&](Index coordinate) { return wrenches_.data() + coordinate * length_; };
  for (const Index coordinate : pushed_) {
    const double* row = wrench(coordinate);
    for (std::size_t k = 0; k < group_.size(); ++k) {
      const Index size = system_->blocks()[group_[k]->row->block].size, i = coordinate - first_of_[k];
      if (i < 0 || i >= size) continue;
      if (size == 6) {
        std::fill_n(wrench(coordinate), length_, 0.0);
      } else {
        row = forces_of(k)[i];
      }
      break;
    }
    pointers_.push_back(row);
  }
  for (std::size_t k = 0; k < group_.size(); ++k) {
    const StiffSystem::Row& row = *group_[k]->row;
    if (group_[k]->is_free() || system_->blocks()[row.block].size < 6) continue;
    const Rows3 f = forces_of(k);
    const bool angular = row.rows == Rows::kAngular;
    for (Index i = 0; i < 3; ++i) {
      double* const along = wrench(first_of_[k] + i + (angular ? 3 : 0));
      sum.add(1.0, along).add(1.0, f[i]).into(along);
      if (angular) continue;
      const Index j = (i + 1) % 3, l = (i + 2) % 3;
      double* const about = wrench(first_of_[k] + 3 + i);
      sum.add(1.0, about).add(row.arm(j), f[l]).add(-row.arm(l), f[j]).into(about);
    }
  }
  const auto count = static_cast<Index>(pushed_.size()), rows = static_cast<Index>(alpha_.size()) / length_;
  for (Index i = 0; i < rows; ++i) {
    sum_rows(length_, count, response_.data() + i * count, pointers_.data(), alpha_.data() + i * length_);
  }
}

Rows3 ResolverTangent::motion_of(const StrandTrack& track, Index first) {
  const StiffSystem::Row& row = *track.row;
  const Index size = system_->blocks()[row.block].size;
  double* const alpha = alpha_.data() + first * length_;
  if (size == 3) return {alpha, length_};
  if (size == 6 && row.rows == Rows::kAngular) return {alpha + 3 * length_, length_};
  const Rows3 motion{motion_.data(), length_};
  if (size == 1) {
    std::copy_n(alpha, length_, motion[0]);
    std::fill_n(motion[1], 2 * length_, 0.0);
    return motion;
  }
  RowSum sum(length_);
  const Rows3 turn{alpha + 3 * length_, length_};
  for (Index i = 0; i < 3; ++i) {
    const Index j = (i + 1) % 3, l = (i + 2) % 3;
    sum.add(1.0, alpha + i * length_).add(row.arm(l), turn[j]).add(-row.arm(j), turn[l]).into(motion[i]);
  }
  return motion;
}

void ResolverTangent::take_response(bool second) {
  RowSum sum(length_);
  for (std::size_t k = 0; k < group_.size(); ++k) {
    const StrandTrack& track = *group_[k];
    const StrandTangent& d = strands_[index_of(track)];
    const Rows3 alpha = motion_of(track, first_of_[k]), &a = second ? d.a2 : d.a1, &lam = second ? d.lam2 : d.lam1;
    for (Index i = 0; i < 3; ++i) {
      sum.add(1.0, a[i]).add(1.0, alpha[i]).into(a[i]);
      if (!track.is_free()) sum.add(1.0, lam[i]).add(-track.Q.row(i), alpha).into(lam[i]);
    }
  }
}

void ResolverTangent::differentiate_stages(double h, const SprungBlocks& blocks) {
  load_response(blocks);
  free_accelerations(false, a1_.data());
  for (const StrandTrack* const track : group_) {
    if (!track->is_free()) first_forces(h, *track, strands_[index_of(*track)]);
  }
  respond(false);
  take_response(false);
  if (driven_ > 0) end_first_stage(h);
  free_accelerations(true, a2_.data());
  for (const StrandTrack* const track : group_) {
    if (!track->is_free()) second_forces(h, *track, strands_[index_of(*track)]);
  }
  respond(true);
  take_response(true);
  if (driven_ > 0) end_second_stage(h);
}

void ResolverTangent::end_of(const StrandTrack& track, double h) {
  const double g = kGamma * h, rest = h - g;
  const StrandTangent& d = strands_[index_of(track)];
  const Vector3d mean = (1.0 - kGamma) * track.a1 + kGamma * track.a2;
  const Vector3d way_by_h = track.phase.dp + 2.0 * kGamma * (2.0 * rest * track.a1 + g * track.a2);
  RowSum sum(length_);
  for (Index i = 0; i < 3; ++i) {
    sum.add(1.0, d.dp[i]).add(rest, d.a1[i]).add(g, d.a2[i]);
    if (times_move_) sum.add(mean(i), dh_.data());
    sum.into(d.dp_end[i]);
    sum.add(h, d.dp[i]).add(2.0 * g * rest, d.a1[i]).add(g * g, d.a2[i]);
    if (times_move_) sum.add(way_by_h(i), dh_.data());
    sum.into(d.way[i]);
  }
}

void ResolverTangent::accept(double h, const SprungBlocks& blocks) {
  differentiate_stages(h, blocks);
  // See add_to_integrals().
  const double g = kGamma, one = 1.0 - g;
  RowSum sum(length_);
  for (const StrandTrack* const each : group_) {
    const StrandTrack& track = *each;
    StrandTangent& d = strands_[index_of(track)];
    const bool pushed = !track.is_free();
    end_of(track, h);
    const Vector3d once = one * track.lam1 + g * track.lam2;
    const Vector3d twice = track.lam_bar + 2.0 * h * g * (2.0 * one * track.lam1 + g * track.lam2);
    for (Index i = 0; i < 3; ++i) {
      sum.add(1.0, d.lam_bar2[i]).add(h, d.lam_bar[i]);
      if (pushed) sum.add(2.0 * h * h * g * one, d.lam1[i]).add(h * h * g * g, d.lam2[i]);
      if (times_move_) sum.add(twice(i), dh_.data());
      sum.into(d.lam_bar2[i]);
      if (pushed) {
        sum.add(1.0, d.lam_bar[i]).add(h * one, d.lam1[i]).add(h * g, d.lam2[i]);
        if (times_move_) sum.add(once(i), dh_.data());
        sum.into(d.lam_bar[i]);
      }
      sum.add(1.0, d.delta[i]).add(1.0, d.way[i]).into(d.delta[i]);
      sum.add(1.0, d.moved[i]).add(1.0, d.way[i]).into(d.moved[i]);
    }
    std::swap(d.dp, d.dp_end);
    d.moved_on = true;
  }
  if (driven_ > 0) accept_drives(h);
  if (times_move_) sum.add(1.0, dleft_.data()).add(-1.0, dh_.data()).into(dleft_.data());
}

}  // namespace exposim
