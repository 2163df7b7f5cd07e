// SPDX-License-Identifier: Apache-2.0
// Walks Clang's syntax tree of a kernel source, and edits its text.
#include "opencl/kernel_source.hpp"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/AST/TypeLoc.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/PreprocessorOutputOptions.h>
#include <clang/Frontend/Utils.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <map>

#include "llvm/clang_session.hpp"
#include "llvm/guard.hpp"
#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

// In front of rewritten sources; the size of the whole range arrives as an argument, the first
// group of the part follows from the offset.
constexpr const char* kPrelude = R"cl(/* Work-item functions with the values of the whole range. */
static size_t omen_get_group_id(uint d) {
  return d < 3 ? get_group_id(d) + get_global_offset(d) / get_local_size(d) : get_group_id(d);
}
static size_t omen_get_global_offset(uint d) { return d < 3 ? 0 : get_global_offset(d); }
static size_t omen_get_global_size(uint d, ulong4 size) {
  return d == 0 ? size.x : d == 1 ? size.y : d == 2 ? size.z : get_global_size(d);
}
static size_t omen_get_num_groups(uint d, ulong4 size) {
  return d < 3 ? omen_get_global_size(d, size) / get_local_size(d) : get_num_groups(d);
}
static size_t omen_get_global_linear_id(ulong4 size) {
  return (get_global_id(2) * size.y + get_global_id(1)) * size.x + get_global_id(0);
}
#line 1
)cl";

struct Builtin {
  const char* name;
  bool needs_size;
};
constexpr Builtin kBuiltins[] = {{"get_group_id", false},
                                 {"get_global_offset", false},
                                 {"get_num_groups", true},
                                 {"get_global_size", true},
                                 {"get_global_linear_id", true}};

const Builtin* find_builtin(llvm::StringRef name) {
  for (const Builtin& builtin : kBuiltins)
    if (name == builtin.name) return &builtin;
  return nullptr;
}

struct Edit {
  unsigned offset, length;
  std::string text;
};

// What one pass over the syntax tree finds.
struct Findings {
  std::vector<Signature> kernels;
  std::set<std::string> rewritten, takes_range;
  std::vector<Edit> edits;
  bool needs_preprocessing = false;  // a place to edit lies in a macro or in another file
};

ScalarKind scalar_kind(clang::QualType type) {
  if (type->isFloatingType() || type->isHalfType()) return ScalarKind::kFloat;
  if (type->isUnsignedIntegerOrEnumerationType()) return ScalarKind::kUnsigned;
  return type->isSignedIntegerOrEnumerationType() ? ScalarKind::kSigned : ScalarKind::kOpaque;
}

// Sizes of a value, of arrays and vectors by their innermost scalar.
void describe_value(const clang::ASTContext& context, clang::QualType type, Parameter& parameter) {
  if (type->isIncompleteType()) return;
  parameter.bytes = static_cast<std::size_t>(context.getTypeSizeInChars(type).getQuantity());
  clang::QualType scalar = context.getBaseElementType(type);
  if (const auto* vector = scalar->getAs<clang::VectorType>()) scalar = vector->getElementType();
  parameter.scalar = scalar_kind(scalar);
  parameter.scalar_bytes =
      parameter.scalar == ScalarKind::kOpaque
          ? 1
          : static_cast<std::size_t>(context.getTypeSizeInChars(scalar).getQuantity());
}

Parameter describe(const clang::ASTContext& context, const clang::ParmVarDecl& declared) {
  Parameter parameter;
  const clang::QualType type = declared.getType();
  parameter.name = declared.getNameAsString();
  parameter.type = context.removeAddrSpaceQualType(type).getAsString();
  if (type->isImageType() || type->isSamplerT() || type->isPipeType() || type->isEventT() ||
      type->isOpenCLSpecificType()) {
    parameter.kind = ParameterKind::kUnsupported;
  } else if (type->isPointerType()) {
    const clang::QualType pointee = type->getPointeeType();
    describe_value(context, pointee, parameter);
    const clang::LangAS space = pointee.getAddressSpace();
    parameter.kind =
        space == clang::LangAS::opencl_local ? ParameterKind::kLocal : ParameterKind::kBuffer;
    parameter.constant = space == clang::LangAS::opencl_constant || pointee.isConstQualified();
  } else {
    describe_value(context, type, parameter);
  }
  return parameter;
}

