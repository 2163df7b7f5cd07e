// SPDX-License-Identifier: Apache-2.0
// Resolves what is compared on what, before anything runs.
#include "compare/plan.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "compare/leaks.hpp"
#include "omen/container.hpp"
#include "pipeline/models.hpp"
#include "pipeline/state_directory.hpp"
#include "worker/machine.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

struct Words {
  std::string id;
  TextPairs options;
};

// "id@key=value,key=value"; a piece without '=' belongs to the value before it.
Words parse_contestant(const std::string& text) {
  const std::size_t at = text.find('@');
  Words words{text.substr(0, at), {}};
  for (std::size_t begin = at; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin + 1), text.size());
    const std::string piece = text.substr(begin + 1, end - begin - 1);
    const std::size_t equals = piece.find('=');
    if (equals != std::string::npos && equals > 0)
      words.options.emplace_back(piece.substr(0, equals), piece.substr(equals + 1));
    else if (!words.options.empty())
      words.options.back().second += "," + piece;
    else
      throw Error(OMEN_INVALID_ARGUMENT, "contestant '" + text + "' is not COMPONENT@KEY=VALUE",
                  "write for example baseline.gbt@depth=4");
    begin = end;
  }
  return words;
}

Determinism determinism(std::uint64_t caps) {
  if (caps & OMEN_CAP_BITWISE_REPEATABLE) return Determinism::kBitwise;
  return caps & OMEN_CAP_SEEDED_REPEATABLE ? Determinism::kSeeded : Determinism::kNone;
}

PlannedContestant contestant_of(const ComponentRef& ref, const OptionSources& sources) {
  const Manifest& plugin = ref.plugin->manifest;
  PlannedContestant contestant;
  contestant.component = ref;
  contestant.options = resolve_options(*ref.info, sources);
  contestant.files_digest = digest_of_files(*ref.info, contestant.options);
  Contestant& facts = contestant.facts;
  facts.component = facts.label = ref.info->id;
  facts.plugin = plugin.id;
  facts.plugin_version = plugin.version;
  facts.library_sha256 = plugin.sha256;
  facts.options_json = contestant.options.canonical_json();
  facts.determinism = determinism(ref.info->caps);
  return contestant;
}

// A component by its id, or by the id of a plugin that has one predictor or marks a default.
ComponentRef predictor_named(const Registry& registry, const std::string& name) {
  std::vector<ComponentRef> found;
  for (const ComponentRef& ref : registry.components(OMEN_PREDICTOR))
    if (ref.plugin->manifest.id == name) found.push_back(ref);
  if (found.size() > 1)
    std::erase_if(found, [](const ComponentRef& r) { return !(r.info->caps & OMEN_CAP_DEFAULT); });
  return found.size() == 1 ? found[0] : registry.component(OMEN_PREDICTOR, name);
}

PlannedContestant trained_contestant(const Registry& registry, const fs::path& model) {
  const ModelCard card = read_model_card(model);
  OptionSources sources;
  sources.config_json = card.options_json;
  sources.use_environment = false;
  PlannedContestant contestant =
      contestant_of(registry.component(OMEN_PREDICTOR, card.component), sources);
  contestant.model = model;
  contestant.facts.model = model.string();
  contestant.facts.label = model.filename().string();
  contestant.files_digest = container::sha256_file(model) + contestant.files_digest;
  return contestant;
}

PlannedContestant given_contestant(const Registry& registry, FlagBook& flags,
                                   const std::string& text) {
  std::error_code ignored;
  if (text.ends_with(".omen") && fs::is_regular_file(text, ignored))
    return trained_contestant(registry, text);
  const Words words = parse_contestant(text);
  const ComponentRef ref = predictor_named(registry, words.id);
  OptionSources sources = flags.sources_for(*ref.info);
  sources.flags.insert(sources.flags.end(), words.options.begin(), words.options.end());
  PlannedContestant contestant = contestant_of(ref, sources);
  if (text.find('@') != std::string::npos) contestant.facts.label += text.substr(text.find('@'));
  return contestant;
}

