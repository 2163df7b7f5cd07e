// SPDX-License-Identifier: Apache-2.0
// Saved trees of any kind: refused, or safe in XGBoost's hands.
// covers: sdk/learn/boosting/tree_check.cpp
// needs: Omen::boosting
#include <cstdint>
#include <cstdlib>
#include <string>

#include "omen/boosting/booster.hpp"
#include "omen/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace omen::learn;
  constexpr Index kFeatures = 3;
  try {
    const Booster booster(std::string(reinterpret_cast<const char*>(data), size), kFeatures);
    booster.predict(BoosterData(Matrix::Random(4, kFeatures)), 0, 1);
  } catch (const omen::Error& error) {
    if (error.code() != OMEN_INVALID_DATA && error.code() != OMEN_INTERNAL) std::abort();
  }
  return 0;
}
