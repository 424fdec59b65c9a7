#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/expo/system.hpp"
#include "exposim/robot/robot_data.hpp"

namespace exposim {

/// Drives on their way through a step, side by side: numbers of each quantity stand one after the other, filled up with
/// zeros to fours.
struct DriveLanes {
  Eigen::Index count;
  const double *constant, *K, *D;  ///< of their laws
  double *x, *v, *force;           ///< now; x counted from the start
  double *force1, *force2;         ///< at the first stage, and in the second
  double *a1, *a2;                 ///< accelerations of the stages
  double *way, *v_end;             ///< displacement in the micro-step, velocity at its end
  double *lam_bar, *lam_bar2;      ///< single and double integral of the force
};

/// Drives that are followed together with strands, explicitly: f − K x − D v along a coordinate, x from the start.
///
/// For a step they are in the inertia, M + diag(X), with forces that fit (JointTerms). Where strands change, they are
/// taken out of both again; with the coordinates of the blocks of a group and of its drives stacked, one by one
///
///   Υ ← Υ + Υ_d Υ_dᵀ/(1/X − Υ_dd),      p̈̄ ← p̈̄ + Υ_d p̈̄_d/(1/X − Υ_dd)                       (Sherman, Morrison)
///
/// In micro-steps they are the explicit half of a method of second order whose implicit half follows the strands
/// (Ascher, Ruuth, Spiteri 1997): no spring of theirs is attached to anything.
class FollowedDrives {
 public:
  struct Drive {
    Eigen::Index dof;
    double v;            ///< at the start
    double force, K, D;  ///< of its law
    double X, fitted;    ///< what it has added to the inertia, and to the forces

    double at(double x_now, double v_now) const { return force - K * x_now - D * v_now; }
  };

  /// A drive on its way through the step.
  struct Track {
    Drive drive;
    double x, v, force;        ///< now; x counted from the start
    double force1, force2;     ///< at the first stage, and in the second
    double a1, a2;             ///< accelerations of the stages
    double way, v_end;         ///< displacement in the micro-step, velocity at its end
    double lam_bar, lam_bar2;  ///< single and double integral of its force
  };

  /// At the start of a step, with the factor that its system was updated with.
  void begin(const RobotData& data);
  /// @return its number.
  std::size_t add(const Drive& drive);
  bool empty() const { return drives_.empty(); }

  /// Takes the drives that move a group of blocks out of its inertia. @return whether there are any.
  bool enter(const StiffSystem& system, std::size_t group, const std::vector<std::size_t>& blocks);
  /// Υ between the blocks of the group, in the order in which they were given; a column begins every stride() numbers.
  const double* Upsilon() const { return Upsilon_.data(); }
  Eigen::Index stride() const { return stride_; }
  /// By which this changes the accelerations of its blocks without stiff forces.
  const Eigen::VectorXd& change() const { return change_; }
  /// Up to which a micro-step is stable and accurate [s].
  double longest() const { return longest_; }

  // A micro-step of h. Accelerations of the blocks by the drives, in its first stage, then in its second:
  void begin_stages();
  /// @param wrench of the strands' forces in the first stage.
  void end_first_stage(const Eigen::VectorXd& wrench, double h);
  void end_second_stage(const Eigen::VectorXd& wrench, double h);
  /// Those by what the forces of the drives are off in the micro-step just tried.
  void push_by_error();
  const Eigen::VectorXd& pushed() const { return pushed_; }
  void accept(double h);

  // What is differentiated:
  std::size_t size() const { return drives_.size(); }
  const Drive& drive(std::size_t k) const { return drives_[k]; }
  /// As it is now, if its group was entered.
  Track track(std::size_t k) const;
  /// Numbers of those that move the present group.
  const std::vector<std::size_t>& group() const { return group_; }
  /// What a drive of the group does to the coordinates of its blocks; from drives_begin() on, to those of its drives.
  const double* column(std::size_t d) const {
    return Upsilon_.data() + (begin_ + static_cast<Eigen::Index>(d)) * stride_;
  }
  Eigen::Index drives_begin() const { return begin_; }

  // After a step of dt:
  double mean_force(std::size_t k, double dt) const { return lam_bar_[place_[k]] / dt; }
  double displacement(std::size_t k) const { return x_[place_[k]]; }
  /// Adds what moves the robot along its degrees of freedom instead of the fitted forces, by averages of the forces and
  /// by double averages.
  void add_forces(double dt, Eigen::MatrixX2d& along_dofs) const;

 private:
  /// Takes the drives of the present group as they start.
  void line_up();
  /// Fills Υ̂ of the blocks and drives, and p̈̄ of the drives.
  void load(const StiffSystem& system, const std::vector<std::size_t>& blocks);
  void take_out_of_inertia();
  void bound_micro_steps();
  /// What forces of the drives do to coordinates: those of the blocks, or all.
  void push(Eigen::Index rows, const double* forces, std::vector<double>& accelerations) const;
  void push_from_start();
  /// Accelerations of the drives by wrenches on the blocks.
  void reply_to(const Eigen::VectorXd& wrench);

  const RobotData* data_ = nullptr;
  std::vector<Drive> drives_;
  std::vector<std::size_t> place_;  // of each among all
  std::vector<std::size_t> group_;  // those of the present one
  std::size_t next_ = 0;            // where the next group begins
  // Of all drives, where those of a group stand side by side; and of the present one.
  std::vector<double> constant_, K_, D_, x_, v_, force_, force1_, force2_, a1_, a2_, way_, v_end_, lam_bar_, lam_bar2_;
  DriveLanes lanes_{};
  Eigen::Index blocks_ = 0;  // coordinates of the group's blocks
  Eigen::Index begin_ = 0;   // of those of its drives, which come behind them at a multiple of four
  Eigen::Index size_ = 0, stride_ = 0;
  std::vector<double> Upsilon_;              // of both
  std::vector<double> Y_;                    // L⁻¹ of the drives: a row to each degree of freedom
  std::vector<Eigen::Index> dofs_, counts_;  // where a column of it is not zero, and in how many places
  std::vector<double> entries_;              // there
  std::vector<double> taken_, by_;  // columns of Υ when their drives were taken out, and what they were taken times
  std::vector<double> forces_, at_start_, in_stage_, replies_;
  std::vector<double> free_;  // acceleration without stiff forces; of blocks: its change
  Eigen::VectorXd change_, pushed_;
  double longest_ = 0.0;
};

}  // namespace exposim
