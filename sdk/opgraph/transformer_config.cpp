// SPDX-License-Identifier: Apache-2.0
// Reads config.json: what a family implies first, then what the file says.
#include "omen/opgraph/transformer_config.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <omen/error.hpp>
#include <omen/join.hpp>

#include "config_fields.hpp"
#include "omen/opgraph/words.hpp"
#include "transformer_families.hpp"

namespace omen::opgraph {
namespace {

using nlohmann::json;
constexpr std::int64_t kMostWidth = 1'000'000, kMostLayers = 10'000, kMostWords = 100'000'000;
constexpr std::int64_t kMostExperts = 100'000;

struct ActivationWord {
  std::string_view word;
  ActivationKind kind;
};
constexpr ActivationWord kActivations[] = {{"relu", ActivationKind::relu},
                                           {"gelu", ActivationKind::gelu},
                                           {"gelu_new", ActivationKind::gelu_steps},
                                           {"gelu_fast", ActivationKind::gelu_steps},
                                           {"gelu_pytorch_tanh", ActivationKind::gelu},
                                           {"quick_gelu", ActivationKind::gelu},
                                           {"silu", ActivationKind::silu},
                                           {"swish", ActivationKind::silu}};

struct PrecisionWord {
  std::string_view word;
  Precision precision;
};
constexpr PrecisionWord kPrecisions[] = {{"float32", Precision::fp32},
                                         {"bfloat16", Precision::bf16},
                                         {"float16", Precision::fp16},
                                         {"float64", Precision::fp64}};
constexpr PrecisionWord kQuantised[] = {{"fp8", Precision::fp8},   {"fbgemm_fp8", Precision::fp8},
                                        {"mxfp4", Precision::fp4}, {"gptq", Precision::fp4},
                                        {"awq", Precision::fp4},   {"bitsandbytes", Precision::fp4},
                                        {"int8", Precision::int8}, {"nvfp4", Precision::fp4}};

void read_sizes(ConfigFields& in, TransformerConfig& c, const TransformerFamily& family) {
  c.hidden = in.needed({"hidden_size", "n_embd", "d_model"}, 1, kMostWidth);
  c.layers = in.needed({"num_hidden_layers", "n_layer", "num_layers"}, 1, kMostLayers);
  c.decoder_layers = in.whole({"num_decoder_layers"}, 0, kMostLayers).value_or(0);
  c.heads = in.needed({"num_attention_heads", "n_head", "num_heads"}, 1, kMostWidth);
  c.key_heads = in.whole({"num_key_value_heads"}, 1, c.heads).value_or(c.heads);
  c.head_width = in.whole({"head_dim", "d_kv"}, 1, kMostWidth).value_or(c.hidden / c.heads);
  if (c.head_width == 0) c.head_width = 1;
  const auto ffn = in.whole({"intermediate_size", "n_inner", "ffn_dim", "d_ff"}, 1, kMostWidth);
  c.ffn = ffn.value_or(4 * c.hidden);
  if (!ffn && c.model_type != "gpt2")
    c.warnings.push_back("intermediate_size is missing; 4 x hidden_size is taken");
  c.vocabulary = in.needed({"vocab_size"}, 1, kMostWords);
  const auto positions = in.whole({"max_position_embeddings", "n_positions"}, 1, kMostWords);
  if (family.learned_positions) {
    if (!positions)
      c.positions = in.needed({"max_position_embeddings"}, 1, kMostWords);
    else
      c.positions = *positions + family.position_offset;
  }
  c.types = in.whole({"type_vocab_size"}, 0, kMostWords).value_or(0);
  if (c.relative_buckets > 0)
    c.relative_buckets = in.whole({"relative_attention_num_buckets"}, 1, kMostWords).value_or(32);
}

void read_habits(ConfigFields& in, TransformerConfig& c) {
  if (const auto tied = in.flag({"tie_word_embeddings"})) c.tied = *tied;
  const auto word =
      in.text({"hidden_act", "activation_function", "hidden_activation", "dense_act_fn"});
  const auto projection = in.text({"feed_forward_proj"});
  if (projection) c.gated = projection->rfind("gated-", 0) == 0;
  if (const auto gated = in.flag({"is_gated_act"})) c.gated = *gated;
  if (word) {
    const ActivationWord* known = nullptr;
    for (const ActivationWord& each : kActivations)
      if (each.word == *word) known = &each;
    if (known != nullptr)
      c.activation = known->kind;
    else
      c.warnings.push_back("activation " + *word + " is not known; it is taken as one operation");
  }
  if (const auto bias = in.flag({"attention_bias", "add_qkv_bias", "qkv_bias"})) {
    const bool outputs =
        c.model_type == "llama" || c.model_type == "gpt_oss" || c.model_type == "gpt_neox";
    c.projection_bias = *bias;
    if (outputs) c.output_bias = *bias;
  }
  if (const auto bias = in.flag({"mlp_bias", "enable_bias"})) c.ffn_bias = *bias;
  if (const auto norm = in.flag({"use_qk_norm"})) c.key_query_norm = *norm;
  if (const auto gate = in.flag({"attn_output_gate"})) c.output_gate = *gate;
  if (const auto parallel = in.flag({"use_parallel_residual"})) c.parallel = *parallel;
  if (const auto share = in.real(
          {"resid_pdrop", "hidden_dropout_prob", "dropout", "dropout_rate", "hidden_dropout"}, 0,
          1))
    c.dropout = *share;
  if (const auto share =
          in.real({"attn_pdrop", "attention_probs_dropout_prob", "attention_dropout"}, 0, 1))
    c.attention_dropout = *share;
  const auto projected = in.whole({"word_embed_proj_dim"}, 1, kMostWidth);
  if (projected && *projected != c.hidden)
    c.warnings.push_back(
        "word_embed_proj_dim differs from hidden_size; its projections are left out");
  in.flag({"do_layer_norm_before", "_remove_final_layer_norm"});
}

void read_experts(ConfigFields& in, TransformerConfig& c) {
  ExpertConfig& e = c.experts;
  e.count = in.whole({"num_local_experts", "num_experts", "n_routed_experts"}, 0, kMostExperts)
                .value_or(0);
  e.per_token = in.whole({"num_experts_per_tok", "num_experts_per_token", "experts_per_token"}, 1,
                         kMostExperts)
                    .value_or(e.per_token);
  e.width = in.whole({"moe_intermediate_size"}, 1, kMostWidth).value_or(c.ffn);
  const auto shared = in.whole({"n_shared_experts", "num_shared_experts"}, 0, 1000).value_or(0);
  e.shared_width =
      in.whole({"shared_expert_intermediate_size"}, 0, kMostWidth).value_or(shared * e.width);
  e.first_dense = in.whole({"first_k_dense_replace"}, 0, kMostLayers).value_or(0);
  e.step =
      in.whole({"decoder_sparse_step", "encoder_sparse_step", "moe_layer_freq"}, 1, kMostLayers)
          .value_or(1);
  in.whole({"num_sparse_encoder_layers"}, 0, kMostLayers);
  in.whole({"num_sparse_decoder_layers"}, 0, kMostLayers);
  in.whole({"expert_capacity"}, 0, kMostWords);
  if (e.count == 0) return;
  if (e.per_token == 0)
    throw Error(OMEN_INVALID_DATA, c.name + ": num_experts_per_tok is missing",
                "Give the config.json that the model's authors published.");
  if (e.per_token > e.count)
    throw Error(OMEN_INVALID_DATA,
                c.name + ": a token cannot pass " + std::to_string(e.per_token) + " of " +
                    std::to_string(e.count) + " experts",
                "Look at num_experts_per_tok.");
}

void read_attention(ConfigFields& in, TransformerConfig& c) {
  LatentConfig& l = c.latent;
  l.key_value_rank = in.whole({"kv_lora_rank"}, 0, kMostWidth).value_or(0);
  l.query_rank = in.whole({"q_lora_rank"}, 0, kMostWidth).value_or(0);
  l.rope_width = in.whole({"qk_rope_head_dim"}, 0, kMostWidth).value_or(0);
  l.plain_width = in.whole({"qk_nope_head_dim"}, 0, kMostWidth).value_or(0);
  l.value_width = in.whole({"v_head_dim"}, 0, kMostWidth).value_or(0);
  in.whole({"qk_head_dim"}, 0, kMostWidth);
  if (l.used() && (l.plain_width + l.rope_width == 0 || l.value_width == 0))
    throw Error(OMEN_INVALID_DATA, c.name + ": kv_lora_rank without widths of heads",
                "Give qk_nope_head_dim, qk_rope_head_dim and v_head_dim.");
  c.indexer.heads = in.whole({"index_n_heads"}, 0, kMostWidth).value_or(0);
  c.indexer.width = in.whole({"index_head_dim"}, 0, kMostWidth).value_or(0);
  c.indexer.keys = in.whole({"index_topk"}, 0, kMostWords).value_or(0);
  LinearAttentionConfig& n = c.linear;
  n.key_heads = in.whole({"linear_num_key_heads"}, 0, kMostWidth).value_or(0);
  n.key_width = in.whole({"linear_key_head_dim"}, 0, kMostWidth).value_or(0);
  n.value_heads = in.whole({"linear_num_value_heads"}, 0, kMostWidth).value_or(0);
  n.value_width = in.whole({"linear_value_head_dim"}, 0, kMostWidth).value_or(0);
  n.kernel = in.whole({"linear_conv_kernel_dim"}, 0, kMostWidth).value_or(0);
  const auto window = in.whole({"sliding_window"}, 1, kMostWords);
  const bool uses_window = in.flag({"use_sliding_window"}).value_or(true);
  c.window = uses_window ? window.value_or(0) : 0;
  const auto interval = in.whole({"full_attention_interval"}, 1, kMostLayers);
  const auto types = in.texts({"layer_types"});
  const auto blocks = static_cast<std::size_t>(c.layers);
  if (!types.empty() && types.size() != blocks)
    throw Error(OMEN_INVALID_DATA,
                c.name + ": layer_types has " + std::to_string(types.size()) + " entries for " +
                    std::to_string(c.layers) + " layers",
                "Look at num_hidden_layers.");
  for (std::size_t i = 0; i < blocks; ++i) {
    AttentionKind kind =
        c.window > 0 && types.empty() ? AttentionKind::sliding : AttentionKind::full;
    if (!types.empty() && types[i] == "sliding_attention") kind = AttentionKind::sliding;
    if (!types.empty() && types[i] == "linear_attention") kind = AttentionKind::linear;
    if (types.empty() && interval && n.value_heads > 0 &&
        (static_cast<std::int64_t>(i) + 1) % *interval != 0)
      kind = AttentionKind::linear;
    c.kinds.push_back(kind);
    if (kind == AttentionKind::linear &&
        (n.value_heads == 0 || n.key_heads == 0 || n.key_width == 0 || n.value_width == 0))
      throw Error(OMEN_INVALID_DATA, c.name + ": linear attention without linear_num_value_heads",
                  "Give the config.json that the model's authors published.");
  }
}

void read_precision(ConfigFields& in, TransformerConfig& c) {
  if (const auto text = in.text({"torch_dtype", "dtype"})) {
    bool known = false;
    for (const PrecisionWord& each : kPrecisions)
      if (each.word == *text) known = true, c.precision = each.precision;
    if (!known)
      c.warnings.push_back("precision " + *text + " is not known; " +
                           std::string(word(c.precision)) + " is taken");
  }
  const json* quantised = in.object({"quantization_config"});
  if (quantised == nullptr) return;
  const auto method = quantised->find("quant_method");
  const auto bits = quantised->find("bits");
  if (bits != quantised->end() && bits->is_number_integer() && (*bits == 4 || *bits == 8))
    c.weights = *bits == 4 ? Precision::fp4 : Precision::int8;
  if (method != quantised->end() && method->is_string())
    for (const PrecisionWord& each : kQuantised)
      if (each.word == method->get<std::string>() && !c.weights) c.weights = each.precision;
  if (!c.weights)
    c.warnings.push_back(
        "quantization_config is not known; weights are taken as wide as activations");
}

json parse(std::string_view text, const std::string& name) {
  json root = json::parse(text.begin(), text.end(), nullptr, false);
  if (root.is_discarded() || !root.is_object())
    throw Error(OMEN_INVALID_DATA, name + ": not a JSON object",
                "Give a config.json of Hugging Face.");
  return root;
}

}  // namespace

bool TransformerConfig::has_experts(std::int64_t block) const {
  if (experts.count == 0 || block < experts.first_dense) return false;
  if (experts.step == 1) return true;
  return block % experts.step == experts.step - 1;
}

std::vector<std::string> transformer_families() {
  std::vector<std::string> names;
  for (const TransformerFamily& family : families()) names.emplace_back(family.model_type);
  return names;
}

TransformerConfig read_config(std::string_view text, const std::string& name,
                              const std::string& family_name) {
  const json root = parse(text, name);
  TransformerConfig c;
  c.name = name;
  const auto inner = root.find("text_config");
  const bool nested = inner != root.end() && inner->is_object();
  if (nested) c.warnings.push_back("only the language part of this model is read");
  const json& object = nested ? *inner : root;
  ConfigFields in(object, name);
  const auto type = in.text({"model_type"});
  c.model_type = !family_name.empty() ? family_name : type.value_or("");
  if (nested && find_family(c.model_type) == nullptr && root.contains("model_type") &&
      root["model_type"].is_string())
    c.model_type = root["model_type"].get<std::string>();
  in.texts({"architectures"});
  const TransformerFamily* family = find_family(c.model_type);
  if (family == nullptr)
    throw Error(OMEN_UNSUPPORTED,
                name + ": model_type " +
                    (c.model_type.empty() ? "is missing" : "'" + c.model_type + "' is not known"),
                "Known: " + join(transformer_families(), ", ") +
                    ". To read it as one of them: -O family=llama");
  family->set(c);
  read_sizes(in, c, *family);
  read_habits(in, c);
  read_experts(in, c);
  read_attention(in, c);
  read_precision(in, c);
  if (nested && root.contains("quantization_config") && !c.weights) {
    ConfigFields outer(root, name);
    read_precision(outer, c);
  }
  if (nested && root.contains("tie_word_embeddings") && root["tie_word_embeddings"].is_boolean() &&
      !object.contains("tie_word_embeddings"))
    c.tied = root["tie_word_embeddings"].get<bool>();
  for (std::string& sentence : in.leftovers()) c.warnings.push_back(std::move(sentence));
  return c;
}

TransformerConfig load_config(const std::string& path, const std::string& family) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(OMEN_IO, path + " cannot be read", "Give the path of a config.json.");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::filesystem::path place(path);
  // A downloaded config.json lies in a directory with the name of its model.
  std::string name = place.stem().string();
  if (name == "config" && place.has_parent_path() && !place.parent_path().filename().empty())
    name = place.parent_path().filename().string();
  return read_config(text, name, family);
}

}  // namespace omen::opgraph
