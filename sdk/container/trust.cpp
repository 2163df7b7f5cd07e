// SPDX-License-Identifier: Apache-2.0
// Records are named after a digest of all that they cover, so that to ask is to look for a file.
#include "omen/trust.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "omen/error.hpp"
#include "omen/utc_time.hpp"

namespace omen::trust {
namespace fs = std::filesystem;
namespace {

constexpr const char* kProgramWord = "program";
constexpr const char* kModelWord = "model";

const char* trust_variable(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

// Empty where there is no home.
fs::path trust_directory() {
  if (const char* cache = trust_variable("XDG_CACHE_HOME")) return fs::path(cache) / "omen/trust";
  const char* home = trust_variable("HOME");
  return home ? fs::path(home) / ".cache/omen/trust" : fs::path();
}

// The words of a shell line as far as quotes and backslashes make them.
std::vector<std::string> shell_words_of(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      open = true;
    } else if (c == '\\' && i + 1 < line.size()) {
      word += line[++i];
      open = true;
    } else if (c == ' ' || c == '\t') {
      if (open) words.push_back(std::exchange(word, {}));
      open = false;
    } else {
      word += c;
      open = true;
    }
  }
  if (open) words.push_back(word);
  return words;
}

std::string in_path(const std::string& name) {
  const char* path = trust_variable("PATH");
  std::istringstream places(path ? path : "");
  for (std::string place; std::getline(places, place, ':');) {
    const fs::path found = fs::path(place.empty() ? "." : place) / name;
    std::error_code missing;
    if (::access(found.c_str(), X_OK) == 0 && fs::is_regular_file(found, missing))
      return fs::weakly_canonical(found, missing).string();
  }
  return {};
}

std::string sha256_of(const std::string& text) {
  return container::sha256(text.data(), text.size());
}

// Line breaks end a field of a record.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\n' ? "\\n" : c == '\\' ? "\\\\" : std::string(1, c);
  return out;
}
std::string unescaped(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size())
      out += text[++i] == 'n' ? '\n' : text[i];
    else
      out += text[i];
  }
  return out;
}

std::string text_of(const Record& record) {
  std::string text = std::string(record.kind == Kind::kProgram ? kProgramWord : kModelWord) + "\n" +
                     record.time + "\n" + escaped(record.what) + "\n";
  for (const auto& [place, digest] : record.files)
    text += (digest.empty() ? "-" : digest) + " " + escaped(place) + "\n";
  return text;
}

bool read_record(const fs::path& file, Record& record) {
  std::ifstream in(file);
  std::string kind, line;
  if (!std::getline(in, kind) || !std::getline(in, record.time) || !std::getline(in, line))
    return false;
  if (kind != kProgramWord && kind != kModelWord) return false;
  record.kind = kind == kProgramWord ? Kind::kProgram : Kind::kModel;
  record.what = unescaped(line);
  while (std::getline(in, line)) {
    const std::size_t space = line.find(' ');
    if (space == std::string::npos) return false;
    const std::string digest = line.substr(0, space);
    record.files.emplace_back(unescaped(line.substr(space + 1)), digest == "-" ? "" : digest);
  }
  return record.id() == file.filename().string();
}

}  // namespace

std::string Record::id() const {
  Record timeless = *this;
  timeless.time.clear();
  if (kind == Kind::kModel) timeless.what.clear();  // the same model under another name
  return sha256_of(text_of(timeless));
}

Record program(const std::string& invocation) {
  Record record{Kind::kProgram, invocation, ""};
  const std::string line = invocation.substr(0, invocation.find('\n'));
  const std::vector<std::string> words = shell_words_of(line);
  std::error_code missing;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool has_place = words[i].find('/') != std::string::npos;
    if (i == 0 && !has_place) {
      record.files.emplace_back(in_path(words[i]), "");
    } else if (fs::is_regular_file(words[i], missing)) {
      const fs::path place = fs::weakly_canonical(words[i], missing);
      record.files.emplace_back(place.string(), container::sha256_file(place));
    }
  }
  // Where the shell itself decides what runs, the directory it starts in belongs to the answer.
  if (line.find_first_of(";&|<>`$(){}*?[]~") != std::string::npos)
    record.files.emplace_back(fs::current_path(missing).string(), "");
  return record;
}

Record model(Contents contents, const std::string& name) {
  std::sort(contents.begin(), contents.end());
  std::string digests;
  for (const auto& [part, bytes] : contents)
    digests += container::sha256(bytes.data(), bytes.size()) + " " + part + "\n";
  return {Kind::kModel, name, "", {{"", sha256_of(digests)}}};
}

bool is_trusted(const Record& record) {
  const fs::path directory = trust_directory();
  std::error_code missing;
  return !directory.empty() && fs::is_regular_file(directory / record.id(), missing);
}

void add(Record record) {
  const fs::path directory = trust_directory();
  if (directory.empty())
    throw Error(OMEN_IO, "there is no place to keep what is trusted", "Set HOME.");
  if (is_trusted(record)) return;
  std::error_code failed;
  fs::create_directories(directory, failed);
  record.time = utc_now();
  container::write_file(directory / record.id(), text_of(record));
}

std::vector<Record> list() {
  std::vector<Record> records;
  std::error_code missing;
  for (fs::directory_iterator at(trust_directory(), missing), end; !missing && at != end;
       at.increment(missing)) {
    Record record;
    if (read_record(at->path(), record)) records.push_back(std::move(record));
  }
  std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) {
    return std::pair(a.time, a.id()) < std::pair(b.time, b.id());
  });
  return records;
}

std::size_t revoke(const std::string& id) {
  std::size_t count = 0;
  for (const Record& record : list()) {
    if (id.empty() || record.id().compare(0, id.size(), id) != 0) continue;
    std::error_code ignored;
    count += fs::remove(trust_directory() / record.id(), ignored) ? 1 : 0;
  }
  return count;
}

std::string visible(std::string_view text) {
  std::string out;
  const auto hidden = [&](std::size_t i) -> std::size_t {
    const auto byte = [&](std::size_t at) -> unsigned {
      return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
    };
    if (byte(i) < 0x20 || byte(i) == 0x7f) return 1;
    if (byte(i) == 0xc2 && byte(i + 1) < 0xa0) return 2;
    if (byte(i) != 0xe2) return 0;
    const bool turns = (byte(i + 1) == 0x80 && byte(i + 2) >= 0x8b && byte(i + 2) <= 0xaf) ||
                       (byte(i + 1) == 0x81 && byte(i + 2) >= 0xa0 && byte(i + 2) <= 0xaf);
    return turns ? 3 : 0;
  };
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t count = std::min(hidden(i), text.size() - i);
    for (std::size_t part = 0; part < count; ++part, ++i) {
      constexpr const char* kDigits = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(text[i]);
      out += std::string("\\x") + kDigits[byte >> 4] + kDigits[byte & 15];
    }
    if (count == 0) out += text[i++];
  }
  return out;
}

}  // namespace omen::trust
