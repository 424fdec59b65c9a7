// How a resolver starts, and what it does in a micro-step.

#include <algorithm>
#include <cmath>

#include "exposim/expo/micro_step.hpp"
#include "exposim/expo/resolver.hpp"
#include "exposim/expo/resolver_tangent.hpp"
#include "exposim/kernels/fours.hpp"
#include "exposim/robot/vector3.hpp"
#include "exposim/thresholds.hpp"

namespace exposim {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

// Threes of numbers as plain ones, in loops that are compiled for machines with fused multiplication too.
EXPOSIM_INLINE Vec3 read(const double* u) { return {u[0], u[1], u[2]}; }
EXPOSIM_INLINE Vec3 read(const Vector3d& u) { return read(u.data()); }
EXPOSIM_INLINE void write(const Vec3& u, Vector3d& to) {
  double* const x = to.data();
  x[0] = u.x;
  x[1] = u.y;
  x[2] = u.z;
}
EXPOSIM_INLINE Vec3 times(const Matrix3d& A, const Vec3& u) {
  const double* const a = A.data();
  return {a[0] * u.x + a[3] * u.y + a[6] * u.z, a[1] * u.x + a[4] * u.y + a[7] * u.z,
          a[2] * u.x + a[5] * u.y + a[8] * u.z};
}

/// StiffSystem::motion_of for a block whose coordinates begin at x.
EXPOSIM_INLINE Vec3 motion_of(const StiffSystem::Row& row, Eigen::Index size, const double* x) {
  if (size == 3) return read(x);
  if (size == 1) return {x[0], 0.0, 0.0};
  if (row.rows == Rows::kAngular) return read(x + 3);
  return read(x) + cross(read(x + 3), read(row.arm));
}

EXPOSIM_INLINE void add(const Vec3& u, double* x) {
  x[0] += u.x;
  x[1] += u.y;
  x[2] += u.z;
}

/// StiffSystem::add_wrench likewise.
EXPOSIM_INLINE void add_wrench(const StiffSystem::Row& row, Eigen::Index size, const Vec3& f, double* x) {
  if (size == 3) return add(f, x);
  if (size == 1) {
    x[0] += f.x;
    return;
  }
  if (row.rows == Rows::kAngular) return add(f, x + 3);
  add(f, x);
  add(cross(read(row.arm), f), x + 3);
}

/// Error of the velocity after h, by how far forces at its start, first and second stage are from a straight line: the
/// method loses 0.0404 z³ of y' = λy, z = hλ, and the bend is then 0.293 z² of it.
constexpr double kErrorOfBend = 0.138;
/// The same by how far the law is from linear at the end, which it approaches with the square of time.
constexpr double kErrorOfLinear = 1.0 / 3.0;

}  // namespace

void Resolver::start(const StiffSystem& system, const StrandList& strands) {
  tracks_.resize(strands.all().size());
  if (courses_) courses_->assign(tracks_.size(), ForceCourse{});
  for (std::size_t k = 0; k < tracks_.size(); ++k) {
    const Strand& strand = strands.all()[k];
    Track& track = tracks_[k];
    track.row = &system.rows()[k];
    track.law = strand.law;
    track.due = false;
    track.moved.setZero();
    track.lam_bar.setZero();
    track.lam_bar2.setZero();
    Phase& phase = track.phase;
    phase.mode = strand.memory.mode;
    phase.n = strand.motion.n;
    phase.phi0 = strand.memory.phi0;
    phase.delta = displacement(strand.motion, strand.memory);
    phase.dp = strand.motion.dp;
    phase.most.fill(0.0);
    phase.share = thresholds::kMostOfStage / static_cast<double>(tracks_.size());
    phase.yielding = false;
    phase.cuts = 0;
  }
}

