// SPDX-License-Identifier: Apache-2.0
// Asks for all choices, leaves out what breaks a limit, and puts the cheapest first.
#include "llm/estimate_command.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <omen/join.hpp>

#include "llm/estimate_rows.hpp"
#include "llm/runs_to_measure.hpp"

namespace omen::power {
namespace {

constexpr double kJoulesPerKwh = 3.6e6;
constexpr int kNothingFits = 1;

std::string figure(double value, const char* unit) {
  char text[48];
  std::snprintf(text, sizeof text, "%.4g %s", value, unit);
  return text;
}

ConfiguredModel model_of(const std::string& input) {
  std::error_code error;
  if (std::filesystem::exists(input, error)) {
    const bool directory = std::filesystem::is_directory(input, error);
    return load_model(directory ? input + "/config.json" : input);
  }
  if (const std::optional<ModelShape> shape = published_shape(input))
    return {input, "bf16", *shape};
  throw Error(OMEN_NOT_FOUND, "'" + input + "' is neither a config.json nor a model that is known",
              "Give a file, or one of " + join(published_models()) + ".");
}

// Why a choice is not allowed; empty: it is.
std::string refusal_of(const Estimate& e, const EstimateOptions& o) {
  if (!e.answered()) return e.status;
  if (o.most_token_ms > 0 && e.token_ms > o.most_token_ms)
    return figure(e.token_ms, "ms a token") + " above " + figure(o.most_token_ms, "ms");
  if (o.most_first_s > 0 && e.first_s > o.most_first_s)
    return figure(e.first_s, "s to the first token") + " above " + figure(o.most_first_s, "s");
  if (o.node_cap_w > 0 && e.watts * e.choice.gpus > o.node_cap_w)
    return figure(e.watts * e.choice.gpus, "W") + " above " + figure(o.node_cap_w, "W");
  return {};
}

// Joules of the job that was asked for, at the machine.
double job_joules(const Estimate& e, const EstimateOptions& o) {
  const double batch = e.joules / (e.token_j * std::max(o.output_tokens, 1.0));
  return o.requests > 0 ? e.joules / batch * o.requests : e.joules;
}

struct Comparison {
  std::vector<std::string> name, note;
  std::vector<std::int64_t> rank, replicas;
  std::vector<double> token_j, low, high, watts, token_ms, first_s, rate, kwh, cost, grams;
  std::vector<bool> known;

