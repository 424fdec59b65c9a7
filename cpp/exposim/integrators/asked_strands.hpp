#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <vector>

namespace exposim {

/// Which strands it is asked of how they accelerate; rows of others, three to each, are left zero.
class AskedStrands {
 public:
  void all() { asked_.clear(); }
  /// Of one more than before, from none on after all().
  void add(bool asked) { asked_.push_back(asked); }

  bool operator()(std::size_t strand) const { return asked_.empty() || asked_[strand]; }
  /// f(first, count) of so many leading rows, as many at a time as follow each other.
  template <typename Function>
  void for_each(Eigen::Index rows, const Function& f) const {
    for (Eigen::Index first = 0, end = 0; first < rows; first = end) {
      const bool asked = (*this)(static_cast<std::size_t>(first / 3));
      for (end = first; end < rows && (*this)(static_cast<std::size_t>(end / 3)) == asked;) end += 3;
      if (asked) f(first, std::min(end, rows) - first);
    }
  }
  /// So many leading rows, but for those that are left zero.
  std::vector<Eigen::Index> rows(Eigen::Index count) const {
    std::vector<Eigen::Index> found;
    found.reserve(static_cast<std::size_t>(count));
    for_each(count, [&](Eigen::Index first, Eigen::Index rows) {
      for (Eigen::Index i = first; i < first + rows; ++i) found.push_back(i);
    });
    return found;
  }

 private:
  std::vector<char> asked_;  // empty: all of them
};

}  // namespace exposim
