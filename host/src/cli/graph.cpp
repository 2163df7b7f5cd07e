// SPDX-License-Identifier: Apache-2.0
// `omen graph`: artefacts to graphs, as a summary, as files, or as drawings.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "cli/session.hpp"
#include "cli/verbs.hpp"
#include "graph_output.hpp"
#include "json_writer.hpp"

namespace omen::host::cli {
namespace fs = std::filesystem;
namespace {

// One input on its way: lowered, or why not.
struct Item {
  std::string input;
  std::optional<Lowered> lowered;
  std::optional<Error> error;
};

// The front end of each input; resolved one after the other, because flags are shared out as
// components appear.
struct Job {
  ComponentRef frontend;
  OptionValues options;
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
    lower_all();
    session_.progress().finish();
    const auto good = std::count_if(items_.begin(), items_.end(),
                                    [](const Item& i) { return i.lowered.has_value(); });
    if (good == 0 && items_.size() == 1) throw *items_[0].error;
    if (good > 0 && !request_.output.empty()) write_output();
    show();
    for (const Item& item : items_)
      if (item.error)
        std::fputs(error_text(Error(item.error->code(), item.input + ": " + item.error->what(),
                                    item.error->hint()),
                              terminal_of(2).colour)
                       .c_str(),
                   stderr);
    const auto failed = std::find_if(items_.begin(), items_.end(),
                                     [](const Item& i) { return i.error.has_value(); });
    return failed == items_.end() ? kOk : exit_code_of(*failed->error);
  }

 private:
  const Globals& globals() const { return session_.globals(); }
  bool one_file_each() const { return request_.output.find('%') != std::string::npos; }

  // A wrong suffix should not cost the work of lowering.
  void check_output() {
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

  Job job_for(const std::string& input) {
    const ComponentRef ref =
        request_.component.empty()
            ? find_frontend(session_.components(), input)
            : session_.registry().component(OMEN_GRAPH_FRONTEND, request_.component);
    return {ref, resolve_options(*ref.info, session_.flags().sources_for(*ref.info))};
  }

  void lower_all() {
    if (request_.generate) {
      const ComponentRef ref =
          session_.registry().component(OMEN_GRAPH_FRONTEND, request_.component);
      if (!(ref.info->caps & OMEN_CAP_GENERATES))
        usage_error(ref.info->id + " does not generate workloads",
                    "give it a file instead of --generate");
      request_.inputs = {""};
    }
    std::vector<std::optional<Job>> jobs;
    for (const std::string& input : request_.inputs) {
      Item item{input.empty() ? request_.component : input, std::nullopt, std::nullopt};
      std::optional<Job> job;
      try {
        const bool has_tables = request_.component.empty() && fs::path(input).extension() == ".omt";
        if (has_tables)
          item.lowered = read_input(session_.components(), input, "", session_.flags());
        else
          job = job_for(input);
      } catch (const Error& e) {
        if (e.code() == OMEN_INVALID_ARGUMENT ||
            (e.code() == OMEN_NOT_FOUND && !request_.component.empty()))
          throw;
        item.error = e;
      }
      items_.push_back(std::move(item));
      jobs.push_back(std::move(job));
    }
    if (std::any_of(jobs.begin(), jobs.end(), [](auto& job) { return job.has_value(); }))
      session_.flags().finish();
    lower_in_parallel(jobs);
  }

  void lower_in_parallel(std::vector<std::optional<Job>>& jobs) {
    std::atomic<std::size_t> next{0}, done{0};
    std::mutex mutex;
    const auto work = [&] {
      for (std::size_t i = next++; i < jobs.size(); i = next++) {
        if (!jobs[i]) continue;
        try {
          if (interrupted()) throw Error(OMEN_CANCELLED, "graph was cancelled");
          Lowered lowered =
              lower(session_.components(), request_.inputs[i], jobs[i]->frontend, jobs[i]->options);
          const std::lock_guard lock(mutex);
          items_[i].lowered = std::move(lowered);
        } catch (const Error& e) {
          const std::lock_guard lock(mutex);
          items_[i].error = e;
        }
        session_.progress().update(static_cast<double>(++done) / static_cast<double>(jobs.size()),
                                   items_[i].input.c_str());
      }
    };
    std::vector<std::thread> threads;
    const std::size_t count = std::min<std::size_t>(request_.jobs, jobs.size());
    for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    for (const Item& item : items_)
      if (item.error && item.error->code() == OMEN_CANCELLED) throw *item.error;
  }

  std::string title(const std::string& input, const Tables& tables) const {
    const GraphFacts facts = graph_facts(tables);
    return fs::path(input).filename().string() + ": " + std::to_string(facts.nodes) + " nodes, " +
           std::to_string(facts.edges) + " edges";
  }

  void write_one(const fs::path& path, const std::string& name, const Tables& tables) {
    const std::string suffix = path.extension().string();
    if (const fs::path parent = path.parent_path(); !parent.empty()) fs::create_directories(parent);
    if (suffix == ".omt")
      write_dataset(path, tables);
    else if (suffix == ".json")
      write_text(path, graph_json(tables));
    else if (suffix == ".dot")
      write_text(path, graph_dot(tables, title(name, tables), request_.max_nodes));
    else if (suffix == ".svg")
      write_svg(path, graph_dot(tables, title(name, tables), request_.max_nodes));
    else
      write_with_plugin(path, tables);
    written_.push_back(path.string());
  }

  void write_with_plugin(const fs::path& path, const Tables& tables) {
    MemoryDataset dataset;
    for (const auto& [name, table] : tables) dataset.put(name, table);
    const RunContext run(session_.components().settings().run,
                         session_.components().settings().hooks);
    session_.components().write_graph(*writer_, run.c(), dataset.c(), path.string());
  }

  void write_output() {
    if (one_file_each()) {
      for (const Item& item : items_) {
        if (!item.lowered) continue;
        std::string path = request_.output;
        path.replace(path.find('%'), 1, fs::path(item.input).stem().string());
        if (std::find(written_.begin(), written_.end(), path) != written_.end())
          usage_error("two inputs would be written to " + path, "give files with different names");
        write_one(path, item.input, item.lowered->tables);
      }
      return;
    }
    std::vector<Lowered> inputs;
    for (const Item& item : items_)
      if (item.lowered) inputs.push_back(*item.lowered);
    const std::vector<Batch> batches = make_batches(std::move(inputs));
    if (batches.size() > 1)
      usage_error("these inputs give different kinds of graphs, which do not fit into one file",
                  "write one file each with % in the name: -o '%" +
                      fs::path(request_.output).extension().string() + "'");
    write_one(request_.output, items_.size() == 1 ? items_[0].input : request_.output,
              batches[0].tables);
  }

  void show() const {
    if (globals().json) return print(facts_json());
    if (!written_.empty()) {
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
      const GraphFacts f = graph_facts(item.lowered->tables);
      table.add({item.input,
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
      json.object().field("input", item.input);
      if (item.lowered) {
        const GraphFacts f = graph_facts(item.lowered->tables);
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
};

}  // namespace

int run_graph(const Globals& globals, const GraphRequest& request) {
  return GraphVerb(globals, request).run();
}

}  // namespace omen::host::cli
