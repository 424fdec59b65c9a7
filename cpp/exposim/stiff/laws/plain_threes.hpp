#pragma once

#include <Eigen/Core>
#include <cmath>

#include "exposim/robot/vector3.hpp"

// What a law asks for in every micro-step, with threes of numbers that are read one by one, as they were stored just
// before.

namespace exposim {

inline Vec3 across(const Vec3& u, const Vec3& n) { return u - dot(u, n) * n; }

/// μ λ_n − ‖λ_t‖
inline double cone_margin(const Vec3& lam, const Vec3& n, double mu) {
  const double lam_n = dot(lam, n);
  const Vec3 lam_t = lam - lam_n * n;
  return mu * lam_n - std::sqrt(dot(lam_t, lam_t));
}

/// u nᵀ
inline void set(const Vec3& u, const Vec3& n, Eigen::Matrix3d& to) {
  double* const A = to.data();
  A[0] = n.x * u.x, A[1] = n.x * u.y, A[2] = n.x * u.z;
  A[3] = n.y * u.x, A[4] = n.y * u.y, A[5] = n.y * u.z;
  A[6] = n.z * u.x, A[7] = n.z * u.y, A[8] = n.z * u.z;
}

/// u nᵀ + b (I − nnᵀ − ttᵀ)
inline void set(const Vec3& u, const Vec3& n, double b, const Vec3& t, Eigen::Matrix3d& to) {
  double* const A = to.data();
  const Vec3 w = u - b * n, s = b * t;
  const double xy = s.x * t.y, xz = s.x * t.z, yz = s.y * t.z;
  A[0] = n.x * w.x - s.x * t.x + b, A[1] = n.x * w.y - xy, A[2] = n.x * w.z - xz;
  A[3] = n.y * w.x - xy, A[4] = n.y * w.y - s.y * t.y + b, A[5] = n.y * w.z - yz;
  A[6] = n.z * w.x - xz, A[7] = n.z * w.y - yz, A[8] = n.z * w.z - s.z * t.z + b;
}

}  // namespace exposim
