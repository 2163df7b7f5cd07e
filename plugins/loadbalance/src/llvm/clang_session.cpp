// SPDX-License-Identifier: Apache-2.0
// Sets Clang up for a source in memory and collects what it prints.
#include "llvm/clang_session.hpp"

#include <clang/Basic/DiagnosticOptions.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include <filesystem>
#include <mutex>

#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

// Optimisation asks the target for its costs, so the targets must be known.
void initialise_targets() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
  });
}

// Clang's own headers; they belong to the library that this is built with.
const std::string& resource_dir() {
  static const std::string directory = OMEN_CLANG_RESOURCE_DIR;
  return directory;
}

std::vector<std::string> arguments_of(const std::string& path, const CompileOptions& options,
                                      const std::vector<std::string>& further) {
  std::vector<std::string> list = {"-triple",
                                   options.target,
                                   "-emit-llvm-only",
                                   "-x",
                                   "cl",
                                   "-cl-std=" + options.cl_std,
                                   "-O" + std::to_string(options.opt_level),
                                   "-resource-dir",
                                   resource_dir(),
                                   "-internal-isystem",
                                   resource_dir() + "/include",
                                   "-finclude-default-header",
                                   "-fdeclare-opencl-builtins",
                                   "-ferror-limit",
                                   "19",
                                   "-main-file-name",
                                   std::filesystem::path(path).filename().string()};
  for (const std::string& define : options.defines) list.push_back("-D" + define);
  for (const std::string& directory : options.include_dirs) list.push_back("-I" + directory);
  for (const std::string& file : options.includes) {
    list.emplace_back("-include");
    list.push_back(file);
  }
  list.insert(list.end(), further.begin(), further.end());
  list.push_back(path);
  return list;
}

// What Clang prints, without the line breaks at its end.
std::string trimmed(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

[[noreturn]] void refuse(const std::string& path, const std::string& diagnostics) {
  if (diagnostics.find("unknown target triple") != std::string::npos)
    throw Error(OMEN_INVALID_ARGUMENT, "Clang refuses the settings\n" + diagnostics,
                "Try x86_64-unknown-linux-gnu, spir64-unknown-unknown or nvptx64-nvidia-cuda.");
  const bool missing = diagnostics.find("file not found") != std::string::npos;
  throw Error(
      OMEN_INVALID_DATA,
      path + " does not compile\n" + (diagnostics.empty() ? "Clang gives no reason" : diagnostics),
      missing ? "Name the directory of the missing header with --include-dir DIR."
              : "Mend the source; macros that its host code sets can be given with "
                "--define NAME=VALUE, declarations with --include FILE.");
}

}  // namespace

void prepare_clang() {
  initialise_targets();
  std::error_code error;
  const std::string base = resource_dir() + "/include/opencl-c-base.h";
  if (!std::filesystem::exists(base, error))
    throw Error(OMEN_UNAVAILABLE, "Clang's headers are missing: " + base,
                "apt install libclang-common-14-dev");
}

std::string run_clang(clang::FrontendAction& action, const std::string& source,
                      const std::string& path, const CompileOptions& options,
                      const std::vector<std::string>& further) {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> wording = new clang::DiagnosticOptions();
  auto* printer = new clang::TextDiagnosticPrinter(out, wording.get());
  // Kept here: Clang would take it over only once it gets as far as reading it.
  const auto file = llvm::MemoryBuffer::getMemBufferCopy(source, path);
  clang::CompilerInstance compiler;
  compiler.createDiagnostics(printer, true);
  compiler.setVerboseOutputStream(llvm::nulls());  // the count of errors is no diagnostic

  const std::vector<std::string> arguments = arguments_of(path, options, further);
  std::vector<const char*> words;
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  const bool understood = clang::CompilerInvocation::CreateFromArgs(compiler.getInvocation(), words,
                                                                    compiler.getDiagnostics());
  if (!understood)
    throw Error(OMEN_INVALID_ARGUMENT, "Clang refuses the settings\n" + trimmed(out.str()),
                "Check cl_std, target and opt_level.");
  compiler.getPreprocessorOpts().RetainRemappedFileBuffers = true;
  compiler.getPreprocessorOpts().addRemappedFile(path, file.get());
  const bool passed = compiler.ExecuteAction(action);
  const std::string diagnostics = trimmed(out.str());
  if (!passed) refuse(path, diagnostics);
  return diagnostics;
}

}  // namespace omen::loadbalance
