// SPDX-License-Identifier: Apache-2.0
// Pipes generated CSV into `omen data import -` and shows the peak memory of that process.
//   import_memory NAME MEGABYTES LIMIT_MB OMEN
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "data/dataset.hpp"
#include "omen/testing/show.hpp"
#include "tables/table_io.hpp"

namespace {

namespace fs = std::filesystem;

// Keys, categories, numbers, gaps and quoted text: what a table of measurements has.
class Generator {
 public:
  void append_row(std::string& out) {
    const std::uint64_t bits = next();
    out += "run-";
    append(out, row_);
    out += ",network-";
    append(out, bits % 997);
    out += bits % 5 == 0 ? ",\"a, quoted\n" : ",\"plain ";
    append(out, bits >> 8 & 63);
    out += "\",";
    append(out, bits >> 16 & 4095);
    out += ',';
    if (bits % 11 != 0) append(out, static_cast<double>(bits >> 24 & 0xFFFFF) / 1024);
    for (int column = 0; column < 6; ++column) {
      out += ',';
      append(out, static_cast<double>(next() >> 44) / 4096);
    }
    out += '\n';
    ++row_;
  }
  std::uint64_t rows() const noexcept { return row_; }

 private:
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15;
    std::uint64_t z = (state_ ^ state_ >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }
  template <class T>
  static void append(std::string& out, T value) {
    char text[32];
    out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
  }
  std::uint64_t state_ = 1, row_ = 0;
};

// Fills the pipe; false where the reader has gone.
bool generate(int pipe, std::uint64_t bytes, std::uint64_t& rows) {
  Generator generator;
  std::string text = "name,network,remark,batch,time_ms,a,b,c,d,e,f\n";
  for (std::uint64_t written = 0; written < bytes;) {
    while (text.size() < std::size_t{1} << 20) generator.append_row(text);
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t count = ::write(pipe, text.data() + at, text.size() - at);
      if (count <= 0) return false;
      at += static_cast<std::size_t>(count);
    }
    written += text.size();
    text.clear();
  }
  rows = generator.rows();
  return true;
}

// The naive way, which the control run takes: the whole table in memory, then the file.
int import_in_memory(const fs::path& directory) {
  fs::create_directories(directory);
  std::ifstream in("/dev/stdin", std::ios::binary);
  const omen::Table table = omen::host::stream_csv(in, "standard input").read_all();
  omen::host::write_dataset(directory / "workloads.omt", {{"workloads", table}});
  return 0;
}

[[noreturn]] void run_child(int pipe, bool naive, const char* omen, const fs::path& directory) {
  ::dup2(pipe, 0);
  if (naive) {
    try {
      ::_exit(import_in_memory(directory));
    } catch (const std::exception& e) {
      std::fprintf(stderr, "error: %s\n", e.what());
      ::_exit(1);
    }
  }
  ::execl(omen, omen, "data", "import", "-", "-q", "--name", "big", "-o", directory.c_str(),
          "--target", "time_ms:ms:lower", "--group", "network", "--key", "name",
          static_cast<char*>(nullptr));
  ::_exit(127);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const bool naive = omen::test::broken();
  const double limit_mb = std::strtod(argv[3], nullptr);
  // A control run need only pass the limit, not fill the machine.
  const double megabytes =
      naive ? std::min(std::strtod(argv[2], nullptr), 3 * limit_mb) : std::strtod(argv[2], nullptr);
  std::string name = (fs::current_path() / "import-XXXXXX").string();
  if (!::mkdtemp(name.data())) return 1;
  const fs::path directory = name;
  ::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return 1;
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[1]);
    run_child(ends[0], naive, argv[4], directory / "big");
  }
  ::close(ends[0]);
  std::uint64_t rows = 0;
  const bool sent = generate(ends[1], static_cast<std::uint64_t>(megabytes * 1e6), rows);
  ::close(ends[1]);
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  bool good = sent && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (good && !naive) {
    const omen::host::DatasetInfo info = omen::host::read_dataset_info(directory / "big");
    good = info.rows.at("workloads") == static_cast<std::int64_t>(rows);
  }
  fs::remove_all(directory);
  if (!good) {
    std::fprintf(stderr, "error: the import failed\n");
    return 1;
  }
  const double peak_mb = static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
  std::printf("%.0f MB, %llu rows in %.1f s of CPU time\n", megabytes,
              static_cast<unsigned long long>(rows),
              static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec));
  return omen::test::show(argv[1], peak_mb, "MB", "<=", limit_mb);
}
