#include "exposim/expo/resolver_sweep.hpp"

#include <algorithm>

#include "exposim/expo/micro_step.hpp"
#include "exposim/kernels/fours.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Entry = ResolverRecord::Entry;

void SensitivityRows::resize(std::size_t strands, std::size_t drives, Index length) {
  strands_ = strands;
  length_ = length;
  const auto rows = static_cast<std::size_t>(kTimes) + strands * static_cast<std::size_t>(kOfStrand) +
                    drives * static_cast<std::size_t>(kOfDrive);
  numbers_.resize(rows * static_cast<std::size_t>(length));
  clear_numbers(static_cast<Index>(numbers_.size()), numbers_.data());
}

void ResolverSweep::begin(const ResolverRecord& record) {
  record_ = &record;
  strands_.clear();
  places_.clear();
  slot_.assign(record.strands.size(), record.strands.size());
  for (std::size_t k = 0; k < record.strands.size(); ++k) {
    if (!record.acts[k]) continue;
    slot_[k] = strands_.size();
    strands_.push_back(k);
    for (std::size_t i = 0; i < 3; ++i) places_.push_back(3 * k + i);
  }
  for (std::size_t d = 0; d < record.drives.size(); ++d) places_.push_back(3 * record.strands.size() + d);
}

void ResolverSweep::number_outputs(const std::vector<StrandTrack>& tracks, bool all) {
  const std::size_t count = strands_.size();
  ends_.resize(count);
  of_strands_.assign(count, Outputs());
  of_coordinates_.assign(static_cast<std::size_t>(record_->asked.count), Forces());
  of_drives_.assign(record_->drives.size(), Forces());
  outputs_ = 0;
  const auto number = [&](Index rows, Index& to) {
    if (to >= 0) return;
    to = outputs_;
    outputs_ += rows;
  };
  const auto number_both = [&](Forces& of) {
    number(1, of.lam2);
    if (all) number(1, of.lam);
  };
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t strand = strands_[k];
    for (Index i = 0; i < 3; ++i) {
      record_->asked.of[strand].for_each(
          i, [&](Index c, double) { number_both(of_coordinates_[static_cast<std::size_t>(c)]); });
    }
    Outputs& of = of_strands_[k];
    if (record_->cut2[strand]) number(3, of.cut.lam2);
    if (all && record_->cut[strand]) number(3, of.cut.lam);
    if (all && record_->changed[strand]) number_stretch(k, tracks[record_->strands[strand]]);
  }
  for (Forces& of : of_drives_) number_both(of);
}

void ResolverSweep::number_stretch(std::size_t k, const StrandTrack& track) {
  StrandTangent& d = basis_.start(has_material(k), record_->mu_changes[strands_[k]]);
  law(k).end(track.phase, d, d.stretch);
  std::copy_n(d.stretch.first, ends_[k].size(), ends_[k].begin());
  for (Index i = 0; i < 3; ++i) {
    const double* const row = d.stretch[i];
    const bool counts = std::any_of(row, row + StrandChange::kColumns, [](double x) { return x != 0.0; });
    of_strands_[k].stretch[i] = counts ? outputs_++ : -1;
  }
}

void ResolverSweep::sweep(const ResolverRecord& record, const std::vector<LawTangent>& laws,
                          const std::vector<StrandTrack>& tracks, const std::vector<char>& materials, bool all) {
  laws_ = &laws;
  materials_ = &materials;
  begin(record);
  number_outputs(tracks, all);
  find_integrals();
  const std::size_t count = strands_.size();
  const Index length = padded(outputs_);
  rows_.resize(count, record.drives.size(), length);
  each_stage_ = static_cast<Index>(places_.size()) * length;
  std::size_t stages = record.stages;
  for (std::size_t k = 0; k < count; ++k) stages += may_be_held_back(k);
  const auto each = static_cast<std::size_t>(each_stage_);
  stage_count_ = static_cast<Index>(stages);
  if (stages_.size() < stages * each) stages_.resize(stages * each);
  for (std::vector<double>* const forces : {&lam1_, &lam2_}) forces->resize(std::max(each, places_.size() * kFour));
  y_.resize(3 * count * static_cast<std::size_t>(std::max(length, kFour)));
  scratch_.resize(static_cast<std::size_t>(7 * length));

  for (std::size_t k = 0; k < count; ++k) {
    for (Index i = 0; i < 3; ++i) {
      const Index r = of_strands_[k].stretch[i];
      if (r < 0) continue;
      const double* const by = ends_[k].data() + i * StrandChange::kColumns;
      for (Index j = 0; j < 3; ++j) {
        rows_.delta(k)[j][r] = by[StrandChange::kDelta + j];
        rows_.dp(k)[j][r] = by[StrandChange::kDp + j];
        rows_.slide(k)[j][r] = by[StrandChange::kSlide + j];
      }
      rows_.mu(k)[r] = by[StrandChange::kMu];
      for (Index m = 0; m < kMaterialRows; ++m) rows_.material(k, m)[r] = by[StrandChange::kMaterial + m];
    }
  }
  length_counts_ = false;
  for (auto entry = record.entries.rbegin(); entry != record.entries.rend(); ++entry) {
    switch (entry->kind) {
      case ResolverRecord::Kind::kTaken:
        take_back(*entry);
        break;
      case ResolverRecord::Kind::kCut:
        undo_cut(*entry);
        break;
      case ResolverRecord::Kind::kChanged:
        undo_change(*entry);
        break;
      case ResolverRecord::Kind::kDivided:
        if (length_counts_ && entry->times_move) {
          RowSum sum(length);
          sum.add(1.0, rows_.left()).add(entry->h / entry->left, rows_.h()).into(rows_.left());
        }
        length_counts_ = false;
        break;
    }
  }
  std::size_t next = record.stages;
  for (std::size_t k = 0; k < count; ++k) {
    if (may_be_held_back(k)) undo_compliance(k, stage(next++));
  }
}

