// What forces and springs of single strands do to the blocks of a system, and to each other.

#include "exposim/expo/system.hpp"
#include "exposim/kernels/fours.hpp"
#include "exposim/robot/vector3.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Matrix6d = Eigen::Matrix<double, 6, 6>;

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

void StiffSystem::clear_stiffness(std::size_t blocks, std::vector<DiagonalBlock>& matrix) const {
  matrix.resize(blocks);
  for (std::size_t b = 0; b < blocks; ++b) {
    matrix[b].first = blocks_[b].first;
    matrix[b].size = blocks_[b].size;
    matrix[b].zero = matrix[b].lasting = true;
  }
}

namespace {

EXPOSIM_INLINE void add(const Vec3& u, double* x) {
  x[0] += u.x;
  x[1] += u.y;
  x[2] += u.z;
}

/// What turning about a block's origin, by which a point moves by ω × a and its force has the moment a × f, adds to
/// the stiffness: all but its upper left.
EXPOSIM_FOR_EACH_MACHINE
void add_turning(const double* arm, const double* Q, double* values) {
  const Vec3 a(arm[0], arm[1], arm[2]);
  const Vec3 x(Q[0], Q[1], Q[2]), y(Q[3], Q[4], Q[5]), z(Q[6], Q[7], Q[8]);
  const Vec3 by_turn[] = {a.y * z - a.z * y, a.z * x - a.x * z, a.x * y - a.y * x};
  add(cross(a, x), values + 3);
  add(cross(a, y), values + 8 + 3);
  add(cross(a, z), values + 2 * 8 + 3);
  for (int j = 0; j < 3; ++j) {
    add(by_turn[j], values + (3 + j) * 8);
    add(cross(a, by_turn[j]), values + (3 + j) * 8 + 3);
  }
}

/// x = A w for six of each; a column of A begins every `stride` numbers.
EXPOSIM_FOR_EACH_MACHINE
void multiply_six(const double* A, Index stride, const double* w, double* x) {
  double sum[6] = {};  // NOLINT
  for (int j = 0; j < 6; ++j) {
    for (int i = 0; i < 6; ++i) sum[i] += w[j] * A[j * stride + i];
  }
  for (int i = 0; i < 6; ++i) x[i] = sum[i];
}

}  // namespace

void StiffSystem::add_stiffness(const Row& row, const Matrix3d& Q, DiagonalBlock& block) {
  auto& values = block.values;
  if (block.zero && block.size == 3) {
    values.topLeftCorner<3, 3>() = Q;
    values.row(3).head<3>().setZero();
    block.zero = false;
    return;
  }
  if (block.zero) values.setZero();
  block.zero = false;
  if (block.size == 1) {
    values(0, 0) += Q(0, 0);
  } else if (row.rows == Rows::kAngular) {
    values.block<3, 3>(3, 3) += Q;
  } else {
    values.topLeftCorner<3, 3>() += Q;
    if (block.size == 3) return;
    add_turning(row.arm.data(), Q.data(), values.data());
  }
}

Vector3d StiffSystem::response(const Row& of, const Row& by, const Vector3d& f) const {
  const Block &to = blocks_[of.block], &from = blocks_[by.block];
  if (to.size == 3 && from.size == 3) return Upsilon_block_.block<3, 3>(to.first, from.first) * f;
  Eigen::Matrix<double, 6, 1> wrench = Eigen::Matrix<double, 6, 1>::Zero(), acceleration = wrench;
  add_wrench(by, 0, f, wrench);
  if (to.size == 6 && from.size == 6) {
    multiply_six(&Upsilon_block_(to.first, from.first), Upsilon_block_.rows(), wrench.data(), acceleration.data());
    return motion_of(of, 0, acceleration);
  }
  for (Index j = 0; j < from.size; ++j) {
    const double* const column = Upsilon_block_.data() + (from.first + j) * Upsilon_block_.rows() + to.first;
    for (Index i = 0; i < to.size; ++i) acceleration(i) += wrench(j) * column[i];
  }
  return motion_of(of, 0, acceleration);
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
