#include "exposim/robot/robot_data.hpp"

#include <utility>

#include "exposim/robot/pinocchio_data.hpp"

namespace exposim {

RobotData::RobotData(std::shared_ptr<const Robot> robot)
    : robot_(std::move(robot)),
      made_for_(robot_),
      tree_(robot_->pinocchio(), robot_->tree()),
      pinocchio_(std::make_unique<Pinocchio>(robot_->pinocchio().model)) {
  factor_ = TreeFactor(pinocchio_->data.parents_fromRow);
}

RobotData::RobotData(RobotData&&) noexcept = default;
RobotData& RobotData::operator=(RobotData&&) noexcept = default;
RobotData::~RobotData() = default;

bool RobotData::adopt(const std::shared_ptr<const Robot>& robot) {
  if (!robot->is_alike(*robot_)) {
    *this = RobotData(robot);
    return false;
  }
  robot_ = robot;
  tree_.placed = false;
  return true;
}

}  // namespace exposim
