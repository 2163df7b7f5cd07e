// SPDX-License-Identifier: Apache-2.0
// Several figures below each other on one page.
#pragma once

#include <omen/figure.hpp>
#include <string>
#include <utility>
#include <vector>

namespace omen::power {

// Each figure keeps its axes and gets a legend of its own; figures have one panel each. One column,
// so that the page reads on a narrow screen as on a wide one.
class ReportPage {
 public:
  explicit ReportPage(std::string title) : title_(std::move(title)) {}
  void add(const std::string& title, const Figure& figure) {
    if (!figure.empty()) parts_.emplace_back(title, figure.json());
  }
  std::size_t size() const { return parts_.size(); }
  // What put_figure takes.
  std::string json() const;

 private:
  std::string title_;
  std::vector<std::pair<std::string, std::string>> parts_;
};

}  // namespace omen::power
