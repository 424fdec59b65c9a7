#include "exposim/kernels/pade.hpp"

#include <stdexcept>
#include <string>

namespace exposim {
namespace {

// Coefficients of N_j, constant term first; those of D_j alternate in sign.
constexpr double kB1[] = {2, 1};
constexpr double kB2[] = {12, 6, 1};
constexpr double kB3[] = {120, 60, 12, 1};
constexpr double kB5[] = {30240, 15120, 3360, 420, 30, 1};
constexpr double kB7[] = {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1};
constexpr double kB9[] = {17643225600., 8821612800., 2075673600., 302702400., 30270240.,
                          2162160.,     110880.,     3960.,       90.,        1.};
constexpr double kB13[] = {64764752532480000.,
                           32382376266240000.,
                           7771770303897600.,
                           1187353796428800.,
                           129060195264000.,
                           10559470521600.,
                           670442572800.,
                           33522128640.,
                           1323241920.,
                           40840800.,
                           960960.,
                           16380.,
                           182.,
                           1.};

}  // namespace

const Eigen::MatrixXd& PadeApproximant::square(const Eigen::MatrixXd& A) {
  multiply_from_left(A, A, A2_);
  return A2_;
}

void PadeApproximant::multiply_from_left(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B,
                                         Eigen::MatrixXd& out) const {
  if (r_ == 0) {
    out.noalias() = A * B;
    return;
  }
  const Eigen::Index r = r_, rest = A.rows() - 2 * r;
  const auto D = A.block(0, r, r, r).diagonal();
  out.resize(A.rows(), A.cols());
  out.topRows(r).noalias() = D.asDiagonal() * B.middleRows(r, r);
  out.topRows(r).noalias() += A.topRightCorner(r, rest) * B.bottomRows(rest);
  auto bottom = out.middleRows(r, r);
  const auto Q = A.block(r, r, r, r);
  bottom.noalias() = Q * B.middleRows(r, r);
  if (&A == &B) {  // the rows above are [0 D ·]
    bottom.middleCols(r, r).noalias() += A.block(r, 0, r, r) * D.asDiagonal();
    bottom.rightCols(rest).noalias() += A.block(r, 0, r, r) * B.topRightCorner(r, rest);
  } else {
    bottom.noalias() += A.block(r, 0, r, r) * B.topRows(r);
  }
  bottom.noalias() += A.block(r, 2 * r, r, rest) * B.bottomRows(rest);
  out.bottomRows(rest).noalias() = A.bottomRightCorner(rest, rest) * B.bottomRows(rest);
}

int PadeApproximant::evaluate(const Eigen::MatrixXd& A, int degree, bool squared) {
  int products = 0;
  const auto multiply = [&products](Eigen::MatrixXd& out, const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
    out.noalias() = a * b;
    ++products;
  };

  if (degree >= 2 && !squared) {
    square(A);
    ++products;
  }
  if (degree >= 5) multiply(A4_, A2_, A2_);
  if (degree >= 7) multiply(A6_, A4_, A2_);
  if (degree == 9) multiply(A8_, A4_, A4_);

  // odd_ holds the polynomial in A² that A multiplies to give U.
  switch (degree) {
    case 1:
      U_ = kB1[1] * A;
      V_.setZero(A.rows(), A.cols());
      V_.diagonal().array() += kB1[0];
      break;
    case 2:
      U_ = kB2[1] * A;
      V_ = kB2[2] * A2_;
      V_.diagonal().array() += kB2[0];
      break;
    case 3:
      odd_ = kB3[3] * A2_;
      odd_.diagonal().array() += kB3[1];
      V_ = kB3[2] * A2_;
      V_.diagonal().array() += kB3[0];
      break;
    case 5:
      odd_ = kB5[5] * A4_ + kB5[3] * A2_;
      odd_.diagonal().array() += kB5[1];
      V_ = kB5[4] * A4_ + kB5[2] * A2_;
      V_.diagonal().array() += kB5[0];
      break;
    case 7:
      odd_ = kB7[7] * A6_ + kB7[5] * A4_ + kB7[3] * A2_;
      odd_.diagonal().array() += kB7[1];
      V_ = kB7[6] * A6_ + kB7[4] * A4_ + kB7[2] * A2_;
      V_.diagonal().array() += kB7[0];
      break;
    case 9:
      odd_ = kB9[9] * A8_ + kB9[7] * A6_ + kB9[5] * A4_ + kB9[3] * A2_;
      odd_.diagonal().array() += kB9[1];
      V_ = kB9[8] * A8_ + kB9[6] * A6_ + kB9[4] * A4_ + kB9[2] * A2_;
      V_.diagonal().array() += kB9[0];
      break;
    case 13:
      U_ = kB13[13] * A6_ + kB13[11] * A4_ + kB13[9] * A2_;
      multiply(odd_, A6_, U_);
      odd_ += kB13[7] * A6_ + kB13[5] * A4_ + kB13[3] * A2_;
      odd_.diagonal().array() += kB13[1];
      U_ = kB13[12] * A6_ + kB13[10] * A4_ + kB13[8] * A2_;
      multiply(V_, A6_, U_);
      V_ += kB13[6] * A6_ + kB13[4] * A4_ + kB13[2] * A2_;
      V_.diagonal().array() += kB13[0];
      break;
    default:
      throw std::invalid_argument("Padé degree " + std::to_string(degree) + " is not one of 1, 2, 3, 5, 7, 9, 13");
  }
  if (degree >= 3) {
    multiply_from_left(A, odd_, U_);
    ++products;
  }

  numerator_ = V_ + U_;
  denominator_ = V_ - U_;
  return products;
}

}  // namespace exposim
