#include "exposim/contact/contact_dynamics.hpp"

#include <algorithm>

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Matrix6d = Eigen::Matrix<double, 6, 6>;

ContactDynamics::ContactDynamics(const MatrixXd& Upsilon, const Eigen::VectorXd& K, const Eigen::VectorXd& B,
                                 const Eigen::VectorXd& ddp_bar, const Eigen::VectorXd& x0)
    : Upsilon_body_(Upsilon) {
  const Index m = Upsilon.rows();
  for (Index row = 0; row < m; row += 3) {
    bodies_.push_back({0, row, 3, Vector3d::Zero()});
    Point point;
    point.contact = point.body = points_.size();
    point.arm.setZero();
    point.K = K.segment<3>(row).asDiagonal();
    point.B = B.segment<3>(row).asDiagonal();
    point.K_max = K.segment<3>(row).maxCoeff();
    point.B_max = B.segment<3>(row).maxCoeff();
    point.delta_p = x0.segment<3>(row);
    point.delta_dp = x0.segment<3>(m + row);
    point.ddp_bar = ddp_bar.segment<3>(row);
    points_.push_back(point);
  }
  active_bodies_ = bodies_.size();
  active_size_ = m;
}

void ContactDynamics::update(Dynamics& dynamics, const ContactSet& contacts, const State& state, const Input& input,
                             const std::vector<std::size_t>& near, const Middle* middle) {
  const Eigen::VectorXd& v = middle ? middle->v : state.v;
  dynamics.update_terms(middle ? middle->q : state.q, v);
  dynamics.applied_force(v, input, w_);
  dynamics.solve_L_in_place(w_);
  group_by_body(dynamics, contacts, near, middle == nullptr);
  if (bodies_.empty()) {
    rows_.clear();
    return;
  }

  const Index r = bodies_.back().first + bodies_.back().size;
  Y_.resize(state.v.size(), r);
  for (const Body& body : bodies_) {
    if (body.size == 3) {
      dynamics.point_jacobian_transpose(body.joint, body.origin, Y_.middleCols<3>(body.first));
    } else {
      dynamics.body_jacobian_transpose(body.joint, body.origin, Y_.middleCols<6>(body.first));
    }
  }
  dynamics.supporting_dofs(joints_, rows_);
  dynamics.solve_L_in_place(Y_, rows_);

  // YᵀY: the products of each row with itself, added up; only what is left of the diagonal and on it.
  products_.setZero(r, r);
  for (const Index i : rows_) {
    const double* const row = Y_.data() + i * r;
    for (Index a = 0; a < r; ++a) {
      double* const product = products_.data() + a * r;
      for (Index b = 0; b <= a; ++b) product[b] += row[a] * row[b];
    }
  }
  Upsilon_body_ = products_.selfadjointView<Eigen::Lower>();
  for (std::vector<Point>* const points : {&points_, &near_}) {
    for (Point& point : *points) {
      const ContactMotion& motion = contacts.motion(point.contact);
      const ContactState& anchor = state.contacts[point.contact];
      point.delta_p = motion.p - anchor.p0;
      point.delta_dp = motion.dp - anchor.dp0;
    }
  }
  update_free_accelerations(dynamics);
}

void ContactDynamics::update_bias(Dynamics& dynamics, const Input& input, const Eigen::VectorXd& q,
                                  const Eigen::VectorXd& v) {
  dynamics.update_bias(q, v);
  dynamics.applied_force(v, input, w_);
  dynamics.solve_L_in_place(w_);
  update_free_accelerations(dynamics);
}

void ContactDynamics::update_free_accelerations(const Dynamics& dynamics) {
  acceleration_.setZero(Y_.cols());
  for (const Index i : rows_) acceleration_ += w_(i) * Y_.row(i).transpose();
  for (std::vector<Point>* const points : {&points_, &near_}) {
    for (Point& point : *points) {
      const Body& body = bodies_[point.body];
      point.ddp_bar = point_of(point, acceleration_) + dynamics.point_drift(body.joint, body.origin + point.arm);
    }
  }
}

