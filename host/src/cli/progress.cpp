// SPDX-License-Identifier: Apache-2.0
// Draws from its own thread, so that a component which reports nothing still shows signs of life.
#include "progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace omen::host {
namespace {

constexpr std::chrono::milliseconds kDelay{600};
constexpr std::chrono::milliseconds kFrame{100};
constexpr const char* kClear = "\r\033[K";

void write_stderr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(STDERR_FILENO, text.data(), text.size());
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::string bar(double fraction, int cells) {
  static constexpr const char* kEighths[] = {"",       "\u258f", "\u258e", "\u258d",
                                             "\u258c", "\u258b", "\u258a", "\u2589"};
  const int eighths = static_cast<int>(std::lround(fraction * cells * 8));
  std::string out;
  for (int i = 0; i < eighths / 8; ++i) out += "\u2588";
  out += kEighths[eighths % 8];
  for (int i = (eighths + 7) / 8; i < cells; ++i) out += "\u00b7";
  return out;
}

}  // namespace

std::string progress_line(const ProgressState& state, int width, bool colour) {
  static constexpr const char* kSpinner[] = {"|", "/", "-", "\\"};
  const double fraction = std::min(state.fraction, 1.0);
  std::string tail;
  if (fraction >= 0) {
    char percent[8];
    std::snprintf(percent, sizeof percent, " %3.0f%%", fraction * 100);
    tail = percent;
    // An estimate from the first percent of the work would only mislead.
    if (fraction > 0.01 && fraction < 1 && state.elapsed > 1)
      tail += ", " + format_duration(state.elapsed * (1 - fraction) / fraction) + " left";
  } else {
    tail = std::string(" ") + kSpinner[static_cast<int>(state.elapsed * 10) % 4] + " " +
           format_duration(state.elapsed);
  }
  std::string head = state.title;
  if (!state.stage.empty() && state.stage != state.title) head += ": " + state.stage;
  // The last column stays free: writing there makes some terminals wrap.
  const int room = width - 1 - display_width(tail);
  if (room < 4) return clip(head, width - 1);
  const int cells = fraction >= 0 ? std::clamp(room / 3, 0, 30) : 0;
  std::string line = clip(head, std::max(1, room - cells - 1));
  if (cells >= 5) line += " " + paint(bar(fraction, cells), Style::kAccent, colour);
  return line + tail;
}

Progress::Progress(std::string title, bool enabled)
    : Progress(std::move(title), enabled ? terminal_of(STDERR_FILENO) : Terminal{}, write_stderr,
               kDelay) {}

Progress::Progress(std::string title, const Terminal& terminal, Write write,
                   std::chrono::milliseconds delay)
    : terminal_(terminal), write_(std::move(write)), start_(std::chrono::steady_clock::now()) {
  state_.title = std::move(title);
  if (terminal_.tty) thread_ = std::thread([this, delay] { loop(delay); });
}

Progress::~Progress() {
  finish();
}

void Progress::update(double fraction, const char* stage) {
  if (!terminal_.tty) return;
  const std::lock_guard lock(mutex_);
  state_.fraction = fraction;
  if (stage) state_.stage = stage;
}

void Progress::finish() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  wake_.notify_all();
  thread_.join();
  if (drawn_) write_(kClear);
}

void Progress::loop(std::chrono::milliseconds delay) {
  std::unique_lock lock(mutex_);
  auto pause = delay;
  while (!wake_.wait_for(lock, pause, [this] { return done_; })) {
    draw();
    pause = kFrame;
  }
}

void Progress::draw() {
  using Seconds = std::chrono::duration<double>;
  state_.elapsed = Seconds(std::chrono::steady_clock::now() - start_).count();
  write_(kClear + progress_line(state_, terminal_.width, terminal_.colour));
  drawn_ = true;
}

}  // namespace omen::host
