#pragma once

#include <Eigen/Core>

namespace exposim {

// Three numbers, and what the sweeps over the tree do with them. Eigen's would be loaded and stored in pairs that
// others cut differently, and what has just been stored in halves cannot be loaded at once.

struct Vec3 {
  double x = 0.0, y = 0.0, z = 0.0;

  Vec3() = default;
  Vec3(const Vec3& u) : x(u.x), y(u.y), z(u.z) {}  // one by one, see above
  Vec3& operator=(const Vec3& u) {
    x = u.x, y = u.y, z = u.z;
    return *this;
  }
  Vec3(double x0, double y0, double z0) : x(x0), y(y0), z(z0) {}
  Vec3(const Eigen::Vector3d& u) : x(u.x()), y(u.y()), z(u.z()) {}  // NOLINT: the same, elsewhere
  operator Eigen::Vector3d() const { return {x, y, z}; }            // NOLINT

  Vec3& operator+=(const Vec3& u) {
    x += u.x, y += u.y, z += u.z;
    return *this;
  }
};

inline Vec3 operator+(const Vec3& a, const Vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vec3 operator-(const Vec3& a, const Vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vec3 operator*(double s, const Vec3& u) { return {s * u.x, s * u.y, s * u.z}; }
inline double dot(const Vec3& a, const Vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Vec3 cross(const Vec3& a, const Vec3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/// A matrix by its columns.
struct Mat3 {
  Vec3 columns[3];

  static Mat3 identity() { return {{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}}; }
  static Mat3 of(const Eigen::Matrix3d& A) { return {{Vec3(A.col(0)), Vec3(A.col(1)), Vec3(A.col(2))}}; }
  Eigen::Matrix3d matrix() const { return Eigen::Map<const Eigen::Matrix3d>(&columns[0].x); }
};

inline Vec3 operator*(const Mat3& A, const Vec3& u) {
  const auto& [a, b, c] = A.columns;
  return {a.x * u.x + b.x * u.y + c.x * u.z, a.y * u.x + b.y * u.y + c.y * u.z, a.z * u.x + b.z * u.y + c.z * u.z};
}
inline Mat3 operator*(const Mat3& A, const Mat3& B) { return {{A * B.columns[0], A * B.columns[1], A * B.columns[2]}}; }
/// Aᵀu
inline Vec3 transposed_times(const Mat3& A, const Vec3& u) {
  return {dot(A.columns[0], u), dot(A.columns[1], u), dot(A.columns[2], u)};
}

struct Symmetric3 {
  double xx = 0.0, xy = 0.0, yy = 0.0, xz = 0.0, yz = 0.0, zz = 0.0;

  Symmetric3() = default;
  Symmetric3(double xx0, double xy0, double yy0, double xz0, double yz0, double zz0)
      : xx(xx0), xy(xy0), yy(yy0), xz(xz0), yz(yz0), zz(zz0) {}
  Symmetric3(const Symmetric3& S) : xx(S.xx), xy(S.xy), yy(S.yy), xz(S.xz), yz(S.yz), zz(S.zz) {}
  Symmetric3& operator=(const Symmetric3& S) {
    xx = S.xx, xy = S.xy, yy = S.yy, xz = S.xz, yz = S.yz, zz = S.zz;
    return *this;
  }
  Symmetric3& operator+=(const Symmetric3& S) {
    xx += S.xx, xy += S.xy, yy += S.yy, xz += S.xz, yz += S.yz, zz += S.zz;
    return *this;
  }
};

inline Vec3 operator*(const Symmetric3& S, const Vec3& u) {
  return {S.xx * u.x + S.xy * u.y + S.xz * u.z, S.xy * u.x + S.yy * u.y + S.yz * u.z,
          S.xz * u.x + S.yz * u.y + S.zz * u.z};
}

}  // namespace exposim
