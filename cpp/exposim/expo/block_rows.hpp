#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/expo/strand_coordinates.hpp"
#include "exposim/kernels/row_sums.hpp"

namespace exposim {

/// Rows of the coordinates that strands share from those of strands, and back.
class BlockRows {
 public:
  /// Gᵀ x. @param rows of strands, by their number; none where they begin nowhere.
  /// @return a row to each coordinate.
  template <typename RowsOf>
  const std::vector<const double*>& gather(const StrandCoordinates& strands, Eigen::Index length, const RowsOf& rows) {
    begin(strands, length);
    for (std::size_t k = 0; k < strands.of.size(); ++k) add(strands.of[k], rows(k));
    return end();
  }
  /// G y of a strand, for rows of all coordinates; one that has not three is put together here.
  Rows3 motion(const StrandCoordinates::Place& place, double* y, Eigen::Index length);

 private:
  void begin(const StrandCoordinates& strands, Eigen::Index length);
  void add(const StrandCoordinates::Place& place, const Rows3& rows);
  void add(std::size_t coordinate, double factor, const double* row);
  const std::vector<const double*>& end();

  Eigen::Index length_ = 0;
  std::vector<const double*> pointers_;
  std::vector<LongRowSum> sums_;
  std::vector<char> summed_;
  std::vector<double> numbers_, motion_, zeros_;
};

}  // namespace exposim
