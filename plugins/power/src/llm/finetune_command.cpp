// SPDX-License-Identifier: Apache-2.0
// Arithmetic of a training job over the rate that is reached; watts are those of prefill, which is
// bound by arithmetic as well.
#include "llm/finetune_command.hpp"

#include <map>

#include "llm/estimate_rows.hpp"
#include "llm/serving_rows.hpp"

namespace omen::power {
namespace {

constexpr double kKwh = 3.6e6;
// Operations of a token for each parameter that it passes.
double flops_per_parameter(const std::string& method) {
  static const std::map<std::string, double> kFlops = {{"full", 6}, {"recompute", 8}, {"lora", 4}};
  return kFlops.at(method);
}

}  // namespace

int FinetuneCommand::run(const std::vector<std::string>& args, const TablesOut& out,
                         const Run& run) {
  if (args.size() != 1)
    throw Error(OMEN_INVALID_ARGUMENT, "finetune needs one config.json",
                "omen power finetune config.json --gpu h100 --gpus 8 --tokens 1e9");
  const ConfiguredModel model = load_model(args[0]);
  EstimateOptions asked;
  asked.gpu = options_.gpu;
  asked.gpus = options_.gpus;
  asked.input_tokens = 4096, asked.output_tokens = 1;
  std::vector<std::string> name, status;
  std::vector<double> hours, watts, kwh, low, high, cost, grams;
  for (const Estimate& e : ask_all(run, asked, model, choices_of(asked, "bf16"))) {
    if (!e.answered())
      throw Error(OMEN_INVALID_DATA, e.choice.gpu + ": " + e.status,
                  "Take more GPUs, or one with more memory.");
    const Gpu gpu = find_gpu(e.choice.gpu, *find_precision("bf16"));
    const double flops =
        flops_per_parameter(options_.method) * model.shape.active * options_.tokens;
    const double seconds = flops / (options_.gpus * gpu.flops * options_.mfu);
    const double used = e.prefill_w * options_.gpus * seconds * options_.pue / kKwh;
    name.push_back(e.choice.gpu);
    hours.push_back(seconds / 3600);
    watts.push_back(e.prefill_w * options_.gpus);
    kwh.push_back(used);
    low.push_back(used * e.low / e.joules);
    high.push_back(used * e.high / e.joules);
    cost.push_back(used * options_.price_per_kwh);
    grams.push_back(used * options_.gco2_per_kwh);
    status.emplace_back("estimated: no training run was measured");
  }
  TableBuilder table;
  table.add_strings("gpu", name)
      .add("hours", std::move(hours), {{"omen.unit", "h"}})
      .add("power_w", std::move(watts), {{"omen.unit", "W"}})
      .add("kwh", std::move(kwh), {{"omen.unit", "kWh"}})
      .add("kwh.lo", std::move(low), {{"omen.unit", "kWh"}})
      .add("kwh.hi", std::move(high), {{"omen.unit", "kWh"}});
  if (options_.price_per_kwh > 0) table.add("cost", std::move(cost));
  if (options_.gco2_per_kwh > 0) table.add("gco2", std::move(grams), {{"omen.unit", "g"}});
  out.put("finetune", table.add_strings("status", status).finish());
  return 0;
}

Component finetune_component() {
  return command<FinetuneCommand, FinetuneOptions>(
      "power.finetune", "hours, energy, money and CO2 of training a language model");
}

}  // namespace omen::power
