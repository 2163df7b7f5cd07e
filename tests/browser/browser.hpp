// SPDX-License-Identifier: Apache-2.0
// A headless browser driven through the DevTools protocol over a pipe.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "omen/testing/temp_dir.hpp"

namespace omen::test {

// A Chromium in PATH, or what OMEN_BROWSER names; empty where there is none.
std::filesystem::path find_browser();

class Browser {
 public:
  explicit Browser(const std::filesystem::path& program);
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  // Opens a page of this size and theme, and waits until it says that it is ready.
  void open(const std::filesystem::path& page, int width, bool dark);
  // The value of an expression, awaited if it is a promise; throws with the page's own error.
  nlohmann::json evaluate(const std::string& expression);
  // Until the expression is true; throws after some seconds.
  void wait_for(const std::string& expression);
  void screenshot(const std::filesystem::path& file);
  // What the page wrote to the console as a warning or error, and what it failed to load or run,
  // since open().
  const std::vector<std::string>& complaints() const { return complaints_; }
  // Addresses that the page asked for, apart from itself and data inside it.
  const std::vector<std::string>& requests() const { return requests_; }

 private:
  nlohmann::json call(const std::string& method, nlohmann::json parameters = {});
  nlohmann::json receive();
  void note(const nlohmann::json& event);

  TempDir profile_;
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1, next_id_ = 0;
  std::string session_, page_, buffer_;
  std::vector<std::string> complaints_, requests_;
};

}  // namespace omen::test
