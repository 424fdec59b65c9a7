// What a sweep through a resolver's record makes of its inputs.

#include <algorithm>

#include "exposim/expo/drive_tangent.hpp"
#include "exposim/expo/resolver_tangent.hpp"
#include "exposim/kernels/fours.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Vector3d;

namespace {

const double* row_of(const Tangent& x, Index i) { return x.data() + i * x.cols(); }

}  // namespace

void ResolverTangent::allot() {
  directions_ = inputs_->directions();
  const std::size_t count = tracks_->size(), drives = followed_ ? followed_->size() : 0;
  strands_.resize(count);
  drives_.resize(drives);
  coordinates_ = inputs_->coordinates.of.empty() ? 3 * static_cast<Index>(count) : inputs_->coordinates.count;
  // All that nothing is known of share zeros.
  const auto asked = [&](std::size_t k) { return inputs_->all_strands || acts_[k]; };
  std::size_t apart = 1;
  for (std::size_t k = 0; k < count; ++k) apart += asked(k);
  numbers_.resize((15 * apart + 4 * drives + 2 * static_cast<std::size_t>(coordinates_)) *
                  static_cast<std::size_t>(directions_));
  clear_numbers(static_cast<Index>(numbers_.size()), numbers_.data());
  scratch_.resize(static_cast<std::size_t>(3 * directions_));
  double* next = numbers_.data();
  const auto take = [&](Index rows) {
    double* const first = next;
    next += rows * directions_;
    return first;
  };
  for (double** const each : {&lam_bar_, &lam_bar2_}) *each = take(coordinates_);
  const auto take_strand = [&] { return Results{take(3), take(3), take(3), take(3), take(3)}; };
  const Results none = take_strand();
  for (std::size_t k = 0; k < count; ++k) strands_[k] = asked(k) ? take_strand() : none;
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
  const bool apart = inputs_->ddp_bar2.rows() > 0;
  const Whole twice{apart ? &inputs_->ddp_bar2 : &inputs_->ddp_bar, apart ? &inputs_->held2 : &inputs_->held,
                    0.5 * dt_ * dt_, true};
  for (std::size_t group = 0; group < groups_; ++group) {
    ResolverRecord& record = records_[group];
    ask(record);
    sweep_.sweep(record, laws_, *tracks_, has_material_, all);
    multiply(record, all ? once : twice);
    if (all) move(record, once);
    if (all || !record.drives.empty()) move(record, twice);
    if (all) stretch(record);
  }
  if (all) take_averages(once);
  take_averages(twice);
}

void ResolverTangent::ask(ResolverRecord& record) {
  record.asked.clear();
  std::vector<Index>& places = record.asked_places;
  places.clear();
  for (const std::size_t strand : record.strands) {
    StrandCoordinates::Place place{3 * static_cast<Index>(strand), 3, false, Vector3d::Zero()};
    if (!inputs_->coordinates.of.empty()) place = inputs_->coordinates.of[strand];
    const auto found = std::find(places.begin(), places.end(), place.first);
    const bool known = found != places.end() && place.size > 0;
    for (Index i = 0; !known && i < place.size; ++i) places.push_back(place.first + i);
    place.first = known ? found - places.begin() : record.asked.count;
    record.asked.count = static_cast<Index>(places.size());
    record.asked.of.push_back(place);
  }
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
  double* const all = whole.twice ? lam_bar2_ : lam_bar_;
  const double share = 1.0 / whole.share;
  RowSum(coordinates_ * directions_).add(share, all).into(all);
  for (std::size_t group = 0; group < groups_; ++group) {
    const ResolverRecord& record = records_[group];
    for (std::size_t k = 0; k < record.strands.size(); ++k) {
      if (record.acts[k] && (whole.twice ? record.cut2[k] : record.cut[k])) project(record, k, whole);
    }
  }
  RowSum sum(directions_);
  for (const Results& d : drives_) {
    double* const lam = whole.twice ? d.lam_bar2 : d.lam_bar;
    sum.add(share, lam).into(lam);
  }
}

