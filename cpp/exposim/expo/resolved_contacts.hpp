#pragma once

#include <cstddef>
#include <vector>

#include "exposim/contact/evaluation.hpp"
#include "exposim/contact/strands.hpp"
#include "exposim/expo/resolver.hpp"
#include "exposim/step.hpp"
#include "exposim/world.hpp"

namespace exposim {

/// What contacts that were followed through a step leave behind.
class ResolvedContacts {
 public:
  /// Memories, and forces and changes of mode where a contact has a place to report them.
  void take(const World& world, const StrandList& strands, const Resolver& resolver, Step& step);
  /// Which entry of the instant tells of each strand.
  const std::vector<std::size_t>& slots() const { return slots_; }
  /// By the entries of the instant; valid as long as the strands are.
  const std::vector<Followed>& followed() const { return followed_; }

 private:
  /// Which entry of the instant each strand has at the end of the step: an open contact that closed takes a free slot.
  void assign_slots(const World& world, const StrandList& strands, const Resolver& resolver, State& next);

  /// Where a contact that came and went within the step is told of: a slot of its point that is free at its end.
  static std::size_t passed_through(const World& world, const Strand& strand, const State& next);

  std::vector<std::size_t> slots_;
  std::vector<Followed> followed_;
};

}  // namespace exposim
