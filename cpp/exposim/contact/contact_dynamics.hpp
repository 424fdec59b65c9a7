#pragma once

#include <Eigen/Core>

#include "exposim/contact/contact_set.hpp"
#include "exposim/robot/dynamics.hpp"
#include "exposim/state.hpp"

namespace exposim {

/// The active contacts of a scene as a linear system, with Υ and p̈̄ frozen at a state.
///
///   d ⎡Δp ⎤   ⎡  0    I ⎤ ⎡Δp ⎤   ⎡ 0 ⎤
///   ─ ⎢   ⎥ = ⎢         ⎥ ⎢   ⎥ + ⎢   ⎥,    λ = −K Δp − B Δṗ            (eq:contact_dyn, eq:contact_forces)
///   dt⎣Δṗ ⎦   ⎣−ΥK  −ΥB ⎦ ⎣Δṗ ⎦   ⎣p̈̄ ⎦
///
/// With M = LLᵀ, Y = L⁻¹Jᵀ and w = L⁻¹u:  Υ = J M⁻¹Jᵀ = YᵀY,  p̈̄ = J M⁻¹u + J̇v = Yᵀw + J̇v.
class ContactDynamics {
 public:
  /// Evaluates all terms at a committed state.
  void update(Dynamics& dynamics, const ContactSet& contacts, const State& state, const Input& input);

  Eigen::Index contact_count() const { return ddp_bar_.size() / 3; }
  const Eigen::MatrixXd& A() const { return A_; }
  const Eigen::VectorXd& b() const { return b_; }
  const Eigen::VectorXd& x0() const { return x0_; }
  const Eigen::MatrixXd& Y() const { return Y_; }  ///< nv × 3n
  const Eigen::VectorXd& w() const { return w_; }

  /// λ = D x of the k-th active contact, i its index, for any x of the system; not projected.
  template <typename Vector>
  Eigen::Vector3d force(const ContactSet& contacts, std::size_t i, Eigen::Index k, const Vector& x) const {
    const ContactLaw& law = contacts.pair(i).law;
    const Eigen::Vector3d& n = contacts.motion(i).n;
    return -law.stiffness(n) * x.template segment<3>(3 * k) -
           law.damping(n) * x.template segment<3>(ddp_bar_.size() + 3 * k);
  }

 private:
  void resize(Eigen::Index nv, Eigen::Index contact_count);

  Eigen::VectorXd w_, ddp_bar_;
  Eigen::MatrixXd Y_, Upsilon_, A_;
  Eigen::VectorXd b_, x0_;
};

}  // namespace exposim
