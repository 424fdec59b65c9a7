#include "exposim/robot/robot_data.hpp"

#include <utility>

#include "exposim/robot/pinocchio_data.hpp"

namespace exposim {

RobotData::RobotData(std::shared_ptr<const Robot> robot)
    : robot_(std::move(robot)),
      tree_(robot_->pinocchio(), robot_->tree()),
      pinocchio_(std::make_unique<Pinocchio>(robot_->pinocchio().model)) {
  factor_ = TreeFactor(pinocchio_->data.parents_fromRow);
}

RobotData::RobotData(RobotData&&) noexcept = default;
RobotData& RobotData::operator=(RobotData&&) noexcept = default;
RobotData::~RobotData() = default;

bool RobotData::adopt(const std::shared_ptr<const Robot>& robot) {
  if (robot == robot_) return true;
  *this = RobotData(robot);
  return false;
}

}  // namespace exposim
