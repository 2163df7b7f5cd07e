// SPDX-License-Identifier: Apache-2.0
// One download: attempts, ranges, digests.
#include "data/fetch.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "data/curl_library.hpp"
#include "omen/container.hpp"
#include "omen/error.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

std::string host_of(const std::string& url) {
  std::string rest = url.substr(url.find("://") + 3);
  rest = rest.substr(0, rest.find_first_of("/?#"));
  rest = rest.substr(rest.find('@') == rest.npos ? 0 : rest.find('@') + 1);
  if (rest.starts_with("[")) return rest.substr(0, rest.find(']') + 1);
  return rest.substr(0, rest.find(':'));
}

void check_url(const FetchPlan& plan) {
  const std::string url = lower(plan.url);
  if (url.starts_with("https://")) return;
  if (!url.starts_with("http://"))
    throw Error(OMEN_INVALID_ARGUMENT, "'" + plan.url + "' is no address that can be fetched",
                "Give one that starts with https://");
  const std::string host = host_of(url);
  const bool local = host == "localhost" || host == "127.0.0.1" || host == "[::1]";
  if (!local && plan.sha256.empty())
    throw Error(OMEN_INVALID_ARGUMENT,
                "'" + plan.url + "' is not encrypted, so anyone on the way could change it",
                "Use https://, or name the digest with --sha256.");
}

[[noreturn]] void file_error(const char* what, const fs::path& path) {
  throw Error(OMEN_IO,
              std::string("cannot ") + what + " '" + path.string() + "': " + std::strerror(errno),
              "Check that the directory is writable and has room.");
}

// The file that grows; locked, so that two downloads of one file do not mix.
class PartFile {
 public:
  explicit PartFile(const fs::path& target)
      : path_(target.string() + ".part"), tag_(target.string() + ".part.etag") {
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd_ < 0) file_error("create", path_);
    if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      ::close(fd_);
      throw Error(OMEN_IO, "another download writes '" + path_.string() + "'",
                  "Wait until it has ended.");
    }
    size_ = static_cast<std::uint64_t>(::lseek(fd_, 0, SEEK_END));
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  ~PartFile() {
    if (size_ == 0) remove();
    ::close(fd_);
  }

  const fs::path& path() const noexcept { return path_; }
  std::uint64_t size() const noexcept { return size_; }
  bool append(const char* bytes, std::size_t size) {
    while (size > 0) {
      const ssize_t count = ::pwrite(fd_, bytes, size, static_cast<off_t>(size_));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return false;
      bytes += count;
      size -= static_cast<std::size_t>(count);
      size_ += static_cast<std::uint64_t>(count);
    }
    return true;
  }
  void clear() {
    if (::ftruncate(fd_, 0) != 0) file_error("empty", path_);
    size_ = 0;
    set_tag("");
  }
  // What the server calls this version of the file; empty where it does not say.
  std::string tag() const {
    std::ifstream in(tag_);
    std::string text;
    std::getline(in, text);
    return text;
  }
  void set_tag(const std::string& tag) {
    std::error_code ignored;
    if (tag.empty())
      fs::remove(tag_, ignored);
    else
      container::write_file(tag_, tag + "\n");
  }
  void commit(const fs::path& target) {
    if (::fsync(fd_) != 0) file_error("write", path_);
    if (::rename(path_.c_str(), target.c_str()) != 0) file_error("replace", target);
    set_tag("");
  }
  void remove() {
    std::error_code ignored;
    fs::remove(path_, ignored);
    fs::remove(tag_, ignored);
    size_ = 0;
  }

 private:
  fs::path path_, tag_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