void ResolverSweep::clear_forces(Index length) {
  const Index count = static_cast<Index>(places_.size()) * length;
  clear_numbers(count, lam1_.data());
  clear_numbers(count, lam2_.data());
}

void ResolverSweep::find_integrals() {
  integrals_.clear();
  const auto row_of = [](Index first, Index i) { return first < 0 ? first : first + i; };
  for (std::size_t k = 0; k < strands_.size(); ++k) {
    const Forces& own = of_strands_[k].cut;
    for (Index i = 0; i < 3; ++i) {
      const auto add = [&](Index r, Index r2, double by) {
        if (r >= 0 || r2 >= 0) integrals_.push_back({k, i, r, r2, by});
      };
      record_->asked.of[strands_[k]].for_each(i, [&](Index c, double by) {
        const Forces& of = of_coordinates_[static_cast<std::size_t>(c)];
        add(of.lam, of.lam2, by);
      });
      add(row_of(own.lam, i), row_of(own.lam2, i), 1.0);
    }
  }
}

void ResolverSweep::add_integrals(const Entry& entry) {
  // See add_to_integrals(); what is in the first integral goes on into the second.
  const double h = entry.h, g = kGamma, one = 1.0 - g, after = entry.left - h;
  const double by1 = h * one, by2 = h * g, twice_by1 = by1 * (2.0 * h * g + after), twice_by2 = by2 * (h * g + after);
  const Index length = rows_.length();
  const auto add = [&](Index r, Index r2, double by, double* lam1, double* lam2) {
    if (r2 >= 0) {
      lam1[r2] += by * twice_by1;
      lam2[r2] += by * twice_by2;
    }
    if (r >= 0) {
      lam1[r] += by * by1;
      lam2[r] += by * by2;
    }
  };
  const auto add_length = [&](Index r, Index r2, double by, double f1, double f2, double so_far) {
    const double once = one * f1 + g * f2;
    if (r2 >= 0) rows_.h()[r2] += by * (so_far + 2.0 * h * g * (2.0 * one * f1 + g * f2) + after * once);
    if (r >= 0) rows_.h()[r] += by * once;
  };
  for (const Integral& each : integrals_) {
    const Index row = (3 * static_cast<Index>(each.strand) + each.i) * length;
    add(each.r, each.r2, each.by, lam1_.data() + row, lam2_.data() + row);
    if (!entry.times_move) continue;
    const StrandTrack& at = track(entry, each.strand);
    add_length(each.r, each.r2, each.by, at.lam1(each.i), at.lam2(each.i), at.lam_bar(each.i));
  }
  for (std::size_t d = 0; d < record_->drives.size(); ++d) {
    const FollowedDrives::Track& at = drive(entry, d);
    const auto [r, r2] = of_drives_[d];
    add(r, r2, 1.0, drive_force(false, d, length), drive_force(true, d, length));
    if (entry.times_move) add_length(r, r2, 1.0, at.force, at.force2, at.lam_bar);
  }
}

void ResolverSweep::take_back(const Entry& entry) {
  clear_forces(rows_.length());
  if (entry.times_move) RowSum(rows_.length()).add(-1.0, rows_.left()).into(rows_.h());
  add_integrals(entry);
  go_back(entry, rows_, {stage(entry.stage), stage(entry.stage + 1)}, nullptr);
  length_counts_ = entry.times_move;
}

