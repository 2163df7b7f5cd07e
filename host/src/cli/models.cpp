// SPDX-License-Identifier: Apache-2.0
// `omen models list`: the models that come with plugins.
#include "pipeline/models.hpp"
#include "cli/command_line.hpp"
#include "cli/completion.hpp"
#include "cli/console.hpp"
#include "cli/verbs.hpp"
#include "components/registry.hpp"
#include "text/json_writer.hpp"

namespace omen::host::cli {
namespace {

struct ModelsRequest {
  std::string action = "list";
  std::string component;  // empty: of every component
};

std::string target_list(const ModelCard& card) {
  std::string text;
  for (const TargetFacts& target : card.targets) text += (text.empty() ? "" : ", ") + target.name;
  return text;
}

int run_models(const Globals& globals, const ModelsRequest& request) {
  const Registry registry = Registry::discover(globals.plugin_path);
  if (!request.component.empty()) registry.component(0, request.component);
  TextTable table(
      {{"component"}, {"model"}, {"predicts", false, true}, {"trained"}, {"summary", false, true}});
  JsonWriter json;
  json.object().field("format_version", 1).key("models").array();
  for (const ComponentRef& ref : registry.components(0)) {
    if (!request.component.empty() && ref.info->id != request.component) continue;
    for (const ModelInfo& model : ref.info->models) {
      const std::filesystem::path file = ref.plugin->manifest.directory / model.file;
      ModelCard card;
      std::string fault;
      try {
        card = read_model_card(file);
      } catch (const Error& e) {
        fault = e.what();
      }
      json.object()
          .field("component", ref.info->id)
          .field("name", model.name)
          .field("file", file.string());
      json.field("default", model.is_default)
          .field("summary", model.summary)
          .field("time", card.time);
      json.key("targets").array();
      for (const TargetFacts& t : card.targets)
        json.object()
            .field("name", t.name)
            .field("unit", t.unit)
            .field("direction", t.direction)
            .field("kind", t.kind)
            .end();
      json.end().strings("schema", card.schema);
      if (!fault.empty()) json.field("fault", fault);
      json.end();
      table.add({{ref.info->id, Style::kAccent},
                 model.name + (model.is_default && !globals.plain ? " (default)" : ""),
                 target_list(card),
                 card.time.substr(0, 10),
                 fault.empty() ? Cell(model.summary) : Cell(fault, Style::kBad)});
    }
  }
  if (globals.json) {
    print(json.end().end().text());
    return kOk;
  }
  if (table.empty())
    note(globals,
         "no models are installed; train one with: omen train COMPONENT --data FILE --target NAME");
  else
    print_table(globals, table);
  return kOk;
}

void complete_models(Offers& offers) {
  if (offers.at_first())
    offers.words({"list"});
  else
    offers.components(OMEN_PREDICTOR);
}

void describe_models(CommandLine& line) {
  auto& r = line.request(run_models);
  line.word("ACTION", r.action, "list").one_of({"list"});
  line.word("COMPONENT", r.component, "only models of this component");
}

}  // namespace

Verb models_verb() {
  return {"models", "list the models that come with plugins",
          "omen models list\nomen models list baseline.gbt", describe_models, complete_models};
}

}  // namespace omen::host::cli