// One request and what came of it.
class Transfer {
 public:
  Transfer(const FetchPlan& plan, const FetchHooks& hooks, PartFile& part)
      : curl_(curl::library()), plan_(plan), hooks_(hooks), part_(part) {
    handle_ = curl_.easy_init();
    if (!handle_) throw std::bad_alloc();
    set_up();
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() {
    curl_.easy_cleanup(handle_);
    curl_.slist_free_all(headers_);
  }

  void run() {
    code = curl_.easy_perform(handle_);
    curl_.easy_getinfo(handle_, curl::kResponseCode, &status);
  }
  std::string reason() const { return message_[0] ? message_ : curl_.easy_strerror(code); }
  bool write_failed() const noexcept { return write_errno_ != 0; }
  int write_errno() const noexcept { return write_errno_; }

  int code = 0;
  long status = 0;  // of HTTP

 private:
  void set_up() {
    const auto set = [this](int option, auto value) { curl_.easy_setopt(handle_, option, value); };
    set(curl::kUrl, plan_.url.c_str());
    set(curl::kErrorBuffer, message_);
    set(curl::kUserAgent, "omen");
    set(curl::kNoSignal, 1L);
    set(curl::kFollowLocation, 1L);
    set(curl::kMaxRedirects, 10L);
    set(curl::kConnectTimeout, 20L);
    set(curl::kLowSpeedLimit, 1L);
    set(curl::kLowSpeedTime, 60L);
    set(curl::kProtocols, "http,https");
    // A server may not lead away from encryption.
    const bool secure = lower(plan_.url).starts_with("https://");
    set(curl::kRedirectProtocols, secure ? "https" : "http,https");
    if (const char* authorities = std::getenv("SSL_CERT_FILE"); authorities && *authorities)
      set(curl::kCaFile, authorities);
    set(curl::kWriteFunction, static_cast<curl::WriteFunction>(on_body));
    set(curl::kWriteData, static_cast<void*>(this));
    set(curl::kHeaderFunction, static_cast<curl::WriteFunction>(on_header));
    set(curl::kHeaderData, static_cast<void*>(this));
    set(curl::kNoProgress, 0L);
    set(curl::kProgressFunction, static_cast<curl::ProgressFunction>(on_progress));
    set(curl::kProgressData, static_cast<void*>(this));
    ask_for_rest();
  }

  // Without a digest only the server's own name of the version tells that the rest fits.
  void ask_for_rest() {
    const std::string tag = part_.tag();
    if (part_.size() > 0 && tag.empty() && plan_.sha256.empty()) part_.clear();
    if (part_.size() == 0) return;
    range_ = std::to_string(part_.size()) + "-";
    curl_.easy_setopt(handle_, curl::kRange, range_.c_str());
    if (tag.empty()) return;
    headers_ = curl_.slist_append(headers_, ("If-Range: " + tag).c_str());
    curl_.easy_setopt(handle_, curl::kHttpHeader, headers_);
  }

  static std::size_t on_header(char* bytes, std::size_t, std::size_t count, void* data) {
    auto& self = *static_cast<Transfer*>(data);
    const std::string line(bytes, count);
    const std::string name = lower(line.substr(0, line.find(':')));
    std::string value = line.size() > name.size() ? line.substr(name.size() + 1) : "";
    value.erase(0, std::min(value.find_first_not_of(" \t"), value.size()));
    value.erase(value.find_last_not_of(" \t\r\n") + 1);
    if (line.starts_with("HTTP/")) self.tag_.clear();
    if (name == "etag" && !value.starts_with("W/")) self.tag_ = value;
    if (name == "content-range") self.content_range_ = value;
    return count;
  }

  static std::size_t on_body(char* bytes, std::size_t, std::size_t count, void* data) {
    auto& self = *static_cast<Transfer*>(data);
    if (!self.started_ && !self.start()) return count;  // the page of an error
    if (!self.keep_) return count;
    if (self.part_.append(bytes, count)) return count;
    self.write_errno_ = errno;
    return 0;
  }

  // A whole file instead of the asked range, or another range, starts from the first byte.
  bool start() {
    curl_.easy_getinfo(handle_, curl::kResponseCode, &status);
    started_ = true;
    keep_ = status == 200 || status == 206;
    if (!keep_) return false;
    const std::string wanted = "bytes " + std::to_string(part_.size()) + "-";
    if (status == 206 && !lower(content_range_).starts_with(wanted)) {
      part_.clear();
      return keep_ = false;
    }
    if (status == 200 && part_.size() > 0) part_.clear();
    first_byte_ = part_.size();
    part_.set_tag(tag_);
    return true;
  }

  static int on_progress(void* data, std::int64_t total, std::int64_t now, std::int64_t,
                         std::int64_t) {
    auto& self = *static_cast<Transfer*>(data);
    if (self.hooks_.progress && self.keep_)
      self.hooks_.progress(self.first_byte_ + static_cast<std::uint64_t>(now),
                           total > 0 ? self.first_byte_ + static_cast<std::uint64_t>(total) : 0);
    return self.hooks_.is_cancelled && self.hooks_.is_cancelled() ? 1 : 0;
  }

  const curl::Library& curl_;
  const FetchPlan& plan_;
  const FetchHooks& hooks_;
  PartFile& part_;
  void* handle_ = nullptr;
  void* headers_ = nullptr;
  char message_[curl::kErrorSize] = "";
  std::string range_, tag_, content_range_;
  bool started_ = false, keep_ = false;
  std::uint64_t first_byte_ = 0;
  int write_errno_ = 0;
};

[[noreturn]] void refused(const FetchPlan& plan, long status) {
  const std::string what =
      plan.url + " cannot be fetched: the server answered " + std::to_string(status);
  if (status == 404 || status == 410)
    throw Error(OMEN_NOT_FOUND, what + " (there is no such file)", "Check the address.");
  if (status == 401 || status == 403)
    throw Error(OMEN_IO, what + " (not allowed)", "Get the file by hand, as its owner asks.");
  throw Error(OMEN_IO, what, "Try again later.");
}

void check_failure(const FetchPlan& plan, const Transfer& transfer, const PartFile& part) {
  if (transfer.code == curl::kAbortedByCallback)
    throw Error(OMEN_CANCELLED,
                "the download was cancelled; what came is kept in " + part.path().string());
  if (transfer.write_failed()) {
    errno = transfer.write_errno();
    file_error("write", part.path());
  }
  if (transfer.code == curl::kCertificate)
    throw Error(OMEN_IO,
                plan.url + " cannot be fetched: the server's certificate is not trusted (" +
                    transfer.reason() + ")",
                "Install ca-certificates, or name the authority's file in SSL_CERT_FILE.");
}

// What is worth another attempt: the network, a busy server, a file cut short, a wrong range.
bool may_recover(const Transfer& transfer) {
  if (transfer.code != curl::kOk)
    return transfer.code != curl::kCouldNotResolve && transfer.code != curl::kCouldNotConnect;
  return transfer.status >= 500 || transfer.status == 408 || transfer.status == 429 ||
         transfer.status == 206;
}

void wait_before(int attempt, const FetchHooks& hooks) {
  using std::chrono::milliseconds;
  for (int waited = 0; waited < 100 << std::min(attempt, 6); waited += 50) {
    if (hooks.is_cancelled && hooks.is_cancelled())
      throw Error(OMEN_CANCELLED, "the download was cancelled");
    std::this_thread::sleep_for(milliseconds(50));
  }
}

// Asks until the whole file is here.
void download(const FetchPlan& plan, const FetchHooks& hooks, PartFile& part) {
  int failures = 0;
  for (bool restarted = false;;) {
    const std::uint64_t before = part.size();
    Transfer transfer(plan, hooks, part);
    transfer.run();
    const bool answered = transfer.status == 200 || transfer.status == 206;
    if (transfer.code == curl::kOk && answered && part.size() > 0) return;
    if (transfer.code == curl::kOk && transfer.status == 200) return;  // an empty file
    check_failure(plan, transfer, part);
    if (transfer.status == 416 && before > 0) {
      // Nothing is left to send: the part is whole, or not of this file.
      if (restarted || (!plan.sha256.empty() && container::sha256_file(part.path()) == plan.sha256))
        return;
      part.clear();
      restarted = true;
      continue;
    }
    if (!may_recover(transfer) && transfer.code == curl::kOk) refused(plan, transfer.status);
    failures = part.size() > before ? 0 : failures + 1;
    if (!may_recover(transfer) || failures >= plan.attempts) {
      if (transfer.code == curl::kOk) refused(plan, transfer.status);
      throw Error(OMEN_IO, plan.url + " cannot be fetched: " + transfer.reason(),
                  part.size() > 0 ? "Run the same command again: it goes on at byte " +
                                        std::to_string(part.size()) + "."
                                  : "Check the address and the network.");
    }
    wait_before(failures, hooks);
  }
}

}  // namespace

FetchResult fetch_file(const FetchPlan& plan, const FetchHooks& hooks) {
  check_url(plan);
  FetchResult result;
  if (!plan.sha256.empty() && fs::is_regular_file(plan.target) &&
      container::sha256_file(plan.target) == plan.sha256) {
    result.sha256 = plan.sha256;
    result.resumed = result.bytes = fs::file_size(plan.target);
    return result;
  }
  if (plan.target.has_parent_path()) fs::create_directories(plan.target.parent_path());
  PartFile part(plan.target);
  result.resumed = part.size();
  download(plan, hooks, part);
  result.bytes = part.size();
  result.sha256 = container::sha256_file(part.path());
  if (!plan.sha256.empty() && result.sha256 != plan.sha256) {
    part.remove();
    throw Error(
        OMEN_INVALID_DATA,
        plan.url + " is another file than expected: its sha256 is " + result.sha256 + ", wanted " +
            plan.sha256,
        "Nothing was kept. Check the address, or whether its owner published a new version.");
  }
  part.commit(plan.target);
  return result;
}

}  // namespace omen::host
