// SPDX-License-Identifier: Apache-2.0
// `omen graph`: artefacts to graphs, as a summary, as files, or as drawings.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "cli/command_line.hpp"
#include "cli/component_flags.hpp"
#include "cli/graph_inputs.hpp"
#include "cli/session.hpp"
#include "cli/suggestions.hpp"
#include "cli/verbs.hpp"
#include "graphs/graph_output.hpp"
#include "text/json_writer.hpp"

namespace omen::host::cli {
namespace fs = std::filesystem;
namespace {

struct GraphRequest {
  std::vector<std::string> inputs;
  std::string output, component;
  Flags flags;
  unsigned jobs = 1;
  std::int64_t max_nodes = 400;
  bool generate = false, resume = false;
  RunChoices run;
};

// One input on its way: how it is lowered, what came of it, or why nothing did.
struct Item {
  GraphInput input;
  std::optional<ComponentRef> frontend;
  OptionValues options;
  std::filesystem::path output;    // of this input alone; empty where all go into one file
  std::optional<Lowered> lowered;  // without tables once they are written
  GraphFacts facts;
  std::optional<Error> error;
  bool kept = false;  // written by the run that is resumed

  // What decides the content of the output.
  std::string settings() const {
    return frontend->info->id + " " + frontend->plugin->manifest.version + " " +
           options.canonical_json();
  }
};

class GraphVerb {
 public:
  GraphVerb(const Globals& globals, const GraphRequest& request)
      : request_(request), session_(globals, request.run, request.flags, "graph", "") {
    take_component(session_.registry(), OMEN_GRAPH_FRONTEND, request_.inputs, request_.component);
    if (request_.inputs.empty() && !request_.generate)
      usage_error("no file to turn into a graph",
                  "give one, or --with COMPONENT --generate; see: omen graph --help");
  }

  int run() {
    check_output();
    prepare();
    lower_all();
    session_.progress().finish();
    const auto good = std::count_if(items_.begin(), items_.end(),
                                    [](const Item& i) { return i.lowered.has_value(); });
    if (good == 0 && items_.size() == 1 && items_[0].error) throw *items_[0].error;
    if (good > 0 && !request_.output.empty() && !one_file_each()) write_together();
    show();
    for (const Item& item : items_)
      if (item.error)
        print_error(globals().plugin_path,
                    Error(item.error->code(), item.input.path + ": " + item.error->what(),
                          item.error->hint()));
    const auto failed = std::find_if(items_.begin(), items_.end(),
                                     [](const Item& i) { return i.error.has_value(); });
    const auto bad =
        std::count_if(failed, items_.end(), [](const Item& i) { return i.error.has_value(); });
    if (bad > 0)
      note(globals(), std::to_string(bad) + " of " + std::to_string(items_.size()) +
                          " files gave no graph; why stands above");
    return failed == items_.end() ? kOk : exit_code_of(*failed->error);
  }

 private:
  const Globals& globals() const { return session_.globals(); }
  bool one_file_each() const { return request_.output.find('%') != std::string::npos; }

  // A wrong suffix should not cost the work of lowering.
  void check_output() {
    if (request_.resume && !one_file_each())
      usage_error("--resume goes on with files that were written one by one",
                  "write one file each with % in the name, e.g. -o 'graphs/%.omt'");
    if (request_.output.empty()) return;
    const std::string suffix = fs::path(request_.output).extension().string();
    for (const char* own : {".omt", ".json", ".dot", ".svg"})
      if (suffix == own) return;
    std::string known = ".omt, .json, .dot, .svg";
    for (const FoundPlugin& found : session_.registry().plugins())
      for (const std::string& theirs : found.manifest.graph_suffixes) {
        if (theirs == suffix) {
          writer_ = &found;
          return;
        }
        known += ", " + theirs;
      }
    usage_error("-o is '" + request_.output + "', whose suffix says no format",
                "end it in one of " + known);
  }

  // Front ends and options are resolved one after the other, because flags are shared out as
  // components appear.
  void prepare() {
    if (request_.generate) {
      const ComponentRef ref =
          session_.registry().component(OMEN_GRAPH_FRONTEND, request_.component);
      if (!(ref.info->caps & OMEN_CAP_GENERATES))
        usage_error(ref.info->id + " does not generate workloads",
                    "give it a file instead of --generate");
      add_item({"", request_.component, ref});
    } else {
      for (GraphInput& input : unfold(session_.components(), request_.inputs, request_.component))
        add_item(std::move(input));
    }
    if (std::any_of(items_.begin(), items_.end(), [](auto& i) { return i.frontend.has_value(); }))
      session_.flags().finish();
    if (one_file_each()) name_outputs();
  }

  void add_item(GraphInput input) {
    Item item;
    item.input = std::move(input);
    try {
      choose_frontend(item);
    } catch (const Error& e) {
      if (e.code() == OMEN_INVALID_ARGUMENT ||
          (e.code() == OMEN_NOT_FOUND && !request_.component.empty()))
        throw;
      item.error = e;
    }
    if (item.input.path.empty()) item.input.path = request_.component;
    items_.push_back(std::move(item));
  }

