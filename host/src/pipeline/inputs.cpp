// SPDX-License-Identifier: Apache-2.0
// Recognises inputs, lowers them and puts those of one kind together.
#include "pipeline/pipeline.hpp"

#include <signal.h>

#include <algorithm>
#include <fstream>
#include <iostream>

#include "components/named_errors.hpp"
#include "omen/join.hpp"
#include "tables/column_types.hpp"
#include "worker/machine.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kHeadBytes = 4096;
// A table is taken for something else only by a front end that is rather sure than not.
constexpr int kClaims = 50;

// Examples and data of the installation are named from anywhere as in the source tree.
std::string file_of(const std::string& input) {
  std::error_code error;
  const bool is_shared = input.starts_with("examples/") || input.starts_with("data/");
  if (!is_shared || fs::exists(input, error)) return input;
  const fs::path installed = share_directory() / input;
  return fs::exists(installed, error) ? installed.string() : input;
}

// The first bytes of a file; nothing for a name that is no file.
std::optional<std::string> head_of(const std::string& input) {
  std::error_code error;
  if (!fs::exists(input, error)) return std::nullopt;
  if (fs::is_directory(input, error)) return std::string();
  // A pipe would hold omen up, and what is read from it here the front end would miss.
  if (!fs::is_regular_file(input, error))
    throw Error(OMEN_IO, input + " is neither a file nor a directory",
                "front ends read files; save what it gives as one first");
  std::ifstream in(input, std::ios::binary);
  if (!in) throw Error(OMEN_IO, input + " cannot be read", "check its permissions");
  std::string head(kHeadBytes, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return head;
}

// Waiting for stdin cannot be cancelled from within, so an interrupt ends the program as usual.
Tables read_stdin() {
  struct sigaction usual {
  }, ours{};
  usual.sa_handler = SIG_DFL;
  sigaction(SIGINT, &usual, &ours);
  Tables tables = read_json_lines(std::cin, "stdin");
  sigaction(SIGINT, &ours, nullptr);
  return tables;
}

// A word with a slash or a suffix is meant as a file.
bool looks_like_file(const std::string& input) {
  return input.find('/') != std::string::npos || fs::path(input).has_extension();
}

// A graph in a form that omen writes for others, and that no front end reads.
bool is_written_form(const Registry& registry, const std::string& input) {
  const std::string suffix = fs::path(input).extension().string();
  const auto& plugins = registry.plugins();
  return suffix == ".dot" || suffix == ".svg" ||
         std::any_of(plugins.begin(), plugins.end(), [&](const FoundPlugin& found) {
           const std::vector<std::string>& theirs = found.manifest.graph_suffixes;
           return std::find(theirs.begin(), theirs.end(), suffix) != theirs.end();
         });
}

// Names of front ends that look like `input`.
std::vector<std::string> near_known_names(const std::vector<ComponentRef>& frontends,
                                          const std::string& input) {
  std::vector<std::string> known;
  for (const ComponentRef& ref : frontends)
    known.insert(known.end(), ref.info->names.begin(), ref.info->names.end());
  return near_names(input, known);
}

// "see the names of driple.zoo with: omen info driple.zoo"; for none what is installed.
std::string where_names_are(const std::vector<ComponentRef>& frontends) {
  std::vector<std::string> listing;
  for (const ComponentRef& ref : frontends)
    if (!ref.info->names.empty()) listing.push_back(ref.info->id);
  if (listing.empty()) return "see what is installed with: omen list";
  return "see all names with: " +
         join(listing, ", ", [](const std::string& id) { return "omen info " + id; });
}

[[noreturn]] void throw_unrecognised(const Registry& registry, const std::string& input,
                                     bool is_file, const std::string& failures) {
  const std::vector<ComponentRef> frontends = registry.components(OMEN_GRAPH_FRONTEND);
  std::vector<std::string> ids;
  for (const ComponentRef& ref : frontends) ids.push_back(ref.info->id);
  if (is_file && is_written_form(registry, input))
    throw Error(OMEN_INVALID_DATA,
                input + " is a graph in a form that omen writes for other tools and does not read",
                "give the source that it was made from, or keep graphs to be read again as "
                ".omt: omen graph SOURCE -o graphs.omt");
  if (!is_file && looks_like_file(input))
    throw Error(OMEN_IO, "file '" + input + "' does not exist",
                "check the path; the current directory is " + fs::current_path().string());
  const std::string what =
      is_file ? "no front end recognises " + input
              : "'" + input + "' is neither a file nor a name that a front end knows";
  const std::string asked = ids.empty() ? "\nno front end is installed" : "\nasked: " + join(ids);
  throw Error(OMEN_INVALID_DATA, what + asked + failures,
              is_file
                  ? "name one with --frontend COMPONENT, or give a table as .csv, .jsonl or .omt"
                  : did_you_mean(near_known_names(frontends, input)) + where_names_are(frontends));
}

struct Recognition {
  std::optional<ComponentRef> best;
  int confidence = 0;               // of the best
  std::vector<std::string> takers;  // every front end that would read it
  std::optional<std::string> head;
  std::string failures;  // of front ends that could not be asked
};

Recognition ask_all(const Components& components, const std::string& input,
                    const std::vector<ComponentRef>& frontends) {
  const std::string path = file_of(input);
  Recognition found;
  found.head = head_of(path);
  for (const ComponentRef& ref : frontends) {
    int confidence = 0;
    try {
      confidence = components.sniff(ref, path, found.head ? found.head->data() : nullptr,
                                    found.head ? found.head->size() : 0);
    } catch (const Error& e) {
      found.failures += "\n" + ref.info->id + " could not be asked: " + e.what();
    }
    if (confidence > 0) found.takers.push_back(ref.info->id);
    const bool preferred = confidence == found.confidence && found.best &&
                           ref.info->caps & OMEN_CAP_DEFAULT &&
                           !(found.best->info->caps & OMEN_CAP_DEFAULT);
    if (confidence > found.confidence || preferred) {
      found.best = ref;
      found.confidence = confidence;
    }
  }
  return found;
}

// A front end that lists suffixes in `reads` spares the others' files the opening of its library.
bool may_claim(const ComponentInfo& frontend, const std::string& suffix) {
  const auto& reads = frontend.reads;
  const bool lists = std::any_of(reads.begin(), reads.end(),
                                 [](const std::string& entry) { return entry.starts_with("."); });
  return !lists || std::find(reads.begin(), reads.end(), suffix) != reads.end();
}

// The front end that a file with the suffix of a table is for.
std::optional<ComponentRef> claimant_of(const Components& components, const std::string& path) {
  const std::string suffix = fs::path(path).extension().string();
  if (suffix == ".omt") return std::nullopt;
  // A look at the head of a pipe would take it away from whoever reads the table.
  if (std::error_code error; fs::exists(path, error) && !fs::is_regular_file(path, error))
    return std::nullopt;
  std::vector<ComponentRef> frontends = components.registry().components(OMEN_GRAPH_FRONTEND);
  std::erase_if(frontends, [&](const ComponentRef& ref) { return !may_claim(*ref.info, suffix); });
  if (frontends.empty()) return std::nullopt;
  const Recognition found = ask_all(components, path, frontends);
  return found.confidence >= kClaims ? found.best : std::nullopt;
}

Tables read_table_file(const Components& components, const std::string& path) {
  try {
    return read_dataset(path);
  } catch (const Error& e) {
    throw naming_frontends(components, path, e);
  }
}

Lowered completed(Lowered lowered) {
  complete_workloads(lowered.tables);
  lowered.dialect = dialect_of(lowered.tables);
  return lowered;
}

}  // namespace

