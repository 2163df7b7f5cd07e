// SPDX-License-Identifier: Apache-2.0
// Recovery on twenty networks that nothing was fitted on: 200 simulator calls each, against random
// designs, against local search and along the slopes of power.seq with as many calls.
// With OMEN_SHOW_BREAK=1 ten calls are spent.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "corpus/corpus.hpp"
#include "figures.hpp"
#include "nets/nets_json.hpp"
#include "omen/testing/show.hpp"
#include "recover/search.hpp"

namespace omen::power::checks {
namespace {

constexpr std::int64_t kFew = 3000, kMany = 100000, kCalls = 200;
constexpr std::size_t kNets = 20;

double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 1e9 : values[values.size() / 2];
}

// A network with its limit on latency, and what many random designs reach under it.
struct Question {
  Net net;
  Limits limits;
  double best_of_few = 0, best_of_many = 0;
};

std::vector<Question> questions() {
  CorpusOptions small;
  small.train_nets = 40;
  small.train_rows = 1;
  small.test_nets = kNets;
  small.test_rows = small.absent_rows = small.absent_nets = 0;
  const Corpus corpus = make_corpus(small, [](double) {});
  std::vector<Question> made;
  for (std::size_t i = 40; i < corpus.nets.size(); ++i) {
    Question one{corpus.nets[i], {}};
    const Objective open({ArrayNet(one.net)}, {}, named_profile("tetris-65").value(), Goal::power,
                         {});
    const std::vector<Judged> many = search_random(open, {kMany, 11}).tried;
    std::vector<double> latencies;
    for (std::size_t j = 0; j < kFew; ++j) latencies.push_back(many[j].latency_s);
    std::sort(latencies.begin(), latencies.end());
    one.limits.latency_s = latencies[kFew / 5];
    const auto best_of = [&](std::size_t count) {
      double best = std::numeric_limits<double>::infinity();
      for (std::size_t j = 0; j < count; ++j)
        if (many[j].latency_s <= one.limits.latency_s) best = std::min(best, many[j].power_w);
      return best;
    };
    one.best_of_few = best_of(kFew);
    one.best_of_many = best_of(kMany);
    made.push_back(std::move(one));
  }
  return made;
}

Objective objective_of(const Question& question) {
  return Objective({ArrayNet(question.net)}, {}, named_profile("tetris-65").value(), Goal::power,
                   question.limits);
}

std::string block_json(const Primitive& layer, const std::vector<std::int32_t>& from) {
  const auto pair = [](std::int64_t a, std::int64_t b) {
    return "[" + std::to_string(a) + "," + std::to_string(b) + "]";
  };
  std::string made = "{\"type\":\"" + std::string(type_name(layer.type)) + "\",\"in\":[";
  for (const std::int32_t one : from) made += (made.back() == '[' ? "" : ",") + std::to_string(one);
  made += "],\"act_zero_frac\":" + std::to_string(layer.act_zero_frac);
  const auto put = [&](const char* key, const std::string& value) {
    made += std::string(",\"") + key + "\":" + value;
  };
  const bool slides = layer.type == BlockType::conv || layer.type == BlockType::dwconv ||
                      layer.type == BlockType::pool;
  if (slides) {
    put("k", pair(layer.kh, layer.kw));
    put("stride", pair(layer.stride_h, layer.stride_w));
    put("pad", pair(layer.pad_h, layer.pad_w));
    put("dil", pair(layer.dilation_h, layer.dilation_w));
  }
  if (layer.type == BlockType::conv) put("groups", std::to_string(layer.groups));
  if (layer.type == BlockType::conv || layer.type == BlockType::linear)
    put("cout", std::to_string(layer.cout));
  // A product that flattens pixels says how wide it reads them.
  if (layer.type == BlockType::linear) put("cin", std::to_string(layer.cin));
  if (has_macs(layer.type) && layer.type != BlockType::matmul)
    put("bias", layer.bias ? "true" : "false");
  if (layer.type == BlockType::matmul) {
    put("heads", std::to_string(layer.groups));
    put("n", std::to_string(layer.cout / layer.groups));
  }
  if (layer.type == BlockType::upsample) put("factor", std::to_string(layer.ho / layer.h));
  if (layer.type == BlockType::act) put("ops", std::to_string(layer.ops_per_element));
  return made + "}";
}

// The layers one by one, as the front end reads them.
std::string net_json(const Net& net) {
  std::vector<std::vector<std::int32_t>> from(net.layers.size());
  for (const auto& [source, layer] : net.edges)
    from[static_cast<std::size_t>(layer)].push_back(source);
  std::string made =
      "{\"format\":\"pw-nets/1\",\"nets\":[{\"input\":{\"c\":" + std::to_string(net.input.c) +
      ",\"h\":" + std::to_string(net.input.h) + ",\"w\":" + std::to_string(net.input.w) +
      "},\"blocks\":[";
  for (std::size_t i = 0; i < net.layers.size(); ++i) {
    if (from[i].empty()) from[i].push_back(-1);
    made += (i > 0 ? ",\n" : "\n") + block_json(net.layers[i], from[i]);
  }
  return made + "]}]}\n";
}

// Power of the best design that a command line finds; none: NaN.
double recovered_w(const std::string& omen, const std::string& file, const Question& question,
                   const char* how) {
  std::ostringstream command;
  command.precision(17);
  command << "'" << omen << "' power recover '" << file << "' --quiet --csv --top 1 --calls "
          << (test::broken() ? 10 : kCalls) << " --latency_ms " << question.limits.latency_s * 1e3
          << " " << how;
  FILE* pipe = popen(command.str().c_str(), "r");
  if (!pipe) return std::nan("");
  std::string text;
  char part[4096];
  while (std::fgets(part, sizeof part, pipe)) text += part;
  pclose(pipe);
  std::istringstream lines(text);
  std::string names, values, name, value;
  std::getline(lines, names);
  std::getline(lines, values);
  std::istringstream head(names), row(values);
  double power = std::nan("");
  while (std::getline(head, name, ',') && std::getline(row, value, ','))
    if (name == "power_w") power = std::strtod(value.c_str(), nullptr);
  return text.find("verified") == std::string::npos ? std::nan("") : power;
}

}  // namespace

