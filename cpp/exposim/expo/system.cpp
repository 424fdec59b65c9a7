#include "exposim/expo/system.hpp"

#include <algorithm>

#include "exposim/robot/jacobians.hpp"
#include "exposim/robot/kinematics.hpp"
#include "exposim/robot/mass_matrix.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Matrix6d = Eigen::Matrix<double, 6, 6>;

StiffSystem::StiffSystem(const MatrixXd& Upsilon, const Eigen::VectorXd& K, const Eigen::VectorXd& B,
                         const Eigen::VectorXd& ddp_bar, const Eigen::VectorXd& x0)
    : Upsilon_block_(Upsilon) {
  const Index m = Upsilon.rows();
  for (Index first = 0; first < m; first += 3) {
    blocks_.push_back({0, 0, first, 3, Vector3d::Zero()});
    Row row;
    row.block = rows_.size();
    row.rows = Rows::kLinear;
    row.arm.setZero();
    row.K = K.segment<3>(first).asDiagonal();
    row.B = B.segment<3>(first).asDiagonal();
    row.K_max = K.segment<3>(first).maxCoeff();
    row.B_max = B.segment<3>(first).maxCoeff();
    row.delta_p = x0.segment<3>(first);
    row.delta_dp = x0.segment<3>(m + first);
    row.ddp_bar = ddp_bar.segment<3>(first);
    rows_.push_back(row);
  }
  active_ = rows_.size();
  active_blocks_ = blocks_.size();
  active_size_ = m;
}

void StiffSystem::update(const RobotData& data, const StrandList& strands, const Forces& forces, bool at_start) {
  applied_force(data, forces.along_dofs, forces.wrenches, w_);
  solve_L_in_place(data, w_);
  group(data, strands, at_start);
  if (blocks_.empty()) {
    dofs_.clear();
    return;
  }
  update_jacobians(data, w_.size());
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const Strand& strand = strands.all()[k];
    rows_[k].delta_p = displacement(strand.motion, strand.memory);
    rows_[k].delta_dp = displacement_rate(strand.motion, strand.memory);
  }
  update_free_accelerations(data, strands);
}

void StiffSystem::update_jacobians(const RobotData& data, Index nv) {
  const Index r = blocks_.back().first + blocks_.back().size;
  Y_.setZero(nv, r);
  dofs_.clear();
  for (const Block& block : blocks_) {
    if (block.size == 1) {
      Y_(static_cast<Index>(block.b), block.first) = 1.0;
      add_supporting_dofs(data, block.a, dofs_);
      continue;
    }
    for (const auto& [joint, sign] : {std::pair{block.a, 1.0}, std::pair{block.b, -1.0}}) {
      if (joint == 0) continue;
      add_supporting_dofs(data, joint, dofs_);
      if (block.size == 3) {
        add_point_jacobian_transpose(data, joint, block.origin, sign, Y_.middleCols<3>(block.first));
      } else {
        add_body_jacobian_transpose(data, joint, block.origin, sign, Y_.middleCols<6>(block.first));
      }
    }
  }
  std::sort(dofs_.begin(), dofs_.end());
  dofs_.erase(std::unique(dofs_.begin(), dofs_.end()), dofs_.end());
  solve_L_in_place(data, Y_, dofs_);

  // YᵀY: the products of each row with itself, added up; only what is left of the diagonal and on it.
  products_.setZero(r, r);
  for (const Index i : dofs_) {
    const double* const row = Y_.data() + i * r;
    for (Index a = 0; a < r; ++a) {
      double* const product = products_.data() + a * r;
      for (Index b = 0; b <= a; ++b) product[b] += row[a] * row[b];
    }
  }
  Upsilon_block_ = products_.selfadjointView<Eigen::Lower>();
}

void StiffSystem::update_bias(RobotData& data, const StrandList& strands, const Forces& forces,
                              const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  exposim::update_bias(data, q, v);
  applied_force(data, forces.along_dofs, forces.wrenches, w_);
  solve_L_in_place(data, w_);
  update_free_accelerations(data, strands);
}

void StiffSystem::update_free_accelerations(const RobotData& data, const StrandList& strands) {
  acceleration_.setZero(Y_.cols());
  for (const Index i : dofs_) acceleration_ += w_(i) * Y_.row(i).transpose();
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    Row& row = rows_[k];
    const Block& block = blocks_[row.block];
    const Motion& motion = strands.all()[k].motion;
    row.ddp_bar = motion_of(row, acceleration_);
    if (row.rows == Rows::kLinear) {
      // Of ċ + ω × arm with the arm held: a spherical foot turns past it, and its centre feels no centripetal rω².
      const Vector3d p = block.origin + row.arm;
      row.ddp_bar += point_drift(data, block.a, p - motion.arm) + angular_drift(data, block.a).cross(motion.arm);
      if (block.b != 0) row.ddp_bar -= point_drift(data, block.b, p);
    } else if (row.rows == Rows::kAngular) {
      row.ddp_bar += angular_drift(data, block.a) - angular_drift(data, block.b);
    }
    if (!motion.curved) continue;
    const Vector3d dn = motion.curvature * motion.dc;
    row.ddp_bar += motion.dc.dot(dn) * motion.n;  // φ̈ beyond n·p̈
    if (motion.arm.isZero()) continue;
    const Vector3d darm = -motion.arm.norm() * dn, omega = point_motion(data, block.a, Vector3d::Zero()).omega;
    row.ddp_bar += tangent(omega.cross(darm), motion.n);  // spinning about n, the foot meets it turned
  }
}

