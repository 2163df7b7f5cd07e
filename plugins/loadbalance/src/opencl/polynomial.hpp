// SPDX-License-Identifier: Apache-2.0
// Sums of products of values that have only a number here, and what is known about their signs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace omen::loadbalance {

using Atom = int;
using Product = std::vector<Atom>;  // sorted; empty: the constant

class Polynomial {
 public:
  Polynomial() = default;
  Polynomial(std::int64_t constant) { add({}, constant); }  // NOLINT(google-explicit-constructor)
  static Polynomial of(Atom atom) {
    Polynomial one;
    one.add({atom}, 1);
    return one;
  }

  const std::map<Product, std::int64_t>& terms() const { return terms_; }
  // False once a coefficient left 52 bits or terms became too many: then nothing else counts.
  bool valid() const { return valid_; }
  std::int64_t constant() const;
  bool is_constant() const { return terms_.empty() || (terms_.size() == 1 && constant() != 0); }

  void add(const Product& product, std::int64_t factor);
  Polynomial& operator+=(const Polynomial& other);
  Polynomial operator+(const Polynomial& other) const { return Polynomial(*this) += other; }
  Polynomial operator-(const Polynomial& other) const { return *this + other * -1; }
  Polynomial operator*(const Polynomial& other) const;
  bool operator==(const Polynomial& other) const { return terms_ == other.terms_; }

  // All coefficients divided, where that leaves no remainder.
  std::optional<Polynomial> divided_by(std::int64_t divisor) const;
  // The largest number that divides every coefficient but the constant; 0 where there is no other.
  std::int64_t common_factor() const;
  // The same with a value in the place of an atom that enters linearly.
  Polynomial with(Atom atom, const Polynomial& value) const;
  // The same with other atoms.
  template <class Rename>
  Polynomial renamed(Rename&& rename) const;

 private:
  std::map<Product, std::int64_t> terms_;
  bool valid_ = true;
};

// this = row * length + column, as the coefficients suggest it.
struct Rows {
  Polynomial row, column;
};
Rows split_rows(const Polynomial& place, Atom length);
Rows split_rows(const Polynomial& place, std::int64_t length);

// What is known about the values.
struct Knowledge {
  std::map<Atom, bool> natural;                        // values that are never negative
  std::map<Atom, std::vector<Polynomial>> largest_of;  // what a value is the largest one of
  std::map<Atom, Polynomial> most;                     // the largest value, of counters of loops
  std::vector<Polynomial> not_negative;                // polynomials that are never negative

  // Polynomials that are all not negative where the one is: each choice for values that are the
  // largest of several and count against it.
  std::vector<Polynomial> cases(const Polynomial& value) const;
  // Whether a polynomial cannot be negative: by its signs, after the largest values of what counts
  // against it, and after up to three of `not_negative` were taken off.
  bool proves(const Polynomial& value) const { return value.valid() && proves(value, 3); }
  // The same with counters of loops at their worst end; nothing where one has none.
  std::optional<Polynomial> smallest(const Polynomial& value) const;

 private:
  bool proves(const Polynomial& value, int facts) const;
  bool is_natural(const Product& product) const;
};

template <class Rename>
Polynomial Polynomial::renamed(Rename&& rename) const {
  Polynomial other;
  other.valid_ = valid_;
  for (const auto& [product, factor] : terms_) {
    Product changed;
    for (const Atom atom : product) changed.push_back(rename(atom));
    other.add(changed, factor);
  }
  return other;
}

}  // namespace omen::loadbalance
