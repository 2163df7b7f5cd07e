// SPDX-License-Identifier: Apache-2.0
// Has graphviz draw a graph, and lets a browser react to the pointer.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "graphs/graph_output.hpp"
#include "omen/pending_file.hpp"
#include "worker/child_process.hpp"
#include "worker/machine.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

// A browser lights up the edges of the node under the pointer, and names their other ends.
constexpr std::string_view kHover = R"svg(<style>
.node, .edge { transition: opacity .12s }
.node:hover { cursor: pointer }
svg.lit .edge, svg.lit .node { opacity: .18 }
svg.lit .edge.on, svg.lit .node.on { opacity: 1 }
svg.lit .edge.on path { stroke-width: 2.6 }
</style>
<script><![CDATA[
addEventListener("DOMContentLoaded", () => {
  const root = document.documentElement, name = g => g.querySelector("title").textContent;
  const nodes = new Map([...root.querySelectorAll(".node")].map(g => [name(g), g]));
  const edges = [...root.querySelectorAll(".edge")].map(g =>
    [g, ...name(g).split("->").map(end => end.split(":")[0])]);
  const light = of => {
    root.classList.toggle("lit", of !== null);
    for (const g of root.querySelectorAll(".on")) g.classList.remove("on");
    if (of === null) return;
    nodes.get(of).classList.add("on");
    for (const [g, from, to] of edges)
      if (from === of || to === of)
        for (const lit of [g, nodes.get(from), nodes.get(to)]) lit.classList.add("on");
  };
  for (const [key, g] of nodes) {
    if (key === "legend" || key === "hidden") continue;
    g.addEventListener("mouseenter", () => light(key));
    g.addEventListener("mouseleave", () => light(null));
  }
  root.dataset.ready = "yes";
});
]]></script>
)svg";

// Puts the reaction to the pointer behind the opening tag of the drawing.
void add_hover(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  in.close();
  const std::size_t tag = text.find("<svg");
  const std::size_t end = tag == std::string::npos ? tag : text.find('>', tag);
  if (end == std::string::npos) return;
  text.insert(end + 1, "\n" + std::string(kHover));
  replace_file(path, text);
}

// A file of our own with a name that nobody can guess, removed at the end.
class DotFile {
 public:
  explicit DotFile(const std::string& text)
      : name_((fs::temp_directory_path() / "omen-XXXXXX.dot").string()) {
    const Descriptor file(mkostemps(name_.data(), 4, O_CLOEXEC));
    for (std::size_t done = 0; file.open() && done < text.size();) {
      const ssize_t count = write(file.get(), text.data() + done, text.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) fail();
      done += static_cast<std::size_t>(count);
    }
    if (!file.open()) fail();
  }
  ~DotFile() { unlink(name_.c_str()); }
  DotFile(const DotFile&) = delete;
  DotFile& operator=(const DotFile&) = delete;
  const std::string& name() const noexcept { return name_; }

 private:
  [[noreturn]] void fail() const {
    const std::string why = std::strerror(errno);
    unlink(name_.c_str());
    throw Error(OMEN_IO, "cannot write a graph to " + name_ + ": " + why,
                "Set TMPDIR to a directory that you may write to and that has room.");
  }

  std::string name_;
};

}  // namespace

void write_svg(const fs::path& path, const std::string& dot_text) {
  constexpr std::chrono::seconds kPatience{120};
  const fs::path program = find_program("dot");
  if (program.empty())
    throw Error(OMEN_UNAVAILABLE,
                "drawing needs the program 'dot' of graphviz, which is not installed",
                "apt install graphviz, or write " + path.stem().string() + ".dot instead");
  const DotFile source(dot_text);
  SpawnRequest request;
  request.program = program;
  request.arguments = {"-Tsvg", "-o", path.string(), source.name()};
  ChildProcess child(std::move(request));
  const bool ended = child.wait_end(kPatience);
  if (!ended) {
    child.kill();
    throw Error(OMEN_TIMEOUT,
                "dot did not finish the layout of " + path.string() + " within two minutes",
                "draw fewer nodes with --max-nodes");
  }
  if (!child.end_reason().empty())
    throw Error(OMEN_IO, "dot failed on " + path.string() + " (" + child.end_reason() +
                             "): " + child.stderr_tail());
  add_hover(path);
}

}  // namespace omen::host
