#include "exposim/path.hpp"

#include <algorithm>
#include <utility>

#include "exposim/contact/bond_motion.hpp"
#include "exposim/contact/evaluation.hpp"
#include "exposim/robot/forward_dynamics.hpp"
#include "exposim/robot/kinematics.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Vector3d;
using Eigen::VectorXd;

Path::Path(std::shared_ptr<const World> world, Input input, Instant before, Instant after)
    : world_(std::move(world)),
      input_(std::move(input)),
      before_(std::move(before)),
      after_(std::move(after)),
      workspace_(*world_, nullptr) {}

void Path::add(Piece piece, const Instant& from) {
  piece.start = from.state.t - before_.state.t;
  while (!pieces_.empty() && pieces_.back().start >= piece.start) pieces_.pop_back();
  pieces_.push_back(std::move(piece));
}

void Path::complete() {
  if (!pieces_.empty()) return;
  Piece piece;
  piece.length = end() - start();
  piece.q = before_.state.q;
  piece.v = before_.state.v;
  piece.q_end = after_.state.q;
  piece.v_end = after_.state.v;
  for (std::size_t i = 0; i < world_->strands(); ++i) {
    const Memory &was = before_.state.memory[i], &is = after_.state.memory[i];
    if (!was.active() && !is.active()) continue;
    const Memory& memory = is.active() ? is : was;
    ForceCourse& course = piece.courses.emplace_back();
    course.strand = i;
    course.surface = memory.surface;
    if (i < world_->contacts().size()) course.point = world_->point_of(i, memory);
    course.begin(before_.force(i));
    course.add(piece.length, after_.force(i));
  }
  add(std::move(piece), before_);
}

const Path::Piece& Path::piece_at(double t) const {
  std::size_t i = pieces_.size() - 1;
  while (i > 0 && pieces_[i].start > t - start()) --i;
  return pieces_[i];
}

void Path::at(double t, VectorXd& q, VectorXd& v) const {
  if (is_start(t) || is_end(t)) {
    const State& state = is_start(t) ? before_.state : after_.state;
    q = state.q;
    v = state.v;
    return;
  }
  const Robot& robot = world_->robot();
  const Piece& piece = piece_at(t);
  const double time = t - start() - piece.start, share = time / piece.length;
  VectorXd dq;
  if (piece.free.size() == 0) {
    difference(robot, piece.q, piece.q_end, dq);
    const VectorXd bend0 = piece.length * piece.v - dq, bend1 = dq - piece.length * piece.v_end;
    dq = share * dq + share * (1.0 - share) * ((1.0 - share) * bend0 + share * bend1);
    integrate(robot, piece.q, dq, q);
    v = piece.v + share * (piece.v_end - piece.v);
    return;
  }
  const auto foresee = [&](double after, VectorXd& way, VectorXd& velocity) {
    velocity = piece.v + after * piece.free;
    way = after * (piece.v + 0.5 * after * piece.free);
    for (std::size_t k = 0; k < piece.courses.size(); ++k) {
      Vector3d once, twice;
      piece.courses[k].integrate(after, once, twice);
      const auto response = piece.response.middleCols<3>(3 * static_cast<Index>(k));
      velocity += response * once;
      way += response * twice;
    }
  };
  VectorXd way, v_foreseen, left;
  foresee(piece.length, way, v_foreseen);
  difference(robot, piece.q, piece.q_end, left);
  left -= way;
  const VectorXd dv = piece.v_end - v_foreseen;
  foresee(time, way, v);
  v += share * dv;
  way += share * share * left;
  integrate(robot, piece.q, way, q);
}

void Path::forces(double t, VectorXd& lam) const {
  if (is_start(t) || is_end(t)) {
    lam = (is_start(t) ? before_ : after_).lam;
    return;
  }
  lam.setZero(3 * static_cast<Index>(world_->strands()));
  const Piece& piece = piece_at(t);
  for (const ForceCourse& course : piece.courses) {
    if (course.strand == ForceCourse::kNone) continue;
    lam.segment<3>(3 * static_cast<Index>(course.strand)) += course.at(t - start() - piece.start);
  }
}

bool Path::has_limits(const Piece& piece) const {
  return std::any_of(piece.courses.begin(), piece.courses.end(), [&](const ForceCourse& course) {
    return course.strand != ForceCourse::kNone && course.strand >= world_->first_limit();
  });
}

VectorXd Path::slope(const Piece& piece, double t) const {
  VectorXd dv = piece.free, foreseen = piece.v + piece.length * piece.free;
  for (std::size_t k = 0; k < piece.courses.size(); ++k) {
    const auto response = piece.response.middleCols<3>(3 * static_cast<Index>(k));
    Vector3d once, twice;
    piece.courses[k].integrate(piece.length, once, twice);
    foreseen += response * once;
    dv += response * piece.courses[k].at(t - start() - piece.start);
  }
  return dv + (piece.v_end - foreseen) / piece.length;
}

VectorXd Path::acceleration(double t) {
  if (is_start(t) || is_end(t)) {
    return exposim::acceleration(*world_, workspace_, is_start(t) ? before_ : after_, input_);
  }
  const Piece& piece = piece_at(t);
  if (piece.free.size() > 0 && (!world_->reacting_dofs().empty() || has_limits(piece))) return slope(piece, t);
  RobotData& data = workspace_.robot;
  State state = before_.state;
  at(t, state.q, state.v);
  update_kinematics(data, state.q, state.v);
  clear_forces(data);
  for (const ForceCourse& course : piece.courses) {
    const Vector3d lam = course.at(t - start() - piece.start);
    if (course.strand == ForceCourse::kNone || lam.isZero(0.0)) continue;
    if (course.strand < world_->contacts().size()) {
      const Vector3d p = contact_motion(*world_, data, course.point, course.surface).p;
      add_force(data, world_->shape(course.point).joint, p, lam);
      add_force(data, world_->joint_of(course.surface), p, -lam);
    } else if (course.strand < world_->first_limit()) {
      Motion motion;
      Memory memory;
      update_bond(*world_, data, state, course.strand, motion, memory);
      add_bond_force(*world_, course.strand, motion, lam, data);
    } else {
      add_joint_force(data, world_->limit(course.strand).in_v, lam.x());
    }
  }
  update_dof_forces(*world_, state, input_, workspace_.dof_forces);
  return exposim::acceleration(data, state.q, state.v, workspace_.dof_forces.all, input_.wrenches);
}

}  // namespace exposim
