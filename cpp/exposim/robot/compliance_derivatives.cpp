#include "exposim/robot/compliance_derivatives.hpp"

#include <Eigen/Geometry>
#include <algorithm>

#include "exposim/kernels/row_parts.hpp"
#include "exposim/kernels/row_sums.hpp"
#include "exposim/robot/kinematics.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;

namespace {

using Symmetric = Eigen::Map<const MatrixXd, 0, Eigen::OuterStride<>>;

/// A motion at unit rate, angular and linear.
struct Unit {
  Vec3 w, v;
};

Unit unit(const Mover& mover, const Vector3d& o) { return {Vec3(mover.angular), Vec3(mover.at(o))}; }

// Six rows of columns that stand for velocities or momenta, angular and linear, several columns at a time.

EXPOSIM_FOR_EACH_MACHINE
void add_motion(Index length, const Unit& S, const double* rates, double* V) {
  const double by[6] = {S.w.x, S.w.y, S.w.z, S.v.x, S.v.y, S.v.z};
  for (Index r = 0; r < 6; ++r) {
    for (Index i = 0; i < fours(length); ++i) four(V + r * length, i) += by[r] * four(rates, i);
  }
}

/// Of a body whose frame is at r.
EXPOSIM_FOR_EACH_MACHINE
void weigh(Index length, double mass, const Vec3& mc, const Symmetric3& I, const Vec3& r, const double* V, double* F) {
  for (Index i = 0; i < fours(length); ++i) {
    const Four wx = four(V, i), wy = four(V + length, i), wz = four(V + 2 * length, i);
    const Four ux = four(V + 3 * length, i) + wy * r.z - wz * r.y, uy = four(V + 4 * length, i) + wz * r.x - wx * r.z,
               uz = four(V + 5 * length, i) + wx * r.y - wy * r.x;
    const Four px = mass * ux + wy * mc.z - wz * mc.y, py = mass * uy + wz * mc.x - wx * mc.z,
               pz = mass * uz + wx * mc.y - wy * mc.x;
    four(F, i) = I.xx * wx + I.xy * wy + I.xz * wz + mc.y * uz - mc.z * uy + r.y * pz - r.z * py;
    four(F + length, i) = I.xy * wx + I.yy * wy + I.yz * wz + mc.z * ux - mc.x * uz + r.z * px - r.x * pz;
    four(F + 2 * length, i) = I.xz * wx + I.yz * wy + I.zz * wz + mc.x * uy - mc.y * ux + r.x * py - r.y * px;
    four(F + 3 * length, i) = px;
    four(F + 4 * length, i) = py;
    four(F + 5 * length, i) = pz;
  }
}

EXPOSIM_FOR_EACH_MACHINE
void add_all(Index length, const double* from, double* to) {
  for (Index i = 0; i < fours(length); ++i) four(to, i) += four(from, i);
}

/// S × V
EXPOSIM_FOR_EACH_MACHINE
void turn_back(Index length, const Unit& S, const double* V, double* out) {
  const auto& [s, l] = S;
  for (Index i = 0; i < fours(length); ++i) {
    const Four wx = four(V, i), wy = four(V + length, i), wz = four(V + 2 * length, i);
    const Four vx = four(V + 3 * length, i), vy = four(V + 4 * length, i), vz = four(V + 5 * length, i);
    four(out, i) = s.y * wz - s.z * wy;
    four(out + length, i) = s.z * wx - s.x * wz;
    four(out + 2 * length, i) = s.x * wy - s.y * wx;
    four(out + 3 * length, i) = s.y * vz - s.z * vy + l.y * wz - l.z * wy;
    four(out + 4 * length, i) = s.z * vx - s.x * vz + l.z * wx - l.x * wz;
    four(out + 5 * length, i) = s.x * vy - s.y * vx + l.x * wy - l.y * wx;
  }
}

/// out = TᵀF + FᵀT
EXPOSIM_FOR_EACH_MACHINE
void multiply_both(Index size, Index length, const double* T, const double* F, double* out) {
  for_each_part(length, [&](const auto at_once, Index from) EXPOSIM_INLINE_CALL {
    constexpr Index kFours = decltype(at_once)::value;
    for (Index i = 0; i < size; ++i) {
      Four sum[kFours] = {};  // NOLINT
      for (Index r = 0; r < 6 * length; r += length) {
        for (Index j = 0; j < kFours; ++j) sum[j] += T[r + i] * four(F + r + from, j);
        for (Index j = 0; j < kFours; ++j) sum[j] += F[r + i] * four(T + r + from, j);
      }
      for (Index j = 0; j < kFours; ++j) four(out + i * length + from, j) = sum[j];
    }
  });
}

/// How the velocity of a point changes that is moved by S, which V turns back by `turned`: k × u(c) − turned(c), and
/// with an arm that does not turn + (k × ω − turned_ω) × arm.
EXPOSIM_FOR_EACH_MACHINE
void turn_point(Index length, const Vec3& k, const Vec3& c, const Vec3& arm, const double* V, const double* turned,
                double* out) {
  for (Index i = 0; i < fours(length); ++i) {
    const Four wx = four(V, i), wy = four(V + length, i), wz = four(V + 2 * length, i);
    const Four ux = four(V + 3 * length, i) + wy * c.z - wz * c.y, uy = four(V + 4 * length, i) + wz * c.x - wx * c.z,
               uz = four(V + 5 * length, i) + wx * c.y - wy * c.x;
    const Four tx = four(turned, i), ty = four(turned + length, i), tz = four(turned + 2 * length, i);
    const Four ax = k.y * wz - k.z * wy - tx, ay = k.z * wx - k.x * wz - ty, az = k.x * wy - k.y * wx - tz;
    four(out, i) = k.y * uz - k.z * uy - (four(turned + 3 * length, i) + ty * c.z - tz * c.y) + ay * arm.z - az * arm.y;
    four(out + length, i) =
        k.z * ux - k.x * uz - (four(turned + 4 * length, i) + tz * c.x - tx * c.z) + az * arm.x - ax * arm.z;
    four(out + 2 * length, i) =
        k.x * uy - k.y * ux - (four(turned + 5 * length, i) + tx * c.y - ty * c.x) + ax * arm.y - ay * arm.x;
  }
}

/// The same of its body's spin.
EXPOSIM_FOR_EACH_MACHINE
void turn_spin(Index length, const Vec3& k, const double* V, const double* turned, double* out) {
  for (Index i = 0; i < fours(length); ++i) {
    const Four wx = four(V, i), wy = four(V + length, i), wz = four(V + 2 * length, i);
    four(out, i) = k.y * wz - k.z * wy - four(turned, i);
    four(out + length, i) = k.z * wx - k.x * wz - four(turned + length, i);
    four(out + 2 * length, i) = k.x * wy - k.y * wx - four(turned + 2 * length, i);
  }
}

/// Takes forces at p, which push a body, from the momenta.
EXPOSIM_FOR_EACH_MACHINE
void take_forces(Index length, const Vec3& p, const double* f, double* F) {
  for (Index i = 0; i < fours(length); ++i) {
    const Four fx = four(f, i), fy = four(f + length, i), fz = four(f + 2 * length, i);
    four(F, i) -= p.y * fz - p.z * fy;
    four(F + length, i) -= p.z * fx - p.x * fz;
    four(F + 2 * length, i) -= p.x * fy - p.y * fx;
    four(F + 3 * length, i) -= fx;
    four(F + 4 * length, i) -= fy;
    four(F + 5 * length, i) -= fz;
  }
}

/// Adds what forces do as the point at c moves that they push, u × f + ω × (arm × f), to groups of columns.
EXPOSIM_FOR_EACH_MACHINE
void add_moved(Index row, const Vec3& c, const Vec3& arm, const double* f, Index stride_f, const double* V,
               Index stride_V, double* moved) {
  const Index forces = fours(stride_f), velocities = fours(stride_V);
  for (Index i = 0; i < fours(row); ++i) {
    const double *const of = f + i % forces * kFour, *const at = V + i % velocities * kFour;
    const Four fx = four(of, 0), fy = four(of + stride_f, 0), fz = four(of + 2 * stride_f, 0);
    const Four tx = arm.y * fz - arm.z * fy, ty = arm.z * fx - arm.x * fz, tz = arm.x * fy - arm.y * fx;
    const Four wx = four(at, 0), wy = four(at + stride_V, 0), wz = four(at + 2 * stride_V, 0);
    const Four ux = four(at + 3 * stride_V, 0) + wy * c.z - wz * c.y,
               uy = four(at + 4 * stride_V, 0) + wz * c.x - wx * c.z,
               uz = four(at + 5 * stride_V, 0) + wx * c.y - wy * c.x;
    four(moved, i) += uy * fz - uz * fy + wy * tz - wz * ty;
    four(moved + row, i) += uz * fx - ux * fz + wz * tx - wx * tz;
    four(moved + 2 * row, i) += ux * fy - uy * fx + wx * ty - wy * tx;
  }
}

/// out = k·moved + Σ_j weights_j ((S × V_j)·F + F_j·(S × V)), of each group.
EXPOSIM_FOR_EACH_MACHINE
void weigh_products(Index length, Index count, Index groups, const Vec3& k, const double* turned, const double* F,
                    const double* moved, const double* weights, double* out) {
  const Index row = groups * length;
  for (Index i = 0; i < fours(row); ++i) {
    four(out, i) = k.x * four(moved, i) + k.y * four(moved + row, i) + k.z * four(moved + 2 * row, i);
  }
  for_each_part(length, [&](const auto at_once, Index from) EXPOSIM_INLINE_CALL {
    constexpr Index kFours = decltype(at_once)::value;
    for (Index j = 0; j < count; ++j) {
      Four sum[kFours] = {};  // NOLINT
      for (Index r = 0; r < 6 * length; r += length) {
        const double t = turned[r + j], f = F[r + j];
        for (Index i = 0; i < kFours; ++i) {
          sum[i] += t * four(F + r + from, i);
          sum[i] += f * four(turned + r + from, i);
        }
      }
      for (Index at = from; at < row; at += length) {
        for (Index i = 0; i < kFours; ++i) four(out + at, i) += four(weights + j * row + at, i) * sum[i];
      }
    }
  });
}

}  // namespace