void Resolver::enter(const StiffSystem& system, std::size_t group, double stage) {
  if (drives_) {
    blocks_.begin(system, blocks_of_group_, drives_->Upsilon(), drives_->stride());
  } else {
    blocks_.begin(system, blocks_of_group_);
  }
  attached_for_ = modes_attached_for_ = -1.0;
  group_.clear();
  for (std::size_t k = 0; k < tracks_.size(); ++k) {
    Track& track = tracks_[k];
    if (system.group_of(track.row->block) != group) continue;
    group_.push_back(&track);
    track.first = blocks_.place_of(*track.row);
    track.size = system.blocks()[track.row->block].size;
    Phase& phase = track.phase;
    phase.stage = stage;
    track.ddp_bar = track.row->ddp_bar;
    if (drives_) {
      track.ddp_bar += blocks_.motion_of(*track.row, drives_->change());
      blocks_.clear_forces();
      blocks_.add_force(*track.row, phase.n);
      blocks_.solve();
      phase.compliance = blocks_.acceleration_of(*track.row);
    } else {
      phase.compliance = system.response(*track.row, *track.row, phase.n);
    }
    track.law->begin(phase);
    if (courses_) (*courses_)[k].begin(phase.lam);
  }
  if (tangent_) tangent_->enter(group_, blocks_, drives_ != nullptr);
}

EXPOSIM_FOR_EACH_MACHINE
void Resolver::attach_springs(double h) {
  const double g = kGamma * h;
  blocks_.detach();
  for (Track* const each : group_) {
    Track& track = *each;
    if (track.is_free()) {
      track.lam1.setZero();
      track.lam2.setZero();
      continue;
    }
    double* const Q = track.Q.data();
    const double *const B = track.phase.B.data(), *const K = track.phase.K.data();
    for (int i = 0; i < 9; ++i) Q[i] = g * (B[i] + g * K[i]);
    write(times(track.Q, read(track.ddp_bar)), track.Qc);
    blocks_.add_spring(*track.row, track.Q, track.phase.mode != Mode::kSlipping);  // which turns
  }
  blocks_.attach(modes_attached_for_ == h);
  attached_for_ = modes_attached_for_ = h;
}

void Resolver::attempt(double h) {
  if (attached_for_ != h) attach_springs(h);
  ++info_.micro_steps;
  take_first_stage(h);
  take_second_stage(h);
}

EXPOSIM_FOR_EACH_MACHINE
void Resolver::take_first_stage(double h) {
  // v1 = v + g a1, p1 = p + g v1, so that λ1 = λ − g K v − Q a1.
  const double g = kGamma * h;
  const double* by_drives = nullptr;  // accelerations of the blocks
  if (drives_) {
    drives_->begin_stages();
    by_drives = drives_->pushed().data();
  }
  blocks_.clear_forces();
  double* const wrench = blocks_.forces();
  for (Track* const each : group_) {
    Track& track = *each;
    if (track.is_free()) continue;
    const Phase& phase = track.phase;
    const Vec3 Kv = times(phase.K, read(phase.dp));
    Vec3 lam1 = read(phase.lam) - g * Kv - read(track.Qc);
    if (by_drives) lam1 = lam1 - times(track.Q, motion_of(*track.row, track.size, by_drives + track.first));
    write(Kv, track.Kv);
    write(lam1, track.lam1);
    add_wrench(*track.row, track.size, lam1, wrench + track.first);
  }
  blocks_.solve();
  const double* const alpha = blocks_.accelerations();
  if (drives_) blocks_.clear_forces();
  for (Track* const each : group_) {
    Track& track = *each;
    const Vec3 pushed = motion_of(*track.row, track.size, alpha + track.first), dp = read(track.phase.dp);
    Vec3 a1 = read(track.ddp_bar) + pushed;
    if (by_drives) a1 += motion_of(*track.row, track.size, by_drives + track.first);
    write(a1, track.a1);
    write(dp + (h - g) * a1, track.dp_end);               // without a2 so far
    write(h * dp + (2.0 * g * (h - g)) * a1, track.way);  // likewise
    if (track.is_free()) continue;
    const Vec3 lam1 = read(track.lam1) - times(track.Q, pushed);
    write(lam1, track.lam1);
    if (drives_) add_wrench(*track.row, track.size, lam1, wrench + track.first);
  }
  if (drives_) drives_->end_first_stage(blocks_.wrench(), h);
}

