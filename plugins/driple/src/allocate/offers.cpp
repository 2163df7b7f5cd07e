// SPDX-License-Identifier: Apache-2.0
// Reads lists of GPUs and prices.
#include "allocate/offers.hpp"

#include <cmath>
#include <fstream>
#include <omen/error.hpp>
#include <omen/join.hpp>
#include <sstream>

namespace omen::driple {
namespace {

// Ranks that exchange sums in every layer sit in one machine.
constexpr std::int64_t kMostTensorRanks = 8;
constexpr std::int64_t kMostOffered = 4096;

std::vector<std::string> pieces_of(const std::string& text) {
  std::vector<std::string> pieces;
  std::string piece;
  for (const char c : text + ",") {
    if (c != ',' && c != '\n' && c != '\r') {
      if (c != ' ' || !piece.empty()) piece += c;
      continue;
    }
    while (!piece.empty() && piece.back() == ' ') piece.pop_back();
    if (!piece.empty()) pieces.push_back(piece);
    piece.clear();
  }
  return pieces;
}

double positive(const std::string& text, const std::string& piece, const char* form) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value) || value <= 0)
    throw Error(OMEN_INVALID_ARGUMENT, "'" + piece + "' has no positive number",
                std::string("Write it as ") + form + ".");
  return value;
}

}  // namespace

std::vector<Offer> parse_offers(const std::string& text) {
  std::vector<Offer> offers;
  for (const std::string& piece : pieces_of(text)) {
    const std::size_t colon = piece.rfind(':');
    Offer offer{piece.substr(0, colon), 1};
    if (colon != piece.npos) {
      const double most = positive(piece.substr(colon + 1), piece, "GPU:NUMBER");
      if (most > static_cast<double>(kMostOffered) || most != std::floor(most))
        throw Error(OMEN_INVALID_ARGUMENT, "'" + piece + "' is not a number of GPUs",
                    "Give a whole number up to 4096.");
      offer.most = static_cast<std::int64_t>(most);
    }
    offers.push_back(std::move(offer));
  }
  if (offers.empty())
    throw Error(OMEN_INVALID_ARGUMENT, "no GPU is offered", "Name some: --gpus a100,h100:8.");
  return offers;
}

std::map<std::string, double> parse_prices(const std::string& text) {
  std::string list = text;
  if (!text.empty() && text.find('=') == text.npos) {
    std::ifstream in(text);
    if (!in)
      throw Error(OMEN_IO, "prices '" + text + "' are neither GPU=USD nor a file",
                  "Write --price a100=2.5,h100=4, in USD an hour.");
    std::stringstream all;
    all << in.rdbuf();
    list = all.str();
  }
  std::map<std::string, double> prices;
  for (const std::string& piece : pieces_of(list)) {
    const std::size_t equals = piece.find('=');
    if (equals == piece.npos)
      throw Error(OMEN_INVALID_ARGUMENT, "'" + piece + "' is no price",
                  "Write --price a100=2.5,h100=4, in USD an hour.");
    prices[piece.substr(0, equals)] = positive(piece.substr(equals + 1), piece, "GPU=USD");
  }
  return prices;
}

std::vector<Split> splits_of(const opgraph::Job& job, std::int64_t most) {
  std::vector<Split> splits;
  for (std::int64_t ranks = 1; ranks <= most; ranks *= 2) {
    if (!can_cut(job)) {
      splits.push_back({1, 1, ranks});
      continue;
    }
    for (std::int64_t tensor = 1; tensor <= std::min(ranks, kMostTensorRanks); tensor *= 2)
      splits.push_back({tensor, 1, ranks / tensor});
    if (ranks > kMostTensorRanks) splits.push_back({kMostTensorRanks, ranks / kMostTensorRanks, 1});
  }
  return splits;
}

std::string offer_name(const std::string& gpu, const Split& split) {
  if (split.ranks() == 1) return gpu;
  std::vector<std::string> ways;
  const auto add = [&](const char* way, std::int64_t ranks) {
    if (ranks > 1) ways.push_back(way + std::to_string(ranks));
  };
  add("tensor ", split.tensor);
  add("pipeline ", split.pipeline);
  add("data ", split.data);
  return gpu + " x" + std::to_string(split.ranks()) + " (" + join(ways) + ")";
}

}  // namespace omen::driple