void ResolverSweep::undo_cut(const Entry& entry) {
  const Index length = rows_.length(), places = static_cast<Index>(places_.size());
  if (!length_counts_) {
    for (const std::size_t i : {entry.stage, entry.stage + 1}) clear_numbers(each_stage_, stage(i));
    return;
  }
  // What the time of the event changes by, as the one output.
  const EventTime& event = record_->events[entry.which];
  const std::size_t k = slot_[event.strand];
  SensitivityRows& z = of_event_;
  z.resize(strands_.size(), record_->drives.size(), kFour);
  stages_of_event_.resize(static_cast<std::size_t>(2 * places * kFour));
  const Stages A{stages_of_event_.data(), stages_of_event_.data() + places * kFour};
  clear_forces(kFour);
  for (Index i = 0; i < 3; ++i) {
    z.delta(k)[i][0] = event.by_way(i);
    z.dp(k)[i][0] = event.by_dp_end(i);
    force(false, k, kFour)[i][0] = event.by_lam1(i);
    force(true, k, kFour)[i][0] = event.by_lam2(i);
  }
  go_back(entry, z, A, &event);
  const Phase& phase = track(entry, k).phase;
  const bool linear = LawTangent::is_linear(phase);
  Vector3d by_delta = event.by_delta, by_dp = event.by_dp;
  MaterialVector by_material = event.by_material;
  if (linear) {
    by_delta -= phase.K.transpose() * event.by_lam;
    by_dp -= phase.B.transpose() * event.by_lam;
    if (has_material(k)) by_material += event.by_lam.transpose() * law(k).force_by_material(phase);
  }
  for (Index i = 0; i < 3; ++i) {
    z.delta(k)[i][0] += by_delta(i);
    z.dp(k)[i][0] += by_dp(i);
    z.slide(k)[i][0] += event.by_slide(i);
    if (!linear) z.lam(k)[i][0] += event.by_lam(i);
  }
  z.mu(k)[0] += event.by_mu;
  for (Index m = 0; m < kMaterialRows; ++m) z.material(k, m)[0] += by_material(m);

  // And of all outputs through it.
  const double* const by_time = rows_.h();
  RowSum sum(length);
  const auto rows = static_cast<Index>(z.numbers().size()) / kFour;
  for (Index r = SensitivityRows::kTimes; r < rows; ++r) {
    const double by = z.numbers()[static_cast<std::size_t>(r * kFour)];
    double* const row = rows_.numbers().data() + r * length;
    if (by != 0.0) sum.add(1.0, row).add(by, by_time).into(row);
  }
  for (Index p = 0; p < places; ++p) {
    sum.add(A.first[p * kFour], by_time).into(stage(entry.stage) + p * length);
    sum.add(A.second[p * kFour], by_time).into(stage(entry.stage + 1) + p * length);
  }
  length_counts_ = entry.times_move;
  sum.add(z.h()[0] + event.by_h, by_time).into(rows_.h());
}

void ResolverSweep::undo_change(const Entry& entry) {
  const std::size_t k = slot_[entry.strand];
  if (k >= strands_.size()) return;
  const StrandChange& change = record_->changes[entry.which];
  const Index length = rows_.length();
  const std::array<const double*, StrandChange::kRows> after{
      rows_.delta(k)[0], rows_.delta(k)[1], rows_.delta(k)[2], rows_.slide(k)[0], rows_.slide(k)[1], rows_.slide(k)[2],
      rows_.lam(k)[0],   rows_.lam(k)[1],   rows_.lam(k)[2],   rows_.mu(k),       rows_.turning(k)};
  RowSum sum(length);
  const auto add = [&](Index column) {
    for (Index r = 0; r < StrandChange::kRows; ++r) sum.add(change(r, column), after[static_cast<std::size_t>(r)]);
  };
  const auto replace = [&](Index column, Index row) {
    add(column);
    sum.into(scratch_.data() + row * length);
  };
  const auto add_to = [&](Index column, double* row) {
    sum.add(1.0, row);
    add(column);
    sum.into(row);
  };
  for (Index i = 0; i < 3; ++i) {
    replace(StrandChange::kDelta + i, i);
    replace(StrandChange::kSlide + i, 3 + i);
    add_to(StrandChange::kDp + i, rows_.dp(k)[i]);
    if (may_be_held_back(k)) add_to(StrandChange::kCompliance + i, rows_.compliance(k)[i]);
  }
  replace(StrandChange::kMu, 6);
  if (has_material(k)) {
    for (Index m = 0; m < kMaterialRows; ++m) add_to(StrandChange::kMaterial + m, rows_.material(k, m));
  }
  std::copy_n(scratch_.data(), 3 * length, rows_.delta(k).first);
  std::copy_n(scratch_.data() + 3 * length, 3 * length, rows_.slide(k).first);
  std::copy_n(scratch_.data() + 6 * length, length, rows_.mu(k));
  clear_numbers(3 * length, rows_.lam(k).first);
  clear_numbers(length, rows_.turning(k));
}

void ResolverSweep::undo_compliance(std::size_t k, double* A) {
  // Υn of the strand, with what that moves of drives (FollowedDrives).
  const Index length = rows_.length();
  clear_numbers(each_stage_, A);
  std::copy_n(rows_.compliance(k).first, 3 * length, A + 3 * static_cast<Index>(k) * length);
  const Rows3 by = rows_.compliance(k);
  const Vector3d& n = record_->tracks[strands_[k]].phase.n;
  RowSum sum(length);
  for (std::size_t d = 0; d < record_->drives.size(); ++d) {
    const Vector3d push(push_of(3 * k, d), push_of(3 * k + 1, d), push_of(3 * k + 2, d));
    double* const row = A + static_cast<Index>(3 * strands_.size() + d) * length;
    sum.add(record_->laws_of_drives[d].X * push, by).into(row);
    double* const by_X = rows_.given(d, DriveTangent::kX);
    sum.add(1.0, by_X).add(push.dot(n) * push, by).into(by_X);
  }
}

}  // namespace exposim
