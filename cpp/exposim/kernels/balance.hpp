#pragma once

#include <Eigen/Core>

namespace exposim {

/// Diagonal similarity S⁻¹ A S that evens out the norms of row i and column i, in place.
///
/// The entries of `scaling` (the diagonal of S) are powers of two, so no digit is lost and
/// exp(A) = S exp(S⁻¹ A S) S⁻¹ holds exactly. Norms are Euclidean and include the diagonal,
/// after James, Langou and Lowery, "On matrix balancing and eigenvector computation" (2014).
void balance(Eigen::Ref<Eigen::MatrixXd> A, Eigen::Ref<Eigen::VectorXd> scaling);

}  // namespace exposim