  void choose_frontend(Item& item) {
    const std::string& path = item.input.path;
    if (request_.component.empty() && fs::path(path).extension() == ".omt") {
      item.lowered = read_input(session_.components(), path, "", session_.flags());
      return;
    }
    const ComponentRef ref =
        item.input.frontend ? *item.input.frontend
        : request_.component.empty()
            ? find_frontend(session_.components(), path)
            : session_.registry().component(OMEN_GRAPH_FRONTEND, request_.component);
    item.frontend = ref;
    item.options = resolve_options(*ref.info, sources_for(*ref.info));
  }

  // A drawing shows what its nodes say, and formats of plugins hold what is known of a module: they
  // ask for that where a front end can tell.
  OptionSources sources_for(const ComponentInfo& frontend) {
    OptionSources sources = session_.flags().sources_for(frontend);
    const std::string suffix = fs::path(request_.output).extension().string();
    const std::string wanted = suffix == ".svg" || suffix == ".dot" ? "full_text"
                               : writer_                            ? "module_facts"
                                                                    : "";
    const bool given =
        std::any_of(sources.flags.begin(), sources.flags.end(),
                    [&](const auto& flag) { return normal_key(flag.first) == wanted; });
    if (!given && frontend.option(wanted)) sources.flags.emplace_back(wanted, "true");
    return sources;
  }

  // Clashes of names show before any work is done.
  void name_outputs() {
    std::set<fs::path> taken;
    for (Item& item : items_) {
      std::string path = request_.output;
      item.output = path.replace(path.find('%'), 1, item.input.name);
      if (!taken.insert(item.output).second)
        usage_error("two inputs would be written to " + item.output.string(),
                    "give files with different names");
    }
    const fs::path place = fs::path(request_.output).parent_path();
    journal_.emplace(place.string().find('%') == std::string::npos ? request_.output : "./journal",
                     request_.resume);
    for (Item& item : items_)
      item.kept = item.frontend && journal_->has(item.input, item.settings(), item.output);
  }

  void lower_all() {
    std::atomic<std::size_t> next{0}, done{0};
    const auto work = [&] {
      for (std::size_t i = next++; i < items_.size(); i = next++) {
        finish_item(items_[i]);
        session_.progress().update(static_cast<double>(++done) / static_cast<double>(items_.size()),
                                   items_[i].input.path.c_str());
      }
    };
    std::vector<std::thread> threads;
    const std::size_t count = std::min<std::size_t>(request_.jobs, items_.size());
    for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    for (const Item& item : items_)
      if (item.error && item.error->code() == OMEN_CANCELLED)
        throw Error(OMEN_CANCELLED, "graph was cancelled" + written_so_far(), resume_hint());
  }

  std::string written_so_far() const {
    if (!one_file_each()) return "";
    const auto done = std::count_if(items_.begin(), items_.end(), [](const Item& i) {
      return i.kept || (i.lowered && !i.error);
    });
    return ": " + std::to_string(done) + " of " + std::to_string(items_.size()) +
           " files are written";
  }

  // Lowers one input, and writes it where it has a file of its own: a whole directory then needs
  // the memory of few of its files, and what was written survives an interrupt.
  void finish_item(Item& item) {
    if (item.error || item.kept) return;
    try {
      if (interrupted()) throw Error(OMEN_CANCELLED, "graph was cancelled");
      if (!item.lowered)
        item.lowered = lower(session_.components(), request_.generate ? "" : item.input.path,
                             *item.frontend, item.options);
      item.facts = graph_facts(item.lowered->tables);
      if (item.output.empty()) return;
      write_one(item.output, item.input.path, item.lowered->tables);
      item.lowered->tables.clear();
      if (item.frontend) journal_->add(item.input, item.settings(), item.output);
    } catch (const Error& e) {
      item.lowered.reset();
      item.error = e;
    }
  }
  std::string resume_hint() const {
    return one_file_each() ? "Go on with the same command and --resume." : "";
  }

  std::string title(const std::string& input, const Tables& tables) const {
    const GraphFacts facts = graph_facts(tables);
    return fs::path(input).filename().string() + ": " + std::to_string(facts.nodes) + " nodes, " +
           std::to_string(facts.edges) + " edges";
  }

  void write_one(const fs::path& path, const std::string& name, const Tables& tables) {
    const std::string suffix = path.extension().string();
    if (const fs::path parent = path.parent_path(); !parent.empty()) fs::create_directories(parent);
    // A file that is there is whole.
    const fs::path fresh = path.parent_path() / (".part-" + path.filename().string());
    if (suffix == ".omt")
      write_dataset(fresh, tables);
    else if (suffix == ".json")
      write_text(fresh, graph_json(tables));
    else if (suffix == ".dot")
      write_text(fresh, graph_dot(tables, title(name, tables), request_.max_nodes));
    else if (suffix == ".svg")
      write_svg(fresh, graph_dot(tables, title(name, tables), request_.max_nodes));
    else
      write_with_plugin(fresh, tables);
    fs::rename(fresh, path);
    const std::lock_guard lock(mutex_);
    written_.push_back(path.string());
  }