class Visitor : public clang::RecursiveASTVisitor<Visitor> {
 public:
  Visitor(clang::ASTContext& context, Findings& findings)
      : context_(context), sources_(context.getSourceManager()), findings_(findings) {}

  bool TraverseFunctionDecl(clang::FunctionDecl* function) {
    const clang::FunctionDecl* outer = function_;
    function_ = function->getCanonicalDecl();
    const bool go_on = RecursiveASTVisitor::TraverseFunctionDecl(function);
    function_ = outer;
    return go_on;
  }

  bool VisitFunctionDecl(clang::FunctionDecl* function) {
    if (function->hasAttr<clang::OpenCLKernelAttr>() && function->isThisDeclarationADefinition())
      add_kernel(*function);
    return true;
  }

  bool VisitCallExpr(clang::CallExpr* call) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    if (!callee || !function_ || !callee->getIdentifier()) return true;
    if (const Builtin* builtin = find_builtin(callee->getName())) {
      findings_.rewritten.insert(builtin->name);
      replace(call->getCallee()->getBeginLoc(), callee->getName().size(),
              std::string("omen_") + builtin->name);
      if (builtin->needs_size) {
        needing_.insert(function_);
        append_argument(*call);
      }
    } else {
      calls_[callee->getCanonicalDecl()].push_back({function_, call});
    }
    return true;
  }

  // Functions that call one which needs the size need it too.
  void finish() {
    std::vector<const clang::FunctionDecl*> todo(needing_.begin(), needing_.end());
    while (!todo.empty()) {
      const clang::FunctionDecl* needs = todo.back();
      todo.pop_back();
      for (const auto& [caller, call] : calls_[needs]) {
        append_argument(*call);
        if (needing_.insert(caller).second) todo.push_back(caller);
      }
    }
    for (const clang::FunctionDecl* function : needing_) {
      for (const clang::FunctionDecl* declared : function->redecls()) append_parameter(*declared);
      if (function->hasAttr<clang::OpenCLKernelAttr>())
        findings_.takes_range.insert(function->getNameAsString());
    }
  }

 private:
  void add_kernel(const clang::FunctionDecl& function) {
    Signature signature;
    signature.kernel = function.getNameAsString();
    for (const clang::ParmVarDecl* parameter : function.parameters())
      signature.parameters.push_back(describe(context_, *parameter));
    if (const auto* size = function.getAttr<clang::ReqdWorkGroupSizeAttr>())
      signature.required_group = {size->getXDim(), size->getYDim(), size->getZDim()};
    findings_.kernels.push_back(std::move(signature));
  }

  void edit(clang::SourceLocation at, std::size_t length, std::string text) {
    if (at.isInvalid() || at.isMacroID() || !sources_.isInMainFile(at)) {
      findings_.needs_preprocessing = true;
      return;
    }
    findings_.edits.push_back(
        {sources_.getFileOffset(at), static_cast<unsigned>(length), std::move(text)});
  }
  void replace(clang::SourceLocation at, std::size_t length, std::string text) {
    edit(at, length, std::move(text));
  }
  void append_argument(const clang::CallExpr& call) {
    edit(call.getRParenLoc(), 0, call.getNumArgs() ? ", omen_size" : "omen_size");
  }
  // "(void)" loses its void.
  void append_parameter(const clang::FunctionDecl& function) {
    const clang::FunctionTypeLoc type = function.getFunctionTypeLoc();
    if (!type) return;
    if (function.getNumParams() > 0) return edit(type.getRParenLoc(), 0, ", ulong4 omen_size");
    const clang::SourceLocation first = type.getLParenLoc().getLocWithOffset(1);
    const std::size_t length =
        first.isMacroID() || !sources_.isInMainFile(first)
            ? 0
            : sources_.getFileOffset(type.getRParenLoc()) - sources_.getFileOffset(first);
    edit(first, length, "ulong4 omen_size");
  }

  clang::ASTContext& context_;
  clang::SourceManager& sources_;
  Findings& findings_;
  const clang::FunctionDecl* function_ = nullptr;
  struct ByPlace {
    bool operator()(const clang::FunctionDecl* a, const clang::FunctionDecl* b) const {
      return a->getLocation() < b->getLocation();
    }
  };
  std::set<const clang::FunctionDecl*, ByPlace> needing_;
  std::map<const clang::FunctionDecl*,
           std::vector<std::pair<const clang::FunctionDecl*, const clang::CallExpr*>>>
      calls_;
};

