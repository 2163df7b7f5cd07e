// SPDX-License-Identifier: Apache-2.0
// A drawing of a graph in headless Chromium: the node under the pointer lights up its edges.
#include <gmock/gmock.h>

#include <memory>

#include "browser.hpp"
#include "graphs/graph_output.hpp"
#include "worker/machine.hpp"

namespace omen::test {
namespace {

using testing::IsEmpty;

// A chain of `count` instructions in blocks of ten; each also uses the one two before it.
host::Tables chain(int count) {
  std::vector<std::int32_t> node, block, src, dst;
  std::vector<std::string> op, kind;
  for (int i = 0; i < count; ++i) {
    node.push_back(i);
    block.push_back(i / 10);
    op.emplace_back(i % 10 == 9 ? "br" : "add");
    for (const int back : {1, 2})
      if (i >= back) {
        src.push_back(i - back);
        dst.push_back(i);
        kind.emplace_back(back == 1 ? "control" : "data");
      }
  }
  TableBuilder nodes, edges;
  nodes.add("graph_id", std::vector<std::int64_t>(node.size(), 0))
      .add("node_id", node)
      .add_categories("op", op)
      .add_categories("type", std::vector<std::string>(node.size(), "instruction"))
      .add_categories("function", std::vector<std::string>(node.size(), "k"))
      .add("block", block);
  edges.add("graph_id", std::vector<std::int64_t>(src.size(), 0))
      .add("src", src)
      .add("dst", dst)
      .add_categories("kind", kind);
  return {{"nodes", nodes.finish()}, {"edges", edges.finish()}};
}

class Drawing : public testing::Test {
 protected:
  void SetUp() override {
    if (find_browser().empty())
      GTEST_SKIP() << "no browser: install chromium, or name one in OMEN_BROWSER";
    if (host::find_program("dot").empty()) GTEST_SKIP() << "no dot: install graphviz";
    browser_ = std::make_unique<Browser>(find_browser());
  }
  void TearDown() override {
    if (!browser_) return;
    EXPECT_THAT(browser_->complaints(), IsEmpty());
    EXPECT_THAT(browser_->requests(), IsEmpty());
  }
  void open(int nodes) {
    const std::filesystem::path file = directory_.path() / "graph.svg";
    host::write_svg(file, host::graph_dot(chain(nodes), "a chain", 1000));
    browser_->open(file, 1200, false);
  }
  int count(const std::string& selector) {
    return browser_->evaluate("document.querySelectorAll('" + selector + "').length");
  }
  void point(const std::string& node, const char* event) {
    browser_->evaluate(
        "[...document.querySelectorAll('.node')].find(g => "
        "g.querySelector('title').textContent === '" +
        node + "').dispatchEvent(new MouseEvent('" + event + "'))");
  }

  TempDir directory_;
  std::unique_ptr<Browser> browser_;
};

TEST_F(Drawing, LightsUpWhatTheNodeUnderThePointerTouches) {
  open(12);
  EXPECT_EQ(count(".node"), 13) << "with the legend";
  EXPECT_EQ(count(".cluster"), 3) << "a function of two blocks";
  EXPECT_EQ(count(".on"), 0);
  point("g0_5", "mouseenter");
  EXPECT_EQ(count("svg.lit"), 1);
  EXPECT_EQ(count(".edge.on"), 4);
  EXPECT_EQ(count(".node.on"), 5);
  point("g0_5", "mouseleave");
  EXPECT_EQ(count(".on"), 0);
}

TEST_F(Drawing, LightsUpWholeBlocksOfListings) {
  open(200);
  EXPECT_EQ(count(".node"), 21) << "twenty blocks and the legend";
  point("g0_f0b3", "mouseenter");
  EXPECT_EQ(count(".node.on"), 3);
  EXPECT_EQ(count(".edge.on"), 6) << "one control edge and two of data on each side";
}

}  // namespace
}  // namespace omen::test