void ComplianceDerivatives::clear() {
  rows_.clear();
  size_ = 0;
}

void ComplianceDerivatives::add_point(std::size_t joint, const Vector3d& position, const Vector3d& arm) {
  rows_.push_back({Kind::kPoint, joint, position, arm, -1, size_});
  size_ += 3;
}

void ComplianceDerivatives::add_spin(std::size_t joint) {
  rows_.push_back({Kind::kSpin, joint, Vector3d::Zero(), Vector3d::Zero(), -1, size_});
  size_ += 3;
}

void ComplianceDerivatives::add_dof(Index dof, Index rows) {
  rows_.push_back({Kind::kDof, 0, Vector3d::Zero(), Vector3d::Zero(), dof, size_});
  size_ += rows;
}

void ComplianceDerivatives::move_bodies(const RobotData& data, const Movers& movers, const RowMatrixXd& rates) {
  const std::vector<TreeJoint>& joints = data.robot().tree().joints;
  const Index length = rates.cols();
  velocities_.resize(6 * static_cast<Index>(joints.size()), length);
  momenta_.resize(velocities_.rows(), length);
  origins_.resize(joints.size());
  velocities_.topRows<6>().setZero();
  for (std::size_t b = 1; b < joints.size(); ++b) {
    const TreeJoint& joint = joints[b];
    const Vec3 p = data.tree().bodies[b].p;
    origins_[b] = joint.parent == 0 ? Vector3d(p) : origins_[joint.parent];
    std::copy_n(velocity(joint.parent), 6 * length, velocity(b));
    for (Index k = joint.in_v; k < joint.in_v + joint.nv; ++k) {
      const Unit S = unit(movers[static_cast<std::size_t>(k)], origins_[b]);
      add_motion(length, S, rates.row(k).data(), velocity(b));
    }
    const BodyTerms& terms = data.tree().terms[b];
    weigh(length, joint.mass, terms.mc, terms.I, p - Vec3(origins_[b]), velocity(b), momentum(b));
  }
}

