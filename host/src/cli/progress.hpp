// SPDX-License-Identifier: Apache-2.0
// A progress line on a terminal: appears when something takes longer than a moment, leaves nothing
// behind.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "text/render.hpp"

namespace omen::host {

// What the line says at one instant; pure, so that it can be tested without a terminal.
struct ProgressState {
  std::string title;     // "train baseline.gbt"
  std::string stage;     // what the component says it is doing
  double fraction = -1;  // below 0: unknown
  double elapsed = 0;    // seconds
};
std::string progress_line(const ProgressState& state, int width, bool colour);

// Draws on stderr while it lives. Does nothing unless stderr is a tty and `enabled`. [any-thread]
class Progress {
 public:
  using Write = std::function<void(std::string_view)>;

  Progress(std::string title, bool enabled);
  // For tests: any terminal, any sink, and how long to wait before the first drawing.
  Progress(std::string title, const Terminal& terminal, Write write,
           std::chrono::milliseconds delay);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(double fraction, const char* stage);
  // Removes the line and stops drawing; what follows may print.
  void finish();

 private:
  void loop(std::chrono::milliseconds delay);
  void draw();

  Terminal terminal_;
  Write write_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false, drawn_ = false;
  ProgressState state_;
  std::chrono::steady_clock::time_point start_;
  std::thread thread_;
};

}  // namespace omen::host
