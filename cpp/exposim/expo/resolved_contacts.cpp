#include "exposim/expo/resolved_contacts.hpp"

namespace exposim {

void ResolvedContacts::assign_slots(const World& world, const StrandList& strands, const Resolver& resolver,
                                    State& next) {
  slots_.resize(strands.all().size());
  for (std::size_t k = 0; k < slots_.size(); ++k) {
    const Strand& strand = strands.all()[k];
    slots_[k] = strand.index;
    if (strand.index == Strand::kNone) continue;
    Memory end = resolver.end(k);
    const bool contact = strand.index < world.contacts().size();
    const bool keeps = !contact || !world.changes_hands(strand.index) || end.active();  // else the slot is free again
    end.surface = keeps ? strand.memory.surface : -1;
    end.guest = keeps ? strand.memory.guest : -1;
    next.memory[strand.index] = end;
  }
  for (std::size_t k = 0; k < slots_.size(); ++k) {
    const Strand& strand = strands.all()[k];
    if (strand.index != Strand::kNone || strand.point == Strand::kNone) continue;
    Memory end = resolver.end(k);
    if (!end.active()) continue;
    const int surface = strand.memory.surface;
    const std::size_t slot = free_slot(world, next, strand.point, surface);
    if (slot == world.slots(strand.point, surface).second) continue;  // the commit counts it, and keeps the deepest
    end.surface = surface;
    end.guest = strand.memory.guest;
    next.memory[slot] = end;
    slots_[k] = slot;
  }
}

std::size_t ResolvedContacts::passed_through(const World& world, const Strand& strand, const State& next) {
  if (strand.point == Strand::kNone) return Strand::kNone;  // a drive
  const std::size_t slot = free_slot(world, next, strand.point, strand.memory.surface);
  return slot < world.slots(strand.point, strand.memory.surface).second ? slot : Strand::kNone;
}

void ResolvedContacts::take(const World& world, const StrandList& strands, const Resolver& resolver, Step& step) {
  assign_slots(world, strands, resolver, step.next.state);
  followed_.assign(step.next.state.memory.size(), Followed{});
  for (std::size_t k = 0; k < slots_.size(); ++k) {
    if (slots_[k] == Strand::kNone) continue;
    const auto first = 3 * static_cast<Eigen::Index>(slots_[k]);
    followed_[slots_[k]] = {&strands.all()[k].motion, resolver.moved(k)};
    step.lam.segment<3>(first) += resolver.lam_bar(k);
    step.lam2.segment<3>(first) += resolver.lam_bar2(k);
  }
  for (const ModeChange& change : resolver.changes()) {
    std::size_t& slot = slots_[change.strand];
    if (slot == Strand::kNone) slot = passed_through(world, strands.all()[change.strand], step.next.state);
    if (slot == Strand::kNone) continue;
    step.changes.push_back(change);
    step.changes.back().strand = slot;
  }
}

}  // namespace exposim