void ComplianceDerivatives::sum_up(const std::vector<TreeJoint>& joints, RowMatrixXd& of_bodies) {
  const Index each = of_bodies.size() / static_cast<Index>(joints.size());
  double* const all = of_bodies.data();
  for (std::size_t b = joints.size() - 1; b > 0; --b) {
    const std::size_t parent = joints[b].parent;
    if (parent != 0) add_all(each, all + static_cast<Index>(b) * each, all + static_cast<Index>(parent) * each);
  }
}

void ComplianceDerivatives::add_row(const Row& row, const Vector3d& c, const Mover& mover, double* out) {
  const Index length = stride();
  double* const half = turned_.row(6).data();
  if (row.kind == Kind::kSpin) {
    turn_spin(length, Vec3(mover.angular), velocity(row.joint), turned_.data(), half);
  } else {
    turn_point(length, Vec3(mover.angular), Vec3(c), Vec3(row.arm), velocity(row.joint), turned_.data(), half);
  }
  add_all(3 * length, half, out + row.first * length);
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < size_; ++j) out[j * length + row.first + i] += half[i * length + j];
  }
}

void ComplianceDerivatives::compute(const RobotData& data, const Movers& movers) {
  const Robot& robot = data.robot();
  const Index length = padded(size_);
  J_.resize(robot.nv(), length);
  clear_numbers(J_.size(), J_.data());
  for (const Row& row : rows_) {
    if (row.kind == Kind::kDof) {
      J_(row.dof, row.first) = 1.0;
      continue;
    }
    const bool spins = row.kind == Kind::kSpin;
    const Vector3d p = spins ? Vector3d::Zero() : Vector3d(world_position(data, row.joint, row.position) + row.arm);
    for (const Index k : robot.supports(row.joint)) {
      const Mover& mover = movers[static_cast<std::size_t>(k)];
      J_.row(k).segment<3>(row.first) = (spins ? mover.angular : mover.at(p)).transpose();
    }
  }
  response_ = J_;
  if (size_ > 0) data.factor().solve_rows(length, response_.data());
  responses_ = response_.leftCols(size_);
  // Symmetric, so that its rows are columns.
  products_.resize(size_, length);
  clear_numbers(products_.size(), products_.data());
  for (const Row& row : rows_) {
    const bool one = row.kind == Kind::kDof;
    for (Index i = row.first; i < row.first + (one ? 1 : 3); ++i) {
      if (one) sum_.add(1.0, response_.row(row.dof).data());
      for (const Index k : robot.supports(row.joint)) sum_.add(J_(k, i), response_.row(k).data());
      sum_.into(length, products_.row(i).data());
    }
  }
  Upsilon_ = Symmetric(products_.data(), size_, size_, Eigen::OuterStride<>(length));
}

