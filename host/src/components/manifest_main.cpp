// SPDX-License-Identifier: Apache-2.0
// omen-manifest: writes plugin.json from a plugin's own descriptors, after linking.
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "components/loader.hpp"
#include "components/manifest.hpp"
#include "omen/container.hpp"
#include "omen/error.hpp"
#include "omen/pending_file.hpp"

namespace fs = std::filesystem;

namespace {

constexpr const char* kUsage =
    "usage: omen-manifest LIBRARY -o plugin.json [--requires NAME=RANGE]... [--isolation "
    "default|worker]\n"
    "                     [--model FILE]... [--example COMMAND]...\n";

struct Arguments {
  fs::path library, output;
  std::vector<std::pair<std::string, std::string>> requirements;
  omen::host::Isolation isolation = omen::host::Isolation::kDefault;
  std::vector<fs::path> models;
  std::vector<std::string> examples;
};

[[noreturn]] void usage(const std::string& what) {
  throw omen::Error(OMEN_INVALID_ARGUMENT, what, kUsage);
}

Arguments parse_arguments(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.empty() || word[0] != '-') {
      if (!arguments.library.empty()) usage("more than one library");
      arguments.library = word;
      continue;
    }
    if (i + 1 == argc) usage(std::string(word) + " needs a value");
    const std::string value = argv[++i];
    if (word == "-o") {
      arguments.output = value;
    } else if (word == "--requires") {
      const std::size_t split = value.find('=');
      if (split == 0 || split == value.npos)
        usage("--requires takes NAME=RANGE, not '" + value + "'");
      arguments.requirements.emplace_back(value.substr(0, split), value.substr(split + 1));
    } else if (word == "--isolation") {
      const auto known = omen::host::from_word<omen::host::Isolation>(value);
      if (!known) usage("--isolation is '" + value + "'; known: default, worker");
      arguments.isolation = *known;
    } else if (word == "--model") {
      arguments.models.emplace_back(value);
    } else if (word == "--example") {
      arguments.examples.push_back(value);
    } else {
      usage("unknown option '" + std::string(word) + "'");
    }
  }
  if (arguments.library.empty() || arguments.output.empty()) usage("a library and -o are needed");
  return arguments;
}

// Lists the model at the component that it was trained for; the first one is that component's
// default.
void add_model(omen::host::Manifest& manifest, const fs::path& path, const fs::path& directory) {
  const auto reader = omen::container::Reader::open(path);
  const auto meta = [&](const char* key) {
    const auto at = reader.metadata().find(key);
    return at == reader.metadata().end() ? std::string() : at->second;
  };
  omen::host::ModelInfo model;
  model.name = path.stem().string();
  model.file = fs::relative(path, directory).generic_string();
  model.sha256 = omen::container::sha256_file(path);
  model.summary = meta("summary");
  const std::string id = meta("omen.component");
  bool used = false;
  for (omen::host::ComponentInfo& component : manifest.components) {
    if (component.id != id || (component.kind != OMEN_PREDICTOR && component.kind != OMEN_SCORER))
      continue;
    model.is_default = component.models.empty();
    component.models.push_back(model);
    used = true;
  }
  if (!used)
    throw omen::Error(OMEN_INVALID_DATA,
                      path.string() + (id.empty() ? " does not say which component it is for"
                                                  : " is for '" + id + "', which " + manifest.id +
                                                        " does not have"),
                      "Write models with: omen train");
}

// Lists `omen PLUGIN VERB ...` at the command plugin.verb.
void add_example(omen::host::Manifest& manifest, const std::string& example) {
  std::istringstream words(example);
  std::string program, plugin, verb;
  words >> program >> plugin >> verb;
  for (omen::host::ComponentInfo& component : manifest.components)
    if (component.kind == OMEN_COMMAND && program == "omen" && component.id == plugin + "." + verb)
      return component.examples.push_back(example);
  throw omen::Error(OMEN_INVALID_DATA,
                    "example '" + example + "' shows no command of " + manifest.id,
                    "Write it as: omen PLUGIN VERB ...");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Arguments arguments = parse_arguments(argc, argv);
    omen::host::Manifest manifest = omen::host::describe_library(arguments.library);
    const fs::path directory = fs::absolute(arguments.output).parent_path();
    manifest.isolation = arguments.isolation;
    for (const auto& [name, range] : arguments.requirements) manifest.requirements[name] = range;
    for (const fs::path& model : arguments.models)
      add_model(manifest, fs::absolute(model), directory);
    for (const std::string& example : arguments.examples) add_example(manifest, example);
    const std::string text = omen::host::to_json(manifest);
    omen::host::parse_manifest(text,
                               directory);  // refuses now what every reader would refuse later
    omen::replace_file(arguments.output, text);
    return 0;
  } catch (const omen::Error& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    if (!e.hint().empty()) std::fprintf(stderr, "  hint: %s\n", e.hint().c_str());
    return e.code() == OMEN_INVALID_ARGUMENT ? 2 : 3;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}