  void add(const Estimate& e, const EstimateOptions& o, std::int64_t place) {
    name.push_back(e.choice.name);
    rank.push_back(place);
    known.push_back(e.answered());
    token_j.push_back(e.token_j);
    low.push_back(e.token_j_low);
    high.push_back(e.token_j_high);
    watts.push_back(e.watts * e.choice.gpus);
    token_ms.push_back(e.token_ms);
    first_s.push_back(e.first_s);
    rate.push_back(e.tokens_per_s);
    const double used = e.answered() ? job_joules(e, o) * o.pue / kJoulesPerKwh : 0;
    kwh.push_back(used);
    cost.push_back(used * o.price_per_kwh);
    grams.push_back(used * o.gco2_per_kwh);
    const double each = e.watts * e.choice.gpus;
    replicas.push_back(o.node_cap_w > 0 && each > 0 ? static_cast<std::int64_t>(o.node_cap_w / each)
                                                    : 1);
    note.push_back(!e.refused.empty() ? e.refused : e.status);
  }
  Table finish(const EstimateOptions& o) {
    TableBuilder table;
    const auto put = [&](const char* column, std::vector<double>& values, const char* unit) {
      table.add(column, std::move(values), {{"omen.unit", unit}}).valid(known);
    };
    table.add_strings("choice", name).add("rank", std::move(rank));
    put("j_per_token", token_j, "J");
    put("j_per_token.lo", low, "J");
    put("j_per_token.hi", high, "J");
    put("power_w", watts, "W");
    put("token_ms", token_ms, "ms");
    put("first_token_s", first_s, "s");
    put("tokens_per_s", rate, "1/s");
    put("kwh", kwh, "kWh");
    if (o.price_per_kwh > 0) put("cost", cost, "1");
    if (o.gco2_per_kwh > 0) put("gco2", grams, "g");
    if (o.node_cap_w > 0) table.add("replicas", std::move(replicas)).valid(known);
    return table.add_strings("note", note).finish();
  }
};

struct Facts {
  std::vector<std::string> what, value;
  void add(const std::string& name, const std::string& text) {
    what.push_back(name);
    value.push_back(text);
  }
  Table finish() {
    return TableBuilder().add_strings("what", what).add_strings("value", value).finish();
  }
};

// One answer in the words of the people who pay for it.
Table single(const Estimate& e, const EstimateOptions& o, const ConfiguredModel& model) {
  Facts facts;
  const double tokens = std::max(o.output_tokens, 1.0);
  const double batch = e.joules / (e.token_j * tokens);
  facts.add(
      "model",
      model.name + ", " + figure(model.shape.parameters / 1e9, "G parameters") +
          (model.shape.has_experts() ? ", " + figure(model.shape.active / 1e9, "G active") : ""));
  facts.add("energy per output token", figure(e.token_j, "J") + " (" +
                                           figure(e.token_j_low, "to ") +
                                           figure(e.token_j_high, "J") + ")");
  facts.add("energy per request", figure(e.token_j * tokens, "J"));
  facts.add("energy per 1000 tokens", figure(1000 * e.token_j, "J"));
  facts.add("power of one GPU", figure(e.watts, "W mean, ") +
                                    figure(std::max(e.prefill_w, e.decode_w), "W peak phase"));
  facts.add("power of all GPUs", figure(e.watts * e.choice.gpus, "W"));
  facts.add("requests at once", figure(e.at_once, "") + "of " + figure(batch, "asked"));
  facts.add("time of the batch", figure(e.seconds, "s"));
  facts.add("first token", figure(e.first_s, "s"));
  facts.add("between tokens", figure(e.token_ms, "ms"));
  facts.add("tokens per second", figure(e.tokens_per_s, ""));
  facts.add("prefill", figure(e.prefill_j, "J at ") + figure(e.prefill_w, "W"));
  facts.add("decode", figure(e.decode_j, "J at ") + figure(e.decode_w, "W, ") + e.bound + " bound");
  const double kwh = job_joules(e, o) * o.pue / kJoulesPerKwh;
  facts.add(o.requests > 0 ? "energy of the job" : "energy of the batch",
            figure(kwh, "kWh with PUE ") + figure(o.pue, ""));
  if (o.price_per_kwh > 0) facts.add("cost", figure(kwh * o.price_per_kwh, ""));
  if (o.gco2_per_kwh > 0) facts.add("CO2", figure(kwh * o.gco2_per_kwh, "g"));
  if (o.node_cap_w > 0)
    facts.add("replicas", figure(std::floor(o.node_cap_w / (e.watts * e.choice.gpus)), "under ") +
                              figure(o.node_cap_w, "W"));
  facts.add("assumed", figure(e.choice.input, "tokens in, ") + figure(o.output_tokens, "out, ") +
                           e.choice.precision + " weights, " +
                           (o.framework.empty() ? "best measured software" : o.framework));
  facts.add("status", e.status);
  return facts.finish();
}

}  // namespace

int EstimateCommand::run(const std::vector<std::string>& args, const TablesOut& out,
                         const Run& run) {
  if (args.size() != 1)
    throw Error(OMEN_INVALID_ARGUMENT, "estimate needs one config.json or the name of a model",
                "omen power estimate config.json --gpu h100 --batch 16");
  const ConfiguredModel model = model_of(args[0]);
  const std::string precision = options_.precision.empty() ? model.precision : options_.precision;
  if (options_.vary == "measure") {
    out.put("runs", runs_to_measure(options_.batch, options_.input_tokens, options_.output_tokens,
                                    options_.runs));
    return 0;
  }
  std::vector<Estimate> all = ask_all(run, options_, model, choices_of(options_, precision));
  for (Estimate& e : all) e.refused = refusal_of(e, options_);
  std::stable_sort(all.begin(), all.end(), [](const Estimate& a, const Estimate& b) {
    if (a.refused.empty() != b.refused.empty()) return a.refused.empty();
    return a.token_j < b.token_j;
  });
  const bool nothing = all.empty() || !all[0].refused.empty();
  if (all.size() == 1 && all[0].answered() && !nothing) {
    out.put("estimate", single(all[0], options_, model));
    return 0;
  }
  Comparison rows;
  std::int64_t place = 0;
  for (const Estimate& e : all) rows.add(e, options_, ++place);
  out.put("estimate", rows.finish(options_));
  return nothing ? kNothingFits : 0;
}

Component estimate_component() {
  return command<EstimateCommand, EstimateOptions>(
      "power.estimate", "joules, watts, money and CO2 of a language model before it is served");
}

}  // namespace omen::power
