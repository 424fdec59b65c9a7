// What a sweep through a resolver's record makes of its inputs.

#include <algorithm>

#include "exposim/expo/drive_tangent.hpp"
#include "exposim/expo/resolver_tangent.hpp"
#include "exposim/kernels/fours.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Kind = ResolverRecord::Kind;

namespace {

/// What is left of a force when its mean is taken away from it is none at this share of it.
constexpr double kRounding = 1e-11;

const double* row_of(const Tangent& x, Index i) { return x.data() + i * x.cols(); }

}  // namespace

void ResolverTangent::allot() {
  directions_ = inputs_->directions();
  const std::size_t count = tracks_->size(), drives = followed_ ? followed_->size() : 0;
  strands_.resize(count);
  drives_.resize(drives);
  numbers_.resize((15 * count + 4 * drives) * static_cast<std::size_t>(directions_));
  clear_numbers(static_cast<Index>(numbers_.size()), numbers_.data());
  scratch_.resize(static_cast<std::size_t>(3 * directions_));
  double* next = numbers_.data();
  const auto take = [&](Index rows) {
    double* const first = next;
    next += rows * directions_;
    return first;
  };
  for (Results& each : strands_) each = {take(3), take(3), take(3), take(3), take(3)};
  for (Results& each : drives_) each = {take(1), take(1), take(1), take(1), nullptr};
}

void ResolverTangent::differentiate(Wanted wanted, bool exact) {
  const bool all = wanted == Wanted::kAll;
  allot();
  moves_.clear();
  if (exact) {
    for (Index k = 0; k < static_cast<Index>(inputs_->Upsilon_by_q.size()); ++k) {
      if (inputs_->Upsilon_by_q[static_cast<std::size_t>(k)].size() > 0) moves_.push_back(k);
    }
  }
  const Whole once{&inputs_->ddp_bar, &inputs_->held, dt_, false};
  const Whole twice{&inputs_->ddp_bar2, &inputs_->held2, 0.5 * dt_ * dt_, true};
  for (std::size_t group = 0; group < groups_; ++group) {
    const ResolverRecord& record = records_[group];
    sweep_.sweep(record, laws_, *tracks_, has_material_, all);
    multiply(record, all ? once : twice);
    if (all) move(record, once);
    if (all || !record.drives.empty()) move(record, twice);
    if (all) stretch(record);
  }
  if (all) take_averages(once);
  take_averages(twice);
}

void ResolverTangent::stretch(const ResolverRecord& record) {
  RowSum sum(directions_);
  for (const std::size_t k : sweep_.strands()) {
    if (record.changed[k]) continue;
    const std::size_t strand = record.strands[k];
    const Results& of = strands_[strand];
    StrandTangent& d = basis_.start(has_material_[strand], false);
    laws_[strand].end((*tracks_)[strand].phase, d, d.stretch);
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 3; ++j) {
        const double by = d.stretch[i][StrandChange::kDelta + j];
        sum.add(by, of.moved + j * directions_);
        sum.add(by, row_of(inputs_->delta, 3 * static_cast<Index>(strand) + j));
      }
      sum.into(of.stretch + i * directions_);
    }
  }
}

void ResolverTangent::take_averages(const Whole& whole) {
  RowSum sum(directions_);
  const double share = 1.0 / whole.share;
  for (std::size_t k = 0; k < strands_.size(); ++k) {
    const Rows3 lam{whole.twice ? strands_[k].lam_bar2 : strands_[k].lam_bar, directions_};
    for (Index i = 0; i < 3; ++i) sum.add(share, lam[i]).into(lam[i]);
    const double* const dmu = has_material_[k] ? row_of(inputs_->materials[k], kRowMu) : nullptr;
    const Vector3d force = share * integrals_[k].col(whole.twice ? 1 : 0);
    laws_[k].project(force, (*tracks_)[k].phase.n, dmu, scratch_.data(), lam);
  }
  for (const Results& d : drives_) {
    double* const lam = whole.twice ? d.lam_bar2 : d.lam_bar;
    sum.add(share, lam).into(lam);
  }
}

