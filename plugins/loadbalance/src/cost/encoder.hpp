// SPDX-License-Identifier: Apache-2.0
// Rows as numbers: columns for trees, and standardised blocks for distances.
#pragma once

#include <omen/artifact.hpp>
#include <omen/learn/kernel.hpp>
#include <omen/learn/random.hpp>
#include <omen/learn/scaler.hpp>
#include <string>
#include <vector>

#include "cost/kernel_rows.hpp"

namespace omen::loadbalance::cost {

// In the metadata of models that know the neighbours of a kernel.
inline constexpr const char* kDensityMark = "cost.density";

using learn::Index;
using learn::Matrix;
using learn::Vector;

struct EncoderOptions {
  bool grewe = true;       // Grewe's counts, where the training rows have them
  bool input_size = true;  // bytes of the input
};

// Blocks of columns between which the Gaussian process measures distances apart: the squared
// distance within a block is the mean over its columns.
enum Block { kCounts, kRatios, kGreweBlock, kLaunch, kBlocks };
inline constexpr std::array<const char*, kBlocks> kBlockNames = {"counts", "ratios", "grewe",
                                                                 "launch"};

struct Encoded {
  Matrix trees;               // NaN: unknown
  Matrix small;               // Grewe's features and the launch only
  learn::Blocks blocks;       // in the order of Block
  Matrix place;               // where the kernel lies among others, for distances between kernels
  std::vector<bool> outside;  // a launch unlike any in training
};

// Columns of Encoded::place beside those of the launch: projections of counts, from which no count
// can be read.
inline constexpr Index kPlaces = 64;

// Everything it knows is learnt in fit: names that occur often enough, means, deviations, ranges.
class KernelEncoder {
 public:
  void fit(const KernelRows& rows, const EncoderOptions& options);
  Encoded encode(const KernelRows& rows) const;

  bool with_grewe() const { return grewe_; }
  bool with_input_size() const { return input_size_; }
  Index tree_width() const;
  Index small_width() const;
  Index block_width(Block block) const { return scalers_[block].width(); }
  Index place_width() const { return kPlaces + block_width(kLaunch); }

  void save(ArtifactWriter& out) const;
  // OMEN_INVALID_DATA where sizes do not fit together.
  void load(const ArtifactReader& in);

 private:
  std::array<Vector, kBlocks> raw_blocks(const KernelRows& rows, const KernelRow& row) const;
  Vector tree_row(const KernelRows& rows, const KernelRow& row) const;
  Vector small_row(const KernelRow& row) const;
  Vector place(const FeatureCounts& counts, const Vector& launch) const;
  void weigh_names(const KernelRows& rows);
  double distance(const Vector& ratios) const;
  bool outside(const std::array<Vector, kBlocks>& raw) const;

  bool grewe_ = false, input_size_ = true;
  std::vector<std::string> names_;   // counts
  std::vector<std::string> ratios_;  // those that are also taken by instruction
  std::array<learn::Scaler, kBlocks> scalers_;
  Vector launch_min_, launch_max_;
  double farthest_ = 0;  // in models of 0.1: largest distance from the middle in training
  Vector rarity_;        // of each of ratios_: logarithm of programs over those that have it
};

}  // namespace omen::loadbalance::cost
