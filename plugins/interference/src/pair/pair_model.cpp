// SPDX-License-Identifier: Apache-2.0
// The methods by name.
#include "pair/pair_model.hpp"

#include <omen/error.hpp>
#include <omen/join.hpp>

#include "pair/factor_model.hpp"
#include "pair/pair_process.hpp"
#include "pair/simple_models.hpp"
#include "pair/tree_model.hpp"

namespace omen::interference {
namespace {

struct MethodName {
  Method method;
  const char* name;
};
constexpr MethodName kMethodNames[] = {
    {Method::kConst, "const"},        {Method::kUtilsum, "utilsum"},
    {Method::kDelayLaw, "delay_law"}, {Method::kClusterTable, "cluster_table"},
    {Method::kAdditive, "additive"},  {Method::kLowRank, "low_rank"},
    {Method::kProcess, "process"},    {Method::kTrees, "trees"}};

}  // namespace

const std::vector<Method>& all_methods() {
  static const std::vector<Method> methods = [] {
    std::vector<Method> all;
    for (const MethodName& known : kMethodNames) all.push_back(known.method);
    return all;
  }();
  return methods;
}

const char* method_name(Method method) {
  for (const MethodName& known : kMethodNames)
    if (known.method == method) return known.name;
  return "";
}

Method parse_method(const std::string& name) {
  for (const MethodName& known : kMethodNames)
    if (name == known.name) return known.method;
  throw Error(OMEN_INVALID_ARGUMENT, "there is no method '" + name + "'",
              "Known are " + join(all_methods(), ", ", method_name) + ".");
}

std::unique_ptr<PairModel> make_pair_model(Method method, const PairSettings& settings) {
  switch (method) {
    case Method::kConst:
      return std::make_unique<ConstantModel>();
    case Method::kUtilsum:
      return std::make_unique<UtilsumModel>();
    case Method::kDelayLaw:
      return std::make_unique<DelayLawModel>();
    case Method::kClusterTable:
      return std::make_unique<ClusterTableModel>(settings);
    case Method::kAdditive:
      return std::make_unique<FactorModel>(0, settings.ridge);
    case Method::kLowRank:
      return std::make_unique<FactorModel>(settings.rank, settings.ridge);
    case Method::kProcess:
      return std::make_unique<PairProcess>(settings);
    case Method::kTrees:
      return std::make_unique<TreeModel>(settings);
  }
  throw Error(OMEN_INTERNAL, "a method has no model");
}

}  // namespace omen::interference
