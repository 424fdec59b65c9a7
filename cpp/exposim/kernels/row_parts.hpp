#pragma once

#include <type_traits>

#include "exposim/kernels/fours.hpp"

namespace exposim {

constexpr Eigen::Index kMostAtOnce = 15;  // fours that find room in registers, with what they are multiplied by

/// Calls f(fours) with that many as a constant.
template <Eigen::Index Fours, typename Function>
EXPOSIM_INLINE void with_fours(Eigen::Index count, const Function& f) {
  if (count == Fours) return f(std::integral_constant<Eigen::Index, Fours>());
  if constexpr (Fours > 1) with_fours<Fours - 1>(count, f);
}

/// Goes through a row in parts that are about as long as each other: calls f(fours, from) with so many as a constant.
template <typename Function>
EXPOSIM_INLINE void for_each_part(Eigen::Index length, const Function& f) {
  const Eigen::Index all = fours(length);
  Eigen::Index parts = (all + kMostAtOnce - 1) / kMostAtOnce, done = 0;
  for (; parts > 0; --parts) {
    const Eigen::Index count = (all - done + parts - 1) / parts;
    with_fours<kMostAtOnce>(count, [&](const auto at_once) EXPOSIM_INLINE_CALL { f(at_once, done * kFour); });
    done += count;
  }
}

}  // namespace exposim