// The component alone where that is unique; what was given behind '@' tells the others apart.
void shorten_labels(std::vector<PlannedContestant>& contestants) {
  std::map<std::string, int> uses, labels;
  for (const PlannedContestant& c : contestants) ++uses[c.facts.component];
  for (PlannedContestant& c : contestants) {
    if (uses[c.facts.component] == 1 && c.model.empty()) c.facts.label = c.facts.component;
    if (const int before = labels[c.facts.label]++; before > 0)
      c.facts.label += " #" + std::to_string(before + 1);
  }
}

struct Reference {
  const char* component;
  TextPairs options;
  bool scalars_only;
};

void add_references(ComparePlan& plan, const Registry& registry,
                    std::vector<std::string>& warnings) {
  const Reference references[] = {{"baseline.mean", {}, false},
                                  {"baseline.knn", {{"k", "5"}}, true},
                                  {"baseline.gbt", {}, false}};
  for (const Reference& reference : references) {
    const auto known = registry.components(OMEN_PREDICTOR);
    const auto ref = std::find_if(known.begin(), known.end(), [&](const ComponentRef& r) {
      return r.info->id == reference.component;
    });
    if (ref == known.end()) {
      warnings.push_back(std::string("reference ") + reference.component +
                         " is not installed, so the report goes without it");
      continue;
    }
    OptionSources sources;
    sources.flags = reference.options;
    sources.use_environment = false;
    PlannedContestant contestant = contestant_of(*ref, sources);
    contestant.facts.reference = true;
    contestant.scalars_only = reference.scalars_only;
    const bool there = std::any_of(
        plan.contestants.begin(), plan.contestants.end(), [&](const PlannedContestant& c) {
          return c.facts.component == contestant.facts.component &&
                 c.facts.options_json == contestant.facts.options_json && c.model.empty();
        });
    if (there) continue;
    for (const auto& [key, value] : reference.options)
      contestant.facts.label += "@" + key + "=" + value;
    if (std::any_of(
            plan.contestants.begin(), plan.contestants.end(),
            [&](const PlannedContestant& c) { return c.facts.label == contestant.facts.label; }))
      contestant.facts.label += " (reference)";
    plan.contestants.push_back(std::move(contestant));
  }
}

void add_self(ComparePlan& plan, PlannedContestant again) {
  if (plan.contestants.size() != 1)
    throw Error(OMEN_INVALID_ARGUMENT,
                "--aa compares one contestant with itself, but " +
                    std::to_string(plan.contestants.size()) + " were given",
                "write omen compare COMPONENT --aa --task TASK");
  again.seed = again.facts.seed = plan.run.seed + 1;
  again.facts.label =
      plan.contestants[0].facts.label + " (seed " + std::to_string(*again.seed) + ")";
  plan.contestants.push_back(std::move(again));
}

void find_scorer(const Registry& registry, PlannedTask& task) {
  if (!task.task.decision || task.task.decision->scorer.empty()) return;
  task.scorer = registry.component(OMEN_SCORER, task.task.decision->scorer);
  OptionSources sources;
  sources.use_environment = false;
  task.scorer_options = resolve_options(*task.scorer.info, sources);
}

// The same task with near-duplicates on one side; nothing where that cannot be done.
std::optional<PlannedTask> grouped_task(const Registry& registry, const PlannedTask& task,
                                        const std::vector<std::string>& keys, std::size_t index) {
  PlannedTask grouped;
  grouped.folds = grouped_folds(task.task, task.tables, task.folds, keys);
  if (grouped.folds.empty()) return std::nullopt;
  grouped.task = task.task;
  grouped.tables = task.tables;
  grouped.grouped_of = index;
  find_scorer(registry, grouped);
  return grouped;
}

void warn_of_trained(const ComparePlan& plan, std::vector<std::string>& warnings) {
  for (const PlannedContestant& contestant : plan.contestants) {
    if (contestant.model.empty()) continue;
    const std::string hash = read_model_card(contestant.model).task_hash;
    const bool known = std::any_of(plan.tasks.begin(), plan.tasks.end(), [&](const PlannedTask& t) {
      return !hash.empty() && t.task.hash == hash;
    });
    warnings.push_back(contestant.facts.label +
                       (known ? " was trained on this task, so it has seen the rows that it is "
                                "tested on"
                              : " was trained elsewhere: it is not fitted in the folds, and nobody "
                                "knows whether it has seen their rows"));
  }
}

}  // namespace

