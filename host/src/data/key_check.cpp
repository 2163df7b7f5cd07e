// SPDX-License-Identifier: Apache-2.0
// External sort of key digests.
#include "data/key_check.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <queue>
#include <string>
#include <vector>

#include "omen/error.hpp"

namespace omen::host {
namespace {

struct Record {
  std::uint64_t high, low;
  std::int64_t line;
  bool operator<(const Record& other) const {
    if (high != other.high) return high < other.high;
    if (low != other.low) return low < other.low;
    return line < other.line;
  }
  bool same_key(const Record& other) const { return high == other.high && low == other.low; }
};

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Multiply and fold eight bytes at a time; odd constants from the digits of pi and e.
std::uint64_t digest(std::string_view text, std::uint64_t seed) {
  constexpr std::uint64_t kPi = 0x243F6A8885A308D3, kE = 0xB7E151628AED2A6B;
  std::uint64_t state = seed ^ mix(text.size() ^ kPi, kE);
  while (!text.empty()) {
    std::uint64_t word = 0;
    const std::size_t size = std::min(text.size(), sizeof word);
    std::memcpy(&word, text.data(), size);
    state = mix(state ^ kE, word ^ seed ^ (kPi + size));
    state = (state << 29 | state >> 35) + seed;
    text.remove_prefix(size);
  }
  return mix(state ^ kPi, seed | 1) ^ state;
}

}  // namespace

class KeyCheck::Impl {
 public:
  Impl(std::filesystem::path directory, std::size_t run_keys)
      : directory_(std::move(directory)), run_keys_(run_keys) {}
  ~Impl() {
    if (fd_ >= 0) ::close(fd_);
  }

  void add(std::string_view key, std::int64_t line) {
    if (records_.capacity() == 0) records_.reserve(std::min<std::size_t>(run_keys_, 4096));
    records_.push_back({digest(key, 0x9E3779B97F4A7C15), digest(key, 0xC2B2AE3D27D4EB4F), line});
    if (records_.size() >= run_keys_) write_run();
  }

  std::optional<Duplicate> find_duplicate() {
    std::sort(records_.begin(), records_.end());
    std::vector<Run> runs;
    for (const Extent& extent : extents_) runs.emplace_back(*this, extent);
    runs.emplace_back(*this, std::move(records_));
    const auto later = [&](std::size_t a, std::size_t b) {
      return runs[b].front() < runs[a].front();
    };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> heads(later);
    for (std::size_t i = 0; i < runs.size(); ++i)
      if (!runs[i].empty()) heads.push(i);
    std::optional<Duplicate> best;
    std::optional<Record> before;
    while (!heads.empty()) {
      const std::size_t run = heads.top();
      heads.pop();
      const Record record = runs[run].front();
      if (before && before->same_key(record)) {
        if (!best || record.line < best->line) best = Duplicate{before->line, record.line};
      } else {
        before = record;
      }
      runs[run].pop();
      if (!runs[run].empty()) heads.push(run);
    }
    return best;
  }

 private:
  struct Extent {
    std::uint64_t offset, count;
  };

  // A sorted run that is read back in pieces.
  class Run {
   public:
    Run(const Impl& owner, Extent extent) : owner_(&owner), rest_(extent) { fill(); }
    Run(const Impl& owner, std::vector<Record> records)
        : owner_(&owner), rest_{0, 0}, piece_(std::move(records)) {}
    bool empty() const { return at_ == piece_.size(); }
    const Record& front() const { return piece_[at_]; }
    void pop() {
      if (++at_ == piece_.size() && rest_.count > 0) fill();
    }

   private:
    void fill() {
      constexpr std::uint64_t kPiece = 8192;
      const std::uint64_t count = std::min(kPiece, rest_.count);
      piece_.resize(count);
      owner_->read(rest_.offset, piece_);
      rest_.offset += count * sizeof(Record);
      rest_.count -= count;
      at_ = 0;
    }
    const Impl* owner_;
    Extent rest_;
    std::vector<Record> piece_;
    std::size_t at_ = 0;
  };

  void write_run() {
    std::sort(records_.begin(), records_.end());
    if (fd_ < 0) open_file();
    const char* at = reinterpret_cast<const char*>(records_.data());
    std::size_t size = records_.size() * sizeof(Record);
    extents_.push_back({end_, records_.size()});
    while (size > 0) {
      const ssize_t count = ::pwrite(fd_, at, size, static_cast<off_t>(end_));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("write");
      at += count;
      size -= static_cast<std::size_t>(count);
      end_ += static_cast<std::uint64_t>(count);
    }
    records_.clear();
  }
  void open_file() {
    std::string name = (directory_ / ".omen-keys-XXXXXX").string();
    fd_ = ::mkstemp(name.data());
    if (fd_ < 0) fail("create");
    ::unlink(name.c_str());
  }
  void read(std::uint64_t offset, std::vector<Record>& records) const {
    char* at = reinterpret_cast<char*>(records.data());
    for (std::size_t size = records.size() * sizeof(Record); size > 0;) {
      const ssize_t count = ::pread(fd_, at, size, static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) fail("read");
      at += count;
      offset += static_cast<std::uint64_t>(count);
      size -= static_cast<std::size_t>(count);
    }
  }
  [[noreturn]] void fail(const char* what) const {
    throw Error(OMEN_IO,
                std::string("cannot ") + what + " a temporary file in '" + directory_.string() +
                    "': " + std::strerror(errno),
                "Check that the directory is writable and has room.");
  }

  std::filesystem::path directory_;
  std::size_t run_keys_;
  std::vector<Record> records_;
  std::vector<Extent> extents_;
  int fd_ = -1;
  std::uint64_t end_ = 0;
};

KeyCheck::KeyCheck(std::filesystem::path directory, std::size_t run_keys)
    : impl_(std::make_unique<Impl>(std::move(directory), run_keys)) {}
KeyCheck::~KeyCheck() = default;

void KeyCheck::add(std::string_view key, std::int64_t line) {
  impl_->add(key, line);
}
std::optional<KeyCheck::Duplicate> KeyCheck::find_duplicate() {
  return impl_->find_duplicate();
}

}  // namespace omen::host
