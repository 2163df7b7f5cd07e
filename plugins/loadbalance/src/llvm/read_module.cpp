// SPDX-License-Identifier: Apache-2.0
// Reads IR, and mends text of older versions only where LLVM refuses it.
#include "llvm/read_module.hpp"

#include <llvm/AsmParser/Parser.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>

#include "llvm/guard.hpp"
#include "llvm/mend_ir.hpp"
#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

#if LLVM_VERSION_MAJOR < 15
constexpr const char* kVersionHint =
    "Another version of LLVM wrote it. IR of LLVM 15 to 19 is read by loadbalance.programl19, "
    "which "
    "is built where llvm-19-dev is installed; name it with --frontend, or give the OpenCL source.";
#else
constexpr const char* kVersionHint =
    "A newer version of LLVM wrote it. Compile the source with LLVM 19 or older.";
#endif

// Swallows warnings, such as those about debug information that is dropped.
class Silent final : public llvm::DiagnosticHandler {
 public:
  bool handleDiagnostics(const llvm::DiagnosticInfo&) override { return true; }
};

std::unique_ptr<llvm::LLVMContext> new_context() {
  auto context = std::make_unique<llvm::LLVMContext>();
  context->setDiagnosticHandler(std::make_unique<Silent>());
  return context;
}

IrModule finish(std::unique_ptr<llvm::LLVMContext> context, std::unique_ptr<llvm::Module> module) {
#if LLVM_VERSION_MAJOR >= 19
  // Debug records become calls again, which are nodes as in older versions.
  module->convertFromNewDbgValues();
#endif
  IrModule read(std::move(context), std::move(module));
  read.compiled = "ir";
  return read;
}

// The module, or nothing and why not.
std::optional<IrModule> parse_text(std::string_view text, const std::string& path,
                                   llvm::SMDiagnostic& problem) {
  auto context = new_context();
  const llvm::MemoryBufferRef buffer(llvm::StringRef(text.data(), text.size()), path);
  auto module = llvm::parseAssembly(buffer, problem, *context);
  if (!module) return std::nullopt;
  return finish(std::move(context), std::move(module));
}

// "file.ll:3:7: expected type", and the line with a mark under the column where a person can read
// it.
std::string described(const llvm::SMDiagnostic& problem) {
  constexpr std::size_t kLongestLine = 200;
  std::string text = problem.getFilename().str() + ":" + std::to_string(problem.getLineNo()) + ":" +
                     std::to_string(problem.getColumnNo() + 1) + ": " + problem.getMessage().str();
  const llvm::StringRef line = problem.getLineContents();
  const bool readable =
      line.size() <= kLongestLine && std::all_of(line.begin(), line.end(), [](unsigned char c) {
        return c == '\t' || (c >= 0x20 && c < 0x7F);
      });
  if (readable && problem.getColumnNo() >= 0)
    text += "\n" + line.str() + "\n" +
            std::string(static_cast<std::size_t>(problem.getColumnNo()), ' ') + "^";
  return text;
}

IrModule read_text(std::string_view given, const std::string& path) {
  // The parser relies on the zero byte behind the text.
  const std::string text(given);
  llvm::SMDiagnostic first, later;
  if (auto read = parse_text(text, path, first)) return std::move(*read);
  const std::string mended = mend_attributes(text);
  if (mended != text)
    if (auto read = parse_text(mended, path, later)) return std::move(*read);
  const std::string without_debug = drop_debug_info(mended);
  if (without_debug != mended)
    if (auto read = parse_text(without_debug, path, later)) return std::move(*read);
  throw Error(OMEN_INVALID_DATA, described(first),
              looks_newer(text) ? kVersionHint : "Check the IR there.");
}

IrModule read_bitcode(std::string_view bytes, const std::string& path) {
  auto context = new_context();
  const llvm::MemoryBufferRef buffer(llvm::StringRef(bytes.data(), bytes.size()), path);
  llvm::Expected<std::unique_ptr<llvm::Module>> module = llvm::parseBitcodeFile(buffer, *context);
  if (module) return finish(std::move(context), std::move(*module));
  const std::string why = llvm::toString(module.takeError());
  const bool other_version = why.find("Producer") != std::string::npos &&
                             why.find("Producer: 'LLVM" LLVM_VERSION_STRING) == std::string::npos;
  throw Error(OMEN_INVALID_DATA, path + ": " + why,
              other_version ? kVersionHint : "The file is damaged; make it again.");
}

}  // namespace

bool looks_newer(std::string_view text) {
  constexpr const char* kMarks[] = {"(ptr ", "(ptr)", "(ptr,", " ptr,", ", ptr ", "memory("};
  return std::any_of(std::begin(kMarks), std::end(kMarks), [text](const char* mark) {
    return text.find(mark) != std::string_view::npos;
  });
}

bool is_bitcode(std::string_view bytes) {
  return bytes.substr(0, 4) == "BC\xC0\xDE" || bytes.substr(0, 4) == "\xDE\xC0\x17\x0B";
}

IrModule read_module(std::string_view bytes, const std::string& path) {
  std::optional<IrModule> read;
  run_guarded("LLVM", path, [&] {
    read = is_bitcode(bytes) ? read_bitcode(bytes, path) : read_text(bytes, path);
  });
  return std::move(*read);
}

IrModule read_module_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(OMEN_IO, "cannot open '" + path + "'", "Check the path.");
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return read_module(bytes, path);
}

}  // namespace omen::loadbalance