void ResolverTangent::load_forces(const ResolverRecord& record, const Eigen::VectorXd& held) {
  const std::vector<std::size_t>&strands = sweep_.strands(), &places = sweep_.places();
  const std::size_t drives = record.drives.size(), count = places.size(), first_drive = count - drives;
  std::size_t stages = record.stages;
  for (const std::size_t k : strands) stages += record.held_back[k];
  forces_.assign((count + 1) * stages, 0.0);
  const auto force = [&](std::size_t p, std::size_t stage) -> double& { return forces_[p * stages + stage]; };
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

void ResolverTangent::multiply(const ResolverRecord& record, const Whole& whole) {
  load_forces(record, *whole.held);
  SensitivityRows& start = sweep_.start();
  const Index length = start.length();
  const std::vector<std::size_t>&strands = sweep_.strands(), &places = sweep_.places();
  const auto stages = static_cast<Index>(forces_.size() / (places.size() + 1));
  const Index each = static_cast<Index>(places.size()) * length;
  // Σ Fᵢ Aᵢ of the forces if Υ changes, and Σ Aᵢ.
  const auto rows = static_cast<Index>(moves_.empty() ? 1 : places.size() + 1);
  const double* const of = forces_.data() + static_cast<Index>(forces_.size()) - rows * stages;
  summed_.resize(static_cast<std::size_t>(rows * each));
  multiply_rows(rows, stages, each, each, of, stages, sweep_.stages(), nullptr, summed_.data());
  const double* const by_ddp_bar = summed_.data() + (rows - 1) * each;

  from_.clear();
  to_.clear();
  const auto add = [&](const double* by, const Tangent& x, Index row) {
    from_.push_back(by);
    to_.push_back(row_of(x, row));
  };
  for (std::size_t p = 0; p < places.size(); ++p) {
    add(by_ddp_bar + static_cast<Index>(p) * length, *whole.ddp_bar, record.places[places[p]]);
  }
  for (std::size_t k = 0; k < strands.size(); ++k) {
    const std::size_t strand = record.strands[strands[k]];
    const auto first = 3 * static_cast<Index>(strand);
    for (Index i = 0; i < 3; ++i) {
      add(start.delta(k)[i], inputs_->delta, first + i);
      add(start.dp(k)[i], inputs_->dp, first + i);
    }
    if (!has_material_[strand]) continue;
    for (Index m = 0; m < kMaterialRows; ++m) add(start.material(k, m), inputs_->materials[strand], m);
  }
  for (std::size_t d = 0; d < record.drives.size(); ++d) {
    const Tangent* const given = given_of(record.drives[d]);
    if (!given) continue;
    for (Index r = 0; r < DriveTangent::kRows; ++r) add(start.given(d, static_cast<DriveTangent::Row>(r)), *given, r);
  }
  if (!moves_.empty()) add_change_of_Upsilon(record);

  const auto inner = static_cast<Index>(from_.size());
  factors_.resize(static_cast<std::size_t>(inner));
  const auto put = [&](Index output, double* to) {
    for (Index i = 0; i < inner; ++i)
      factors_[static_cast<std::size_t>(i)] = from_[static_cast<std::size_t>(i)][output];
    sum_rows(directions_, inner, factors_.data(), to_.data(), to);
  };
  const auto put_forces = [&](const ResolverSweep::Outputs& outputs, Index i, const Results& d) {
    if (outputs.lam >= 0) put(outputs.lam + i, d.lam_bar + i * directions_);
    if (outputs.lam2 >= 0) put(outputs.lam2 + i, d.lam_bar2 + i * directions_);
  };
  for (std::size_t k = 0; k < strands.size(); ++k) {
    const ResolverSweep::Outputs& outputs = sweep_.of_strand(k);
    const Results& d = strands_[record.strands[strands[k]]];
    for (Index i = 0; i < 3; ++i) {
      put_forces(outputs, i, d);
      if (outputs.stretch[i] >= 0) put(outputs.stretch[i], d.stretch + i * directions_);
    }
  }
  for (std::size_t d = 0; d < record.drives.size(); ++d) put_forces(sweep_.of_drive(d), 0, drives_[record.drives[d]]);
}

void ResolverTangent::add_change_of_Upsilon(const ResolverRecord& record) {
  // Σ ∂Υ_ij/∂q_k over places i and forces j, times what was summed of these; Υ is symmetric.
  const std::vector<std::size_t>& places = sweep_.places();
  const auto size = static_cast<Index>(places.size()), count = static_cast<Index>(moves_.size());
  const Index inner = size * (size + 1) / 2, length = sweep_.start().length();
  paired_.resize(static_cast<std::size_t>(inner * length));
  RowSum sum(length);
  double* pair = paired_.data();
  for (Index j = 0; j < size; ++j) {
    for (Index i = 0; i <= j; ++i, pair += length) {
      sum.add(1.0, summed_.data() + (j * size + i) * length);
      if (i < j) sum.add(1.0, summed_.data() + (i * size + j) * length);
      sum.into(pair);
    }
  }
  Upsilon_by_q_.resize(static_cast<std::size_t>(inner * count));
  by_q_.resize(static_cast<std::size_t>(count * length));
  double* to = Upsilon_by_q_.data();
  for (const Index k : moves_) {
    const MatrixXd& Upsilon = inputs_->Upsilon_by_q[static_cast<std::size_t>(k)];
    for (std::size_t j = 0; j < places.size(); ++j) {
      const double* const column = Upsilon.data() + record.places[places[j]] * Upsilon.rows();
      for (std::size_t i = 0; i <= j; ++i) *to++ = column[record.places[places[i]]];
    }
  }
  multiply_rows(count, inner, length, length, Upsilon_by_q_.data(), inner, paired_.data(), nullptr, by_q_.data());
  for (Index k = 0; k < count; ++k) {
    from_.push_back(by_q_.data() + k * length);
    to_.push_back(row_of(inputs_->moves(), moves_[static_cast<std::size_t>(k)]));
  }
}

const Tangent* ResolverTangent::given_of(std::size_t drive) const {
  const bool changes = drive < inputs_->drives.size() && inputs_->drives[drive].rows() > 0;
  return changes ? &inputs_->drives[drive] : nullptr;
}

double ResolverTangent::along_drive(const FollowedDrives::Track& track, bool twice) const {
  return twice ? track.x - dt_ * track.drive.v : track.v - track.drive.v;
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
  return off > kRounding * most;
}

void ResolverTangent::move(const ResolverRecord& record, const Whole& whole) {
  // Integrals of daᵢ, with dλᵢ and dfᵢ what they are over the step.
  const std::size_t strands = record.strands.size(), drives = record.drives.size();
  const Index length = directions_, count = static_cast<Index>(record.places.size());
  const auto moved = [&](std::size_t p) {
    if (p >= 3 * strands) {
      const Results& d = drives_[record.drives[p - 3 * strands]];
      return whole.twice ? d.moved : d.velocity;
    }
    const Results& d = strands_[record.strands[p / 3]];
    return (whole.twice ? d.moved : d.velocity) + static_cast<Index>(p % 3) * length;
  };
  const auto force = [&](std::size_t k) {
    const Results& d = strands_[record.strands[k]];
    return Rows3{record.acts[k] ? (whole.twice ? d.lam_bar2 : d.lam_bar) : nullptr, length};
  };
  // c̄
  const bool changes = !moves_.empty() && beside_held(record, whole);
  if (changes) {
    by_q_.assign(static_cast<std::size_t>(count) * moves_.size(), 0.0);
    for (std::size_t k = 0; k < moves_.size(); ++k) {
      const MatrixXd& Upsilon = inputs_->Upsilon_by_q[static_cast<std::size_t>(moves_[k])];
      for (std::size_t i = 0; i < record.places.size(); ++i) {
        double& to = by_q_[i * moves_.size() + k];
        for (std::size_t j = 0; j < record.places.size(); ++j)
          to += Upsilon(record.places[i], record.places[j]) * beside_[j];
      }
    }
  }
  for (std::size_t p = 0; p < record.places.size(); ++p) {
    sum_.add(whole.share, row_of(*whole.ddp_bar, record.places[p]));
    for (std::size_t k = 0; changes && k < moves_.size(); ++k) {
      sum_.add(by_q_[p * moves_.size() + k], row_of(inputs_->moves(), moves_[k]));
    }
    sum_.into(length, moved(p));
  }
  // Υ′ of what pushes besides
  pushing_.resize(drives * static_cast<std::size_t>(length));
  for (std::size_t d = 0; d < drives; ++d) {
    const FollowedDrives::Track track = followed_->track(record.drives[d]);
    const Results& of = drives_[record.drives[d]];
    sum_.add(track.drive.X, moved(3 * strands + d)).add(1.0, whole.twice ? of.lam_bar2 : of.lam_bar);
    if (const Tangent* const given = given_of(record.drives[d])) {
      sum_.add(along_drive(track, whole.twice), row_of(*given, DriveTangent::kX));
      sum_.add(-whole.share, row_of(*given, DriveTangent::kFitted));
    }
    sum_.into(length, pushing_.data() + static_cast<Index>(d) * length);
  }
  const std::vector<const double*>& wrench = blocks_.gather(record, length, force);
  motion_.resize(static_cast<std::size_t>(record.coordinates * length));
  for (Index i = 0; i < record.coordinates; ++i) {
    const double* const Upsilon = record.Upsilon.data() + i * record.coordinates;
    sum_rows(length, record.coordinates, Upsilon, wrench.data(), motion_.data() + i * length);
  }
  const double by_dp = whole.twice ? dt_ : 1.0;
  for (std::size_t p = 0; p < record.places.size(); ++p) {
    sum_.add(1.0, moved(p));
    for (std::size_t d = 0; d < drives; ++d) {
      sum_.add(record.push_of(p, d), pushing_.data() + static_cast<Index>(d) * length);
    }
    if (p < 3 * strands) {
      if (p % 3 == 0) by_forces_ = blocks_.motion(record, p / 3, motion_.data(), length);
      const auto i = static_cast<Index>(p % 3);
      sum_.add(1.0, by_forces_[i]).add(by_dp, row_of(inputs_->dp, 3 * static_cast<Index>(record.strands[p / 3]) + i));
    } else {
      const std::size_t d = p - 3 * strands;
      for (std::size_t k = 0; k < strands; ++k) {
        for (std::size_t i = 0; record.acts[k] && i < 3; ++i) {
          sum_.add(record.push_of(3 * k + i, d), force(k)[static_cast<Index>(i)]);
        }
      }
      if (const Tangent* const given = given_of(record.drives[d])) sum_.add(by_dp, row_of(*given, DriveTangent::kV));
    }
    sum_.into(length, moved(p));
  }
}

}  // namespace exposim