std::string dialect_of(const Tables& tables) {
  const auto nodes = tables.find("nodes");
  return nodes == tables.end() ? "" : nodes->second.metadata("omen.dialect");
}

Error naming_frontends(const Components& components, const std::string& input, const Error& error) {
  if (error.code() == OMEN_CANCELLED) return error;
  const std::vector<std::string> takers =
      ask_all(components, input, components.registry().components(OMEN_GRAPH_FRONTEND)).takers;
  if (takers.empty()) return error;
  return Error(error.code(),
               error.what() + ("\nread as a table; front ends that would read it: " + join(takers)),
               "say that it is no table with --frontend " + takers[0], error.details_json());
}

std::optional<ComponentRef> recognise(const Components& components, const std::string& input,
                                      const std::string& component) {
  const Registry& registry = components.registry();
  return ask_all(components, input,
                 component.empty()
                     ? registry.components(OMEN_GRAPH_FRONTEND)
                     : std::vector{registry.component(OMEN_GRAPH_FRONTEND, component)})
      .best;
}

ComponentRef find_frontend(const Components& components, const std::string& input) {
  const Registry& registry = components.registry();
  const Recognition found = ask_all(components, input, registry.components(OMEN_GRAPH_FRONTEND));
  if (!found.best) throw_unrecognised(registry, input, found.head.has_value(), found.failures);
  return *found.best;
}