void ComplianceDerivatives::differentiate(const RobotData& data, const Movers& movers, std::vector<MatrixXd>& by_q) {
  const Robot& robot = data.robot();
  const Index nv = robot.nv(), length = stride();
  move_bodies(data, movers, response_);
  sum_up(robot.tree().joints, momenta_);
  turned_.resize(9, length);
  by_q_.resize(size_, length);
  by_q.resize(static_cast<std::size_t>(nv));
  moves_.setConstant(static_cast<Index>(rows_.size()), nv, false);
  centres_.resize(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    if (row.kind == Kind::kDof) continue;
    for (const Index k : robot.supports(row.joint)) moves_(static_cast<Index>(i), k) = true;
    if (row.kind == Kind::kPoint) centres_[i] = world_position(data, row.joint, row.position) - origins_[row.joint];
  }
  for (Index k = 0; k < nv; ++k) {
    const Mover& mover = movers[static_cast<std::size_t>(k)];
    const bool carried = mover.parent != 0;  // else nothing moves what carries it
    if (carried) {
      turn_back(length, unit(mover, origins_[mover.joint]), velocity(mover.parent), turned_.data());
      multiply_both(size_, length, turned_.data(), momentum(mover.joint), by_q_.data());
    } else {
      clear_numbers(turned_.size(), turned_.data());
      clear_numbers(by_q_.size(), by_q_.data());
    }
    for (std::size_t i = 0; i < rows_.size() && (carried || !mover.angular.isZero(0.0)); ++i) {
      if (moves_(static_cast<Index>(i), k)) add_row(rows_[i], centres_[i], mover, by_q_.data());
    }
    by_q[static_cast<std::size_t>(k)] = Symmetric(by_q_.data(), size_, size_, Eigen::OuterStride<>(length));
  }
}

void ComplianceDerivatives::differentiate_products(const RobotData& data, const Movers& movers, const RowMatrixXd& x,
                                                   const RowMatrixXd& weights, RowMatrixXd& by_q) {
  const Robot& robot = data.robot();
  const std::vector<TreeJoint>& joints = robot.tree().joints;
  const Index length = x.cols(), size = x.rows(), count = weights.rows(), row = weights.cols();
  rates_.resize(robot.nv(), length);
  multiply_rows(robot.nv(), size, length, length, response_.data(), response_.cols(), x.data(), nullptr, rates_.data());
  move_bodies(data, movers, rates_);
  moved_.resize(3 * static_cast<Index>(joints.size()), row);
  clear_numbers(moved_.size(), moved_.data());
  weighed_.resize(9, row);
  double *const forces = weighed_.data(), *const velocities = forces + 3 * row;
  for (const Row& each : rows_) {
    if (each.kind != Kind::kPoint || each.first >= size) continue;
    const Vec3 c(Vector3d(world_position(data, each.joint, each.position) - origins_[each.joint])), arm(each.arm);
    const double *const f = x.row(each.first).data(), *const V = velocity(each.joint);
    double* const moved = moved_.row(3 * static_cast<Index>(each.joint)).data();
    take_forces(length, c + arm, f, momentum(each.joint));
    multiply_rows(3, count, row, row, f, length, weights.data(), nullptr, forces);
    multiply_rows(6, count, row, row, V, length, weights.data(), nullptr, velocities);
    add_moved(row, c, arm, forces, row, V, length, moved);
    add_moved(row, c, arm, f, length, velocities, row, moved);
  }
  sum_up(joints, momenta_);
  sum_up(joints, moved_);
  turned_.resize(6, length);
  by_q.resize(robot.nv(), row);
  for (Index k = 0; k < robot.nv(); ++k) {
    const Mover& mover = movers[static_cast<std::size_t>(k)];
    turn_back(length, unit(mover, origins_[mover.joint]), velocity(mover.parent), turned_.data());
    weigh_products(length, count, row / length, Vec3(mover.angular), turned_.data(), momentum(mover.joint),
                   moved_.row(3 * static_cast<Index>(mover.joint)).data(), weights.data(), by_q.row(k).data());
  }
}

}  // namespace exposim