class FindAction : public clang::ASTFrontendAction {
 public:
  explicit FindAction(Findings& findings) : findings_(findings) {}

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&,
                                                        llvm::StringRef) override {
    class Consumer : public clang::ASTConsumer {
     public:
      explicit Consumer(Findings& findings) : findings_(findings) {}
      void HandleTranslationUnit(clang::ASTContext& context) override {
        if (context.getDiagnostics().hasErrorOccurred()) return;
        Visitor visitor(context, findings_);
        visitor.TraverseDecl(context.getTranslationUnitDecl());
        visitor.finish();
      }

     private:
      Findings& findings_;
    };
    return std::make_unique<Consumer>(findings_);
  }

 private:
  Findings& findings_;
};

// The source with its macros and includes resolved. Clang's own header stays out: every compiler
// brings it.
class PreprocessAction : public clang::PreprocessorFrontendAction {
 public:
  explicit PreprocessAction(std::string& text) : text_(text) {}

 protected:
  bool BeginInvocation(clang::CompilerInstance& compiler) override {
    std::vector<std::string>& includes = compiler.getPreprocessorOpts().Includes;
    includes.erase(std::remove(includes.begin(), includes.end(), "opencl-c-base.h"),
                   includes.end());
    return true;
  }
  void ExecuteAction() override {
    clang::PreprocessorOutputOptions options;
    options.ShowCPP = true;
    options.ShowLineMarkers = false;
    llvm::raw_string_ostream out(text_);
    clang::DoPrintPreprocessedInput(getCompilerInstance().getPreprocessor(), &out, options);
  }

 private:
  std::string& text_;
};

Findings find(const std::string& source, const std::string& path, const CompileOptions& options) {
  Findings findings;
  FindAction action(findings);
  run_clang(action, source, path, options);
  return findings;
}

std::string with_edits(const std::string& source, std::vector<Edit> edits) {
  if (edits.empty()) return source;
  std::sort(edits.begin(), edits.end(),
            [](const Edit& a, const Edit& b) { return a.offset < b.offset; });
  std::string text = kPrelude;
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    text.append(source, at, edit.offset - at).append(edit.text);
    at = edit.offset + edit.length;
  }
  return text.append(source, at, std::string::npos);
}

// Drivers know -D, but neither our include directories nor files to include first.
bool stands_alone(const std::string& source, const CompileOptions& options) {
  return options.include_dirs.empty() && options.includes.empty() &&
         source.find("#include") == std::string::npos;
}

std::string build_options(const CompileOptions& options) {
  std::string text = "-cl-std=" + options.cl_std;
  for (const std::string& define : options.defines) text += " -D" + define;
  return text;
}

KernelSource read(const std::string& source, const std::string& path,
                  const CompileOptions& options) {
  KernelSource result;
  result.text = source;
  Findings findings = find(source, path, options);
  CompileOptions plain = options;
  result.preprocessed = findings.needs_preprocessing || !stands_alone(source, options);
  if (result.preprocessed) {
    result.text.clear();
    PreprocessAction action(result.text);
    run_clang(action, source, path, options);
    plain.defines.clear();
    plain.include_dirs.clear();
    plain.includes.clear();
    findings = find(result.text, path, plain);
  }
  result.build_options = build_options(plain);
  result.kernels = std::move(findings.kernels);
  result.rewritten = std::move(findings.rewritten);
  result.takes_range = std::move(findings.takes_range);
  result.split_text = with_edits(result.text, std::move(findings.edits));
  return result;
}

}  // namespace

const Signature& KernelSource::kernel(const std::string& name) const {
  std::string names;
  for (const Signature& signature : kernels) {
    if (signature.kernel == name) return signature;
    names += (names.empty() ? "" : ", ") + signature.kernel;
  }
  if (kernels.empty())
    throw Error(OMEN_INVALID_DATA, "the source has no kernel", "mark one with __kernel");
  if (name.empty() && kernels.size() == 1) return kernels[0];
  throw Error(OMEN_INVALID_ARGUMENT,
              name.empty() ? "the source has several kernels" : "there is no kernel '" + name + "'",
              "choose one with --kernel: " + names);
}

KernelSource read_kernels(const std::string& source, const std::string& path,
                          const CompileOptions& options) {
  prepare_clang();
  KernelSource result;
  run_guarded("Clang", path, [&] { result = read(source, path, options); });
  return result;
}

}  // namespace omen::loadbalance
