#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/expo/resolver_record.hpp"

namespace exposim {

/// Rows of the coordinates of blocks from those of strands, and back.
class BlockRows {
 public:
  /// Gᵀ x. @param rows of strands, by their number in the group; none where they begin nowhere.
  /// @return a row to each coordinate.
  template <typename RowsOf>
  const std::vector<const double*>& gather(const ResolverRecord& record, Eigen::Index length, const RowsOf& rows) {
    begin(record, length);
    for (std::size_t k = 0; k < record.strands.size(); ++k) add(record, k, rows(k));
    return end();
  }
  /// G y of a strand, for rows of all coordinates; one that has not three is put together here.
  Rows3 motion(const ResolverRecord& record, std::size_t k, double* y, Eigen::Index length);

 private:
  void begin(const ResolverRecord& record, Eigen::Index length);
  void add(const ResolverRecord& record, std::size_t k, const Rows3& rows);
  void add(std::size_t coordinate, const double* row);
  const std::vector<const double*>& end();

  Eigen::Index length_ = 0;
  std::vector<const double*> pointers_;
  std::vector<LongRowSum> sums_;
  std::vector<char> summed_;
  std::vector<double> numbers_, motion_, zeros_;
};

}  // namespace exposim
