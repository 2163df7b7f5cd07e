// SPDX-License-Identifier: Apache-2.0
// The progress line: its text at any width, and that nothing of it stays behind.
#include "cli/progress.hpp"

#include <gmock/gmock.h>

#include <mutex>

namespace omen::host {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(ProgressLine, ShowsShareAndTimeLeft) {
  const std::string line = progress_line({"train", "epoch 3", 0.25, 10}, 80, false);
  EXPECT_THAT(line, HasSubstr("train: epoch 3"));
  EXPECT_THAT(line, HasSubstr("25%"));
  EXPECT_THAT(line, HasSubstr("30.0 s left"));
}

TEST(ProgressLine, GivesNoEstimateFromAlmostNothing) {
  EXPECT_THAT(progress_line({"train", "", 0.001, 10}, 80, false), Not(HasSubstr("left")));
}

TEST(ProgressLine, WithoutAShareSaysHowLongItTook) {
  const std::string line = progress_line({"predict", "", -1, 3.25}, 80, false);
  EXPECT_THAT(line, HasSubstr("3.2 s"));
  EXPECT_THAT(line, Not(HasSubstr("%")));
}

TEST(ProgressLine, NeverReachesTheLastColumn) {
  for (int width = 1; width <= 200; ++width)
    for (const double fraction : {-1.0, 0.0, 0.5, 1.0, 1.5}) {
      const ProgressState state{"train baseline.gbt", "a stage with \u00fcmlauts and more text",
                                fraction, 100};
      EXPECT_LT(display_width(progress_line(state, width, false)), std::max(width, 2))
          << width << " " << fraction;
    }
}

class Screen {
 public:
  Progress::Write write() {
    return [this](std::string_view text) {
      const std::lock_guard lock(mutex_);
      text_ += text;
    };
  }
  std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }
  bool wait_for_text() {
    for (int i = 0; i < 500 && text().empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return !text().empty();
  }

 private:
  std::mutex mutex_;
  std::string text_;
};

constexpr Terminal kTerminal{true, false, 60};

TEST(Progress, DrawsAndClears) {
  Screen screen;
  Progress progress("predict", kTerminal, screen.write(), std::chrono::milliseconds(1));
  progress.update(0.5, "rows");
  ASSERT_TRUE(screen.wait_for_text());
  progress.finish();
  EXPECT_THAT(screen.text(), EndsWith("\r\033[K"));
  const std::string before = screen.text();
  progress.update(0.9, "late");
  progress.finish();
  EXPECT_EQ(screen.text(), before);
}

TEST(Progress, StaysSilentWhenItIsQuick) {
  Screen screen;
  {
    Progress progress("predict", kTerminal, screen.write(), std::chrono::hours(1));
    progress.update(0.5, "rows");
  }
  EXPECT_EQ(screen.text(), "");
}

TEST(Progress, StaysSilentWithoutATerminal) {
  Screen screen;
  {
    Progress progress("predict", Terminal{}, screen.write(), std::chrono::milliseconds(0));
    progress.update(0.5, "rows");
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  EXPECT_EQ(screen.text(), "");
}

TEST(Progress, MayBeUpdatedFromSeveralThreads) {
  Screen screen;
  Progress progress("predict", kTerminal, screen.write(), std::chrono::milliseconds(1));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) progress.update(i / 1000.0, "work");
    });
  for (std::thread& thread : threads) thread.join();
  progress.finish();
  SUCCEED();
}

}  // namespace
}  // namespace omen::host
