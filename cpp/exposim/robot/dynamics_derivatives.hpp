#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/kernels/fours.hpp"
#include "exposim/robot/robot_data.hpp"

namespace exposim {

/// Derivatives of M v̇ + h − Jᵀλ, of what v̇ takes, by q and v, with forces that stay what they are in the world; and
/// those of the accelerations of points.
///
/// Seen from what a degree of freedom k carries, moving along it turns the motion of what carries *it* the other way:
/// with S the motion at unit rate of k, V and A the velocity and acceleration of the body before it, all about one
/// point of the world (V × S: angular ω × s, linear ω × s_v + v × s),
///
///   ψ = V × S,    χ = A × S + V × ψ,    σ = ψ + (V + V_k) × S
///
/// are what velocities change by (ψ), and what accelerations do with q (χ) and v (σ), up to terms 2 s × u of every
/// particle's velocity u. Forces of a body then change by I χ + 2 Σ m ψ_ω × u and I σ + 2 Σ m s_ω × u, whose sums over
/// all that is carried need its inertia, its momentum P = Σ m u and G = Σ m u rᵀ alone.
class DynamicsDerivatives {
 public:
  /// Of the last update_terms: what does not depend on velocities, and is kept.
  void take_terms(const RobotData& data);
  /// The motion of the last update_terms or update_bias, with v̇.
  void begin(const RobotData& data, const Eigen::VectorXd& dv);
  /// The same at rest and without gravity: of M v̇.
  void begin_at_rest(const Eigen::VectorXd& dv);
  /// A force at c + arm on a body, c in the world moving with it and arm not turning, and a torque.
  void add_force(std::size_t joint, const Eigen::Vector3d& c, const Eigen::Vector3d& arm, const Eigen::Vector3d& force,
                 const Eigen::Vector3d& torque);
  /// Entries between degrees of freedom of which none carries the other are zero.
  /// @param by_v null: not asked for.
  void compute(RowMatrixXd& by_q, RowMatrixXd* by_v);

  /// Of the acceleration c̈ + ω̇ × arm of c, a point in the world that moves with a body: puts derivatives by v̇, q and v
  /// into three rows of matrices that have a column to each degree of freedom. @param by_v null: not asked for.
  void put_acceleration(std::size_t joint, const Eigen::Vector3d& c, const Eigen::Vector3d& arm, Eigen::Index first,
                        RowMatrixXd& J, RowMatrixXd& by_q, RowMatrixXd* by_v) const;

  /// Of the motion begun with, as the world sees it: what a body has at c, and its rotation.
  struct Acceleration {
    Eigen::Vector3d linear, angular;
  };
  Acceleration acceleration(std::size_t joint, const Eigen::Vector3d& c) const;

 private:
  struct Spatial {
    Vec3 w, v;  // angular; linear at the origin that its tree is about
  };
  struct Dof {
    Spatial S, psi, chi, sigma;
  };
  struct Inertia {
    double mass = 0.0;
    Vec3 mc;
    Symmetric3 I;

    EXPOSIM_INLINE Spatial operator*(const Spatial& x) const {
      return {I * x.w + cross(mc, x.v), mass * x.v + cross(x.w, mc)};
    }
  };
  struct Body {
    Vec3 o;  // what all of its tree is about
    Inertia own;
    Spatial pushed;  // by v̇
    Spatial V, A;
    // Of all that it carries, with itself:
    Inertia inertia;
    Vec3 P;
    Mat3 G;
    Spatial F;
    Vec3 f, n;  // forces that stay what they are
    Mat3 N;     // Σ c fᵀ − (c·f) 1
  };
  EXPOSIM_INLINE static Vec3 at(const Spatial& field, const Vec3& r) { return field.v + cross(field.w, r); }
  EXPOSIM_INLINE static Spatial crossed(const Spatial& a, const Spatial& b) {
    return {cross(a.w, b.w), cross(a.w, b.v) + cross(a.v, b.w)};
  }
  /// @param data null: at rest.
  void begin(const RobotData* data, const Eigen::VectorXd& dv);
  void move_body(const RobotData& data, std::size_t i);

  /// The same of four degrees of freedom, side by side.
  enum Numbers : Eigen::Index { kS = 0, kChi = 6, kSigma = 12, kPsi = 18, kNumbers = 21 };
  double* side_by_side(Eigen::Index dof, Numbers first) {
    return fours_.row(dof / kFour).data() + first * kFour + dof % kFour;
  }
  EXPOSIM_INLINE void put_side_by_side(Eigen::Index dof, Numbers first, const Vec3& x) {
    double* const to = side_by_side(dof, first);
    to[0] = x.x;
    to[kFour] = x.y;
    to[2 * kFour] = x.z;
  }
  EXPOSIM_INLINE void put_side_by_side(Eigen::Index dof, Numbers first, const Spatial& x) {
    put_side_by_side(dof, first, x.w);
    put_side_by_side(dof, static_cast<Numbers>(first + 3), x.v);
  }
  /// What a degree of freedom that is carried does with those that carry it.
  struct Meeting {
    double u[6], u_S[3], u_psi[3], t[6], t_v[6];  // NOLINT
  };
  /// @param carrying ones, zero where degrees of freedom do not carry it.
  /// @param felt and caused: by q, then by v.
  EXPOSIM_INLINE void meet(const Meeting& own, Eigen::Index count, bool by_v, const double* carrying, double* felt,
                           double* caused) const;

  const Tree* tree_ = nullptr;
  bool moves_ = false;
  RowMatrixXd fours_;     // of degrees of freedom
  RowMatrixXd carrying_;  // of every body, and with its own: ones
  RowMatrixXd met_;
  std::vector<Dof> dofs_;
  std::vector<Body> bodies_;
};

}  // namespace exposim