void ContactDynamics::group_by_body(const Dynamics& dynamics, const ContactSet& contacts,
                                    const std::vector<std::size_t>& near, bool at_start) {
  bodies_.clear();
  joints_.clear();
  points_.resize(contacts.active().size());
  near_.resize(near.size());
  for (std::size_t k = 0; k < points_.size(); ++k) {
    place(points_[k], contacts.active()[k], dynamics, contacts, at_start);
  }
  active_bodies_ = bodies_.size();
  for (std::size_t k = 0; k < near_.size(); ++k) place(near_[k], near[k], dynamics, contacts, at_start);

  Index first = 0;
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    Body& body = bodies_[b];  // size is the number of points so far
    body.origin /= static_cast<double>(body.size);
    body.size = body.size == 1 ? 3 : 6;
    body.first = first;
    first += body.size;
    if (b + 1 == active_bodies_) active_size_ = first;
  }
  if (active_bodies_ == 0) active_size_ = 0;
  for (std::vector<Point>* const points : {&points_, &near_}) {
    for (Point& point : *points) point.arm -= bodies_[point.body].origin;  // was the position
  }
}

void ContactDynamics::place(Point& point, std::size_t contact, const Dynamics& dynamics, const ContactSet& contacts,
                            bool at_start) {
  const ContactMotion& motion = contacts.motion(contact);
  const ContactPair& pair = contacts.pair(contact);
  point.contact = contact;
  point.K = pair.law.stiffness(motion.n);
  point.B = pair.law.damping(motion.n);
  point.K_max = std::max(pair.law.material().K_n, pair.law.material().K_t);
  point.B_max = std::max(pair.law.material().B_n, pair.law.material().B_t);
  point.arm = at_start ? motion.p : Vector3d(dynamics.point_motion(pair.point).position + motion.arm);

  const std::size_t joint = contacts.joint(dynamics, contact);
  const auto found = std::find_if(bodies_.begin(), bodies_.end(), [&](const Body& b) { return b.joint == joint; });
  point.body = static_cast<std::size_t>(found - bodies_.begin());
  if (found == bodies_.end()) {
    bodies_.push_back({joint, 0, 1, point.arm});
    joints_.push_back(joint);
  } else {
    found->size += 1;
    found->origin += point.arm;
  }
}

Eigen::Matrix<double, 3, 6> ContactDynamics::G(const Point& point) const {
  Eigen::Matrix<double, 3, 6> G;
  G.leftCols<3>().setIdentity();
  const Vector3d& a = point.arm;
  G.rightCols<3>() << 0.0, a.z(), -a.y(), -a.z(), 0.0, a.x(), a.y(), -a.x(), 0.0;  // ω × a
  return G;
}

Matrix3d ContactDynamics::Upsilon(const Point& i, const Point& j) const {
  const Body &bi = bodies_[i.body], &bj = bodies_[j.body];
  if (bi.size == 3 && bj.size == 3) return Upsilon_body_.block<3, 3>(bi.first, bj.first);
  Matrix6d block = Matrix6d::Zero();  // of fixed size: nothing is allocated
  block.topLeftCorner(bi.size, bj.size) = Upsilon_body_.block(bi.first, bj.first, bi.size, bj.size);
  return G(i) * block * G(j).transpose();
}

void ContactDynamics::full_system(MatrixXd& A, MatrixXd& b_x0) const {
  const Index m = 3 * static_cast<Index>(points_.size());
  A.resize(2 * m, 2 * m);
  A.topLeftCorner(m, m).setZero();
  A.topRightCorner(m, m).setIdentity();
  b_x0.resize(2 * m, 2);
  b_x0.topLeftCorner(m, 1).setZero();
  for (Index i = 0; i < m / 3; ++i) {
    const Point& pi = points_[static_cast<std::size_t>(i)];
    b_x0.col(0).segment<3>(m + 3 * i) = pi.ddp_bar;
    b_x0.col(1).segment<3>(3 * i) = pi.delta_p;
    b_x0.col(1).segment<3>(m + 3 * i) = pi.delta_dp;
    for (Index j = 0; j < m / 3; ++j) {
      const Point& pj = points_[static_cast<std::size_t>(j)];
      const Matrix3d Upsilon_ij = Upsilon(pi, pj);
      A.block<3, 3>(m + 3 * i, 3 * j).noalias() = -Upsilon_ij * pj.K;
      A.block<3, 3>(m + 3 * i, m + 3 * j).noalias() = -Upsilon_ij * pj.B;
    }
  }
}

}  // namespace exposim
