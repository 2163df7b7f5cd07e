// SPDX-License-Identifier: Apache-2.0
// The families of transformers and what is true of all their members.
#include "transformer_families.hpp"

namespace omen::opgraph {
namespace {

using Config = TransformerConfig;

// LayerNorm, biases everywhere, one plain feed-forward part, tied embeddings.
void set_classic(Config& c) {
  c.norm = NormKind::layer;
  c.activation = ActivationKind::gelu;
  c.gated = c.rotary = false;
  c.tied = c.projection_bias = c.output_bias = c.ffn_bias = true;
  c.precision = Precision::fp32;
}
void set_bert(Config& c) {
  set_classic(c);
  c.causal = false;
  c.embedding_norm = c.pooler = true;
  c.final_norm = false;
  c.dropout = c.attention_dropout = 0.1;
}
void set_gpt2(Config& c) {
  set_classic(c);
  c.activation = ActivationKind::gelu_steps;
  c.fused_projection = true;
  c.dropout = c.attention_dropout = 0.1;
}
void set_opt(Config& c) {
  set_classic(c);
  c.activation = ActivationKind::relu;
  c.dropout = 0.1;
}
void set_neox(Config& c) {
  set_classic(c);
  c.tied = false;
  c.rotary = c.parallel = c.fused_projection = true;
}
void set_llama(Config&) {}
void set_qwen2(Config& c) {
  c.projection_bias = true;
}
void set_qwen2_moe(Config& c) {
  set_qwen2(c);
  c.experts.shared_gate = true;
}
void set_qwen3(Config& c) {
  c.key_query_norm = true;
}
void set_qwen_hybrid(Config& c) {
  set_qwen3(c);
  c.output_gate = true;
  c.experts.shared_gate = true;
}
void set_switch(Config& c) {
  c.activation = ActivationKind::relu;
  c.gated = c.rotary = false;
  c.tied = true;
  c.dropout = c.attention_dropout = 0.1;
  c.relative_buckets = 32;
  c.experts.per_token = 1;
  c.precision = Precision::fp32;
}
void set_deepseek(Config& c) {
  c.experts.router_bias = true;  // corrects the load, and is not learnt by gradients
}
void set_gpt_oss(Config& c) {
  c.projection_bias = c.output_bias = c.sinks = true;
  c.experts.bias = c.experts.router_bias = true;
}
void set_glm(Config& c) {
  c.projection_bias = true;
}
void set_glm4(Config& c) {
  set_glm(c);
  c.sandwich_norms = true;
}
void set_glm_moe(Config& c) {
  c.experts.router_bias = true;
}

constexpr TransformerFamily kFamilies[] = {
    {"bert", set_bert, true, 0},
    {"gpt2", set_gpt2, true, 0},
    {"opt", set_opt, true, 2},
    {"gpt_neox", set_neox},
    {"llama", set_llama},
    {"mistral", set_llama},
    {"mixtral", set_llama},
    {"qwen2", set_qwen2},
    {"qwen2_moe", set_qwen2_moe},
    {"qwen3", set_qwen3},
    {"qwen3_moe", set_qwen3},
    {"qwen3_next", set_qwen_hybrid},
    {"qwen3_5", set_qwen_hybrid},
    {"qwen3_5_text", set_qwen_hybrid},
    {"qwen3_5_moe", set_qwen_hybrid},
    {"qwen3_5_moe_text", set_qwen_hybrid},
    {"switch_transformers", set_switch},
    {"deepseek_v2", set_llama},
    {"deepseek_v3", set_deepseek},
    {"deepseek_v32", set_deepseek},
    {"kimi_k2", set_deepseek},
    {"kimi_k25", set_deepseek},
    {"gpt_oss", set_gpt_oss},
    {"glm", set_glm},
    {"glm4", set_glm4},
    {"glm4_moe", set_glm_moe},
    {"glm_moe_dsa", set_glm_moe},
};

}  // namespace

std::span<const TransformerFamily> families() {
  return kFamilies;
}

const TransformerFamily* find_family(std::string_view model_type) {
  for (const TransformerFamily& family : kFamilies)
    if (family.model_type == model_type) return &family;
  return nullptr;
}

}  // namespace omen::opgraph