  void write_with_plugin(const fs::path& path, const Tables& tables) {
    MemoryDataset dataset;
    for (const auto& [name, table] : tables) dataset.put(name, table);
    const RunContext run(session_.components().settings().run,
                         session_.components().settings().hooks);
    session_.components().write_graph(*writer_, run.c(), dataset.c(), path.string());
  }

  void write_together() {
    std::vector<Lowered> inputs;
    for (const Item& item : items_)
      if (item.lowered) inputs.push_back(*item.lowered);
    const std::vector<Batch> batches = make_batches(std::move(inputs));
    if (batches.size() > 1)
      usage_error("these inputs give different kinds of graphs, which do not fit into one file",
                  "write one file each with % in the name: -o '%" +
                      fs::path(request_.output).extension().string() + "'");
    write_one(request_.output, items_.size() == 1 ? items_[0].input.path : request_.output,
              batches[0].tables);
  }

  void show() const {
    if (globals().json) return print(facts_json());
    const auto kept =
        std::count_if(items_.begin(), items_.end(), [](const Item& i) { return i.kept; });
    if (kept > 0)
      note(globals(), "kept " + std::to_string(kept) + " of " + std::to_string(items_.size()) +
                          " files of the run before");
    if (kept > 0 || !written_.empty()) {
      constexpr std::size_t kListed = 10;
      if (written_.size() > kListed)
        note(globals(),
             "wrote " + std::to_string(written_.size()) + " files as " + request_.output);
      else
        for (const std::string& path : written_) note(globals(), "wrote " + path);
      return;
    }
    TextTable table({{"input", false, true},
                     {"front end"},
                     {"dialect"},
                     {"graphs", true},
                     {"nodes", true},
                     {"edges", true},
                     {"ops", true},
                     {"most frequent", false, true},
                     {"edge kinds", false, true}});
    for (const Item& item : items_) {
      if (!item.lowered) continue;
      const GraphFacts& f = item.facts;
      table.add({item.input.path,
                 {item.lowered->frontend, Style::kAccent},
                 item.lowered->dialect,
                 std::to_string(f.graphs),
                 {std::to_string(f.nodes), Style::kStrong},
                 std::to_string(f.edges),
                 std::to_string(f.ops),
                 f.frequent_ops,
                 f.edge_kinds});
    }
    if (!table.empty()) print_table(globals(), table);
  }

  std::string facts_json() const {
    JsonWriter json;
    json.object().field("format_version", 1).key("graphs").array();
    for (const Item& item : items_) {
      json.object().field("input", item.input.path);
      if (item.kept) {
        json.field("kept", true);
      } else if (item.lowered) {
        const GraphFacts& f = item.facts;
        json.field("frontend", item.lowered->frontend)
            .field("dialect", item.lowered->dialect)
            .field("graphs", f.graphs);
        json.field("nodes", f.nodes).field("edges", f.edges).field("ops", f.ops);
      } else {
        json.field("reason", item.error->what());
      }
      json.end();
    }
    return json.end().strings("written", written_).end().text();
  }

  GraphRequest request_;
  Session session_;
  const FoundPlugin* writer_ = nullptr;
  std::vector<Item> items_;
  std::vector<std::string> written_;
  std::optional<GraphJournal> journal_;
  std::mutex mutex_;
};

int run_graph(const Globals& globals, const GraphRequest& request) {
  return GraphVerb(globals, request).run();
}

void describe_graph(CommandLine& line) {
  auto& r = line.request(run_graph);
  line.word("FILE", r.inputs,
            "sources, modules, networks, directories of them, or names that a front end "
            "knows");
  line.value("-o,--output", "FILE", r.output,
             "write .omt, .json, .dot, .svg or a plugin's format; FILE with % for one file each");
  line.value("--with,--frontend", "COMPONENT", r.component,
             "front end to use; otherwise found from the file");
  line.value("-j,--jobs", "N", r.jobs, "files at the same time").range(1, 256);
  line.value("--max-nodes", "N", r.max_nodes, "draw at most this many nodes, 400 by default");
  line.toggle("--resume", r.resume,
              "go on with a run that was stopped: keep files that it wrote, with % in -o");
  line.toggle("--generate", r.generate, "let the front end make its own workloads");
  line.run_choices(r.run, r.flags);
}

}  // namespace

Verb graph_verb() {
  return {"graph",
          "turn sources and networks into graphs, and write or draw them",
          "omen graph kernel.cl\nomen graph kernel.cl -o kernel.svg\nomen graph src/*.cl -j 4 -o "
          "graphs.omt\n"
          "omen graph src/*.cl -o 'drawings/%.svg'\nomen graph src -j 4 -o 'graphs/%.omt' --resume",
          describe_graph,
          nullptr,
          OMEN_GRAPH_FRONTEND};
}

}  // namespace omen::host::cli
