// SPDX-License-Identifier: Apache-2.0
// Looks fields up and complains about them by name.
#include "config_fields.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <omen/error.hpp>
#include <string_view>

namespace omen::opgraph {
namespace {

// Fields that change neither the shape of a model nor what a step costs.
constexpr std::string_view kHarmless[] = {"_attn_implementation",
                                          "_name_or_path",
                                          "aux_loss_alpha",
                                          "attn_implementation",
                                          "auto_map",
                                          "bos_token_id",
                                          "boi_token_id",
                                          "classifier_dropout",
                                          "clamp_limit",
                                          "swiglu_limit",
                                          "decoder_start_token_id",
                                          "do_sample",
                                          "embd_pdrop",
                                          "eos_token_id",
                                          "ep_size",
                                          "finetuning_task",
                                          "gradient_checkpointing",
                                          "id2label",
                                          "image_token_id",
                                          "init_std",
                                          "initial_context_length",
                                          "initializer_factor",
                                          "initializer_range",
                                          "is_decoder",
                                          "is_encoder_decoder",
                                          "label2id",
                                          "language_model_only",
                                          "layer_norm_eps",
                                          "layer_norm_epsilon",
                                          "layerdrop",
                                          "max_length",
                                          "max_window_layers",
                                          "mlp_only_layers",
                                          "model_type",
                                          "n_ctx",
                                          "n_group",
                                          "norm_topk_prob",
                                          "num_nextn_predict_layers",
                                          "mtp_num_hidden_layers",
                                          "mtp_use_dedicated_embeddings",
                                          "output_attentions",
                                          "output_hidden_states",
                                          "output_past",
                                          "output_router_logits",
                                          "pad_token_id",
                                          "position_embedding_type",
                                          "prefix",
                                          "pretraining_tp",
                                          "problem_type",
                                          "partial_rotary_factor",
                                          "reorder_and_upcast_attn",
                                          "relative_attention_max_distance",
                                          "rms_norm_eps",
                                          "rope_interleave",
                                          "rope_parameters",
                                          "rope_scaling",
                                          "rope_theta",
                                          "rotary_emb_base",
                                          "rotary_pct",
                                          "router_aux_loss_coef",
                                          "router_bias",
                                          "router_dtype",
                                          "router_ignore_padding_tokens",
                                          "router_jitter_noise",
                                          "router_type",
                                          "router_z_loss_coef",
                                          "experts_per_token",
                                          "routed_scaling_factor",
                                          "scale_attn_by_inverse_layer_idx",
                                          "scale_attn_weights",
                                          "scoring_func",
                                          "seq_aux",
                                          "sep_token_id",
                                          "mask_token_id",
                                          "summary_activation",
                                          "summary_first_dropout",
                                          "summary_proj_to_labels",
                                          "summary_type",
                                          "summary_use_proj",
                                          "task_specific_params",
                                          "topk_group",
                                          "topk_method",
                                          "transformers_version",
                                          "mamba_ssm_dtype",
                                          "use_bias",
                                          "use_cache",
                                          "use_parallel_residual",
                                          "use_sliding_window",
                                          "video_token_id",
                                          "vision_config",
                                          "vision_start_token_id",
                                          "vision_end_token_id",
                                          "media_placeholder_token_id",
                                          "attention_head_type",
                                          "add_router_probs",
                                          "indexer_rope_interleave",
                                          "chunk_size_feed_forward",
                                          "hidden_act_param",
                                          "torchscript",
                                          "rope_type",
                                          "dense_act_fn",
                                          "ignore_index",
                                          "pad_vocab_size_multiple",
                                          "projector_hidden_act",
                                          "use_unified_vision_chunk"};

}  // namespace

ConfigFields::ConfigFields(const nlohmann::json& object, std::string source)
    : object_(object), source_(std::move(source)) {}

const nlohmann::json* ConfigFields::find(Names names) {
  const nlohmann::json* first = nullptr;
  for (const char* name : names) {
    seen_.insert(name);
    const auto at = object_.find(name);
    if (at == object_.end() || at->is_null() || first != nullptr) continue;
    first = &*at;
    found_ = name;
  }
  return first;
}

void ConfigFields::fail(const std::string& what) const {
  throw Error(OMEN_INVALID_DATA, source_ + ": " + found_ + " " + what,
              "Give the config.json that the model's authors published.");
}

std::optional<std::int64_t> ConfigFields::whole(Names names, std::int64_t least,
                                                std::int64_t most) {
  const nlohmann::json* value = find(names);
  if (value == nullptr) return std::nullopt;
  const bool is_whole = value->is_number_integer() &&
                        (!value->is_number_unsigned() ||
                         value->get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX));
  if (!is_whole) fail("is " + value->dump().substr(0, 40) + ", not a whole number");
  const auto number = value->get<std::int64_t>();
  if (number < least || number > most)
    fail("is " + std::to_string(number) + "; allowed " + std::to_string(least) + ".." +
         std::to_string(most));
  return number;
}

std::optional<double> ConfigFields::real(Names names, double least, double most) {
  const nlohmann::json* value = find(names);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) fail("is not a number");
  const auto number = value->get<double>();
  if (!(number >= least && number <= most)) fail("is " + value->dump() + ", which cannot be");
  return number;
}

std::optional<bool> ConfigFields::flag(Names names) {
  const nlohmann::json* value = find(names);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) fail("is neither true nor false");
  return value->get<bool>();
}

std::optional<std::string> ConfigFields::text(Names names) {
  const nlohmann::json* value = find(names);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) fail("is not a text");
  return value->get<std::string>();
}

std::vector<std::string> ConfigFields::texts(Names names) {
  const nlohmann::json* value = find(names);
  if (value == nullptr) return {};
  if (!value->is_array()) fail("is not a list");
  std::vector<std::string> all;
  for (const auto& item : *value) {
    if (!item.is_string()) fail("holds something else than texts");
    all.push_back(item.get<std::string>());
  }
  return all;
}

const nlohmann::json* ConfigFields::object(Names names) {
  const nlohmann::json* value = find(names);
  if (value != nullptr && !value->is_object()) fail("is not an object");
  return value;
}

std::int64_t ConfigFields::needed(Names names, std::int64_t least, std::int64_t most) {
  const auto value = whole(names, least, most);
  if (value) return *value;
  found_ = *names.begin();
  fail("is missing");
}

std::vector<std::string> ConfigFields::leftovers() const {
  std::vector<std::string> sentences;
  for (const auto& [name, value] : object_.items()) {
    const bool harmless =
        std::find(std::begin(kHarmless), std::end(kHarmless), name) != std::end(kHarmless);
    if (!harmless && seen_.count(name) == 0)
      sentences.push_back("field " + name + " is not known and has no influence");
  }
  return sentences;
}

}  // namespace omen::opgraph
