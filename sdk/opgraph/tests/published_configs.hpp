// SPDX-License-Identifier: Apache-2.0
// Fields that decide the shape of published transformers, with their published sizes.
#pragma once

#include <string>

namespace omen::opgraph::published_models {

struct Published {
  const char* name;
  const char* json;
  double parameters;
  double active = 0;  // 0: all
};

inline constexpr Published kPublished[] = {
    {"gpt2",
     R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024,
      "vocab_size": 50257, "activation_function": "gelu_new"})",
     124439808},
    {"gpt2-medium", R"({"model_type": "gpt2", "n_embd": 1024, "n_layer": 24, "n_head": 16,
      "n_positions": 1024, "vocab_size": 50257})",
     354823168},
    {"gpt2-large", R"({"model_type": "gpt2", "n_embd": 1280, "n_layer": 36, "n_head": 20,
      "n_positions": 1024, "vocab_size": 50257})",
     774030080},
    {"gpt2-xl", R"({"model_type": "gpt2", "n_embd": 1600, "n_layer": 48, "n_head": 25,
      "n_positions": 1024, "vocab_size": 50257})",
     1557611200},
    {"bert-large", R"({"model_type": "bert", "hidden_size": 1024, "num_hidden_layers": 24,
      "num_attention_heads": 16, "intermediate_size": 4096, "vocab_size": 30522,
      "max_position_embeddings": 512, "type_vocab_size": 2, "hidden_act": "gelu"})",
     335141888},
    {"opt-1.3b", R"({"model_type": "opt", "hidden_size": 2048, "num_hidden_layers": 24,
      "num_attention_heads": 32, "ffn_dim": 8192, "vocab_size": 50272, "word_embed_proj_dim": 2048,
      "max_position_embeddings": 2048, "activation_function": "relu"})",
     1315758080},
    {"llama-2-7b", R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
      "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": 11008,
      "vocab_size": 32000, "max_position_embeddings": 4096, "hidden_act": "silu",
      "tie_word_embeddings": false, "torch_dtype": "float16"})",
     6738415616},
    {"llama-2-70b", R"({"model_type": "llama", "hidden_size": 8192, "num_hidden_layers": 80,
      "num_attention_heads": 64, "num_key_value_heads": 8, "intermediate_size": 28672,
      "vocab_size": 32000, "max_position_embeddings": 4096, "hidden_act": "silu",
      "torch_dtype": "float16"})",
     68976648192},
    {"llama-3-8b", R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
      "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
      "vocab_size": 128256, "max_position_embeddings": 8192, "hidden_act": "silu",
      "attention_bias": false, "tie_word_embeddings": false, "torch_dtype": "bfloat16"})",
     8030261248},
    {"llama-3-70b", R"({"model_type": "llama", "hidden_size": 8192, "num_hidden_layers": 80,
      "num_attention_heads": 64, "num_key_value_heads": 8, "intermediate_size": 28672,
      "vocab_size": 128256, "max_position_embeddings": 8192, "hidden_act": "silu",
      "tie_word_embeddings": false, "torch_dtype": "bfloat16"})",
     70553706496},
    {"mistral-7b", R"({"model_type": "mistral", "hidden_size": 4096, "num_hidden_layers": 32,
      "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
      "vocab_size": 32000, "max_position_embeddings": 32768, "sliding_window": 4096,
      "hidden_act": "silu", "tie_word_embeddings": false, "torch_dtype": "bfloat16"})",
     7241732096},
    {"mixtral-8x7b", R"({"model_type": "mixtral", "hidden_size": 4096, "num_hidden_layers": 32,
      "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
      "vocab_size": 32000, "max_position_embeddings": 32768, "sliding_window": null,
      "num_local_experts": 8, "num_experts_per_tok": 2, "hidden_act": "silu",
      "tie_word_embeddings": false, "torch_dtype": "bfloat16"})",
     46702792704, 12879925248},
    {"qwen2.5-7b", R"({"model_type": "qwen2", "hidden_size": 3584, "num_hidden_layers": 28,
      "num_attention_heads": 28, "num_key_value_heads": 4, "intermediate_size": 18944,
      "vocab_size": 152064, "max_position_embeddings": 32768, "use_sliding_window": false,
      "sliding_window": 131072, "max_window_layers": 28, "hidden_act": "silu",
      "tie_word_embeddings": false, "torch_dtype": "bfloat16"})",
     7615616512},
    {"qwen2.5-0.5b", R"({"model_type": "qwen2", "hidden_size": 896, "num_hidden_layers": 24,
      "num_attention_heads": 14, "num_key_value_heads": 2, "intermediate_size": 4864,
      "vocab_size": 151936, "max_position_embeddings": 32768, "use_sliding_window": false,
      "sliding_window": 32768, "hidden_act": "silu", "tie_word_embeddings": true,
      "torch_dtype": "bfloat16"})",
     494032768},
    {"qwen3-32b", R"({"model_type": "qwen3", "hidden_size": 5120, "num_hidden_layers": 64,
      "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128,
      "intermediate_size": 25600, "vocab_size": 151936, "max_position_embeddings": 40960,
      "hidden_act": "silu", "attention_bias": false, "tie_word_embeddings": false,
      "torch_dtype": "bfloat16"})",
     32762123264},
    {"deepseek-v3", R"({"model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61,
      "num_attention_heads": 128, "num_key_value_heads": 128, "intermediate_size": 18432,
      "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1,
      "num_experts_per_tok": 8, "first_k_dense_replace": 3, "moe_layer_freq": 1, "q_lora_rank": 1536,
      "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
      "vocab_size": 129280, "max_position_embeddings": 163840, "hidden_act": "silu",
      "attention_bias": false, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
      "quantization_config": {"quant_method": "fp8"}})",
     671026419200},
    {"gpt-oss-120b", R"({"model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 36,
      "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 2880,
      "num_local_experts": 128, "num_experts_per_tok": 4, "experts_per_token": 4,
      "sliding_window": 128, "vocab_size": 201088, "max_position_embeddings": 131072,
      "attention_bias": true, "hidden_act": "silu", "tie_word_embeddings": false,
      "quantization_config": {"quant_method": "mxfp4"}})",
     116829156672},
};