void ResolverTangent::project(const ResolverRecord& record, std::size_t k, const Whole& whole) {
  const std::size_t strand = record.strands[k];
  const double share = 1.0 / whole.share;
  const Rows3 lam{whole.twice ? strands_[strand].lam_bar2 : strands_[strand].lam_bar, directions_};
  const auto add_to_all = [&](double by) {
    RowSum sum(directions_);
    for (Index i = 0; i < 3; ++i) {
      record.asked.of[k].for_each(i, [&](Index c, double factor) {
        const Index place = record.asked_places[static_cast<std::size_t>(c)];
        double* const to = (whole.twice ? lam_bar2_ : lam_bar_) + place * directions_;
        sum.add(1.0, to).add(by * factor, lam[i]).into(to);
      });
    }
  };
  RowSum(3 * directions_).add(share, lam.first).into(lam.first);
  add_to_all(-1.0);
  const double* const dmu = has_material_[strand] ? row_of(inputs_->materials[strand], kRowMu) : nullptr;
  const Vector3d force = share * integrals_[strand].col(whole.twice ? 1 : 0);
  laws_[strand].project(force, (*tracks_)[strand].phase.n, dmu, scratch_.data(), lam);
  add_to_all(1.0);
}

void ResolverTangent::multiply(const ResolverRecord& record, const Whole& whole) {
  sum_up_stages(record, *whole.held);
  SensitivityRows& start = sweep_.start();
  const Index length = start.length();
  const std::vector<std::size_t>&strands = sweep_.strands(), &places = sweep_.places();

  from_.clear();
  to_.clear();
  const auto add = [&](const double* by, const Tangent& x, Index row) {
    from_.push_back(by);
    to_.push_back(row_of(x, row));
  };
  for (std::size_t p = 0; p < places.size(); ++p) {
    add(summed_.data() + static_cast<Index>(p) * length, *whole.ddp_bar, record.places[places[p]]);
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
  if (!moves_.empty()) {
    add_change_of_Upsilon(record);
    add_turning_arms(record);
  }

  const auto inner = static_cast<Index>(from_.size());
  factors_.resize(static_cast<std::size_t>(inner));
  const auto put = [&](Index output, double* to) {
    for (Index i = 0; i < inner; ++i)
      factors_[static_cast<std::size_t>(i)] = from_[static_cast<std::size_t>(i)][output];
    sum_rows(directions_, inner, factors_.data(), to_.data(), to);
  };
  const auto put_forces = [&](const ResolverSweep::Forces& of, Index rows, double* lam, double* lam2) {
    for (Index i = 0; i < rows; ++i) {
      if (of.lam >= 0) put(of.lam + i, lam + i * directions_);
      if (of.lam2 >= 0) put(of.lam2 + i, lam2 + i * directions_);
    }
  };
  for (std::size_t c = 0; c < record.asked_places.size(); ++c) {
    const Index at = record.asked_places[c] * directions_;
    put_forces(sweep_.of_coordinate(c), 1, lam_bar_ + at, lam_bar2_ + at);
  }
  for (std::size_t k = 0; k < strands.size(); ++k) {
    const ResolverSweep::Outputs& outputs = sweep_.of_strand(k);
    const Results& d = strands_[record.strands[strands[k]]];
    put_forces(outputs.cut, 3, d.lam_bar, d.lam_bar2);
    for (Index i = 0; i < 3; ++i) {
      if (outputs.stretch[i] >= 0) put(outputs.stretch[i], d.stretch + i * directions_);
    }
  }
  for (std::size_t d = 0; d < record.drives.size(); ++d) {
    const Results& of = drives_[record.drives[d]];
    put_forces(sweep_.of_drive(d), 1, of.lam_bar, of.lam_bar2);
  }
}

const Tangent* ResolverTangent::given_of(std::size_t drive) const {
  const bool changes = drive < inputs_->drives.size() && inputs_->drives[drive].rows() > 0;
  return changes ? &inputs_->drives[drive] : nullptr;
}

double ResolverTangent::along_drive(const FollowedDrives::Track& track, bool twice) const {
  return twice ? track.x - dt_ * track.drive.v : track.v - track.drive.v;
}

const std::vector<const double*>& ResolverTangent::wrenches(const ResolverRecord& record, bool twice) {
  const double* const all = twice ? lam_bar2_ : lam_bar_;
  const auto row = [&](Index asked) {
    return all + record.asked_places[static_cast<std::size_t>(asked)] * directions_;
  };
  const std::vector<StrandCoordinates::Place>& asked = record.asked.of;
  wrenches_ = blocks_.gather(record.blocks, directions_, [&](std::size_t k) {
    const bool by_itself = record.acts[k] && asked[k].size <= 3;
    return Rows3{by_itself ? const_cast<double*>(row(asked[k].first)) : nullptr, directions_};
  });
  for (std::size_t k = 0; k < asked.size(); ++k) {
    if (asked[k].size < 6) continue;
    const auto first = static_cast<std::size_t>(record.blocks.of[k].first);
    for (Index i = 0; i < 6; ++i) wrenches_[first + static_cast<std::size_t>(i)] = row(asked[k].first + i);
  }
  return wrenches_;
}

void ResolverTangent::move(const ResolverRecord& record, const Whole& whole) {
  // Integrals of daᵢ, with dλᵢ and dfᵢ what they are over the step.
  const std::size_t strands = record.strands.size(), drives = record.drives.size();
  const Index length = directions_;
  const auto moved = [&](std::size_t p) {
    if (p >= 3 * strands) {
      const Results& d = drives_[record.drives[p - 3 * strands]];
      return whole.twice ? d.moved : d.velocity;
    }
    const Results& d = strands_[record.strands[p / 3]];
    return (whole.twice ? d.moved : d.velocity) + static_cast<Index>(p % 3) * length;
  };
  // c̄
  const bool changes = !moves_.empty() && beside_held(record, whole);
  if (changes) change_beside(record);
  const auto asked = [&](std::size_t p) { return p >= 3 * strands || inputs_->all_strands || record.acts[p / 3]; };
  for (std::size_t p = 0; p < record.places.size(); ++p) {
    if (!asked(p)) continue;
    sum_.add(whole.share, row_of(*whole.ddp_bar, record.places[p]));
    for (std::size_t k = 0; changes && k < to_.size(); ++k) sum_.add(by_q_[p * to_.size() + k], to_[k]);
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
  const std::vector<const double*>& wrench = wrenches(record, whole.twice);
  const Index coordinates = record.blocks.count;
  motion_.resize(static_cast<std::size_t>(coordinates * length));
  for (Index i = 0; i < coordinates; ++i) {
    const double* const Upsilon = record.Upsilon.data() + i * coordinates;
    sum_rows(length, coordinates, Upsilon, wrench.data(), motion_.data() + i * length);
  }
  const double by_dp = whole.twice ? dt_ : 1.0;
  for (std::size_t p = 0; p < record.places.size(); ++p) {
    if (!asked(p)) continue;
    sum_.add(1.0, moved(p));
    for (std::size_t d = 0; d < drives; ++d) {
      sum_.add(record.push_of(p, d), pushing_.data() + static_cast<Index>(d) * length);
    }
    if (p < 3 * strands) {
      if (p % 3 == 0) by_forces_ = blocks_.motion(record.blocks.of[p / 3], motion_.data(), length);
      const auto i = static_cast<Index>(p % 3);
      sum_.add(1.0, by_forces_[i]).add(by_dp, row_of(inputs_->dp, 3 * static_cast<Index>(record.strands[p / 3]) + i));
    } else {
      const std::size_t d = p - 3 * strands;
      for (std::size_t c = 0; c < wrench.size(); ++c) sum_.add(record.push_of_blocks[c * drives + d], wrench[c]);
      if (const Tangent* const given = given_of(record.drives[d])) sum_.add(by_dp, row_of(*given, DriveTangent::kV));
    }
    sum_.into(length, moved(p));
  }
}

}  // namespace exposim
