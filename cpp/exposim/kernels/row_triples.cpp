#include "exposim/kernels/row_triples.hpp"

#include "exposim/kernels/fours.hpp"

namespace exposim {

using Eigen::Index;

namespace {

/// The i-th fours of three rows.
struct Triple {
  Four x, y, z;
};

EXPOSIM_INLINE Triple triple(const double* rows, Index length, Index i) {
  return {four(rows, i), four(rows + length, i), four(rows + 2 * length, i)};
}
EXPOSIM_INLINE void put(const Triple& from, Index length, Index i, double* rows) {
  four(rows, i) = from.x;
  four(rows + length, i) = from.y;
  four(rows + 2 * length, i) = from.z;
}
EXPOSIM_INLINE void add(double factor, const Triple& from, Triple& to) {
  to.x += factor * from.x;
  to.y += factor * from.y;
  to.z += factor * from.z;
}
/// to += Aᵀ u
template <bool Diagonal>
EXPOSIM_INLINE void add(const double* A, const Triple& u, Triple& to) {
  if (Diagonal) {
    to.x += A[0] * u.x;
    to.y += A[4] * u.y;
    to.z += A[8] * u.z;
  } else {
    to.x += A[0] * u.x + A[1] * u.y + A[2] * u.z;
    to.y += A[3] * u.x + A[4] * u.y + A[5] * u.z;
    to.z += A[6] * u.x + A[7] * u.y + A[8] * u.z;
  }
}

template <bool Diagonal>
EXPOSIM_INLINE void sum(Index length, double a, const double* x, double b, const double* y, const double* A,
                        const double* u, double* out) {
  for (Index i = 0; i < fours(length); ++i) {
    Triple all = {};
    add(a, triple(x, length, i), all);
    add(b, triple(y, length, i), all);
    add<Diagonal>(A, triple(u, length, i), all);
    put(all, length, i, out);
  }
}

template <bool Diagonal>
EXPOSIM_INLINE void sum(Index length, double a, const double* x, double b, const double* y, const double* A,
                        const double* u, const double* B, const double* v, double* out) {
  for (Index i = 0; i < fours(length); ++i) {
    Triple all = {};
    add(a, triple(x, length, i), all);
    add(b, triple(y, length, i), all);
    add<Diagonal>(A, triple(u, length, i), all);
    add<Diagonal>(B, triple(v, length, i), all);
    put(all, length, i, out);
  }
}

template <bool Diagonal>
EXPOSIM_INLINE void add_to_both(Index length, const double* A, const double* u, double* x, double* y) {
  for (Index i = 0; i < fours(length); ++i) {
    const Triple by = triple(u, length, i);
    Triple to = triple(x, length, i), more = triple(y, length, i);
    add<Diagonal>(A, by, to);
    add(1.0, by, more);
    put(to, length, i, x);
    put(more, length, i, y);
  }
}

template <bool Diagonal>
EXPOSIM_INLINE void add_sum(Index length, const double* A, const double* u, const double* v, double* x) {
  for (Index i = 0; i < fours(length); ++i) {
    Triple by = triple(u, length, i), to = triple(x, length, i);
    add(1.0, triple(v, length, i), by);
    add<Diagonal>(A, by, to);
    put(to, length, i, x);
  }
}

}  // namespace

EXPOSIM_FOR_EACH_MACHINE
void sum_triples(Index length, double a, const double* x, double b, const double* y, const Transposed3& A,
                 const double* u, double* out) {
  A.diagonal() ? sum<true>(length, a, x, b, y, A.data(), u, out) : sum<false>(length, a, x, b, y, A.data(), u, out);
}

EXPOSIM_FOR_EACH_MACHINE
void sum_triples(Index length, double a, const double* x, double b, const double* y, const Transposed3& A,
                 const double* u, const Transposed3& B, const double* v, double* out) {
  A.diagonal() && B.diagonal() ? sum<true>(length, a, x, b, y, A.data(), u, B.data(), v, out)
                               : sum<false>(length, a, x, b, y, A.data(), u, B.data(), v, out);
}

EXPOSIM_FOR_EACH_MACHINE
void add_triples(Index length, const Transposed3& A, const double* u, double* x, double* y) {
  A.diagonal() ? add_to_both<true>(length, A.data(), u, x, y) : add_to_both<false>(length, A.data(), u, x, y);
}

EXPOSIM_FOR_EACH_MACHINE
void add_both_triples(Index length, const Transposed3& A, const double* u, const double* v, double* x) {
  A.diagonal() ? add_sum<true>(length, A.data(), u, v, x) : add_sum<false>(length, A.data(), u, v, x);
}

}  // namespace exposim
