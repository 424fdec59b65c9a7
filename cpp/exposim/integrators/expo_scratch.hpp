#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/expo/agreement.hpp"
#include "exposim/expo/averages.hpp"
#include "exposim/expo/error_estimate.hpp"
#include "exposim/expo/followed_drives.hpp"
#include "exposim/expo/joint_terms.hpp"
#include "exposim/expo/look_ahead.hpp"
#include "exposim/expo/resolved_contacts.hpp"
#include "exposim/expo/resolver.hpp"
#include "exposim/expo/robot_update.hpp"
#include "exposim/expo/system.hpp"
#include "exposim/integrators/expo_tangent.hpp"
#include "exposim/integrators/step_control.hpp"
#include "exposim/workspace.hpp"

namespace exposim {

/// What a step of Expo works in.
struct ExpoScratch final : Scratch {
  explicit ExpoScratch(const ContactKernel& kernel) : averages(kernel) {}

  StrandList strands;
  JointTerms joints;
  StiffSystem system;
  ForceAverages averages;
  Resolver resolver;
  FollowedDrives drives;
  LookAhead ahead;
  RobotUpdate update;
  Agreement agreement;
  Eigen::VectorXd q_middle, v_middle, dv, acceleration;
  Eigen::VectorXd way;    // of the step, as it is foreseen
  Eigen::VectorXd dq;     // to where M and J are taken
  bool changing = false;  // contacts, within the step
  ResolvedContacts contacts;
  PartedStep parted;
  double turn_rate = 0.0;                // in the middle of a part
  std::size_t near = 0;                  // strands that touch or may
  std::vector<Eigen::Vector3d> ddp_bar;  // as it was at first
  double off = 0.0;                      // by which it has changed since [m/s²]
  ErrorEstimate estimate;
  ExpoTangent own_tangent;
  ExpoTangent* tangent = nullptr;  // that, of one who differentiates
};

inline ExpoScratch& scratch_of(Workspace& workspace) { return static_cast<ExpoScratch&>(*workspace.scratch); }

}  // namespace exposim