void plan_tasks(ComparePlan& plan, const Registry& registry, const std::vector<std::string>& tasks,
                std::vector<std::string>& warnings) {
  std::set<std::string> names;
  std::vector<PlannedTask> grouped;
  for (const std::string& name : tasks) {
    PlannedTask task;
    task.task = read_task(find_task(name));
    if (!names.insert(task.task.name).second)
      throw Error(OMEN_INVALID_ARGUMENT, "two tasks have the name '" + task.task.name + "'",
                  "give each task once");
    task.tables = load_task(task.task);
    task.folds = task_folds(task.task, task.tables.at("workloads"));
    find_scorer(registry, task);
    if (plan.shuffle_labels) shuffle_labels(task.tables, plan.run.seed);
    const std::vector<std::string> keys = duplicate_keys(task.tables);
    task.leaking_rows = leaking_rows(task.folds, keys);
    if (task.leaking_rows > 0) {
      auto again = grouped_task(registry, task, keys, plan.tasks.size());
      if (!again)
        warnings.push_back("task " + task.task.name + ": " + std::to_string(task.leaking_rows) +
                           " test rows have a near-duplicate in their training set, and cannot be "
                           "kept apart");
      if (again) grouped.push_back(*std::move(again));
    }
    plan.tasks.push_back(std::move(task));
  }
  for (PlannedTask& task : grouped) plan.tasks.push_back(std::move(task));
}

unsigned jobs_at_once(const ComparePlan& plan, unsigned threads) {
  const unsigned budget = threads ? threads : std::max(1u, machine_facts().usable_cores);
  unsigned widest = 1;
  for (const PlannedTask& task : plan.tasks) widest = std::max(widest, task.task.threads_per_fold);
  return std::max(1u, budget / widest);
}

PlannedContestant recorded_contestant(const Registry& registry, const Contestant& facts) {
  PlannedContestant contestant;
  if (!facts.model.empty()) {
    contestant = trained_contestant(registry, facts.model);
  } else {
    OptionSources sources;
    sources.config_json = facts.options_json;
    sources.use_environment = false;
    contestant = contestant_of(registry.component(OMEN_PREDICTOR, facts.component), sources);
  }
  contestant.facts.label = facts.label;
  contestant.facts.reference = facts.reference;
  contestant.facts.seed = facts.seed;
  if (facts.seed) contestant.seed = facts.seed;
  contestant.scalars_only = facts.reference && facts.component == "baseline.knn";
  return contestant;
}

ComparePlan make_plan(const Registry& registry, FlagBook& flags, const PlanRequest& request,
                      std::vector<std::string>& warnings) {
  ComparePlan plan;
  plan.run = request.run;
  plan.limits = request.limits;
  plan.shuffle_labels = request.shuffle_labels;
  for (const std::string& text : request.contestants)
    plan.contestants.push_back(given_contestant(registry, flags, text));
  shorten_labels(plan.contestants);
  if (request.self_check)
    add_self(plan, given_contestant(registry, flags, request.contestants.at(0)));
  else if (request.references)
    add_references(plan, registry, warnings);
  flags.finish();
  plan_tasks(plan, registry, request.tasks, warnings);
  warn_of_trained(plan, warnings);
  plan.jobs_at_once = request.jobs ? request.jobs : jobs_at_once(plan, request.run.threads);
  return plan;
}

std::size_t find_contestant(const ComparePlan& plan, const std::string& text) {
  std::vector<std::size_t> found;
  std::vector<std::string> labels;
  for (std::size_t c = 0; c < plan.contestants.size(); ++c) {
    const Contestant& facts = plan.contestants[c].facts;
    labels.push_back(facts.label);
    if (facts.label == text) return c;
    if (facts.component == text.substr(0, text.find('@'))) found.push_back(c);
  }
  if (found.size() == 1) return found[0];
  std::string all;
  for (const std::string& label : labels) all += (all.empty() ? "" : ", ") + label;
  throw Error(
      OMEN_INVALID_ARGUMENT,
      "baseline '" + text + (found.empty() ? "' is none of the contestants" : "' is there twice"),
      "choose one of " + all);
}

}  // namespace omen::host
