#include "exposim/robot/turning_compliance.hpp"

#include <Eigen/Geometry>

#include "exposim/robot/body_tangent.hpp"
#include "exposim/robot/kinematics.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3Xd;
using Eigen::MatrixXd;
using Eigen::Vector3d;

void TurningCompliance::clear() {
  plain_.clear();
  turning_.clear();
  size_ = pairs_ = 0;
  has_others_ = false;
}

void TurningCompliance::add_point(std::size_t joint, const Vector3d& position, const Vector3d& arm) {
  plain_.add_point(joint, position, arm);
  size_ += 3;
}

void TurningCompliance::add_turning(std::size_t joint, const Vector3d& position, const Vector3d& arm,
                                    std::size_t other) {
  turning_.push_back({joint, other, position, arm, size_, -1});
  if (other != 0) ++pairs_;
  add_point(joint, position, arm);
}

void TurningCompliance::add_spin(std::size_t joint) {
  plain_.add_spin(joint);
  size_ += 3;
}

void TurningCompliance::add_dof(Index dof, Index rows) {
  plain_.add_dof(dof, rows);
  size_ += rows;
}

MatrixXd TurningCompliance::past(const MatrixXd& all) const {
  MatrixXd result = all;
  for (const Turning& each : turning_) {
    if (each.b != 0) result.middleRows<3>(each.first) -= all.middleRows<3>(each.first_b);
  }
  const MatrixXd half = result;
  for (const Turning& each : turning_) {
    if (each.b != 0) result.middleCols<3>(each.first) -= half.middleCols<3>(each.first_b);
  }
  return result.topLeftCorner(size_, size_);
}

void TurningCompliance::compute(const RobotData& data, const Movers& movers) {
  if (!has_others_) {
    has_others_ = true;
    Index next = size_;
    for (Turning& each : turning_) {
      if (each.b == 0) continue;
      each.first_b = next;
      next += 3;
      const Vector3d p = world_position(data, each.a, each.position) + each.arm;
      plain_.add_point(each.b, position_in(data, each.b, p), Vector3d::Zero());
    }
  }
  plain_.compute(data, movers);
  if (pairs_ == 0) return;
  Upsilon_ = past(plain_.Upsilon());
  response_ = plain_.response().leftCols(size_);
  for (const Turning& each : turning_) {
    if (each.b != 0) response_.middleCols<3>(each.first) -= plain_.response().middleCols<3>(each.first_b);
  }
}

void TurningCompliance::differentiate(const RobotData& data, const Movers& movers, std::vector<MatrixXd>& by_q) {
  plain_.differentiate(data, movers, by_q);
  if (pairs_ > 0) {
    for (MatrixXd& each : by_q) each = past(each);
  }
  BodyTangent a, b;
  for (const Turning& each : turning_) {
    const Vector3d c = world_position(data, each.a, each.position);
    update_body_tangent(data, movers, each.a, c, a);
    update_body_tangent(data, movers, each.b, c + each.arm, b);
    const Matrix3Xd turned = (a.J_omega - b.J_omega) * response(), J_response = Upsilon().middleRows<3>(each.first);
    const auto add = [&](const Matrix3Xd& half, MatrixXd& out) {
      out.middleRows<3>(each.first) += half;
      out.middleCols<3>(each.first) += half.transpose();
    };
    if (each.b != 0) {
      // p moves past b, which has another velocity there.
      const Matrix3Xd turned_b = b.J_omega * response(), slides = a.J - b.J;
      for (Index k = 0; k < slides.cols(); ++k) {
        if (!slides.col(k).isZero(0.0)) add(skew(slides.col(k)) * turned_b, by_q[static_cast<std::size_t>(k)]);
      }
    }
    for (Index k = 0; k < 3; ++k) {
      const Vector3d e = Vector3d::Unit(k);
      MatrixXd& out = by_q.emplace_back(MatrixXd::Zero(size_, size_));
      add(-skew(e) * J_response - skew(e.cross(each.arm)) * turned, out);
    }
  }
}

}  // namespace exposim