EXPOSIM_FOR_EACH_MACHINE
void Resolver::take_second_stage(double h) {
  // v2 = v + (h − g) a1 + g a2, p2 = p + (h − g) v1 + g v2, so that, with ρ = (h − g)/g,
  // λ2 = λ − h K v − ρ (Q a1 + g² K a1) − Q a2.
  const double g = kGamma * h, rho = (h - g) / g;
  const double* const by_drives = drives_ ? drives_->pushed().data() : nullptr;
  blocks_.clear_forces();
  double* const wrench = blocks_.forces();
  for (Track* const each : group_) {
    Track& track = *each;
    if (track.is_free()) continue;
    const Phase& phase = track.phase;
    const Vec3 lam = read(phase.lam), Kv = read(track.Kv);
    const Vec3 Qa1 = lam - g * Kv - read(track.lam1), Ka1 = times(phase.K, read(track.a1));
    Vec3 lam2 = lam - h * Kv - rho * (Qa1 + g * g * Ka1) - read(track.Qc);
    if (by_drives) lam2 = lam2 - times(track.Q, motion_of(*track.row, track.size, by_drives + track.first));
    write(lam2, track.lam2);
    add_wrench(*track.row, track.size, lam2, wrench + track.first);
  }
  blocks_.solve();
  const double* const alpha = blocks_.accelerations();
  if (drives_) blocks_.clear_forces();
  for (Track* const each : group_) {
    Track& track = *each;
    const Vec3 pushed = motion_of(*track.row, track.size, alpha + track.first);
    Vec3 a2 = read(track.ddp_bar) + pushed;
    if (by_drives) a2 += motion_of(*track.row, track.size, by_drives + track.first);
    write(a2, track.a2);
    write(read(track.dp_end) + g * a2, track.dp_end);
    write(read(track.way) + g * g * a2, track.way);
    if (track.is_free()) continue;
    const Vec3 lam2 = read(track.lam2) - times(track.Q, pushed);
    write(lam2, track.lam2);
    if (drives_) add_wrench(*track.row, track.size, lam2, wrench + track.first);
  }
  if (drives_) drives_->end_second_stage(blocks_.wrench(), h);
}

EXPOSIM_FOR_EACH_MACHINE
double Resolver::error_of(double h) {
  const double* by_drives = nullptr;
  if (drives_) {
    drives_->push_by_error();
    by_drives = drives_->pushed().data();
  }
  blocks_.clear_forces();
  double* const wrench = blocks_.forces();
  for (Track* const each : group_) {
    Track& track = *each;
    if (track.is_free()) continue;
    const Phase& phase = track.phase;
    const Vec3 lam1 = read(track.lam1);
    const Vec3 bend = (1.0 / (1.0 - kGamma)) * (read(track.lam2) - lam1) - (1.0 / kGamma) * (lam1 - read(phase.lam));
    write(read(phase.delta) + read(track.way), track.end);
    const Vector3d beyond = track.law->beyond_linear(phase, track.end, track.dp_end);
    Vec3 off = kErrorOfBend * bend + kErrorOfLinear * read(beyond);
    if (by_drives) off = off - times(track.Q, motion_of(*track.row, track.size, by_drives + track.first));
    add_wrench(*track.row, track.size, off, wrench + track.first);
  }
  blocks_.solve();
  const double* const alpha = blocks_.accelerations();
  double most = 0.0;
  for (const Track* const each : group_) {
    const Track& track = *each;
    Vec3 a = motion_of(*track.row, track.size, alpha + track.first);
    if (by_drives) a += motion_of(*track.row, track.size, by_drives + track.first);
    const double square = dot(a, a);
    most = square > most ? square : most;
  }
  return h * std::sqrt(most);
}

EXPOSIM_FOR_EACH_MACHINE
void Resolver::accept(double h) {
  if (tangent_) tangent_->accept(h, blocks_);
  for (Track* const each : group_) {
    Track& track = *each;
    const Vec3 way = read(track.way);
    write(read(track.phase.delta) + way, track.phase.delta);
    write(read(track.dp_end), track.phase.dp);
    write(read(track.moved) + way, track.moved);
    Vec3 once = read(track.lam_bar), twice = read(track.lam_bar2);
    add_to_integrals(h, read(track.lam1), read(track.lam2), once, twice);
    write(once, track.lam_bar);
    write(twice, track.lam_bar2);
  }
  if (drives_) drives_->accept(h);
}

}  // namespace exposim
