#include "exposim/expo/block_rows.hpp"

namespace exposim {

using Eigen::Index;
using Place = StrandCoordinates::Place;

void BlockRows::begin(const StrandCoordinates& strands, Index length) {
  const auto count = static_cast<std::size_t>(strands.count);
  length_ = length;
  pointers_.assign(count, nullptr);
  summed_.assign(count, 0);
  if (zeros_.size() < static_cast<std::size_t>(length)) zeros_.assign(static_cast<std::size_t>(length), 0.0);
  if (sums_.size() < count) sums_.resize(count);
}

void BlockRows::add(const Place& place, const Rows3& rows) {
  for (Index i = 0; rows.first && i < 3; ++i) {
    place.for_each(i, [&](Index coordinate, double factor) {
      if (factor != 0.0) add(static_cast<std::size_t>(coordinate), factor, rows[i]);
    });
  }
}

void BlockRows::add(std::size_t coordinate, double factor, const double* row) {
  if (!summed_[coordinate] && !pointers_[coordinate] && factor == 1.0) {
    pointers_[coordinate] = row;
    return;
  }
  if (!summed_[coordinate] && pointers_[coordinate]) sums_[coordinate].add(1.0, pointers_[coordinate]);
  summed_[coordinate] = 1;
  sums_[coordinate].add(factor, row);
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

Rows3 BlockRows::motion(const Place& place, double* y, Index length) {
  if (place.size == 3) return {y + place.first * length, length};
  if (place.size == 6 && place.angular) return {y + (place.first + 3) * length, length};
  motion_.resize(static_cast<std::size_t>(3 * length));
  const Rows3 motion{motion_.data(), length};
  RowSum sum(length);
  for (Index i = 0; i < 3; ++i) {
    place.for_each(i, [&](Index coordinate, double factor) { sum.add(factor, y + coordinate * length); });
    sum.into(motion[i]);
  }
  return motion;
}

}  // namespace exposim
