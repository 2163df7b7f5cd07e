// SPDX-License-Identifier: Apache-2.0
// Starts the browser with file descriptors 3 and 4 as its DevTools pipe; messages end with a NUL.
#include "browser.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "worker/machine.hpp"

namespace omen::test {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;
// A loaded machine may take long to start a browser; a page that hangs must still end the test.
constexpr std::chrono::seconds kPatience{60};

[[noreturn]] void become_browser(const std::string& program, const std::string& profile, int in,
                                 int out) {
  // Copies above 4 first, because 3 and 4 may be in use themselves.
  const int high_in = fcntl(in, F_DUPFD, 10), high_out = fcntl(out, F_DUPFD, 10);
  dup2(high_in, 3);
  dup2(high_out, 4);
  close(high_in);
  close(high_out);
  const int null = open("/dev/null", O_RDWR);
  dup2(null, 0);
  dup2(null, 1);
  dup2(null, 2);
  setpgid(0, 0);
  const std::string data = "--user-data-dir=" + profile;
  // The sandbox needs rights that a container does not give, not even to root.
  execl(program.c_str(), program.c_str(), "--headless=new", "--no-sandbox", "--disable-gpu",
        "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
        "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
        "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--remote-debugging-pipe",
        data.c_str(), "about:blank", static_cast<char*>(nullptr));
  _exit(127);
}

std::string decode_base64(const std::string& text) {
  static const std::string kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0, count = 0;
  for (const char c : text) {
    const std::size_t value = kLetters.find(c);
    if (value == std::string::npos) break;
    bits = bits << 6 | static_cast<unsigned>(value);
    count += 6;
    if (count >= 8) out += static_cast<char>(bits >> (count -= 8) & 0xFF);
  }
  return out;
}

}  // namespace

std::filesystem::path find_browser() {
  if (const char* own = std::getenv("OMEN_BROWSER")) return own;
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
    if (auto path = host::find_program(name); !path.empty()) return path;
  return {};
}

Browser::Browser(const std::filesystem::path& program) {
  int out[2], in[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(in, O_CLOEXEC) != 0)
    throw std::runtime_error("no pipe for the browser");
  pid_ = fork();
  if (pid_ == 0) become_browser(program.string(), profile_.path().string(), out[0], in[1]);
  close(out[0]);
  close(in[1]);
  to_ = out[1];
  from_ = in[0];
  const json target = call("Target.createTarget", {{"url", "about:blank"}});
  session_ = call("Target.attachToTarget", {{"targetId", target["targetId"]}, {"flatten", true}})
                 .at("sessionId");
  for (const char* domain : {"Page", "Runtime", "Log", "Network"})
    call(std::string(domain) + ".enable");
}

Browser::~Browser() {
  close(to_);
  close(from_);
  // Its helpers share the group; none of them may outlive the test or write into the profile.
  kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Browser::open(const std::filesystem::path& page, int width, bool dark) {
  constexpr int kHeight = 1000;
  call("Emulation.setDeviceMetricsOverride",
       {{"width", width}, {"height", kHeight}, {"deviceScaleFactor", 1}, {"mobile", false}});
  call("Emulation.setEmulatedMedia",
       {{"features", {{{"name", "prefers-color-scheme"}, {"value", dark ? "dark" : "light"}}}}});
  complaints_.clear();
  requests_.clear();
  page_ = "file://" + std::filesystem::absolute(page).string();
  // The same page may be open already; what it says now must not count.
  evaluate("document.documentElement.dataset.ready = 'no'");
  call("Page.navigate", {{"url", page_}});
  wait_for("document.documentElement?.dataset.ready === 'yes' && location.href === " +
           json(page_).dump());
}

json Browser::evaluate(const std::string& expression) {
  const json answer =
      call("Runtime.evaluate",
           {{"expression", expression}, {"awaitPromise", true}, {"returnByValue", true}});
  if (answer.contains("exceptionDetails"))
    throw std::runtime_error(expression + ": " + answer["exceptionDetails"].dump());
  return answer["result"].value("value", json());
}

void Browser::wait_for(const std::string& expression) {
  const auto end = Clock::now() + kPatience;
  while (evaluate(expression) != true) {
    if (Clock::now() > end) throw std::runtime_error("the page never came to: " + expression);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void Browser::screenshot(const std::filesystem::path& file) {
  const json size = call("Page.getLayoutMetrics")["cssContentSize"];
  const json shot = call(
      "Page.captureScreenshot",
      {{"captureBeyondViewport", true},
       {"clip",
        {{"x", 0}, {"y", 0}, {"width", size["width"]}, {"height", size["height"]}, {"scale", 1}}}});
  std::ofstream(file, std::ios::binary) << decode_base64(shot["data"]);
}

json Browser::call(const std::string& method, json parameters) {
  const int id = ++next_id_;
  json message = {{"id", id}, {"method", method}};
  if (!parameters.is_null()) message["params"] = std::move(parameters);
  if (!session_.empty()) message["sessionId"] = session_;
  const std::string text = message.dump() + '\0';
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = write(to_, text.data() + at, text.size() - at);
    if (written <= 0) throw std::runtime_error("the browser went away before " + method);
    at += static_cast<std::size_t>(written);
  }
  for (;;) {
    const json answer = receive();
    if (answer.value("id", 0) != id) {
      note(answer);
      continue;
    }
    if (answer.contains("error")) throw std::runtime_error(method + ": " + answer["error"].dump());
    return answer["result"];
  }
}

json Browser::receive() {
  const auto end = Clock::now() + kPatience;
  for (;;) {
    if (const std::size_t stop = buffer_.find('\0'); stop != std::string::npos) {
      json message = json::parse(buffer_.substr(0, stop));
      buffer_.erase(0, stop + 1);
      return message;
    }
    pollfd waiting{from_, POLLIN, 0};
    if (Clock::now() > end || poll(&waiting, 1, 1000) < 0)
      throw std::runtime_error("the browser does not answer");
    if (!(waiting.revents & (POLLIN | POLLHUP))) continue;
    char bytes[65536];
    const ssize_t got = read(from_, bytes, sizeof bytes);
    if (got <= 0) throw std::runtime_error("the browser ended");
    buffer_.append(bytes, static_cast<std::size_t>(got));
  }
}

void Browser::note(const json& event) {
  const std::string method = event.value("method", "");
  const json parameters = event.value("params", json::object());
  if (method == "Runtime.exceptionThrown") {
    complaints_.push_back(parameters["exceptionDetails"].dump());
  } else if (method == "Runtime.consoleAPICalled") {
    const std::string type = parameters.value("type", "");
    if (type == "error" || type == "warning" || type == "assert")
      complaints_.push_back(type + ": " + parameters["args"].dump());
  } else if (method == "Log.entryAdded") {
    const json& entry = parameters["entry"];
    const std::string level = entry.value("level", "");
    // A software renderer remarks on its own speed; that is not about the page.
    const bool driver = entry.value("source", "") == "rendering" && level == "warning";
    if (!driver && (level == "error" || level == "warning")) complaints_.push_back(entry.dump());
  } else if (method == "Network.requestWillBeSent") {
    const std::string url = parameters["request"].value("url", "");
    if (url != page_ && !url.starts_with(page_ + "#") && !url.starts_with("data:") &&
        !url.starts_with("blob:") && url != "about:blank")
      requests_.push_back(url);
  }
}

}  // namespace omen::test
