#pragma once

#include <memory>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "exposim/derivatives/step_derivatives.hpp"

namespace exposim {

/// A parameter as Python gives it: worlds in which it is more and less, and by how much it differs in them.
using ParameterTuple = std::tuple<std::shared_ptr<World>, std::shared_ptr<World>, double>;

inline DerivativeRequest request_of(const World& world, const std::vector<ParameterTuple>& parameters, bool wrenches,
                                    bool exact, bool differences) {
  DerivativeRequest request;
  request.wrenches = wrenches;
  request.exact = exact;
  request.differences = differences;
  for (const auto& [more, less, between] : parameters) {
    for (const auto& each : {more, less}) {
      if (each->packed_size() != world.packed_size() || each->tangent_size() != world.tangent_size()) {
        throw std::invalid_argument("a parameter's world has another layout");
      }
    }
    request.parameters.push_back({more, less, between});
  }
  return request;
}

}  // namespace exposim
