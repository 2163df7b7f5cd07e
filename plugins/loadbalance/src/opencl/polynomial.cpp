// SPDX-License-Identifier: Apache-2.0
// Arithmetic of polynomials, and a small search for proofs that they are not negative.
#include "opencl/polynomial.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace omen::loadbalance {
namespace {

constexpr std::int64_t kLargestFactor = std::int64_t{1} << 52;  // sums of these do not overflow
constexpr std::size_t kMostTerms = 64;

std::int64_t nearest_multiple(std::int64_t value, std::int64_t of) {
  const std::int64_t half = of / 2;
  return value >= 0 ? (value + half - (of % 2 == 0)) / of : -((-value + half) / of);
}

// Whether taking `fact` off can help: something that counts against `value` counts against both.
bool shares_a_loss(const Polynomial& value, const Polynomial& fact) {
  return std::any_of(value.terms().begin(), value.terms().end(), [&](const auto& term) {
    const auto same = fact.terms().find(term.first);
    return term.second < 0 && !term.first.empty() && same != fact.terms().end() && same->second < 0;
  });
}

}  // namespace

std::int64_t Polynomial::constant() const {
  const auto found = terms_.find({});
  return found == terms_.end() ? 0 : found->second;
}

void Polynomial::add(const Product& product, std::int64_t factor) {
  if (factor == 0) return;
  Product sorted = product;
  std::sort(sorted.begin(), sorted.end());
  std::int64_t& sum = terms_[sorted];
  sum += factor;
  valid_ &= std::llabs(sum) < kLargestFactor && terms_.size() <= kMostTerms;
  if (sum == 0 || !valid_) terms_.erase(sorted);
}

Polynomial& Polynomial::operator+=(const Polynomial& other) {
  valid_ &= other.valid_;
  for (const auto& [product, factor] : other.terms_) add(product, factor);
  return *this;
}

Polynomial Polynomial::operator*(const Polynomial& other) const {
  Polynomial result;
  result.valid_ = valid_ && other.valid_;
  for (const auto& [left, a] : terms_)
    for (const auto& [right, b] : other.terms_) {
      Product joined = left;
      joined.insert(joined.end(), right.begin(), right.end());
      std::int64_t factor = 0;
      if (__builtin_mul_overflow(a, b, &factor) || std::llabs(factor) >= kLargestFactor)
        result.valid_ = false;
      else
        result.add(joined, factor);
    }
  return result;
}

std::optional<Polynomial> Polynomial::divided_by(std::int64_t divisor) const {
  Polynomial result;
  result.valid_ = valid_;
  for (const auto& [product, factor] : terms_) {
    if (factor % divisor != 0) return std::nullopt;
    result.add(product, factor / divisor);
  }
  return result;
}

std::int64_t Polynomial::common_factor() const {
  std::int64_t common = 0;
  for (const auto& [product, factor] : terms_)
    if (!product.empty()) common = std::gcd(common, factor);
  return common;
}

Polynomial Polynomial::with(Atom atom, const Polynomial& value) const {
  Polynomial result;
  result.valid_ = valid_;
  for (const auto& [product, factor] : terms_) {
    Product rest = product;
    const auto at = std::find(rest.begin(), rest.end(), atom);
    const bool found = at != rest.end();
    if (found) rest.erase(at);
    Polynomial term;
    term.add(rest, factor);
    result += found ? term * value : term;
  }
  return result;
}

Rows split_rows(const Polynomial& place, Atom length) {
  Rows rows;
  for (const auto& [product, factor] : place.terms()) {
    Product rest = product;
    const auto at = std::find(rest.begin(), rest.end(), length);
    const bool is_row = at != rest.end();
    if (is_row) rest.erase(at);
    (is_row ? rows.row : rows.column).add(rest, factor);
  }
  return rows;
}

Rows split_rows(const Polynomial& place, std::int64_t length) {
  Rows rows;
  for (const auto& [product, factor] : place.terms()) {
    const std::int64_t whole = nearest_multiple(factor, length);
    rows.row.add(product, whole);
    rows.column.add(product, factor - whole * length);
  }
  return rows;
}

bool Knowledge::is_natural(const Product& product) const {
  return std::all_of(product.begin(), product.end(), [this](Atom atom) {
    const auto found = natural.find(atom);
    return found != natural.end() && found->second;
  });
}

std::optional<Polynomial> Knowledge::smallest(const Polynomial& value) const {
  Polynomial result = value;
  // The end of a loop may hold the counter of the loop around it.
  for (int nested = 0; nested < 4; ++nested) {
    Polynomial next;
    bool changed = false;
    for (const auto& [product, factor] : result.terms()) {
      const auto counter = std::find_if(product.begin(), product.end(),
                                        [this](Atom atom) { return most.count(atom) > 0; });
      Product rest = product;
      if (counter != product.end()) rest.erase(rest.begin() + (counter - product.begin()));
      if (counter == product.end() || !is_natural(rest)) {
        next.add(product, factor);
        continue;
      }
      changed = true;
      if (factor > 0) continue;  // it is smallest in the first turn
      Polynomial others;
      others.add(rest, factor);
      next += others * most.at(*counter);
    }
    result = next;
    if (!changed) return result.valid() ? std::optional(result) : std::nullopt;
  }
  return std::nullopt;
}

std::vector<Polynomial> Knowledge::cases(const Polynomial& value) const {
  std::vector<Polynomial> all = {value};
  for (const auto& [atom, choices] : largest_of) {
    const auto term = value.terms().find({atom});
    if (term == value.terms().end() || term->second > 0) continue;
    std::vector<Polynomial> next;
    for (const Polynomial& one : all)
      for (const Polynomial& choice : choices) next.push_back(one.with(atom, choice));
    all = std::move(next);
  }
  return all;
}

bool Knowledge::proves(const Polynomial& value, int facts) const {
  const std::optional<Polynomial> least = smallest(value);
  if (!least) return false;
  const auto by_signs = [this](const auto& term) {
    return term.second > 0 && is_natural(term.first);
  };
  if (std::all_of(least->terms().begin(), least->terms().end(), by_signs)) return true;
  if (facts == 0) return false;
  for (const Polynomial& fact : not_negative)
    for (const Polynomial* from : {&*least, &value})
      if (shares_a_loss(*from, fact) && proves(*from - fact, facts - 1)) return true;
  return false;
}

}  // namespace omen::loadbalance