Lowered lower(const Components& components, const std::string& input, const ComponentRef& frontend,
              const OptionValues& options) {
  Lowered lowered{input, frontend.info->id, {}, {}};
  const RunContext run(components.settings().run, components.settings().hooks);
  TableCollector out;
  const std::string path = file_of(input);
  said_by(frontend.info->id, [&] {
    components.lease_frontend(frontend, options, input.empty()).use([&](FrontendHandle& handle) {
      handle.lower(run.c(), input.empty() ? nullptr : path.c_str(), out.c());
      return true;
    });
  });
  lowered.tables = out.take();
  if (!lowered.tables.count("workloads"))
    throw Error(OMEN_INTERNAL, "plugin misbehaving: " + frontend.info->id + " lowered " + input +
                                   " without workloads");
  for (auto& [name, table] : lowered.tables) table.validate();
  return completed(std::move(lowered));
}

Lowered read_input(const Components& components, const std::string& input,
                   const std::string& frontend, FlagBook& flags) {
  if (frontend.empty() && input == "-") return completed({input, {}, {}, read_stdin()});
  std::error_code error;
  const std::string path = file_of(input);
  std::optional<ComponentRef> ref;
  if (!frontend.empty()) {
    ref = components.registry().component(OMEN_GRAPH_FRONTEND, frontend);
  } else if (is_table_file(path) && fs::exists(path, error)) {
    ref = claimant_of(components, path);
    if (!ref) return completed({input, {}, {}, read_table_file(components, path)});
  } else {
    ref = find_frontend(components, input);
  }
  return lower(components, input, *ref, resolve_options(*ref->info, flags.sources_for(*ref->info)));
}

std::vector<Batch> make_batches(std::vector<Lowered> inputs) {
  std::vector<std::vector<Lowered>> groups;
  for (Lowered& input : inputs) {
    const auto fits = [&](const std::vector<Lowered>& group) {
      return group[0].frontend == input.frontend && group[0].dialect == input.dialect &&
             like_columns(group[0].tables, input.tables);
    };
    const auto group = std::find_if(groups.begin(), groups.end(), fits);
    if (group == groups.end())
      groups.push_back({std::move(input)});
    else
      group->push_back(std::move(input));
  }
  std::vector<Batch> batches;
  for (const std::vector<Lowered>& group : groups) {
    Batch batch{group[0].frontend, group[0].dialect, {}, {}, {}};
    std::vector<Tables> parts;
    for (const Lowered& input : group) {
      batch.input_of.insert(batch.input_of.end(),
                            static_cast<std::size_t>(input.tables.at("workloads").rows()),
                            batch.inputs.size());
      batch.inputs.push_back(input.input);
      parts.push_back(input.tables);
    }
    unify_types(parts);
    batch.tables = merge(parts);
    batches.push_back(std::move(batch));
  }
  return batches;
}

}  // namespace omen::host
