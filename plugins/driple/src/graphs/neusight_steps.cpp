// SPDX-License-Identifier: Apache-2.0
// Rows of its tables become configurations and jobs.
#include "neusight_steps.hpp"

#include <algorithm>
#include <omen/csv_line.hpp>
#include <omen/error.hpp>

namespace omen::driple {
namespace {

using namespace opgraph;

// Fields of config.json from columns; an empty cell is a field that is not there.
class ConfigText {
 public:
  ConfigText(const NamedCells& models, std::size_t row) : models_(models), row_(row) {}
  const std::string& cell(const std::string& column) const { return models_.cell(row_, column); }
  void put(const std::string& field, const std::string& column) { put_value(field, cell(column)); }
  void put_value(const std::string& field, const std::string& value) {
    if (!value.empty()) text_ += ", \"" + field + "\": " + value;
  }
  std::string finish() const {
    return "{\"model_type\": \"" + cell("model_type") + "\"" + text_ +
           ", \"torch_dtype\": \"float32\"}";
  }

 private:
  const NamedCells& models_;
  std::size_t row_;
  std::string text_;
};

void put_switch(ConfigText& config) {
  config.put("d_model", "hidden");
  config.put("num_layers", "layers");
  config.put("num_decoder_layers", "decoder_layers");
  config.put("num_heads", "heads");
  config.put("d_kv", "head_dim");
  config.put("d_ff", "ffn");
  config.put("num_experts", "experts");
  config.put("expert_capacity", "expert_capacity");
  config.put("encoder_sparse_step", "sparse_step");
  config.put("decoder_sparse_step", "sparse_step");
}

void put_dense(ConfigText& config) {
  const bool gpt = config.cell("model_type") == "gpt2", opt = config.cell("model_type") == "opt";
  config.put(gpt ? "n_embd" : "hidden_size", "hidden");
  config.put(gpt ? "n_layer" : "num_hidden_layers", "layers");
  config.put(gpt ? "n_head" : "num_attention_heads", "heads");
  config.put(gpt ? "n_inner" : opt ? "ffn_dim" : "intermediate_size", "ffn");
  config.put(gpt ? "n_positions" : "max_position_embeddings", "max_positions");
  config.put("type_vocab_size", "type_vocab");
  config.put_value(gpt || opt ? "activation_function" : "hidden_act",
                   "\"" + config.cell("activation") + "\"");
  if (opt) config.put("word_embed_proj_dim", "hidden");
}

std::string config_json(const NamedCells& models, std::size_t row) {
  ConfigText config(models, row);
  config.put("vocab_size", "vocab");
  config.cell("model_type") == "switch_transformers" ? put_switch(config) : put_dense(config);
  return config.finish();
}

}  // namespace

NamedCells::NamedCells(std::string_view text, std::string where) : where_(std::move(where)) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::vector<std::string> cells = csv_cells(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
    if (cells.size() == 1 && cells[0].empty()) continue;
    if (place_.empty()) {
      for (std::size_t i = 0; i < cells.size(); ++i) place_[cells[i]] = i;
      continue;
    }
    cells.resize(std::max(cells.size(), place_.size()));
    rows_.push_back(std::move(cells));
  }
}

const std::string& NamedCells::cell(std::size_t row, const std::string& column) const {
  const auto at = place_.find(column);
  if (at == place_.end())
    throw Error(OMEN_INVALID_DATA, where_ + " has no column '" + column + "'",
                "Give the tables of NeuSight as the recipe driple-labels names them.");
  return rows_[row][at->second];
}

std::map<std::string, TransformerConfig> neusight_models(const NamedCells& models) {
  std::map<std::string, TransformerConfig> known;
  for (std::size_t row = 0; row < models.rows(); ++row) {
    if (models.cell(row, "used_in_labels") != "1") continue;
    const std::string& name = models.cell(row, "model");
    known[name] = read_config(config_json(models, row), name);
  }
  return known;
}

Job neusight_job(const TransformerConfig& config, bool training, std::int64_t batch,
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

}  // namespace omen::driple