int show_recover() {
  std::vector<double> below_few, over_many, below_local;
  double met = 0, asked = 0, missed = 0;
  for (const Question& question : questions()) {
    const Objective objective = objective_of(question);
    const SearchResult found = search_guided(objective, {test::broken() ? 10 : kCalls, 1});
    const SearchResult local = search_local(objective, {kCalls, 1});
    ++asked;
    if (!found.best.feasible()) {
      missed += std::isfinite(question.best_of_many);
      continue;
    }
    ++met;
    below_few.push_back(100 * (1 - found.best.power_w / question.best_of_few));
    over_many.push_back(100 * (found.best.power_w / question.best_of_many - 1));
    if (local.best.feasible())
      below_local.push_back(100 * (1 - found.best.power_w / local.best.power_w));
  }
  int code = test::show("recover_designs_that_meet", 100 * met / asked, "%", ">=", 95);
  code |= test::show("recover_missed_nets", missed, "nets", "==", 0);
  code |= test::show("recover_below_best_of_3000", middle(below_few), "%", ">=", 15);
  code |= test::show("recover_over_best_of_100000", middle(over_many), "%", "<=", 5);
  code |= test::show("recover_below_local_search", middle(below_local), "%", ">", 0);
  return code;
}

int show_recover_gradient(const std::string& omen, const std::string& directory) {
  std::vector<double> below_few, over_many, below_default, below_surrogate;
  double met = 0, asked = 0;
  for (const Question& question : questions()) {
    const std::string file = directory + "/net.json", text = net_json(question.net);
    std::ofstream(file) << text;
    Net same = parse_nets(text, file).at(0);
    same.bits = question.net.bits;
    if (net_key(same) != net_key(question.net)) {
      std::fprintf(stderr, "%s does not survive its file\n", question.net.name.c_str());
      return 2;
    }
    ++asked;
    const double found = recovered_w(omen, file, question, "--gradient"),
                 plain = recovered_w(omen, file, question, ""),
                 evolved = recovered_w(omen, file, question, "--surrogate power.seq");
    if (!std::isfinite(found)) continue;
    ++met;
    below_few.push_back(100 * (1 - found / question.best_of_few));
    over_many.push_back(100 * (found / question.best_of_many - 1));
    below_default.push_back(100 * (1 - found / plain));
    below_surrogate.push_back(100 * (1 - found / evolved));
  }
  int code = test::show("gradient_designs_that_meet", 100 * met / asked, "%", ">=", 95);
  code |= test::show("gradient_below_best_of_3000", middle(below_few), "%", ">=", 15);
  code |= test::show("gradient_over_best_of_100000", middle(over_many), "%", "<=", 5);
  test::show("gradient_below_default", middle(below_default), "%");
  test::show("gradient_below_evolution", middle(below_surrogate), "%");
  return code;
}

}  // namespace omen::power::checks
