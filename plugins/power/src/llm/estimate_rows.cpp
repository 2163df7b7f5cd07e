// SPDX-License-Identifier: Apache-2.0
// Lists choices as workloads, and hands them to the predictor through the host.
#include "llm/estimate_rows.hpp"

#include <cmath>
#include <omen/optional_columns.hpp>
#include <omen/registry.hpp>
#include <sstream>

#include "llm/serving_rows.hpp"

namespace omen::power {
namespace {

std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');)
    if (!word.empty()) words.push_back(word);
  return words;
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.5g", value);
  return text;
}

}  // namespace

std::vector<Choice> choices_of(const EstimateOptions& o, const std::string& precision) {
  std::vector<Choice> choices;
  const std::vector<std::string> gpus = listed(o.gpu);
  if (gpus.empty())
    throw Error(OMEN_INVALID_ARGUMENT, "no GPU is named", "Add --gpu h100, for example.");
  for (const std::string& gpu : gpus) devices::find(gpu);  // throws with near names
  const Choice usual{"", gpus[0], precision, o.gpus, o.batch, o.input_tokens, o.power_cap_w};
  const auto add = [&](const std::string& name, auto&& change) {
    Choice made = usual;
    made.name = name;
    change(made);
    choices.push_back(made);
  };
  if (o.vary == "cap") {
    const Precision* wide = find_precision("bf16");
    const double tdp = find_gpu(usual.gpu, *wide).tdp;
    add("no cap", [](Choice& c) { c.cap = 0; });
    for (double part = 0.95; part > 0.3; part -= 0.05)
      add(short_number(std::round(tdp * part)) + " W",
          [&](Choice& c) { c.cap = std::round(tdp * part); });
  } else if (o.vary == "batch") {
    for (double batch = 1; batch <= 1024; batch *= 2)
      add("batch " + short_number(batch), [&](Choice& c) { c.batch = batch; });
  } else if (o.vary == "gpus") {
    for (double count = 1; count <= 8; count *= 2)
      add(short_number(count) + (count > 1 ? " GPUs" : " GPU"), [&](Choice& c) { c.gpus = count; });
  } else if (o.vary == "precision") {
    for (const char* word : {"bf16", "fp8", "int4"})
      add(word, [&](Choice& c) { c.precision = word; });
  } else if (o.vary == "input") {
    for (const double part : {1.0, 1.1, 1.25, 1.5, 2.0})
      add(short_number(o.input_tokens * part) + " tokens in",
          [&](Choice& c) { c.input = o.input_tokens * part; });
  } else {
    for (const std::string& gpu : gpus) add(gpu, [&](Choice& c) { c.gpu = gpu; });
  }
  return choices;
}

std::vector<Estimate> ask_all(const Run& run, const EstimateOptions& o,
                              const ConfiguredModel& model, const std::vector<Choice>& choices) {
  const std::size_t n = choices.size();
  std::vector<std::int64_t> id(n);
  std::vector<std::string> gpu, precision, framework(n, o.framework), batching(n, o.batching);
  std::vector<double> gpus, batch, input, cap;
  for (std::size_t i = 0; i < n; ++i) {
    id[i] = static_cast<std::int64_t>(i);
    gpu.push_back(choices[i].gpu);
    precision.push_back(choices[i].precision);
    gpus.push_back(choices[i].gpus);
    batch.push_back(choices[i].batch);
    input.push_back(choices[i].input);
    cap.push_back(choices[i].cap);
  }
  const ModelShape& m = model.shape;
  const auto same = [n](double value) { return std::vector<double>(n, value); };
  MemoryDataset in;
  in.put("workloads", TableBuilder()
                          .add("workload_id", id)
                          .add_categories("gpu", gpu)
                          .add("parameters", same(m.parameters))
                          .add("active_parameters", same(m.active))
                          .add("layers", same(m.layers))
                          .add("hidden", same(m.hidden))
                          .add("cache_bytes_per_token", same(m.cache_bytes))
                          .add("experts", same(m.experts))
                          .add("experts_per_token", same(m.experts_per_token))
                          .add("gpus", gpus)
                          .add("batch", batch)
                          .add("requests_per_s", same(o.requests_per_s))
                          .add_categories("batching", batching)
                          .add("input_tokens", input)
                          .add("output_tokens", same(o.output_tokens))
                          .add_categories("framework", framework)
                          .add_categories("precision", precision)
                          .add("power_cap_w", cap)
                          .finish());
  const Table said = call::predict(run, "power.llm", in.view(), {}, o.model).read_all();
  const auto number = [&](const char* name) { return NumberColumn(said, name); };
  const NumberColumn row(said, "workload_id"),
      token_j = number("energy_per_token_j"), token_low = number("energy_per_token_j.lo"),
      token_high = number("energy_per_token_j.hi"), joules = number("energy_j"),
      low = number("energy_j.lo"), high = number("energy_j.hi"), watts = number("power_w"),
      seconds = number("time_s"), token = number("token_ms"), first = number("first_token_s"),
      rate = number("tokens_per_s"), at_once = number("at_once"), prefill_w = number("prefill_w"),
      decode_w = number("decode_w"), prefill_j = number("prefill_j"), decode_j = number("decode_j");
  const TextColumn bound(said, "bound"), status(said, "status");
  std::vector<Estimate> made;
  for (std::int64_t r = 0; r < said.rows(); ++r) {
    Estimate e;
    e.choice = choices.at(static_cast<std::size_t>(row.at(r, 0)));
    e.status = status.at(r);
    if (token_j.at(r, 0) > 0) {
      e.token_j = token_j.at(r);
      e.token_j_low = token_low.at(r), e.token_j_high = token_high.at(r);
      e.joules = joules.at(r), e.low = low.at(r), e.high = high.at(r);
      e.watts = watts.at(r), e.seconds = seconds.at(r), e.token_ms = token.at(r);
      e.first_s = first.at(r), e.tokens_per_s = rate.at(r), e.at_once = at_once.at(r);
      e.prefill_w = prefill_w.at(r), e.decode_w = decode_w.at(r);
      e.prefill_j = prefill_j.at(r), e.decode_j = decode_j.at(r);
      e.bound = bound.at(r);
    }
    made.push_back(std::move(e));
  }
  return made;
}

}  // namespace omen::power
