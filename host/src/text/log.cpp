// SPDX-License-Identifier: Apache-2.0
// Sets spdlog up on the first message, because most commands never log.
#include "text/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

namespace omen::host {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{8} << 20;
constexpr std::size_t kMaxFiles = 3;

spdlog::level::level_enum spdlog_level(std::int32_t level) {
  return static_cast<spdlog::level::level_enum>(std::clamp(level, 0, 4));
}

class Log {
 public:
  static Log& get() {
    static auto* const log = new Log;  // plugins may log until the very end of the process
    return *log;
  }

  template <class Change>
  void change(Change&& change) {
    const std::lock_guard lock(mutex_);
    change(settings_);
    logger_.reset();  // made again by the next message that passes
    lowest_ = settings_.file.empty() ? settings_.level
                                     : std::min<std::int32_t>(settings_.level, OMEN_LOG_DEBUG);
  }

  bool enabled(std::int32_t level) const noexcept { return level >= lowest_; }

  void forward(LogTaker take) {
    const std::lock_guard lock(mutex_);
    take_ = std::move(take);
  }
  void write(std::int32_t level, std::string_view who, std::string_view message) {
    const std::lock_guard lock(mutex_);
    if (take_) return take_(level, who, message);
    if (settings_.forward && level >= settings_.level) settings_.forward(level, who, message);
    if (!logger_) open();
    logger_->log(spdlog_level(level), "[{}] {}", fmt::string_view(who.data(), who.size()),
                 fmt::string_view(message.data(), message.size()));
  }

  void flush() {
    const std::lock_guard lock(mutex_);
    if (logger_) logger_->flush();
  }

 private:
  void open() {
    std::vector<spdlog::sink_ptr> sinks;
    if (!settings_.forward) {
      auto screen = std::make_shared<spdlog::sinks::stderr_sink_mt>();
      screen->set_level(spdlog_level(settings_.level));
      screen->set_pattern("%l: %v");
      sinks.push_back(std::move(screen));
    }
    if (!settings_.file.empty()) {
      auto file = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(settings_.file.string(),
                                                                         kMaxFileBytes, kMaxFiles);
      file->set_formatter(std::make_unique<spdlog::pattern_formatter>(
          "%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc));
      sinks.push_back(std::move(file));
    }
    logger_ = std::make_unique<spdlog::logger>("omen", sinks.begin(), sinks.end());
    logger_->set_level(spdlog_level(lowest_));
    logger_->flush_on(spdlog::level::warn);
  }

  std::mutex mutex_;
  LogSettings settings_;
  std::unique_ptr<spdlog::logger> logger_;
  LogTaker take_;
  std::atomic<std::int32_t> lowest_{OMEN_LOG_WARN};
};

}  // namespace

void configure_log(LogSettings settings) {
  Log::get().change([&](LogSettings& current) { current = std::move(settings); });
}

void set_log_level(std::int32_t level) {
  Log::get().change([&](LogSettings& current) { current.level = level; });
}

bool log_enabled(std::int32_t level) noexcept {
  return Log::get().enabled(level);
}

void forward_log(LogTaker take) {
  Log::get().forward(std::move(take));
}
void flush_log() {
  Log::get().flush();
}

void log(std::int32_t level, std::string_view who, std::string_view message) {
  if (Log::get().enabled(level)) Log::get().write(level, who, message);
}

}  // namespace omen::host
