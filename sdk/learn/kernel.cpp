// SPDX-License-Identifier: Apache-2.0
// Terms of kernel expressions; distances by matrix products.
#include "omen/learn/kernel.hpp"

#include <cmath>
#include <omen/error.hpp>
#include <utility>

namespace omen::learn {

class Kernel::Term {
 public:
  virtual ~Term() = default;
  virtual Matrix between(const Blocks& a, const Blocks& b) const = 0;
  virtual Vector own(const Blocks& a) const = 0;
};

namespace {

Index rows_of(const Blocks& blocks) {
  if (blocks.empty()) throw Error(OMEN_INVALID_ARGUMENT, "rows have no blocks to compare");
  return blocks.front().values.rows();
}

class ConstantTerm final : public Kernel::Term {
 public:
  explicit ConstantTerm(double variance) : variance_(variance) {}
  Matrix between(const Blocks& a, const Blocks& b) const override {
    return Matrix::Constant(rows_of(a), rows_of(b), variance_);
  }
  Vector own(const Blocks& a) const override { return Vector::Constant(rows_of(a), variance_); }

 private:
  double variance_;
};

class MaternTerm final : public Kernel::Term {
 public:
  MaternTerm(std::string block, double length, Matern smoothness)
      : block_(std::move(block)), length_(length), smoothness_(smoothness) {}

  Matrix between(const Blocks& a, const Blocks& b) const override {
    const Matrix &left = values_of(a, block_), &right = values_of(b, block_);
    if (left.cols() == 0) return Matrix::Ones(left.rows(), right.rows());
    Matrix squared = -2 * left * right.transpose();
    squared.colwise() += left.rowwise().squaredNorm();
    squared.rowwise() += right.rowwise().squaredNorm().transpose();
    const double order = smoothness_ == Matern::kOneHalf       ? 1
                         : smoothness_ == Matern::kThreeHalves ? 3
                                                               : 5;
    const double scale = order / (length_ * length_ * static_cast<double>(left.cols()));
    const Matrix r = (squared.array().max(0) * scale).sqrt().matrix();
    switch (smoothness_) {
      case Matern::kOneHalf:
        return (-r.array()).exp().matrix();
      case Matern::kThreeHalves:
        return ((1 + r.array()) * (-r.array()).exp()).matrix();
      default:
        return ((1 + r.array() + r.array().square() / 3) * (-r.array()).exp()).matrix();
    }
  }
  Vector own(const Blocks& a) const override { return Vector::Ones(rows_of(a)); }

 private:
  std::string block_;
  double length_;
  Matern smoothness_;
};

class LinearTerm final : public Kernel::Term {
 public:
  explicit LinearTerm(std::string block) : block_(std::move(block)) {}
  Matrix between(const Blocks& a, const Blocks& b) const override {
    const Matrix &left = values_of(a, block_), &right = values_of(b, block_);
    if (left.cols() == 0) return Matrix::Zero(left.rows(), right.rows());
    return left * right.transpose() / static_cast<double>(left.cols());
  }
  Vector own(const Blocks& a) const override {
    const Matrix& values = values_of(a, block_);
    if (values.cols() == 0) return Vector::Zero(values.rows());
    return values.rowwise().squaredNorm() / static_cast<double>(values.cols());
  }

 private:
  std::string block_;
};

class ScaledTerm final : public Kernel::Term {
 public:
  ScaledTerm(double factor, std::shared_ptr<const Kernel::Term> term)
      : factor_(factor), term_(std::move(term)) {}
  Matrix between(const Blocks& a, const Blocks& b) const override {
    return factor_ * term_->between(a, b);
  }
  Vector own(const Blocks& a) const override { return factor_ * term_->own(a); }

 private:
  double factor_;
  std::shared_ptr<const Kernel::Term> term_;
};

class JoinedTerm final : public Kernel::Term {
 public:
  JoinedTerm(std::shared_ptr<const Kernel::Term> left, std::shared_ptr<const Kernel::Term> right,
             bool product)
      : left_(std::move(left)), right_(std::move(right)), product_(product) {}
  Matrix between(const Blocks& a, const Blocks& b) const override {
    Matrix joined = left_->between(a, b);
    if (product_)
      joined.array() *= right_->between(a, b).array();
    else
      joined += right_->between(a, b);
    return joined;
  }
  Vector own(const Blocks& a) const override {
    if (product_) return left_->own(a).cwiseProduct(right_->own(a));
    return left_->own(a) + right_->own(a);
  }

 private:
  std::shared_ptr<const Kernel::Term> left_, right_;
  bool product_;
};

}  // namespace

const Matrix& values_of(const Blocks& blocks, const std::string& name) {
  for (const Block& block : blocks)
    if (block.name == name) return block.values;
  throw Error(OMEN_INVALID_ARGUMENT, "rows have no block '" + name + "'");
}

Kernel Kernel::constant(double variance) {
  return Kernel(std::make_shared<ConstantTerm>(variance));
}

Kernel Kernel::matern(std::string block, double length, Matern smoothness) {
  if (!(length > 0)) throw Error(OMEN_INVALID_ARGUMENT, "a kernel's length must be positive");
  return Kernel(std::make_shared<MaternTerm>(std::move(block), length, smoothness));
}

Kernel Kernel::linear(std::string block) {
  return Kernel(std::make_shared<LinearTerm>(std::move(block)));
}

Kernel operator+(const Kernel& a, const Kernel& b) {
  return Kernel(std::make_shared<JoinedTerm>(a.term_, b.term_, false));
}

Kernel operator*(const Kernel& a, const Kernel& b) {
  return Kernel(std::make_shared<JoinedTerm>(a.term_, b.term_, true));
}

Kernel operator*(double factor, const Kernel& kernel) {
  return Kernel(std::make_shared<ScaledTerm>(factor, kernel.term_));
}

Matrix Kernel::between(const Blocks& a, const Blocks& b) const {
  return term_->between(a, b);
}

Vector Kernel::own(const Blocks& a) const {
  return term_->own(a);
}

}  // namespace omen::learn
