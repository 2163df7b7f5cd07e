// SPDX-License-Identifier: Apache-2.0
// A file and options to a job.
#include "onnx_frontend.hpp"

#include <filesystem>
#include <omen/host.hpp>
#include <omen/onnx/read_onnx.hpp>
#include <omen/opgraph/tables.hpp>
#include <omen/opgraph/words.hpp>

#include "graph_file.hpp"

namespace omen::driple {

int OnnxFrontend::sniff(const char* path, std::string_view head) {
  if (head.data() == nullptr || path == nullptr || head.empty()) return 0;
  const std::string_view name(path);
  const bool suffix = name.size() > 5 && name.substr(name.size() - 5) == ".onnx";
  return suffix && head[0] == '\x08' ? 95 : suffix ? 50 : 0;
}

void OnnxFrontend::lower(const char* path, const TablesOut& out, const Run&) {
  const std::string content = read_graph_file(path, "driple.onnx", "Give an .onnx file.");
  onnxgraph::OnnxRun run;
  run.mode = options_.train ? opgraph::Mode::train : *opgraph::mode_of(options_.mode);
  run.batch = options_.batch;
  run.sequence = options_.sequence;
  run.precision = opgraph::precision_of(options_.precision);  // nothing for "file"
  run.optimizer = *opgraph::optimizer_of(options_.optimizer);
  const std::string name = std::filesystem::path(path).stem().string();
  const onnxgraph::OnnxJob result = onnxgraph::read_onnx(content, name, run);
  for (const std::string& sentence : result.warnings)
    log(OMEN_LOG_WARN, "driple.onnx", name + ": " + sentence);
  const std::vector<opgraph::Job> jobs = {result.job};
  opgraph::put_jobs(jobs, out);
}

}  // namespace omen::driple
