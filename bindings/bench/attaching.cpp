#include "attaching.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <vector>

#include "exposim/kernels/identity_plus.hpp"

namespace nb = nanobind;

namespace exposim {
namespace {

/// IdentityPlus by itself, with all rows of a matrix.
class Attaching {
 public:
  explicit Attaching(const Eigen::MatrixXd& A) : size_(A.rows()) {
    std::vector<Eigen::Index> rows;
    for (Eigen::Index i = 0; i < size_; ++i) rows.push_back(i);
    compliance_.load(A, rows);
  }

  /// @param blocks on the diagonal, one after the other; those that are zero are left out.
  void attach(const std::vector<Eigen::MatrixXd>& blocks, const std::vector<bool>& lasting, bool lasting_as_before) {
    std::vector<DiagonalBlock> B;
    Eigen::Index first = 0;
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      DiagonalBlock block;
      block.first = first;
      block.size = blocks[k].rows();
      block.zero = blocks[k].isZero(0.0);
      block.lasting = lasting.at(k);
      block.values.setZero();
      block.values.topLeftCorner(block.size, block.size) = blocks[k];
      B.push_back(block);
      first += block.size;
    }
    if (first != size_) throw std::invalid_argument("the blocks do not fill the diagonal");
    compliance_.attach(B, lasting_as_before);
  }

  double determinant() const { return compliance_.determinant(); }

  Eigen::VectorXd apply(const Eigen::VectorXd& w) {
    Eigen::VectorXd x(padded(size_));
    compliance_.apply(w.data(), x.data());
    return x.head(size_);
  }

 private:
  Eigen::Index size_;
  IdentityPlus compliance_;
};

}  // namespace

void bind_attaching(nb::module_& m) {
  nb::class_<Attaching>(m, "Attaching")
      .def(nb::init<const Eigen::MatrixXd&>(), nb::arg("A"))
      .def("attach", &Attaching::attach, nb::arg("blocks"), nb::arg("lasting"), nb::arg("lasting_as_before"))
      .def("apply", &Attaching::apply, nb::arg("w"))
      .def_prop_ro("determinant", &Attaching::determinant);
}

}  // namespace exposim
