// SPDX-License-Identifier: Apache-2.0
// Sets spdlog up on the first message, because most commands never log.
#include "log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>

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
  void set_level(std::int32_t level) {
    const std::lock_guard lock(mutex_);
    level_ = level;
    reset();
  }
  void set_file(const std::filesystem::path& file) {
    const std::lock_guard lock(mutex_);
    file_ = file;
    reset();
  }
  bool enabled(std::int32_t level) const noexcept { return level >= lowest_; }
  void write(std::int32_t level, std::string_view who, std::string_view message) {
    const std::lock_guard lock(mutex_);
    if (!logger_) open();
    logger_->log(spdlog_level(level), "[{}] {}", fmt::string_view(who.data(), who.size()),
                 fmt::string_view(message.data(), message.size()));
  }
  void flush() {
    const std::lock_guard lock(mutex_);
    if (logger_) logger_->flush();
  }

 private:
  // The sinks are made by the next message that passes.
  void reset() {
    logger_.reset();
    lowest_ = file_.empty() ? level_ : std::min<std::int32_t>(level_, OMEN_LOG_DEBUG);
  }
  void open() {
    auto screen = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    screen->set_level(spdlog_level(level_));
    screen->set_pattern("%l: %v");
    std::vector<spdlog::sink_ptr> sinks{screen};
    if (!file_.empty()) {
      auto file = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(file_.string(),
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
  std::int32_t level_ = OMEN_LOG_WARN;
  std::filesystem::path file_;
  std::unique_ptr<spdlog::logger> logger_;
  std::atomic<std::int32_t> lowest_{OMEN_LOG_WARN};
};

}  // namespace

void configure_log(const LogSettings& settings) {
  Log::get().configure(settings);
}
bool log_enabled(std::int32_t level) noexcept {
  return Log::get().enabled(level);
}
void flush_log() {
  Log::get().flush();
}

void log(std::int32_t level, std::string_view who, std::string_view message) {
  if (Log::get().enabled(level)) Log::get().write(level, who, message);
}

}  // namespace omen::host
