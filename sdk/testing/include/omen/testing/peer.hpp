// SPDX-License-Identifier: Apache-2.0
// Beside a script of another package, in the same run: numbers to it, its figures back.
#ifndef OMEN_TESTING_PEER_HPP
#define OMEN_TESTING_PEER_HPP

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace omen::test {

// As numpy.fromfile reads them.
inline void write_numbers(const std::filesystem::path& file, const double* numbers,
                          std::size_t count) {
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(numbers),
             static_cast<std::streamsize>(count * sizeof(double)));
}

struct PeerFigure {
  double value = 0;  // seconds or a rate, as the script says
  double apart = 0;  // how far its answers are from ours
};

// The lines "NAME VALUE APART" that a command prints; empty where it fails.
inline std::map<std::string, PeerFigure> peer_figures(const std::string& command) {
  std::map<std::string, PeerFigure> figures;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return figures;
  char name[32];
  PeerFigure figure;
  while (std::fscanf(pipe, "%31s %lf %lf", name, &figure.value, &figure.apart) == 3)
    figures[name] = figure;
  if (::pclose(pipe) != 0) {
    std::fputs("error: the script failed\n", stderr);
    figures.clear();
  }
  return figures;
}

}  // namespace omen::test

#endif  // OMEN_TESTING_PEER_HPP
