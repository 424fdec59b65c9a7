#include "exposim/kernels/balance.hpp"

#include <cmath>

namespace exposim {

void balance(Eigen::Ref<Eigen::MatrixXd> A, Eigen::Ref<Eigen::VectorXd> scaling) {
  constexpr double kWorthwhile = 0.95;  // scale only for a gain of five percent in the sum of the norms
  constexpr int kMaxSweeps = 30;        // never reached in practice; bounds the work on hostile input

  scaling.setOnes();
  bool changed = true;
  for (int sweep = 0; changed && sweep < kMaxSweeps; ++sweep) {
    changed = false;
    for (Eigen::Index i = 0; i < A.rows(); ++i) {
      const double column = A.col(i).squaredNorm();
      const double row = A.row(i).squaredNorm();
      if (!(column > 0.0 && row > 0.0) || !std::isfinite(column) || !std::isfinite(row)) continue;

      // f = 2^k nearest to sqrt(|row| / |column|) minimises f |column| + |row| / f.
      const int k = static_cast<int>(std::lround((std::ilogb(row) - std::ilogb(column)) / 4.0));
      if (k == 0) continue;
      const double f = std::ldexp(1.0, k);
      const double column_norm = std::sqrt(column), row_norm = std::sqrt(row);
      if (f * column_norm + row_norm / f >= kWorthwhile * (column_norm + row_norm)) continue;

      A.col(i) *= f;
      A.row(i) /= f;
      scaling(i) *= f;
      changed = true;
    }
  }
}

}  // namespace exposim
