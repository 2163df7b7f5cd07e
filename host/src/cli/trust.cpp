// SPDX-License-Identifier: Apache-2.0
// `omen trust`: which programs and models of others may run, and which no longer.
#include "omen/trust.hpp"

#include <algorithm>

#include "cli/command_line.hpp"
#include "cli/completion.hpp"
#include "cli/console.hpp"
#include "cli/verbs.hpp"
#include "text/json_writer.hpp"

namespace omen::host::cli {
namespace fs = std::filesystem;
namespace {

struct TrustRequest {
  std::string action;
  std::vector<std::string> words, env;
};

const char* kind_word(const trust::Record& record) {
  return record.kind == trust::Kind::kProgram ? "program" : "model";
}

void keep_trust(const Globals& globals, const trust::Record& record) {
  trust::add(record);
  note(globals, std::string("trusted as ") + record.id().substr(0, 12) + ": " + kind_word(record) +
                    " " + trust::visible(record.what));
  for (const auto& [place, digest] : record.files)
    if (!place.empty())
      note(globals, "  " + trust::visible(place) +
                        (digest.empty() ? "" : ", sha256 " + digest.substr(0, 12)));
}

// Its program as it resolves here, and its state.
void trust_model_file(const Globals& globals, const fs::path& file) {
  const container::Reader model = container::Reader::open(file);
  const container::Entry* invocation = model.find(trust::kInvocation);
  if (!invocation)
    throw Error(OMEN_INVALID_DATA, file.string() + " runs no program, so it needs no trust",
                "use it as it is: omen predict -m " + file.string());
  const auto bytes_of = [&](const container::Entry& entry) {
    return std::string_view(static_cast<const char*>(model.bytes(entry)), entry.end - entry.begin);
  };
  trust::Contents contents;
  for (const container::Entry& entry : model.entries())
    contents.emplace_back(entry.name, bytes_of(entry));
  keep_trust(globals, trust::program(std::string(bytes_of(*invocation))));
  keep_trust(globals, trust::model(contents, file.string()));
}

int add_trust(const Globals& globals, const TrustRequest& request) {
  if (request.words.size() != 1)
    usage_error("omen trust add takes one model, or one command in quotes",
                "omen trust add 'python3 model.py'");
  const std::string& word = request.words[0];
  if (fs::path(word).extension() == ".omen") {
    trust_model_file(globals, word);
  } else {
    std::string invocation = word;
    for (const std::string& variable : request.env) invocation += "\n" + variable;
    const trust::Record record = trust::program(invocation);
    if (std::all_of(record.files.begin(), record.files.end(),
                    [](const auto& file) { return file.first.empty(); }))
      throw Error(
          OMEN_NOT_FOUND, "'" + word + "' is neither a model file nor a program of this machine",
          "give a file that ends in .omen, or the command in quotes as it is run: omen trust add "
          "'python3 model.py'");
    keep_trust(globals, record);
  }
  return kOk;
}

int list_trust(const Globals& globals) {
  JsonWriter json;
  json.object().field("format_version", 1).key("trusted").array();
  TextTable table({{"id"}, {"kind"}, {"since"}, {"what", false, true}});
  for (const trust::Record& record : trust::list()) {
    json.object().field("id", record.id()).field("kind", kind_word(record));
    json.field("since", record.time).field("what", record.what).key("files").array();
    for (const auto& [place, digest] : record.files)
      json.object().field("place", place).field("sha256", digest).end();
    json.end().end();
    table.add({record.id().substr(0, 12), kind_word(record), record.time.substr(0, 10),
               trust::visible(record.what)});
  }
  if (globals.json)
    print(json.end().end().text());
  else if (table.empty())
    note(globals, "nothing is trusted; omen train external.program records what it runs");
  else
    print_table(globals, table);
  return kOk;
}

int revoke_trust(const Globals& globals, const TrustRequest& request) {
  if (request.words.empty())
    usage_error("omen trust revoke needs an id", "see them with: omen trust list");
  for (const std::string& id : request.words) {
    const std::size_t count = trust::revoke(id);
    if (count == 0)
      throw Error(OMEN_NOT_FOUND, "nothing that is trusted has an id that starts with '" + id + "'",
                  "see them with: omen trust list");
    note(globals, std::to_string(count) + " no longer trusted");
  }
  return kOk;
}

int run_trust(const Globals& globals, const TrustRequest& request) {
  if (request.action == "add") return add_trust(globals, request);
  if (request.action == "revoke") return revoke_trust(globals, request);
  return list_trust(globals);
}

void complete_trust(Offers& offers) {
  if (offers.at_first()) offers.words({"add", "list", "revoke"});
}

void describe_trust(CommandLine& line) {
  auto& r = line.request(run_trust);
  line.word("ACTION", r.action, "add, list or revoke").one_of({"add", "list", "revoke"});
  line.word("WHAT", r.words, "add: a model, or a command in quotes; revoke: ids of the list");
  line.values("--env", "NAME=VALUE", r.env, "add: variables that the command is given");
}

}  // namespace

Verb trust_verb() {
  return {"trust", "say which programs a model, a task or a run of others may start",
          "omen trust list\nomen trust add theirs.omen\nomen trust add 'python3 model.py'\n"
          "omen trust revoke 41c09a2e",
          describe_trust, complete_trust};
}

}  // namespace omen::host::cli
