#include "exposim/expo/strand_basis.hpp"

#include <algorithm>

namespace exposim {

using Eigen::Index;

StrandBasis::StrandBasis() {
  constexpr Index length = StrandChange::kColumns;
  double* next = numbers_.data();
  for (Rows3* const rows :
       {&strand_.delta, &strand_.dp, &strand_.slide, &strand_.compliance, &strand_.lam, &strand_.stretch}) {
    *rows = {next, length};
    next += 3 * length;
  }
  for (double** const row : {&strand_.mu, &strand_.turning, &strand_.scratch, &strand_.scratch2}) {
    *row = next;
    next += length;
  }
  material_ = next;
}

StrandTangent& StrandBasis::start(bool materials, bool mu_changes) {
  constexpr Index length = StrandChange::kColumns;
  clear_numbers(static_cast<Index>(numbers_.size()), numbers_.data());
  const auto mark = [](double* rows, Index count, Index column) {
    for (Index i = 0; i < count; ++i) rows[i * length + column + i] = 1.0;
  };
  mark(strand_.delta.first, 3, StrandChange::kDelta);
  mark(strand_.dp.first, 3, StrandChange::kDp);
  mark(strand_.slide.first, 3, StrandChange::kSlide);
  mark(strand_.compliance.first, 3, StrandChange::kCompliance);
  mark(strand_.mu, 1, StrandChange::kMu);
  mark(material_, 5, StrandChange::kMaterial);
  strand_.material = materials ? material_ : nullptr;
  strand_.mu_changes = mu_changes;
  strand_.no_direction = strand_.held_back = false;
  return strand_;
}

StrandChange StrandBasis::change() const {
  StrandChange result;
  double* to = result.by.data();
  const auto take = [&](const double* rows, Index count) {
    to = std::copy_n(rows, count * StrandChange::kColumns, to);
  };
  take(strand_.delta.first, 3);
  take(strand_.slide.first, 3);
  take(strand_.lam.first, 3);
  if (strand_.mu_changes) {
    take(strand_.mu, 1);
  } else {
    to = std::fill_n(to, StrandChange::kColumns, 0.0);
  }
  take(strand_.turning, 1);
  return result;
}

}  // namespace exposim
