#pragma once

#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>

#include <utility>

#include "exposim/geometry/surface.hpp"
#include "interpreter_lock.hpp"

namespace exposim {

/// A surface written in Python: two functions of an (n, 3) array, called with the interpreter lock held.
///
/// Its curvature is found by central differences of the normal.
class PythonSurface final : public Surface {
 public:
  using Points = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;

  /// @param distance (n, 3) → (n,). @param normal (n, 3) → (n, 3), of unit length. Both checked by the caller's shell.
  PythonSurface(nanobind::object distance, nanobind::object normal)
      : distance_(std::move(distance)), normal_(std::move(normal)) {}
  ~PythonSurface() override {
    with_interpreter([this] {
      distance_.reset();
      normal_.reset();
    });
  }

  double distance(const Eigen::Vector3d& p) const override {
    return with_interpreter([&] { return distance_at(p); });
  }

  Touch query(const Eigen::Vector3d& p) const override {
    return with_interpreter([&] { return touch_at(p); });
  }

  bool makes_wait() const override { return true; }

 private:
  Touch touch_at(const Eigen::Vector3d& p) const {
    constexpr double kStep = 1e-4;  // [m]
    Points around = p.transpose().replicate(7, 1);
    for (Eigen::Index axis = 0; axis < 3; ++axis) {
      around(1 + 2 * axis, axis) += kStep;
      around(2 + 2 * axis, axis) -= kStep;
    }
    const auto normals = nanobind::cast<Points>(normal_(around));
    Touch touch{distance_at(p), normals.row(0).transpose(), Eigen::Matrix3d::Zero()};
    for (Eigen::Index axis = 0; axis < 3; ++axis) {
      touch.curvature.col(axis) = (normals.row(1 + 2 * axis) - normals.row(2 + 2 * axis)).transpose() / (2.0 * kStep);
    }
    touch.curvature = 0.5 * (touch.curvature + touch.curvature.transpose()).eval();
    return touch;
  }

  double distance_at(const Eigen::Vector3d& p) const {
    const Points one = p.transpose();
    return nanobind::cast<Eigen::VectorXd>(distance_(one))(0);
  }

  nanobind::object distance_, normal_;
};

}  // namespace exposim
