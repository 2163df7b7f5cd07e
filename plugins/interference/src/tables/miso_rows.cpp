// SPDX-License-Identifier: Apache-2.0
// Matrices of seven jobs that share an A100: speeds under MPS, and on slices of the divided GPU.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <omen/error.hpp>

#include "tables/csv_text.hpp"
#include "tables/directed_rows.hpp"

namespace omen::interference {
namespace {

constexpr std::size_t kLevels = 3, kSlots = 7;
constexpr const char* kLevelNames[kLevels] = {"mps_100", "mps_50", "mps_14"};
constexpr const char* kSlices[kLevels] = {"large", "middle", "small"};
// What the file has where there is no job: the same three speeds in every such slot.
constexpr double kEmptySlot[kLevels] = {8.0 / 9, 1, 8.0 / 9};

using Matrices = std::vector<std::array<std::array<double, kSlots>, kLevels>>;

Matrices read_matrices(const std::string& path) {
  const std::string bytes = read_bytes(path);
  const auto refuse = [&](const char* why) {
    throw Error(OMEN_INVALID_DATA, path + ": " + why,
                "An array of NumPy with float64 of shape (n, 3, 7) is expected.");
  };
  if (bytes.size() < 10 || bytes.compare(0, 6, "\x93NUMPY") != 0) refuse("is no array of NumPy");
  const std::size_t length =
      static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
  if (bytes.size() < 10 + length) refuse("is cut off");
  const std::string header = bytes.substr(10, length);
  if (header.find("'<f8'") == std::string::npos || header.find("False") == std::string::npos ||
      header.find(", 3, 7)") == std::string::npos)
    refuse("has another type or shape");
  constexpr std::size_t kBytes = kLevels * kSlots * sizeof(double);
  const std::size_t rest = bytes.size() - 10 - length;
  if (rest % kBytes != 0) refuse("is cut off");
  Matrices matrices(rest / kBytes);
  if (!matrices.empty()) std::memcpy(matrices.data(), bytes.data() + 10 + length, rest);
  return matrices;
}

bool is_empty_slot(const Matrices::value_type& target, std::size_t slot) {
  for (std::size_t level = 0; level < kLevels; ++level)
    if (std::abs(target[level][slot] - kEmptySlot[level]) > 2e-3) return false;
  return true;
}

// Matrices whose columns are the same up to order and the first digit are near-duplicates.
std::string mix_of(const Matrices::value_type& input) {
  std::array<std::string, kSlots> columns;
  for (std::size_t slot = 0; slot < kSlots; ++slot)
    for (std::size_t level = 0; level < kLevels; ++level)
      columns[slot] += static_cast<char>('0' + std::lround(10 * input[level][slot]));
  std::sort(columns.begin(), columns.end());
  std::string mix;
  for (const std::string& column : columns) mix += column + ".";
  return mix;
}

JobFacts facts_at(const Matrices::value_type& input, const std::vector<std::size_t>& slots,
                  std::string name) {
  JobFacts facts{std::move(name), {}, {}};
  for (std::size_t level = 0; level < kLevels; ++level) {
    double sum = 0, least = 1;
    for (const std::size_t slot : slots) {
      sum += input[level][slot];
      least = std::min(least, input[level][slot]);
    }
    const double count = static_cast<double>(slots.size());
    facts.numbers.emplace_back(kLevelNames[level], slots.empty() ? 1 : sum / count);
    facts.numbers.emplace_back(std::string(kLevelNames[level]) + "_least", least);
  }
  facts.numbers.emplace_back("jobs", static_cast<double>(slots.size()));
  return facts;
}

}  // namespace

std::vector<DirectedRow> read_miso(const std::string& input_npy, std::size_t most) {
  const Matrices input = read_matrices(input_npy);
  const Matrices target = read_matrices(
      (std::filesystem::path(input_npy).parent_path() / "unet_mig_target.npy").string());
  if (input.size() != target.size())
    throw Error(OMEN_INVALID_DATA, "inputs and targets have different numbers of matrices");
  std::vector<DirectedRow> rows;
  const std::size_t count = most > 0 ? std::min(most, input.size()) : input.size();
  const std::size_t stride =
      std::max<std::size_t>(input.size() / std::max<std::size_t>(count, 1), 1);
  for (std::size_t m = 0; m < input.size() && m / stride < count; m += stride) {
    const std::string mix = mix_of(input[m]);
    std::vector<std::size_t> jobs;
    for (std::size_t slot = 0; slot < kSlots; ++slot)
      if (!is_empty_slot(target[m], slot)) jobs.push_back(slot);
    for (const std::size_t slot : jobs) {
      std::vector<std::size_t> others = jobs;
      others.erase(std::find(others.begin(), others.end(), slot));
      const std::string name = "matrix " + std::to_string(m) + " slot " + std::to_string(slot);
      const JobFacts own = facts_at(input[m], {slot}, name);
      const JobFacts rest = facts_at(input[m], others, "the others of matrix " + std::to_string(m));
      for (std::size_t level = 0; level < kLevels; ++level)
        rows.push_back({own, rest, "a100", "mig", target[m][level][slot], mix, kSlices[level]});
    }
  }
  return rows;
}

}  // namespace omen::interference
