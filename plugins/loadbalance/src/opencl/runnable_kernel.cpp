// SPDX-License-Identifier: Apache-2.0
// The kernel as JSON and back.
#include "opencl/runnable_kernel.hpp"

#include <nlohmann/json.hpp>

#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

using nlohmann::json;

json bound_json(const Bound& bound) {
  json parts = json::array();
  for (const Bound& part : bound.parts) parts.push_back(bound_json(part));
  return json::array({static_cast<int>(bound.kind), bound.value, parts});
}

Bound bound_from(const json& facts) {
  Bound bound{static_cast<BoundKind>(facts.at(0).get<int>()), facts.at(1).get<std::int64_t>()};
  for (const json& part : facts.at(2)) bound.parts.push_back(bound_from(part));
  return bound;
}

json parameter_json(const Parameter& parameter) {
  json reach = json::array();
  for (const Bound& bound : parameter.reach) reach.push_back(bound_json(bound));
  return {{"name", parameter.name},
          {"type", parameter.type},
          {"kind", static_cast<int>(parameter.kind)},
          {"scalar", static_cast<int>(parameter.scalar)},
          {"scalar_bytes", parameter.scalar_bytes},
          {"bytes", parameter.bytes},
          {"constant", parameter.constant},
          {"reach", reach}};
}

Parameter parameter_from(const json& facts) {
  Parameter parameter;
  parameter.name = facts.at("name");
  parameter.type = facts.at("type");
  parameter.kind = static_cast<ParameterKind>(facts.at("kind").get<int>());
  parameter.scalar = static_cast<ScalarKind>(facts.at("scalar").get<int>());
  parameter.scalar_bytes = facts.at("scalar_bytes");
  parameter.bytes = facts.at("bytes");
  parameter.constant = facts.at("constant");
  for (const json& bound : facts.at("reach")) parameter.reach.push_back(bound_from(bound));
  return parameter;
}

json verdict_json(const SplitVerdict& verdict) {
  json conditions = json::array();
  for (const LaunchCondition& condition : verdict.conditions)
    conditions.push_back({bound_json(condition.shortfall), condition.text});
  return {{"reasons", verdict.reasons},       {"notes", verdict.notes},
          {"dimensions", verdict.dimensions}, {"written", verdict.written},
          {"exclusive", verdict.exclusive},   {"conditions", conditions}};
}

SplitVerdict verdict_from(const json& facts) {
  SplitVerdict verdict;
  verdict.reasons = facts.at("reasons").get<std::vector<std::string>>();
  verdict.notes = facts.at("notes").get<std::vector<std::string>>();
  verdict.dimensions = facts.at("dimensions");
  verdict.written = facts.at("written").get<std::vector<bool>>();
  verdict.exclusive = facts.at("exclusive").get<std::vector<bool>>();
  for (const json& condition : facts.at("conditions"))
    verdict.conditions.push_back({bound_from(condition.at(0)), condition.at(1)});
  return verdict;
}

}  // namespace

std::string to_json(const RunnableKernel& kernel) {
  json parameters = json::array();
  for (const Parameter& parameter : kernel.signature.parameters)
    parameters.push_back(parameter_json(parameter));
  const json facts = {{"text", kernel.text},
                      {"split_text", kernel.split_text},
                      {"build_options", kernel.build_options},
                      {"kernel", kernel.signature.kernel},
                      {"required_group", kernel.signature.required_group},
                      {"parameters", parameters},
                      {"rewritten", kernel.rewritten},
                      {"takes_range", kernel.takes_range},
                      {"verdict", verdict_json(kernel.verdict)}};
  // Comments of a source may be in any encoding.
  return facts.dump(-1, ' ', false, json::error_handler_t::replace);
}

RunnableKernel runnable_kernel_from(const std::string& text) try {
  const json facts = json::parse(text);
  RunnableKernel kernel;
  kernel.text = facts.at("text");
  kernel.split_text = facts.at("split_text");
  kernel.build_options = facts.at("build_options");
  kernel.signature.kernel = facts.at("kernel");
  kernel.signature.required_group = facts.at("required_group").get<std::array<std::size_t, 3>>();
  for (const json& parameter : facts.at("parameters"))
    kernel.signature.parameters.push_back(parameter_from(parameter));
  kernel.rewritten = facts.at("rewritten").get<std::set<std::string>>();
  kernel.takes_range = facts.at("takes_range");
  kernel.verdict = verdict_from(facts.at("verdict"));
  return kernel;
} catch (const json::exception& error) {
  throw Error(OMEN_INVALID_DATA,
              std::string("the front end describes a kernel in another way: ") + error.what(),
              "install plugins of one version");
}

}  // namespace omen::loadbalance
