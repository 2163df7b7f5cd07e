// SPDX-License-Identifier: Apache-2.0
// `omen new`: writes a plugin that builds and verifies as it is, from the templates of the SDK.
#include <algorithm>
#include <array>
#include <cctype>

#include "cli/command_line.hpp"
#include "cli/session.hpp"
#include "cli/verbs.hpp"
#include "omen/join.hpp"
#include "text/json_writer.hpp"
#include "worker/machine.hpp"

namespace omen::host::cli {
namespace fs = std::filesystem;
namespace {

struct NewRequest {
  std::string name, kind = "predictor", language = "c++";
  std::filesystem::path directory;  // empty: ./NAME
};

void check_name(const std::string& name) {
  const bool starts = !name.empty() && std::islower(static_cast<unsigned char>(name[0]));
  const bool legal = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::islower(c) || std::isdigit(c) || c == '_';
  });
  if (!starts || !legal || name.size() > 40)
    usage_error("'" + name + "' is no name for a plugin",
                "use lower case letters, digits and _, starting with a letter");
  if (find_verb(name))
    usage_error("'" + name + "' is a verb of omen",
                "choose another name, so that omen " + name + " stays unambiguous");
}

// snake_case to UpperCamel.
std::string class_name(const std::string& name) {
  std::string out;
  bool upper = true;
  for (const char c : name) {
    if (c == '_')
      upper = true;
    else
      out += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    if (c != '_') upper = false;
  }
  return out;
}

std::string fill_in(std::string text, const NewRequest& request) {
  const std::pair<std::string, std::string> words[] = {
      {"@name@", request.name},
      {"@prefix@", share_directory().parent_path().parent_path().string()},
      {"@Name@", class_name(request.name)},
      {"@kind@", request.kind}};
  for (const auto& [word, value] : words)
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += value.size())
      text.replace(at, word.size(), value);
  return text;
}

fs::path template_root() {
  return share_directory() / "template";
}

// A language as the user writes it and the directory of its templates.
struct Language {
  const char* name;
  const char* directory;
};
constexpr std::array<Language, 2> kLanguages = {{{"c++", "cpp"}, {"c", "c"}}};

// Kinds that have a template in this language: what is there, and nothing else.
std::vector<std::string> kinds_in(const Language& language) {
  std::vector<std::string> kinds;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(template_root() / language.directory, none))
    if (entry.is_directory()) kinds.push_back(entry.path().filename());
  std::sort(kinds.begin(), kinds.end());
  return kinds;
}

// What `--kind` may be, in every language in which it may.
std::string offered_kinds() {
  std::string text;
  const std::vector<std::string> first = kinds_in(kLanguages[0]);
  for (const Language& language : kLanguages)
    if (const auto kinds = kinds_in(language); text.empty() || kinds != first)
      text += (text.empty() ? "" : "; in " + std::string(language.name) + ": ") + join(kinds, ", ");
  return text;
}

std::string offered_languages() {
  std::vector<std::string> names;
  for (const Language& language : kLanguages)
    if (!kinds_in(language).empty()) names.emplace_back(language.name);
  return join(names, " or ");
}

const Language& language_of(const std::string& written) {
  const std::string name = written == "cpp" || written == "cxx" ? kLanguages[0].name : written;
  for (const Language& language : kLanguages)
    if (name == language.name) return language;
  usage_error("--lang is '" + written + "'", "allowed: " + offered_languages());
}

fs::path template_directory(const NewRequest& request) {
  if (!fs::is_directory(template_root()))
    throw Error(OMEN_NOT_FOUND, "no template in " + template_root().string(),
                "install the SDK again, or run omen from its build directory");
  const Language& language = language_of(request.language);
  const std::vector<std::string> kinds = kinds_in(language);
  if (std::find(kinds.begin(), kinds.end(), request.kind) == kinds.end())
    usage_error("--kind is '" + request.kind + "'", "allowed: " + join(kinds, ", "));
  return template_root() / language.directory / request.kind;
}

int run_new(const Globals& globals, const NewRequest& request) {
  check_name(request.name);
  const fs::path from = template_directory(request);
  const fs::path to = request.directory.empty() ? fs::path(request.name) : request.directory;
  if (fs::exists(to) && !fs::is_empty(to))
    throw ExitError(kFailed,
                    Error(OMEN_INVALID_ARGUMENT, "directory '" + to.string() + "' exists already",
                          "choose another with --dir DIR"));
  std::vector<std::string> files;
  for (const fs::path& root : {from.parent_path().parent_path() / "common", from})
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (!entry.is_regular_file()) continue;
      fs::path target = to / fill_in(fs::relative(entry.path(), root).string(), request);
      // Sources end in .in, because the words to fill in are no C++.
      if (target.extension() == ".in") target.replace_extension();
      fs::create_directories(target.parent_path());
      write_text(target, fill_in(read_text(entry.path()), request));
      files.push_back(target.string());
    }
  std::sort(files.begin(), files.end());
  if (globals.json) {
    JsonWriter json;
    print(json.object()
              .field("format_version", 1)
              .field("plugin", request.name)
              .strings("files", files)
              .end()
              .text());
    return kOk;
  }
  for (const std::string& file : files) print(file + "\n");
  const std::string build = to.string() + "/build";
  note(globals, "\nnext:\n  cmake -S " + to.string() + " -B " + build + "\n  cmake --build " +
                    build + "\n  omen verify " + build + "/plugins/" + request.name);
  return kOk;
}

void describe_new(CommandLine& line) {
  auto& r = line.request(run_new);
  static const std::string kinds = offered_kinds(), languages = offered_languages();
  line.word("NAME", r.name, "id of the plugin: lower case, digits and _").required();
  line.value("--kind", "KIND", r.kind, kinds.c_str());
  line.value("--lang", "LANGUAGE", r.language, languages.c_str());
  line.value("--dir", "DIR", r.directory, "where to write it, ./NAME by default");
}

}  // namespace

Verb new_verb() {
  return {"new", "write the sources of a new plugin",
          "omen new mine --kind predictor\nomen new mine --kind scorer --lang c", describe_new};
}

}  // namespace omen::host::cli
