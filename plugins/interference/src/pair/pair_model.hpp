// SPDX-License-Identifier: Apache-2.0
// What every way of predicting co-located speed has in common.
#pragma once

#include <functional>
#include <memory>
#include <omen/learn/learner.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pair/job_encoder.hpp"

namespace omen::interference {

// A job beside one other.
struct Cell {
  std::int32_t victim, partner, context;
  double prior;  // what the shares of the GPU alone say, see utilisation_prior(); NaN: not known
};

// Points of jobs and contexts, and cells over them.
struct Cells {
  learn::Matrix jobs, contexts;
  std::vector<std::string> names;     // of the jobs, unique
  std::vector<std::string> families;  // of the jobs
  std::vector<Cell> cells;
  std::vector<double> shares;  // of the GPU that each job alone keeps busy; NaN: not known
};

struct Estimates {
  learn::Vector mean;
  learn::Vector deviation;  // empty where the model has none of its own
};

// What a model says about rows of training when it has not seen them.
struct HeldOut {
  std::vector<std::size_t> row;
  std::vector<double> mean, deviation;
};

struct PairSettings {
  std::vector<JobEncoder::Span> job_spans, context_spans;
  int rank = 2;
  int clusters = 3;
  double ridge = 0.3;
};

class PairModel {
 public:
  virtual ~PairModel() = default;
  // `group`: cells of one unordered pair.
  virtual void fit(const Cells& cells, const learn::Vector& rho,
                   const std::vector<std::int32_t>& group, const learn::Context& context) = 0;
  virtual Estimates estimate(const Cells& cells) const = 0;
  // Without other cells of the pair; empty where that takes fitting again.
  virtual std::optional<HeldOut> without_pair() const { return std::nullopt; }
  // Without any cell of the victim's or the partner's family.
  virtual std::optional<HeldOut> without_family() const { return std::nullopt; }
  virtual void save(learn::StateWriter& out) const = 0;
  virtual void load(const learn::StateReader& in) = 0;
};

enum class Method {
  kConst,
  kUtilsum,
  kDelayLaw,
  kClusterTable,
  kAdditive,
  kLowRank,
  kProcess,
  kTrees
};

const std::vector<Method>& all_methods();
const char* method_name(Method method);
// OMEN_INVALID_ARGUMENT where there is no such method.
Method parse_method(const std::string& name);
std::unique_ptr<PairModel> make_pair_model(Method method, const PairSettings& settings);

// Jobs that want a share u of the GPU each get all they want until the shares add up to one.
double utilisation_prior(double victim_share, double partner_share);

}  // namespace omen::interference
