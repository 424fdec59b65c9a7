#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <vector>

#include "exposim/contact/contact_set.hpp"
#include "exposim/robot/dynamics.hpp"
#include "exposim/state.hpp"

namespace exposim {

/// The active contacts of a scene as a linear system, with Υ and p̈̄ frozen at a state; beside them, open contacts that
/// may close within the step.
///
///   Δp̈ = −Υ (K Δp + B Δṗ) + p̈̄,    λ = −K Δp − B Δṗ                       (eq:contact_dyn, eq:contact_forces)
///
/// Points of one body move with its six coordinates: J_i = G_i J_body, Υ = G Υ_body Gᵀ. A body with one point has the
/// point's three coordinates instead, and G_i = I. With M = LLᵀ, Y = L⁻¹J_bodyᵀ and w = L⁻¹u:
/// Υ_body = YᵀY, and the acceleration of the bodies without contact forces is Yᵀw (plus what is in J̇v).
class ContactDynamics {
 public:
  /// A body in contact.
  struct Body {
    std::size_t joint;
    Eigen::Index first;      ///< row of its coordinates
    Eigen::Index size;       ///< 3 or 6
    Eigen::Vector3d origin;  ///< where its six coordinates are taken: the mean of its points
  };
  /// An active contact, or an open one nearby.
  struct Point {
    std::size_t contact;  ///< index in the ContactSet
    std::size_t body;     ///< index in bodies()
    Eigen::Vector3d arm;  ///< from the body's origin
    Eigen::Matrix3d K, B;
    double K_max, B_max;                ///< their largest eigenvalues
    Eigen::Vector3d delta_p, delta_dp;  ///< x(0)
    Eigen::Vector3d ddp_bar;
  };

  ContactDynamics() = default;
  /// A system given by its terms, three coordinates to a contact, every contact a body of its own; K, B diagonal.
  ContactDynamics(const Eigen::MatrixXd& Upsilon, const Eigen::VectorXd& K, const Eigen::VectorXd& B,
                  const Eigen::VectorXd& ddp_bar, const Eigen::VectorXd& x0);

  /// Evaluates all terms for the contacts of a committed state.
  /// @param near open contacts to take along.
  /// @param middle where the terms are taken, if that is not the state itself.
  struct Middle {
    const Eigen::VectorXd& q;
    const Eigen::VectorXd& v;
  };
  void update(Dynamics& dynamics, const ContactSet& contacts, const State& state, const Input& input,
              const std::vector<std::size_t>& near, const Middle* middle = nullptr);

  /// Evaluates what depends on velocity again, at another one.
  void update_bias(Dynamics& dynamics, const Input& input, const Eigen::VectorXd& q, const Eigen::VectorXd& v);

  /// Those with active points come first.
  const std::vector<Body>& bodies() const { return bodies_; }
  /// Coordinates of the bodies with active points.
  Eigen::Index active_size() const { return active_size_; }
  std::size_t active_bodies() const { return active_bodies_; }
  /// The active contacts.
  const std::vector<Point>& points() const { return points_; }
  /// The open contacts nearby; their Δp and Δṗ mean nothing.
  const std::vector<Point>& near() const { return near_; }
  const Eigen::MatrixXd& Upsilon_body() const { return Upsilon_body_; }
  const RowMatrixXd& Y() const { return Y_; }
  const Eigen::VectorXd& w() const { return w_; }

  /// G_i x: motion of a point for a motion x of the bodies' coordinates.
  template <typename Vector>
  Eigen::Vector3d point_of(const Point& point, const Vector& x) const {
    const Body& body = bodies_[point.body];
    const Eigen::Vector3d linear = x.template segment<3>(body.first);
    if (body.size == 3) return linear;
    return linear + Eigen::Vector3d(x.template segment<3>(body.first + 3)).cross(point.arm);
  }
  /// x += G_iᵀ f: the wrench on the bodies of a force f at a point.
  template <typename Vector>
  void add_wrench(const Point& point, const Eigen::Vector3d& f, Vector&& x) const {
    const Body& body = bodies_[point.body];
    x.template segment<3>(body.first) += f;
    if (body.size == 6) x.template segment<3>(body.first + 3) += point.arm.cross(f);
  }
  /// G_i of a point, 3 × its body's size, in the left columns.
  Eigen::Matrix<double, 3, 6> G(const Point& point) const;

  /// Force of a sticking point after h, if no contact force acted until then.
  Eigen::Vector3d force_ahead(const Point& point, double h) const {
    const Eigen::Vector3d delta_dp = point.delta_dp + h * point.ddp_bar;
    return -point.K * (point.delta_p + h * delta_dp) - point.B * delta_dp;
  }
  /// Υ between two points, 3 × 3.
  Eigen::Matrix3d Upsilon(const Point& i, const Point& j) const;

  /// A and [b x0] of eq:contact_dyn for the stacked points, without use of the bodies: the paper's system.
  void full_system(Eigen::MatrixXd& A, Eigen::MatrixXd& b_x0) const;

 private:
  void group_by_body(const Dynamics& dynamics, const ContactSet& contacts, const std::vector<std::size_t>& near,
                     bool at_start);
  /// p̈̄ from w and the drift of the points.
  void update_free_accelerations(const Dynamics& dynamics);
  /// Puts a point on its body, which is new if it is the first one there.
  void place(Point& point, std::size_t contact, const Dynamics& dynamics, const ContactSet& contacts, bool at_start);

  std::vector<Body> bodies_;
  std::vector<Point> points_, near_;
  std::size_t active_bodies_ = 0;
  Eigen::Index active_size_ = 0;
  std::vector<std::size_t> joints_;  // of the bodies
  std::vector<Eigen::Index> rows_;   // where Y is not zero
  RowMatrixXd Y_, products_;
  Eigen::VectorXd w_, acceleration_;
  Eigen::MatrixXd Upsilon_body_;
};

}  // namespace exposim
