// SPDX-License-Identifier: Apache-2.0
// Shapes of models as their configurations were published, so that a name is enough.
#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

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
    {"deepseek-ai/deepseek-r1", 671, 37, 61, 7168, 288, 256, 8},
    {"deepseek-ai/deepseek-v3", 671, 37, 61, 7168, 288, 256, 8},
    {"eleutherai/gpt-j-6b", 6.05, 6.05, 28, 4096, 4096, 0, 0},
    {"facebook/opt-13b", 12.85, 12.85, 40, 5120, 5120, 0, 0},
    {"facebook/opt-6.7b", 6.66, 6.66, 32, 4096, 4096, 0, 0},
    {"google/gemma-1.1-7b-it", 8.54, 8.54, 28, 3072, 4096, 0, 0},
    {"google/gemma-2-27b", 27.23, 27.23, 46, 4608, 2048, 0, 0},
    {"google/gemma-2-9b", 9.24, 9.24, 42, 3584, 2048, 0, 0},
    {"google/gemma-3-12b", 12.19, 12.19, 48, 3840, 2048, 0, 0},
    {"google/gemma-3-27b", 27.43, 27.43, 62, 5376, 2048, 0, 0},
    {"google/gemma-7b", 8.54, 8.54, 28, 3072, 4096, 0, 0},
    {"huggyllama/llama-13b", 13.02, 13.02, 40, 5120, 5120, 0, 0},
    {"huggyllama/llama-7b", 6.74, 6.74, 32, 4096, 4096, 0, 0},
    {"llama2-70b", 68.98, 68.98, 80, 8192, 1024, 0, 0},
    {"meta-llama/llama-2-13b-hf", 13.02, 13.02, 40, 5120, 5120, 0, 0},
    {"meta-llama/llama-2-70b-hf", 68.98, 68.98, 80, 8192, 1024, 0, 0},
    {"meta-llama/llama-2-7b-hf", 6.74, 6.74, 32, 4096, 4096, 0, 0},
    {"meta-llama/llama-3.1-405b", 405.85, 405.85, 126, 16384, 1024, 0, 0},
    {"meta-llama/llama-3.1-70b", 70.55, 70.55, 80, 8192, 1024, 0, 0},
    {"meta-llama/llama-3.1-8b", 8.03, 8.03, 32, 4096, 1024, 0, 0},
    {"meta-llama/llama-3.2-1b", 1.24, 1.24, 16, 2048, 512, 0, 0},
    {"meta-llama/llama-3.2-3b", 3.21, 3.21, 28, 3072, 1024, 0, 0},
    {"meta-llama/llama-3.3-70b", 70.55, 70.55, 80, 8192, 1024, 0, 0},
    {"meta-llama/meta-llama-3-70b", 70.55, 70.55, 80, 8192, 1024, 0, 0},
    {"meta-llama/meta-llama-3-8b", 8.03, 8.03, 32, 4096, 1024, 0, 0},
    {"microsoft/phi-4", 14.66, 14.66, 40, 5120, 1280, 0, 0},
    {"mistralai/mistral-7b-v0.1", 7.24, 7.24, 32, 4096, 1024, 0, 0},
    {"mistralai/mistral-7b-v0.2", 7.24, 7.24, 32, 4096, 1024, 0, 0},
    {"mistralai/mistral-7b-v0.3", 7.25, 7.25, 32, 4096, 1024, 0, 0},
    {"mistralai/mixtral-8x22b-v0.1", 140.6, 39.15, 56, 6144, 1024, 8, 2},
    {"mistralai/mixtral-8x7b-v0.1", 46.7, 12.88, 32, 4096, 1024, 8, 2},
    {"openai/gpt-oss-120b", 116.8, 5.1, 36, 2880, 512, 128, 4},
    {"openai/gpt-oss-20b", 20.9, 3.6, 24, 2880, 512, 32, 4},
    {"qwen/qwen1.5-7b", 7.72, 7.72, 32, 4096, 4096, 0, 0},
    {"qwen/qwen2-72b", 72.71, 72.71, 80, 8192, 1024, 0, 0},
    {"qwen/qwen2-7b", 7.62, 7.62, 28, 3584, 512, 0, 0},
    {"qwen/qwen2.5-14b", 14.77, 14.77, 48, 5120, 1024, 0, 0},
    {"qwen/qwen2.5-32b", 32.76, 32.76, 64, 5120, 1024, 0, 0},
    {"qwen/qwen2.5-72b", 72.71, 72.71, 80, 8192, 1024, 0, 0},
    {"qwen/qwen2.5-7b", 7.62, 7.62, 28, 3584, 512, 0, 0},
    {"qwen/qwen3-14b", 14.77, 14.77, 40, 5120, 1024, 0, 0},
    {"qwen/qwen3-235b-a22b", 235.1, 22.2, 94, 4096, 512, 128, 8},
    {"qwen/qwen3-30b-a3b", 30.53, 3.34, 48, 2048, 512, 128, 8},
    {"qwen/qwen3-32b", 32.76, 32.76, 64, 5120, 1024, 0, 0},
    {"qwen/qwen3-4b", 4.02, 4.02, 36, 2560, 1024, 0, 0},
    {"qwen/qwen3-8b", 8.19, 8.19, 36, 4096, 1024, 0, 0},
};

std::string lower(const std::string& text) {
  std::string made = text;
  std::transform(made.begin(), made.end(), made.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return made;
}

// What is added to the name of a model that was trained further or stored otherwise; its shape
// stays.
constexpr const char* kVariants[] = {"-instruct", "-chat", "-it",   "-hf",   "-fp8",
                                     "-bf16",     "-awq",  "-2507", "-0528", "-thinking"};

// Without the organisation in front, and without what says how it was trained further or stored.
std::string shape_of_name(const std::string& model) {
  std::string name = lower(model.substr(model.find('/') + 1));
  const auto drop = [&](std::string_view end) {
    if (name.size() <= end.size() || name.substr(name.size() - end.size()) != end) return false;
    name.resize(name.size() - end.size());
    return true;
  };
  while (std::any_of(std::begin(kVariants), std::end(kVariants), drop)) {
  }
  return name;
}

}  // namespace

std::optional<ModelShape> published_shape(const std::string& model) {
  static const std::map<std::string, const PublishedShape*> shapes = [] {
    std::map<std::string, const PublishedShape*> made;
    for (const PublishedShape& p : kPublished) made.emplace(shape_of_name(p.name), &p);
    return made;
  }();
  const auto at = shapes.find(shape_of_name(model));
  if (at == shapes.end()) return std::nullopt;
  const PublishedShape& p = *at->second;
  constexpr double kKeysAndValues = 2, kBytes = 2;
  return ModelShape{p.billions * 1e9,
                    p.active_billions * 1e9,
                    p.layers,
                    p.hidden,
                    kKeysAndValues * kBytes * p.layers * p.key_width,
                    p.experts,
                    p.experts_per_token};
}

std::vector<std::string> published_models() {
  std::vector<std::string> names;
  for (const PublishedShape& p : kPublished) names.emplace_back(p.name);
  return names;
}

}  // namespace omen::power
