#include "exposim/expo/sprung_blocks.hpp"

#include <numeric>

#include "exposim/kernels/fours.hpp"

namespace exposim {

using Eigen::Index;

void SprungBlocks::begin(const StiffSystem& system, std::size_t count) {
  blocks_.resize(count);
  std::iota(blocks_.begin(), blocks_.end(), std::size_t{0});
  begin(system, blocks_);
}

void SprungBlocks::begin(const StiffSystem& system, const std::vector<std::size_t>& blocks) {
  place(system, blocks);
  compliance_.load(system.Upsilon_block(), rows_);
}

void SprungBlocks::begin(const StiffSystem& system, const std::vector<std::size_t>& blocks, const double* Upsilon,
                         Index stride) {
  place(system, blocks);
  compliance_.load(static_cast<Index>(rows_.size()), Upsilon, stride);
}

void SprungBlocks::place(const StiffSystem& system, const std::vector<std::size_t>& blocks) {
  system_ = &system;
  place_.resize(system.blocks().size());
  slot_.resize(system.blocks().size());
  rows_.clear();
  springs_.resize(blocks.size());
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const Block& block = system.blocks()[blocks[k]];
    springs_[k].first = place_[blocks[k]] = static_cast<Index>(rows_.size());
    springs_[k].size = block.size;
    slot_[blocks[k]] = static_cast<Index>(k);
    for (Index i = 0; i < block.size; ++i) rows_.push_back(block.first + i);
  }
  wrench_.setZero(static_cast<Index>(rows_.size()));
  alpha_.resize(padded(wrench_.size()));
  detach();
}

void SprungBlocks::detach() {
  for (DiagonalBlock& spring : springs_) spring.zero = spring.lasting = true;
}

void SprungBlocks::add_spring(const StiffSystem::Row& row, const Eigen::Matrix3d& Q, bool lasting) {
  DiagonalBlock& spring = springs_[static_cast<std::size_t>(slot_[row.block])];
  spring.lasting &= lasting;
  StiffSystem::add_stiffness(row, Q, spring);
}

}  // namespace exposim