// Others, whose sizes are published only roughly.
inline constexpr Published kRough[] = {
    {"pythia-6.9b", R"({"model_type": "gpt_neox", "hidden_size": 4096, "num_hidden_layers": 32,
      "num_attention_heads": 32, "intermediate_size": 16384, "vocab_size": 50432,
      "max_position_embeddings": 2048, "hidden_act": "gelu", "use_parallel_residual": true,
      "tie_word_embeddings": false, "torch_dtype": "float16"})",
     6.857e9},
    {"kimi-k2", R"({"model_type": "kimi_k2", "hidden_size": 7168, "num_hidden_layers": 61,
      "num_attention_heads": 64, "num_key_value_heads": 64, "intermediate_size": 18432,
      "moe_intermediate_size": 2048, "n_routed_experts": 384, "n_shared_experts": 1,
      "num_experts_per_tok": 8, "first_k_dense_replace": 1, "q_lora_rank": 1536, "kv_lora_rank": 512,
      "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 163840,
      "hidden_act": "silu", "tie_word_embeddings": false, "torch_dtype": "bfloat16"})",
     1.03e12, 32.5e9},
    {"qwen3.5-397b-a17b", R"({"model_type": "qwen3_5_moe", "text_config": {
      "model_type": "qwen3_5_moe_text", "hidden_size": 4096, "num_hidden_layers": 60,
      "num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 256,
      "full_attention_interval": 4, "linear_num_key_heads": 16, "linear_key_head_dim": 128,
      "linear_num_value_heads": 64, "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4,
      "num_experts": 512, "num_experts_per_tok": 10, "moe_intermediate_size": 1024,
      "shared_expert_intermediate_size": 1024, "vocab_size": 248320, "hidden_act": "silu",
      "attn_output_gate": true, "dtype": "bfloat16"}})",
     397e9, 17e9},
    {"glm-5", R"({"model_type": "glm_moe_dsa", "hidden_size": 6144, "num_hidden_layers": 78,
      "num_attention_heads": 64, "num_key_value_heads": 64, "intermediate_size": 12288,
      "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1,
      "num_experts_per_tok": 8, "first_k_dense_replace": 3, "q_lora_rank": 2048, "kv_lora_rank": 512,
      "qk_nope_head_dim": 192, "qk_rope_head_dim": 64, "v_head_dim": 256, "index_n_heads": 32,
      "index_head_dim": 128, "index_topk": 2048, "vocab_size": 154880, "hidden_act": "silu",
      "tie_word_embeddings": false, "dtype": "bfloat16"})",
     744e9, 40e9},
    {"glm-4-9b", R"({"model_type": "glm", "hidden_size": 4096, "num_hidden_layers": 40,
      "num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 128, "intermediate_size": 13696,
      "vocab_size": 151552, "hidden_act": "silu", "attention_bias": true,
      "tie_word_embeddings": false, "torch_dtype": "bfloat16"})",
     9.4e9},
    {"switch-base-8",
     R"({"model_type": "switch_transformers", "d_model": 768, "d_kv": 64, "d_ff": 3072,
      "num_layers": 12, "num_decoder_layers": 12, "num_heads": 12, "num_experts": 8,
      "encoder_sparse_step": 2, "decoder_sparse_step": 2, "num_sparse_encoder_layers": 6,
      "num_sparse_decoder_layers": 6, "expert_capacity": 64, "vocab_size": 32128,
      "relative_attention_num_buckets": 32, "feed_forward_proj": "relu"})",
     0.62e9},
};

inline const Published& published(const std::string& name) {
  for (const Published& each : kPublished)
    if (name == each.name) return each;
  for (const Published& each : kRough)
    if (name == each.name) return each;
  return kPublished[0];
}

}  // namespace omen::opgraph::published_models
