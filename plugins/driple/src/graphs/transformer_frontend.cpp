// SPDX-License-Identifier: Apache-2.0
// Options to a run, and the file to a job.
#include "transformer_frontend.hpp"

#include <omen/host.hpp>
#include <omen/opgraph/tables.hpp>
#include <omen/opgraph/words.hpp>

namespace omen::driple {
namespace {

std::optional<opgraph::Precision> chosen(const std::string& word) {
  return opgraph::precision_of(word);  // nothing for "file"
}

}  // namespace

opgraph::TransformerRun run_of(const TransformerOptions& o) {
  opgraph::TransformerRun run;
  run.mode = o.train ? opgraph::Mode::train : *opgraph::mode_of(o.mode);
  run.batch = o.batch;
  run.prompt = o.tokens > 0 ? o.tokens : o.prompt;
  const bool decoding = run.mode == opgraph::Mode::decode;
  run.cached = decoding && o.cached == 0 ? run.prompt : o.cached;
  run.attention = *opgraph::attention_form_of(o.attention);
  run.precision = chosen(o.precision);
  run.weights = chosen(o.weights);
  run.matmul = chosen(o.matmul_precision);
  run.cache = chosen(o.cache_precision);
  run.recompute = *opgraph::recompute_of(o.recompute);
  run.head = *opgraph::head_of(o.head);
  const bool serving = decoding || run.mode == opgraph::Mode::prefill;
  run.fused = o.fused == "yes" || (o.fused == "auto" && serving);
  run.loss = o.loss;
  run.dropout = o.dropout;
  run.tensor_ranks = o.tensor_ranks;
  run.pipeline_ranks = o.pipeline_ranks;
  run.data_ranks = o.data_ranks;
  run.expert_ranks = o.expert_ranks;
  run.micro_batches = o.micro_batches;
  run.stage = o.stage;
  run.sharding = *opgraph::sharding_of(o.sharding);
  run.optimizer = *opgraph::optimizer_of(o.optimizer);
  return run;
}

int TransformerFrontend::sniff(const char* path, std::string_view head) {
  if (head.data() == nullptr || path == nullptr) return 0;
  const std::string_view name(path);
  if (name.size() < 5 || name.substr(name.size() - 5) != ".json") return 0;
  const bool layers = head.find("\"num_hidden_layers\"") != head.npos ||
                      head.find("\"n_layer\"") != head.npos ||
                      head.find("\"num_layers\"") != head.npos;
  const bool type = head.find("\"model_type\"") != head.npos;
  const bool parts = head.find("\"architectures\"") != head.npos;
  return type && layers ? 95 : type || (parts && layers) ? 80 : 0;
}

void TransformerFrontend::lower(const char* path, const TablesOut& out, const Run&) {
  if (path == nullptr)
    throw Error(OMEN_INVALID_ARGUMENT, "driple.transformer needs a file", "Give a config.json.");
  const opgraph::TransformerConfig config = opgraph::load_config(path, options_.family);
  for (const std::string& sentence : config.warnings)
    log(OMEN_LOG_WARN, "driple.transformer", config.name + ": " + sentence);
  const std::vector<opgraph::Job> jobs = {transformer_job(config, run_of(options_))};
  opgraph::put_jobs(jobs, out);
}

}  // namespace omen::driple
