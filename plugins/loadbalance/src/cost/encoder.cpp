// SPDX-License-Identifier: Apache-2.0
// Counts become logarithms and shares of all instructions; unknown values take the mean.
#include "cost/encoder.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "graph/digest.hpp"
#include "omen/join.hpp"

namespace omen::loadbalance::cost {
namespace {

constexpr int kFewestRows = 4;         // that a name must occur in to be learnt
constexpr double kRangeSlack = 0.1;    // of a range, before a launch counts as outside of it
constexpr double kFarSlack = 1.5;      // of the farthest training row of a model of 0.1
constexpr double kLaunchWeight = 0.2;  // of a deviation of the launch among distances of code
constexpr double kFarLaunch = 3;       // deviations beyond which launches are equally far

bool is_share(const std::string& name) {
  for (const char* prefix : {"op.", "class.", "call.", "memory.", "type."})
    if (name.rfind(prefix, 0) == 0) return true;
  return false;
}

double count_of(const FeatureCounts& counts, const std::string& name) {
  const auto at = counts.find(name);
  return at == counts.end() ? 0 : at->second;
}

double log1(double value) {
  return std::log1p(std::max(value, 0.0));
}

// Grewe's four ratios: bytes an operation, coalesced accesses, use of local memory, intensity.
std::array<double, 4> grewe_ratios(const KernelRow& row, bool with_size) {
  const double mem = std::max(row.grewe[kMem], 1.0);
  const double all = std::max(row.grewe[kComp] + row.grewe[kMem], 1.0);
  return {with_size ? row.input_size / all : kUnknown, row.grewe[kCoalesced] / mem,
          row.grewe[kLocalmem] / mem * row.wgsize, row.grewe[kComp] / mem};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) break;
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::vector<double> as_list(const Vector& values) {
  return {values.data(), values.data() + values.size()};
}

Vector as_vector(const std::vector<double>& values) {
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

}  // namespace

void KernelEncoder::fit(const KernelRows& rows, const EncoderOptions& options) {
  std::map<std::string, int> seen;
  grewe_ = false;
  input_size_ = options.input_size;
  for (const KernelRow& row : rows.rows) {
    for (const auto& [name, count] : rows.counts(row)) seen[name] += 1;
    grewe_ |= options.grewe && std::isfinite(row.grewe[kMem]);
  }
  names_.clear();
  ratios_.clear();
  const int fewest = std::min<int>(kFewestRows, static_cast<int>(rows.rows.size()));
  for (const auto& [name, count] : seen) {
    if (count < fewest) continue;
    names_.push_back(name);
    if (is_share(name)) ratios_.push_back(name);
  }
  for (std::size_t block = 0; block < kBlocks; ++block) {
    Matrix raw;
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
      const Vector values = raw_blocks(rows, rows.rows[i])[block];
      if (i == 0) raw.resize(static_cast<Index>(rows.rows.size()), values.size());
      raw.row(static_cast<Index>(i)) = values.transpose();
    }
    scalers_[block].fit(raw);
    if (block != kLaunch) continue;
    launch_min_ = launch_max_ = scalers_[kLaunch].means();
    for (Index i = 0; i < raw.rows(); ++i)
      for (Index c = 0; c < raw.cols(); ++c) {
        if (!std::isfinite(raw(i, c))) continue;
        launch_min_[c] = std::min(launch_min_[c], raw(i, c));
        launch_max_[c] = std::max(launch_max_[c], raw(i, c));
      }
  }
  weigh_names(rows);
}

// What few programs have tells more about a kernel than what all have.
void KernelEncoder::weigh_names(const KernelRows& rows) {
  std::map<std::string, std::set<std::int32_t>> programs;
  std::set<std::int32_t> all;
  for (const KernelRow& row : rows.rows) {
    all.insert(row.group);
    for (const auto& [name, count] : rows.counts(row)) programs[name].insert(row.group);
  }
  rarity_.resize(static_cast<Index>(ratios_.size()));
  for (std::size_t i = 0; i < ratios_.size(); ++i)
    rarity_[static_cast<Index>(i)] = std::log(static_cast<double>(all.size()) /
                                              static_cast<double>(programs[ratios_[i]].size()));
}

std::array<Vector, kBlocks> KernelEncoder::raw_blocks(const KernelRows& rows,
                                                      const KernelRow& row) const {
  const FeatureCounts& counts = rows.counts(row);
  std::array<Vector, kBlocks> raw;
  raw[kCounts].resize(static_cast<Index>(names_.size()));
  for (std::size_t i = 0; i < names_.size(); ++i)
    raw[kCounts][static_cast<Index>(i)] = log1(count_of(counts, names_[i]));
  const double instructions = std::max(count_of(counts, "instructions"), 1.0);
  raw[kRatios].resize(static_cast<Index>(ratios_.size()));
  for (std::size_t i = 0; i < ratios_.size(); ++i)
    raw[kRatios][static_cast<Index>(i)] =
        std::sqrt(std::max(count_of(counts, ratios_[i]), 0.0) / instructions);
  raw[kGreweBlock].resize(grewe_ ? 5 : 0);
  if (grewe_)
    for (Index i = 0; i < 5; ++i)
      raw[kGreweBlock][i] = std::log1p(row.grewe[static_cast<std::size_t>(i)]);
  raw[kLaunch].resize(input_size_ ? 2 : 1);
  raw[kLaunch][0] = std::log1p(row.wgsize);
  if (input_size_) raw[kLaunch][1] = std::log1p(row.input_size);
  return raw;
}

Vector KernelEncoder::tree_row(const KernelRows& rows, const KernelRow& row) const {
  const FeatureCounts& counts = rows.counts(row);
  const Vector small = small_row(row);
  const Operations work = count_operations(counts);
  Vector values(tree_width());
  Index at = 0;
  for (const std::string& name : names_) values[at++] = count_of(counts, name);
  const double instructions = std::max(count_of(counts, "instructions"), 1.0);
  for (const std::string& name : ratios_) values[at++] = count_of(counts, name) / instructions;
  const double operations = work.fp32 + work.fp64 + work.integer + 8 * work.special;
  values[at++] = operations;
  values[at++] = work.bytes;
  values[at++] = operations / std::max(work.bytes, 1.0);
  values[at++] = work.fp64 / std::max(operations, 1.0);
  for (Index i = 0; i < small.size(); ++i) values[at++] = small[i];
  return values;
}

Vector KernelEncoder::small_row(const KernelRow& row) const {
  Vector values(small_width());
  Index at = 0;
  values[at++] = row.wgsize;
  if (input_size_) values[at++] = row.input_size;
  if (!grewe_) return values;
  for (std::size_t i = 0; i < 5; ++i) values[at++] = row.grewe[i];
  for (const double ratio : grewe_ratios(row, input_size_)) values[at++] = ratio;
  return values;
}

Index KernelEncoder::small_width() const {
  return 1 + (input_size_ ? 1 : 0) + (grewe_ ? 9 : 0);
}

Index KernelEncoder::tree_width() const {
  return static_cast<Index>(names_.size() + ratios_.size()) + 4 + small_width();
}

// Directions of two vectors, the logarithms of counts by rarity and which names occur at all, under
// random signs that keep distances (doi:10.1016/S0022-0000(03)00025-4); the launch behind them.
Vector KernelEncoder::place(const FeatureCounts& counts, const Vector& launch) const {
  Vector amounts = Vector::Zero(rarity_.size()), names = Vector::Zero(rarity_.size());
  for (std::size_t i = 0; i < ratios_.size(); ++i) {
    const double count = count_of(counts, ratios_[i]);
    amounts[static_cast<Index>(i)] = log1(count) * rarity_[static_cast<Index>(i)];
    names[static_cast<Index>(i)] = count > 0 ? 1 : 0;
  }
  for (Vector* part : {&amounts, &names})
    if (const double length = part->norm(); length > 0) *part /= length * std::sqrt(2.0);
  Vector made = Vector::Zero(place_width());
  for (std::size_t i = 0; i < ratios_.size(); ++i) {
    learn::Random amount_signs(fnv1a(ratios_[i]), 0), name_signs(fnv1a(ratios_[i]), 1);
    const std::uint64_t of_amount = amount_signs.next(), of_name = name_signs.next();
    for (Index c = 0; c < kPlaces; ++c)
      made[c] += (of_amount >> c & 1 ? 1 : -1) * amounts[static_cast<Index>(i)] +
                 (of_name >> c & 1 ? 1 : -1) * names[static_cast<Index>(i)];
  }
  made.head(kPlaces) /= std::sqrt(static_cast<double>(kPlaces));
  made.tail(launch.size()) =
      kLaunchWeight * scalers_[kLaunch].apply(launch).cwiseMax(-kFarLaunch).cwiseMin(kFarLaunch);
  return made;
}

// Mean square of the standardised counts: how far a kernel lies from the middle.
double KernelEncoder::distance(const Vector& ratios) const {
  if (ratios.size() == 0) return 0;
  const Vector z = scalers_[kRatios].apply(ratios).cwiseAbs().cwiseMin(20);
  return z.squaredNorm() / static_cast<double>(z.size());
}

bool KernelEncoder::outside(const std::array<Vector, kBlocks>& raw) const {
  const Vector& launch = raw[kLaunch];
  for (Index i = 0; i < launch.size(); ++i) {
    const double slack = kRangeSlack * (launch_max_[i] - launch_min_[i]);
    if (launch[i] < launch_min_[i] - slack || launch[i] > launch_max_[i] + slack) return true;
  }
  return farthest_ > 0 && distance(raw[kRatios]) > kFarSlack * farthest_;
}

Encoded KernelEncoder::encode(const KernelRows& rows) const {
  const auto count = static_cast<Index>(rows.rows.size());
  Encoded encoded;
  encoded.trees.resize(count, tree_width());
  encoded.small.resize(count, small_width());
  encoded.place.resize(count, place_width());
  for (std::size_t block = 0; block < kBlocks; ++block)
    encoded.blocks.push_back({kBlockNames[block], Matrix(count, scalers_[block].width())});
  for (Index i = 0; i < count; ++i) {
    const KernelRow& row = rows.rows[static_cast<std::size_t>(i)];
    encoded.trees.row(i) = tree_row(rows, row).transpose();
    encoded.small.row(i) = small_row(row).transpose();
    const std::array<Vector, kBlocks> raw = raw_blocks(rows, row);
    encoded.outside.push_back(outside(raw));
    encoded.place.row(i) = place(rows.counts(row), raw[kLaunch]).transpose();
    for (std::size_t block = 0; block < kBlocks; ++block)
      encoded.blocks[block].values.row(i) = scalers_[block].apply(raw[block]).transpose();
  }
  return encoded;
}

void KernelEncoder::save(ArtifactWriter& out) const {
  out.put_meta("cost.grewe", grewe_ ? "yes" : "no");
  out.put_meta("cost.input_size", input_size_ ? "yes" : "no");
  out.put_text("encoder.names", join_lines(names_));
  out.put_text("encoder.ratios", join_lines(ratios_));
  for (std::size_t block = 0; block < kBlocks; ++block) {
    out.put("encoder.mean." + std::to_string(block), as_list(scalers_[block].means()));
    out.put("encoder.scale." + std::to_string(block), as_list(scalers_[block].deviations()));
  }
  out.put("encoder.launch_min", as_list(launch_min_));
  out.put("encoder.launch_max", as_list(launch_max_));
  out.put("encoder.rarity", as_list(rarity_));
}

void KernelEncoder::load(const ArtifactReader& in) {
  grewe_ = in.meta("cost.grewe") == "yes";
  input_size_ = in.meta("cost.input_size") == "yes";
  names_ = lines_of(in.text("encoder.names"));
  ratios_ = lines_of(in.text("encoder.ratios"));
  const std::array<std::size_t, kBlocks> widths = {
      names_.size(), ratios_.size(), grewe_ ? std::size_t{5} : 0, input_size_ ? std::size_t{2} : 1};
  const auto read = [&](const std::string& name, std::size_t width) {
    const std::vector<double> values = in.get<double>(name);
    if (values.size() != width)
      throw Error(OMEN_INVALID_DATA, "the model's '" + name + "' has the wrong size",
                  "Train the model again.");
    return as_vector(values);
  };
  for (std::size_t block = 0; block < kBlocks; ++block) {
    const std::string number = std::to_string(block);
    scalers_[block] = learn::Scaler(read("encoder.mean." + number, widths[block]),
                                    read("encoder.scale." + number, widths[block]));
  }
  launch_min_ = read("encoder.launch_min", widths[kLaunch]);
  launch_max_ = read("encoder.launch_max", widths[kLaunch]);
  // Models of 0.1 know the farthest kernel instead of which parts of kernels are rare.
  farthest_ = in.find_meta(kDensityMark) ? 0 : read("encoder.farthest", 1)[0];
  rarity_ = in.find_meta(kDensityMark) ? read("encoder.rarity", ratios_.size())
                                       : Vector(Vector::Ones(block_width(kRatios)));
}

}  // namespace omen::loadbalance::cost
