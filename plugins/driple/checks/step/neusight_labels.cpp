// SPDX-License-Identifier: Apache-2.0
// Labels with the graphs of their models, as the timed programs ran them.
#include "neusight_labels.hpp"

#include <cstdlib>
#include <map>
#include <omen/opgraph/transformer.hpp>

#include "operator_tables.hpp"

namespace omen::driple::checks {
namespace {

using namespace opgraph;

// Hugging Face names of the columns of models.csv.
std::string config_json(const TextRow& r) {
  const std::string& type = r[1];
  const bool gpt = type == "gpt2";
  std::string text = "{\"model_type\": \"" + type + "\"";
  const auto field = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) text += ", \"" + name + "\": " + value;
  };
  if (type == "switch_transformers") {
    field("d_model", r[4]), field("num_layers", r[2]), field("num_decoder_layers", r[3]);
    field("num_heads", r[5]), field("d_kv", r[6]), field("d_ff", r[7]);
    field("num_experts", r[12]), field("expert_capacity", r[14]);
    field("encoder_sparse_step", r[15]), field("decoder_sparse_step", r[15]);
  } else {
    field(gpt ? "n_embd" : "hidden_size", r[4]);
    field(gpt ? "n_layer" : "num_hidden_layers", r[2]);
    field(gpt ? "n_head" : "num_attention_heads", r[5]);
    field(gpt ? "n_inner" : type == "opt" ? "ffn_dim" : "intermediate_size", r[7]);
    field(gpt ? "n_positions" : "max_position_embeddings", r[9]);
    field("type_vocab_size", r[10]);
    field(gpt             ? "activation_function"
          : type == "opt" ? "activation_function"
                          : "hidden_act",
          "\"" + r[11] + "\"");
  }
  field("vocab_size", r[8]);
  if (type == "opt") field("word_embed_proj_dim", r[4]);
  return text + ", \"torch_dtype\": \"float32\"}";
}

std::map<std::string, TransformerConfig> read_models() {
  std::map<std::string, TransformerConfig> models;
  for_each_row("neusight/models.csv",
               {"model", "model_type", "layers", "decoder_layers", "hidden", "heads", "head_dim",
                "ffn", "vocab", "max_positions", "type_vocab", "activation", "experts", "top_k",
                "expert_capacity", "sparse_step", "used_in_labels"},
               [&](const TextRow& r) {
                 if (r[16] == "1") models[r[0]] = read_config(config_json(r), r[0]);
               });
  return models;
}

// Loss and optimizer stand outside of what was timed, gradients are added to older ones.
Job label_job(const TransformerConfig& config, bool training, std::int64_t batch,
              std::int64_t length) {
  TransformerRun run;
  run.mode = training ? Mode::train : Mode::infer;
  run.batch = batch;
  run.prompt = length;
  run.attention = AttentionForm::eager;
  run.precision = Precision::fp32;
  run.head = config.model_type == "bert" && !training ? Head::classifier : Head::vocabulary;
  run.loss = false;
  run.accumulate = true;
  run.optimizer = Optimizer::none;
  return transformer_job(config, run);
}

}  // namespace

std::vector<LabelRow> read_labels() {
  const std::map<std::string, TransformerConfig> models = read_models();
  std::vector<LabelRow> rows;
  const auto number = [](const std::string& text) { return std::strtod(text.c_str(), nullptr); };
  for_each_row(
      "neusight/labels.csv",
      {"gpu", "vendor", "model", "mode", "batch", "seq_len", "fused", "ms_total", "neusight_total",
       "habitat_total", "linreg_total", "roofline_total", "suspect_forward", "n_gpus"},
      [&](const TextRow& r) {
        LabelRow row;
        row.gpu = r[0], row.model = r[2];
        row.amd = r[1] == "AMD";
        row.training = r[3] == "training";
        row.fused = r[6] == "1";
        row.suspect = r[12] == "1";
        row.seconds = 1e-3 * number(r[7]);
        row.neusight = 1e-3 * number(r[8]);
        row.habitat = 1e-3 * number(r[9]);
        row.linear = 1e-3 * number(r[10]);
        row.roofline = 1e-3 * number(r[11]);
        row.job = label_job(models.at(r[2]), row.training, static_cast<std::int64_t>(number(r[4])),
                            static_cast<std::int64_t>(number(r[5])));
        rows.push_back(std::move(row));
      });
  return rows;
}

}  // namespace omen::driple::checks
