#include "exposim/expo/block_rows.hpp"

#include <algorithm>

namespace exposim {

using Eigen::Index;

void BlockRows::begin(const ResolverRecord& record, Index length) {
  const auto count = static_cast<std::size_t>(record.coordinates);
  length_ = length;
  pointers_.assign(count, nullptr);
  summed_.assign(count, 0);
  if (zeros_.size() < static_cast<std::size_t>(length)) zeros_.assign(static_cast<std::size_t>(length), 0.0);
  if (sums_.size() < count) sums_.resize(count);
}

void BlockRows::add(const ResolverRecord& record, std::size_t k, const Rows3& rows) {
  if (!rows.first) return;
  const auto first = static_cast<std::size_t>(record.first[k]);
  const Index size = record.size[k];
  if (size < 6) {
    for (Index i = 0; i < size; ++i) add(first + static_cast<std::size_t>(i), rows[i]);
    return;
  }
  const StiffSystem::Row& row = *record.rows[k];
  const bool angular = row.rows == Rows::kAngular;
  std::fill_n(summed_.begin() + record.first[k], 6, 1);
  for (Index i = 0; i < 3; ++i) {
    const std::size_t along = first + static_cast<std::size_t>(i), about = along + 3;
    sums_[angular ? about : along].add(1.0, rows[i]);
    if (angular) continue;
    const Index j = (i + 1) % 3, l = (i + 2) % 3;
    sums_[about].add(row.arm(j), rows[l]).add(-row.arm(l), rows[j]);
  }
}

void BlockRows::add(std::size_t coordinate, const double* row) {
  if (!summed_[coordinate] && !pointers_[coordinate]) {
    pointers_[coordinate] = row;
    return;
  }
  if (!summed_[coordinate]) sums_[coordinate].add(1.0, pointers_[coordinate]);  // a drive and the limit of its joint
  summed_[coordinate] = 1;
  sums_[coordinate].add(1.0, row);
}

const std::vector<const double*>& BlockRows::end() {
  numbers_.resize(pointers_.size() * static_cast<std::size_t>(length_));
  for (std::size_t i = 0; i < pointers_.size(); ++i) {
    if (!summed_[i]) {
      if (!pointers_[i]) pointers_[i] = zeros_.data();
      continue;
    }
    double* const row = numbers_.data() + static_cast<Index>(i) * length_;
    sums_[i].into(length_, row);
    pointers_[i] = row;
  }
  return pointers_;
}

Rows3 BlockRows::motion(const ResolverRecord& record, std::size_t k, double* y, Index length) {
  const StiffSystem::Row& row = *record.rows[k];
  double* const at = y + record.first[k] * length;
  if (record.size[k] == 3) return {at, length};
  if (record.size[k] == 6 && row.rows == Rows::kAngular) return {at + 3 * length, length};
  motion_.resize(static_cast<std::size_t>(3 * length));
  const Rows3 motion{motion_.data(), length};
  if (record.size[k] == 1) {
    std::copy_n(at, length, motion[0]);
    std::fill_n(motion[1], 2 * length, 0.0);
    return motion;
  }
  RowSum sum(length);
  const Rows3 turn{at + 3 * length, length};
  for (Index i = 0; i < 3; ++i) {
    const Index j = (i + 1) % 3, l = (i + 2) % 3;
    sum.add(1.0, at + i * length).add(row.arm(l), turn[j]).add(-row.arm(j), turn[l]).into(motion[i]);
  }
  return motion;
}

}  // namespace exposim
