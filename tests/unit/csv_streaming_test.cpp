// SPDX-License-Identifier: Apache-2.0
// CSV of any length is read in constant memory.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <istream>
#include <sstream>

#include "omen/instrumented.hpp"
#include "omen/join.hpp"
#include "tables/table_io.hpp"

namespace omen::host {
namespace {

using ::testing::StartsWith;

// Rows of a long CSV file made on the fly, so that nothing holds it in memory.
class Generator : public std::streambuf {
 public:
  Generator(std::string header, std::string row, std::int64_t rows)
      : text_(std::move(header)), row_(std::move(row)), left_(rows) {
    setg(text_.data(), text_.data(), text_.data() + text_.size());
  }

 protected:
  int_type underflow() override {
    if (left_ <= 0) return traits_type::eof();
    text_.clear();
    for (int i = 0; i < 4096 && left_ > 0; ++i, --left_) text_ += row_;
    setg(text_.data(), text_.data(), text_.data() + text_.size());
    return traits_type::to_int_type(text_[0]);
  }

 private:
  std::string text_, row_;
  std::int64_t left_;
};

// Sanitizers keep freed memory for a while and are slow, so there the length is what counts.
#if OMEN_INSTRUMENTED
constexpr std::int64_t kManyRows = 500'000;
constexpr long kPeakKib = 600'000;
#else
constexpr std::int64_t kManyRows = 10'000'000;  // 220 MB
constexpr long kPeakKib = 100'000;
#endif

long peak_kib() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(CsvStreaming, StreamsAnyLengthInConstantMemory) {
  Generator source("a,b,c\n", "123456,0.25,some text\n", kManyRows);
  std::istream in(&source);
  const long before = peak_kib();
  TableStream stream = stream_csv(in, "f");
  std::int64_t rows = 0, batches = 0;
  double sum = 0;
  while (const auto table = stream.next()) {
    rows += table->rows();
    ++batches;
    sum += table->column<double>("b")[0];
  }
  EXPECT_EQ(rows, kManyRows);
  EXPECT_EQ(batches, (rows + 65535) / 65536);
  EXPECT_EQ(sum, 0.25 * static_cast<double>(batches));
  EXPECT_LT(peak_kib() - before, kPeakKib);
}

TEST(CsvStreaming, AnUnclosedQuoteDoesNotEatThePipe) {
  Generator source("a\n\"", "some text that never ends\n", 100'000'000);
  std::istream in(&source);
  const long before = peak_kib();
  try {
    stream_csv(in, "f");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), StartsWith("f:2:1: row is longer than 64 MiB"));
  }
  EXPECT_LT(peak_kib() - before, 600'000);
}

TEST(CsvStreaming, BatchesAlsoEndByBytes) {
  ReadOptions options;
  options.batch_bytes = 1000;
  std::istringstream in("a\n" + join_lines(std::vector<std::string>(100, std::string(99, 'x'))));
  TableStream stream = stream_csv(in, "f", options);
  EXPECT_EQ(stream.next()->rows(), 10);
}

}  // namespace
}  // namespace omen::host
