#include "exposim/expo/system.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "exposim/kernels/fours.hpp"
#include "exposim/robot/jacobians.hpp"
#include "exposim/robot/kinematics.hpp"
#include "exposim/robot/mass_matrix.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;

StiffSystem::StiffSystem(const MatrixXd& Upsilon, const Eigen::VectorXd& K, const Eigen::VectorXd& B,
                         const Eigen::VectorXd& ddp_bar, const Eigen::VectorXd& x0)
    : Upsilon_block_(Upsilon) {
  const Index m = Upsilon.rows();
  for (Index first = 0; first < m; first += 3) {
    blocks_.push_back({0, 0, first, 3, Vector3d::Zero()});
    group_of_.push_back(0);
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
  groups_ = 1;
}

void StiffSystem::update(const RobotData& data, const StrandList& strands, const Forces& forces, bool at_start) {
  applied_force(data, forces.along_dofs, forces.wrenches, w_);
  solve_L_in_place(data, w_);
  group(data, strands, at_start);
  if (blocks_.empty()) {
    groups_ = 0;
    dofs_.clear();
    return;
  }
  update_jacobians(data);
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const Strand& strand = strands.all()[k];
    rows_[k].delta_p = displacement(strand.motion, strand.memory);
    rows_[k].delta_dp = displacement_rate(strand.motion, strand.memory);
  }
  update_free_accelerations(data, strands);
}

void StiffSystem::update_jacobians(const RobotData& data) {
  const auto dofs_of = [&](std::size_t joint) -> const std::vector<Index>& { return data.robot().supports(joint); };
  supports_.clear();
  dofs_.clear();
  rows_of_Y_.clear();
  std::size_t size = 0;
  for (const Block& block : blocks_) {
    const std::size_t first = dofs_.size();
    const std::vector<Index>& of_a = dofs_of(block.a);
    if (block.size == 1) {  // of a joint's degrees of freedom, those up to its own
      dofs_.insert(dofs_.end(), of_a.begin(), std::upper_bound(of_a.begin(), of_a.end(), static_cast<Index>(block.b)));
    } else {
      const std::vector<Index>& of_b = dofs_of(block.b);
      std::set_union(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), std::back_inserter(dofs_));
    }
    supports_.push_back({first, dofs_.size() - first});
    rows_of_Y_.push_back(size);
    size += supports_.back().count * static_cast<std::size_t>(block.size);
  }
  Y_.assign(size + 2, 0.0);  // rows are read as whole fours
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const Block& block = blocks_[b];
    const auto [first, count] = supports_[b];
    double* const rows = Y_.data() + rows_of_Y_[b];
    if (block.size == 1) {
      rows[count - 1] = 1.0;
    } else {
      add_jacobian_transpose(data, block.a, block.origin, 1.0, dofs_.data() + first, block.size, rows);
      add_jacobian_transpose(data, block.b, block.origin, -1.0, dofs_.data() + first, block.size, rows);
    }
    solve_L_in_place(data, dofs_, first, count, block.size, rows);
  }
  find_groups();
  update_Upsilon();
}

void StiffSystem::find_groups() {
  group_of_.resize(blocks_.size());
  first_moved_.assign(static_cast<std::size_t>(w_.size()), blocks_.size());
  groups_ = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    std::size_t group = groups_;
    for (std::size_t a = supports_[b].first; a < supports_[b].first + supports_[b].count; ++a) {
      std::size_t& other = first_moved_[static_cast<std::size_t>(dofs_[a])];
      if (other == blocks_.size()) {
        other = b;
      } else if (group == groups_) {
        group = group_of_[other];
      } else if (group_of_[other] != group) {  // it joins two that were apart
        const std::size_t joined = group_of_[other];
        for (std::size_t k = 0; k < b; ++k) group_of_[k] = group_of_[k] == joined ? group : group_of_[k];
      }
    }
    group_of_[b] = group;
    groups_ += group == groups_;
  }
}

namespace {

/// product += aᵀb for rows a and b, one or several of them; behind the last there is room to read on.
template <Index Size>
EXPOSIM_INLINE void add_products(const double* a, const double* b, std::size_t rows, double* product) {
  constexpr Index kFours = fours(Size);
  Four sums[Size][kFours] = {};  // NOLINT
  for (std::size_t k = 0; k < rows; ++k, a += Size, b += Size) {
    for (Index j = 0; j < Size; ++j) {
      for (Index i = 0; i < kFours; ++i) sums[j][i] += b[j] * four(a, i);
    }
  }
  for (Index j = 0; j < Size; ++j) {
    for (Index i = 0; i < Size; ++i) product[Size * j + i] += sums[j][i / kFour][i % kFour];
  }
}

EXPOSIM_FOR_EACH_MACHINE
void add_products(const double* a, Index size_a, const double* b, Index size_b, std::size_t rows, double* product) {
  if (size_a == 3 && size_b == 3) return add_products<3>(a, b, rows, product);
  if (size_a == 6 && size_b == 6) return add_products<6>(a, b, rows, product);
  for (std::size_t k = 0; k < rows; ++k, a += size_a, b += size_b) {
    for (Index i = 0; i < size_a; ++i) {
      for (Index j = 0; j < size_b; ++j) product[size_a * j + i] += a[i] * b[j];
    }
  }
}

/// x += w₁ row₁ + w₂ row₂ + …
template <Index Size>
void add_rows(const Index* dofs, std::size_t count, const double* row, const double* w, double* x) {
  double sum[Size] = {};  // NOLINT
  for (std::size_t a = 0; a < count; ++a, row += Size) {
    for (Index i = 0; i < Size; ++i) sum[i] += w[dofs[a]] * row[i];
  }
  for (Index i = 0; i < Size; ++i) x[i] += sum[i];
}

}  // namespace

