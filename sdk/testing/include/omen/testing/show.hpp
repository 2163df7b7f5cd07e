// SPDX-License-Identifier: Apache-2.0
// Acceptance figures: SHOW lines with goals, control runs and the clocks that they are measured by.
#ifndef OMEN_TESTING_SHOW_HPP
#define OMEN_TESTING_SHOW_HPP

#include <sys/resource.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace omen::test {

// The exit code of a check that cannot run here.
constexpr int kSkipped = 77;

// Control runs break what is measured and must then miss the goal.
inline bool broken() {
  return std::getenv("OMEN_SHOW_BREAK") != nullptr;
}

// User and system seconds of this process, or of its children that ended.
inline double cpu_seconds(int who = RUSAGE_SELF) {
  rusage usage{};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

template <class Work>
double cpu_seconds_of(const Work& work) {
  const double start = cpu_seconds();
  work();
  return cpu_seconds() - start;
}

namespace detail {

// Counts are printed whole, measured values with the digits that mean something.
inline void print_figure(const std::string& name, double value, const std::string& unit) {
  const bool count = value == std::floor(value) && std::fabs(value) < 1e15;
  std::printf(count ? "SHOW %s %.0f %s goal " : "SHOW %s %.4g %s goal ", name.c_str(), value,
              unit.c_str());
}

}  // namespace detail

// A figure without a goal; `unit` is one word.
inline void show(const std::string& name, double value, const std::string& unit) {
  detail::print_figure(name, value, unit);
  std::printf("none\n");
  std::fflush(stdout);
}

// A figure with its goal, where `op` is one of < <= == >= >. Returns what a check exits with: 0
// where the goal is met, else 1.
inline int show(const std::string& name, double value, const std::string& unit,
                const std::string& op, double bound) {
  detail::print_figure(name, value, unit);
  std::printf("%s %g\n", op.c_str(), bound);
  std::fflush(stdout);
  const bool met = op == "<="   ? value <= bound
                   : op == "<"  ? value < bound
                   : op == ">=" ? value >= bound
                   : op == ">"  ? value > bound
                                : value == bound;
  return met ? 0 : 1;
}

}  // namespace omen::test

#endif  // OMEN_TESTING_SHOW_HPP
