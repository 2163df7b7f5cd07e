// SPDX-License-Identifier: Apache-2.0
// Shapes of models as their configurations were published, so that a name is enough.
#include <algorithm>
#include <cctype>

#include "llm/serving.hpp"

namespace omen::power {
namespace {

struct PublishedShape {
  const char* name;
  double billions, active_billions, layers, hidden, key_width;  // key heads times their width
  double experts, experts_per_token;
};

constexpr PublishedShape kPublished[] = {
    {"baai/aquila-7b", 7.0, 7.0, 32, 4096, 4096, 0, 0},
    {"bigscience/bloom-7b1", 7.07, 7.07, 30, 4096, 4096, 0, 0},
    {"bloom-176b", 176.25, 176.25, 70, 14336, 14336, 0, 0},
    {"deci/decilm-7b", 7.04, 7.04, 32, 4096, 268, 0, 0},
    {"eleutherai/gpt-j-6b", 6.05, 6.05, 28, 4096, 4096, 0, 0},
    {"facebook/opt-13b", 12.85, 12.85, 40, 5120, 5120, 0, 0},
    {"facebook/opt-6.7b", 6.66, 6.66, 32, 4096, 4096, 0, 0},
    {"google/gemma-1.1-7b-it", 8.54, 8.54, 28, 3072, 4096, 0, 0},
    {"google/gemma-7b", 8.54, 8.54, 28, 3072, 4096, 0, 0},
    {"huggyllama/llama-13b", 13.02, 13.02, 40, 5120, 5120, 0, 0},
    {"huggyllama/llama-7b", 6.74, 6.74, 32, 4096, 4096, 0, 0},
    {"llama2-70b", 68.98, 68.98, 80, 8192, 1024, 0, 0},
    {"meta-llama/llama-2-13b-hf", 13.02, 13.02, 40, 5120, 5120, 0, 0},
    {"meta-llama/llama-2-70b-hf", 68.98, 68.98, 80, 8192, 1024, 0, 0},
    {"meta-llama/llama-2-7b-hf", 6.74, 6.74, 32, 4096, 4096, 0, 0},
    {"meta-llama/llama-3.1-70b", 70.55, 70.55, 80, 8192, 1024, 0, 0},
    {"meta-llama/llama-3.1-8b", 8.03, 8.03, 32, 4096, 1024, 0, 0},
    {"meta-llama/meta-llama-3-70b", 70.55, 70.55, 80, 8192, 1024, 0, 0},
    {"meta-llama/meta-llama-3-8b", 8.03, 8.03, 32, 4096, 1024, 0, 0},
    {"mistralai/mistral-7b-v0.1", 7.24, 7.24, 32, 4096, 1024, 0, 0},
    {"mistralai/mistral-7b-v0.3", 7.25, 7.25, 32, 4096, 1024, 0, 0},
    {"mistralai/mixtral-8x7b-v0.1", 46.7, 12.88, 32, 4096, 1024, 8, 2},
    {"qwen/qwen1.5-7b", 7.72, 7.72, 32, 4096, 4096, 0, 0},
    {"qwen/qwen2-72b", 72.71, 72.71, 80, 8192, 1024, 0, 0},
    {"qwen/qwen2-7b", 7.62, 7.62, 28, 3584, 512, 0, 0},
};

std::string lower(const std::string& text) {
  std::string made = text;
  std::transform(made.begin(), made.end(), made.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return made;
}

}  // namespace

std::optional<ModelShape> published_shape(const std::string& model) {
  const std::string wanted = lower(model);
  for (const PublishedShape& p : kPublished) {
    if (wanted != p.name) continue;
    constexpr double kKeysAndValues = 2, kBytes = 2;
    return ModelShape{p.billions * 1e9,
                      p.active_billions * 1e9,
                      p.layers,
                      p.hidden,
                      kKeysAndValues * kBytes * p.layers * p.key_width,
                      p.experts,
                      p.experts_per_token};
  }
  return std::nullopt;
}

std::vector<std::string> published_models() {
  std::vector<std::string> names;
  for (const PublishedShape& p : kPublished) names.emplace_back(p.name);
  return names;
}

}  // namespace omen::power