void StiffSystem::group(const RobotData& data, const StrandList& strands, bool at_start) {
  blocks_.clear();
  rows_.resize(strands.all().size());
  active_ = strands.active();
  active_blocks_ = 0;
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const Strand& strand = strands.all()[k];
    Row& row = rows_[k];
    row.rows = strand.rows;
    row.K = strand.law->stiffness(strand.motion.n);
    row.B = strand.law->damping(strand.motion.n);
    row.K_max = strand.law->most_stiffness();
    row.B_max = strand.law->most_damping();
    row.arm =
        at_start ? strand.motion.p : Vector3d(world_position(data, strand.a, strand.position) + strand.motion.arm);
    place(strand, row);
    if (k + 1 == active_) active_blocks_ = blocks_.size();
  }

  Index first = 0;
  active_size_ = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    Block& block = blocks_[b];
    if (block.size < 0) {  // the number of points so far
      block.origin /= static_cast<double>(-block.size);
      block.size = block.size == -1 ? 3 : 6;
    }
    block.first = first;
    first += block.size;
    if (b + 1 == active_blocks_) active_size_ = first;
  }
  for (Row& row : rows_) row.arm -= blocks_[row.block].origin;  // was the position
}

void StiffSystem::place(const Strand& strand, Row& row) {
  const bool coordinate = row.rows == Rows::kCoordinate;
  const auto found = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& block) {
    return block.a == strand.a && block.b == strand.b && (block.size == 1) == coordinate;
  });
  row.block = static_cast<std::size_t>(found - blocks_.begin());
  if (found == blocks_.end()) {
    blocks_.push_back({strand.a, strand.b, 0, coordinate ? 1 : -1, row.arm});
  } else if (!coordinate) {
    found->size -= 1;
    found->origin += row.arm;
  }
}

Eigen::Matrix<double, 3, 6> StiffSystem::G(const Row& row) const {
  Eigen::Matrix<double, 3, 6> G = Eigen::Matrix<double, 3, 6>::Zero();
  if (row.rows == Rows::kCoordinate) {
    G(0, 0) = 1.0;
  } else if (row.rows == Rows::kAngular) {
    G.rightCols<3>().setIdentity();
  } else {
    G.leftCols<3>().setIdentity();
    const Vector3d& a = row.arm;
    G.rightCols<3>() << 0.0, a.z(), -a.y(), -a.z(), 0.0, a.x(), a.y(), -a.x(), 0.0;  // ω × a
  }
  return G;
}

void StiffSystem::add_stiffness(const Row& row, const Matrix3d& Q, MatrixXd& matrix) const {
  const Block& block = blocks_[row.block];
  if (block.size == 3) {
    matrix.block<3, 3>(block.first, block.first) += Q;
  } else if (block.size == 6) {
    const Eigen::Matrix<double, 3, 6> G = this->G(row);
    matrix.block<6, 6>(block.first, block.first) += G.transpose() * Q * G;
  } else {
    matrix(block.first, block.first) += Q(0, 0);
  }
}

Matrix3d StiffSystem::Upsilon(const Row& i, const Row& j) const {
  const Block &bi = blocks_[i.block], &bj = blocks_[j.block];
  if (bi.size == 3 && bj.size == 3) return Upsilon_block_.block<3, 3>(bi.first, bj.first);
  Matrix6d block = Matrix6d::Zero();  // of fixed size: nothing is allocated
  block.topLeftCorner(bi.size, bj.size) = Upsilon_block_.block(bi.first, bj.first, bi.size, bj.size);
  return G(i) * block * G(j).transpose();
}

void StiffSystem::full_system(MatrixXd& A, MatrixXd& b_x0) const {
  const Index m = 3 * static_cast<Index>(active_);
  A.resize(2 * m, 2 * m);
  A.topLeftCorner(m, m).setZero();
  A.topRightCorner(m, m).setIdentity();
  b_x0.resize(2 * m, 2);
  b_x0.topLeftCorner(m, 1).setZero();
  for (Index i = 0; i < m / 3; ++i) {
    const Row& ri = rows_[static_cast<std::size_t>(i)];
    b_x0.col(0).segment<3>(m + 3 * i) = ri.ddp_bar;
    b_x0.col(1).segment<3>(3 * i) = ri.delta_p;
    b_x0.col(1).segment<3>(m + 3 * i) = ri.delta_dp;
    for (Index j = 0; j < m / 3; ++j) {
      const Row& rj = rows_[static_cast<std::size_t>(j)];
      const Matrix3d Upsilon_ij = Upsilon(ri, rj);
      A.block<3, 3>(m + 3 * i, 3 * j).noalias() = -Upsilon_ij * rj.K;
      A.block<3, 3>(m + 3 * i, m + 3 * j).noalias() = -Upsilon_ij * rj.B;
    }
  }
}

}  // namespace exposim
