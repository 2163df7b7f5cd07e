// SPDX-License-Identifier: Apache-2.0
// Writes every form of a made-up comparison, so that reports can be looked at without an engine.
#include <filesystem>
#include <fstream>
#include <iostream>

#include "report/report.hpp"
#include "support/sample_comparison.hpp"

int main(int argc, char** argv) {
  using namespace omen;
  if (argc != 3) {
    std::cerr << "usage: sample_report two|class|decision|many|hostile|large DIRECTORY\n";
    return 2;
  }
  try {
    const host::Comparison comparison = test::sample_comparison(test::sample_shape(argv[1]));
    const std::filesystem::path directory = argv[2];
    std::filesystem::create_directories(directory);
    const auto file = [&](const char* name) { return std::ofstream(directory / name); };
    file("compare.html") << host::report_html(comparison);
    file("compare.json") << host::report_json(comparison);
    file("compare.md") << host::report_markdown(comparison);
    std::ofstream losses = file("losses.csv");
    host::report_csv(losses, comparison);
    std::cout << host::report_text(comparison, host::terminal_of(1));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
}