void StiffSystem::update_Upsilon() {
  const Index r = blocks_.back().first + blocks_.back().size;
  Upsilon_block_.setZero(r, r);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      // Degrees of freedom that move both: runs in which the two agree.
      const Block &bi = blocks_[i], &bj = blocks_[j];
      const Index *di = dofs_.data() + supports_[i].first, *dj = dofs_.data() + supports_[j].first;
      const Index *const end_i = di + supports_[i].count, *const end_j = dj + supports_[j].count;
      const double *row_i = Y_.data() + rows_of_Y_[i], *row_j = Y_.data() + rows_of_Y_[j];
      std::array<double, 36> product;
      std::fill_n(product.begin(), bi.size * bj.size, 0.0);
      bool any = false;
      while (di != end_i && dj != end_j) {
        std::size_t run = 0;
        while (di != end_i && dj != end_j && *di == *dj) ++di, ++dj, ++run;
        if (run > 0) {
          add_products(row_i, bi.size, row_j, bj.size, run, product.data());
          row_i += static_cast<Index>(run) * bi.size;
          row_j += static_cast<Index>(run) * bj.size;
          any = true;
        }
        while (di != end_i && dj != end_j && *di < *dj) ++di, row_i += bi.size;
        while (di != end_i && dj != end_j && *dj < *di) ++dj, row_j += bj.size;
      }
      if (!any) continue;
      const double* found = product.data();
      for (Index b = 0; b < bj.size; ++b) {
        double *column = &Upsilon_block_(bi.first, bj.first + b), *row = &Upsilon_block_(bj.first + b, bi.first);
        for (Index a = 0; a < bi.size; ++a, row += r) *row = column[a] = *found++;
      }
    }
  }
}

void StiffSystem::update_bias(const RobotData& data, const StrandList& strands, const Forces& forces) {
  applied_force(data, forces.along_dofs, forces.wrenches, w_);
  solve_L_in_place(data, w_);
  update_free_accelerations(data, strands);
}

namespace {

/// What the rotation of the body that carries the surface adds to an acceleration as that body sees it: Coriolis, and
/// that the arm of a spherical foot turns along.
Vector3d turning_drift(const RobotData& data, const Block& block, const Motion& motion, const Vector3d& p) {
  const Vector3d omega_a = angular_velocity(data, block.a), omega_b = angular_velocity(data, block.b);
  const Vector3d centre = p - motion.arm;
  const Vector3d dc = velocity_at(data, block.a, centre) - velocity_at(data, block.b, centre);
  const Vector3d dp = dc + (omega_a - omega_b).cross(motion.arm);
  return omega_a.cross(omega_b.cross(motion.arm)) - omega_b.cross(dc + dp);
}

}  // namespace

void StiffSystem::update_free_accelerations(const RobotData& data, const StrandList& strands) {
  acceleration_.setZero(Upsilon_block_.rows());
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const Index* const dofs = dofs_.data() + supports_[b].first;
    const double* const rows = Y_.data() + rows_of_Y_[b];
    double* const x = acceleration_.data() + blocks_[b].first;
    if (blocks_[b].size == 3) {
      add_rows<3>(dofs, supports_[b].count, rows, w_.data(), x);
    } else if (blocks_[b].size == 6) {
      add_rows<6>(dofs, supports_[b].count, rows, w_.data(), x);
    } else {
      add_rows<1>(dofs, supports_[b].count, rows, w_.data(), x);
    }
  }
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
      if (motion.carried) row.ddp_bar += turning_drift(data, block, motion, p);
    } else if (row.rows == Rows::kAngular) {
      row.ddp_bar += angular_drift(data, block.a) - angular_drift(data, block.b);
    }
    if (!motion.curved) continue;
    const Vector3d dn = normal_rate(motion);
    row.ddp_bar += motion.dc.dot(dn) * motion.n;  // φ̈ beyond n·p̈
    if (motion.arm.isZero() && !motion.slides) continue;
    const Vector3d omega = angular_velocity(data, block.a) - angular_velocity(data, block.b);
    if (motion.slides) row.ddp_bar += omega.cross(rotation(data, block.a) * motion.sliding);  // further along the edge
    const Vector3d darm = -motion.arm.norm() * dn;
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

}  // namespace exposim
