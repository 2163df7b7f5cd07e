// SPDX-License-Identifier: Apache-2.0
// Writes random modules line by line. Values are used where they surely dominate: in their own
// block, or anywhere when they stand in the entry block.
#include "ir_generator.hpp"

#include <array>
#include <random>
#include <vector>

namespace omen::loadbalance::bench {
namespace {

struct Value {
  std::string type, name;
};

struct Signature {
  std::string name, result;
  std::vector<std::string> parameters;
  bool defined = false;
};

const std::array<const char*, 5> kIntegers = {"i1", "i8", "i16", "i32", "i64"};
const std::array<const char*, 2> kReals = {"float", "double"};
const std::array<const char*, 9> kAggregates = {
    "%pair",       "%node",     "{ i32, float }", "[4 x i32]",  "[3 x [2 x double]]",
    "<4 x float>", "<2 x i64>", "%opaque*",       "[2 x %pair]"};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::string module() {
    line("source_filename = \"generated.c\"");
    line("target triple = \"x86_64-unknown-linux-gnu\"");
    line("%pair = type { i32, double }");
    line("%node = type { i32, %node*, [4 x %pair] }");
    line("%opaque = type opaque");
    globals();
    signatures();
    for (const Signature& signature : signatures_)
      if (!signature.defined) declare(signature);
    line("declare i32 @__gxx_personality_v0(...)");
    line("declare i32 @printf(i8*, ...)");
    line("declare float @llvm.fabs.f32(float)");
    for (const Signature& signature : signatures_)
      if (signature.defined) define(signature);
    return std::move(text_);
  }

 private:
  // ---- chance ------------------------------------------------------------------------------

  std::size_t below(std::size_t bound) { return random_() % bound; }
  bool chance(int percent) { return below(100) < static_cast<std::size_t>(percent); }
  template <class List>
  auto& pick(List& list) {
    return list[below(list.size())];
  }
  std::string scalar_type() { return chance(70) ? pick(kIntegers) : pick(kReals); }
  std::string any_type() {
    if (chance(55)) return scalar_type();
    if (chance(50)) return scalar_type_wide() + std::string(1 + below(2), '*');
    return chance(30) ? "%node*" : std::string(pick(kAggregates));
  }
  std::string scalar_type_wide() { return chance(70) ? "i32" : "double"; }

  static bool is_integer(const std::string& type) {
    return type[0] == 'i' && type.find('*') == std::string::npos;
  }
  static bool is_real(const std::string& type) { return type == "float" || type == "double"; }
  static bool is_pointer(const std::string& type) { return type.back() == '*'; }
  static std::size_t bits(const std::string& type) { return std::stoul(type.substr(1)); }

  std::string constant(const std::string& type) {
    if (chance(8)) return "undef";
    if (type == "i1") return chance(50) ? "true" : "false";
    if (is_integer(type)) return std::to_string(below(100));
    if (is_real(type)) return chance(50) ? "1.0" : "2.5e-01";
    if (is_pointer(type)) {
      if (type == "i32*" && chance(60))
        return chance(50) ? "@counter"
                          : "getelementptr inbounds ([8 x i32], [8 x i32]* @table, "
                            "i64 0, i64 " +
                                std::to_string(below(8)) + ")";
      if (type == "i8*" && chance(40)) return "bitcast ([8 x i32]* @table to i8*)";
      return "null";
    }
    return "zeroinitializer";
  }

  // ---- text --------------------------------------------------------------------------------

  void line(const std::string& text) { text_ += text + "\n"; }
  std::string fresh() { return "%v" + std::to_string(next_value_++); }
  static std::string block_name(std::size_t block) { return "b" + std::to_string(block); }

  void globals() {
    line("@counter = global i32 0");
    line("@table = internal constant [8 x i32] zeroinitializer");
    line("@text = private unnamed_addr constant [4 x i8] c\"%d\\0A\\00\"");
    line("@head = external global %node");
    if (chance(50)) line("@other = alias i32, i32* @counter");
    has_alias_ = text_.find("@other") != std::string::npos;
  }

  void signatures() {
    const std::size_t count = 1 + below(5);
    for (std::size_t i = 0; i < count; ++i) {
      Signature signature;
      signature.name = "@f" + std::to_string(i);
      signature.result = chance(30) ? "void" : any_type();
      for (std::size_t p = below(5); p > 0; --p) signature.parameters.push_back(any_type());
      signature.defined = i == 0 || chance(70);
      signatures_.push_back(signature);
    }
  }
  static std::string type_list(const Signature& signature) {
    std::string list;
    for (const std::string& type : signature.parameters) list += (list.empty() ? "" : ", ") + type;
    return list;
  }
  void declare(const Signature& signature) {
    line("declare " + signature.result + " " + signature.name + "(" + type_list(signature) + ")");
  }

  // ---- one function ------------------------------------------------------------------------

  void define(const Signature& signature) {
    next_value_ = 0;
    entry_values_.clear();
    result_ = signature.result;
    std::string parameters;
    for (std::size_t i = 0; i < signature.parameters.size(); ++i) {
      const Value value{signature.parameters[i], "%a" + std::to_string(i)};
      parameters += (i ? ", " : "") + value.type + " " + value.name;
      entry_values_.push_back(value);
    }
    const bool throws = chance(30);
    line("define " + signature.result + " " + signature.name + "(" + parameters + ")" +
         (throws ? " personality i32 (...)* @__gxx_personality_v0" : "") + " {");
    blocks_ = 1 + below(8);
    endless_ = blocks_ > 1 && chance(10);
    handlers_.clear();
    incoming_.assign(blocks_, {});
    plan_edges();
    for (block_ = 0; block_ < blocks_; ++block_) write_block(throws);
    for (const std::string& handler : handlers_) text_ += handler;
    line("}");
  }

  // Terminators come first, because phi nodes name the blocks that lead to theirs.
  void plan_edges() {
    successors_.assign(blocks_, {});
    for (std::size_t b = 0; b < blocks_; ++b) {
      const std::size_t kind = below(100);
      std::size_t count = kind < 35 ? 1 : kind < 60 ? 2 : kind < 72 ? 2 + below(5) : 0;
      if (blocks_ == 1) count = 0;
      if (count == 0 && endless_) count = 1;
      // Nothing may lead to the entry; the last block may be one that nothing leads to.
      for (std::size_t k = 0; k < count; ++k) successors_[b].push_back(1 + below(blocks_ - 1));
      for (const std::size_t target : successors_[b]) incoming_[target].push_back(b);
    }
  }

  void write_block(bool throws) {
    block_values_.clear();
    line(block_name(block_) + ":");
    if (block_ > 0)
      for (std::size_t i = below(3); i > 0 && !incoming_[block_].empty(); --i) write_phi();
    for (std::size_t i = 1 + below(9); i > 0; --i) write_instruction();
    write_terminator(throws);
    if (block_ == 0)
      entry_values_.insert(entry_values_.end(), block_values_.begin(), block_values_.end());
  }

  void add(const std::string& type, const std::string& instruction) {
    const std::string name = fresh();
    line("  " + name + " = " + instruction);
    block_values_.push_back({type, name});
  }

  // A name or constant of this type.
  std::string operand(const std::string& type) {
    std::vector<const Value*> fitting;
    for (const auto* list : {&entry_values_, &block_values_})
      for (const Value& value : *list)
        if (value.type == type) fitting.push_back(&value);
    if (fitting.empty() || chance(25)) return constant(type);
    return fitting[below(fitting.size())]->name;
  }
  // The same for a phi: what stands in a block does not reach its predecessors.
  std::string outer_operand(const std::string& type) {
    std::vector<const Value*> fitting;
    if (block_ > 0)
      for (const Value& value : entry_values_)
        if (value.type == type) fitting.push_back(&value);
    return fitting.empty() || chance(40) ? constant(type) : fitting[below(fitting.size())]->name;
  }

  void write_phi() {
    const std::string type = scalar_type();
    std::string text = "phi " + type + " ";
    // One value for each predecessor, also where it leads here several times.
    std::vector<std::string> values(blocks_);
    for (std::size_t i = 0; i < incoming_[block_].size(); ++i) {
      std::string& value = values[incoming_[block_][i]];
      if (value.empty()) value = outer_operand(type);
      text += (i ? ", " : "") + std::string("[ ") + value + ", %" +
              block_name(incoming_[block_][i]) + " ]";
    }
    add(type, text);
  }

  void write_instruction() {
    switch (below(14)) {
      case 0:
      case 1:
        return write_arithmetic();
      case 2:
        return write_comparison();
      case 3:
        return write_conversion();
      case 4:
      case 5:
        return write_memory();
      case 6:
        return write_address();
      case 7:
      case 8:
        return write_call();
      case 9:
        return write_select();
      case 10:
        return write_vector();
      case 11:
        return write_aggregate();
      case 12:
        return write_atomic();
      default:
        return write_alloca();
    }
  }

  void write_arithmetic() {
    if (chance(70)) {
      static const std::array<const char*, 10> kOps = {"add", "sub", "mul",  "and",  "or",
                                                       "xor", "shl", "lshr", "udiv", "srem"};
      const std::string type = pick(kIntegers);
      return add(type,
                 std::string(pick(kOps)) + " " + type + " " + operand(type) + ", " + operand(type));
    }
    const std::string type = pick(kReals);
    if (chance(20)) return add(type, "fneg " + type + " " + operand(type));
    static const std::array<const char*, 4> kOps = {"fadd", "fsub", "fmul", "fdiv"};
    add(type, std::string(pick(kOps)) + " " + type + " " + operand(type) + ", " + operand(type));
  }
  void write_comparison() {
    const bool real = chance(30);
    const std::string type = real ? pick(kReals) : pick(kIntegers);
    add("i1", std::string(real ? "fcmp olt " : "icmp slt ") + type + " " + operand(type) + ", " +
                  operand(type));
  }
  void write_conversion() {
    const std::string from = pick(kIntegers), to = pick(kIntegers);
    if (bits(from) < bits(to)) return add(to, "zext " + from + " " + operand(from) + " to " + to);
    if (bits(from) > bits(to)) return add(to, "trunc " + from + " " + operand(from) + " to " + to);
    const std::string real = pick(kReals);
    add(real, "sitofp " + from + " " + operand(from) + " to " + real);
  }
  void write_memory() {
    const std::string type = chance(60) ? "i32" : scalar_type();
    const std::string pointer = type + "*";
    const std::string place =
        has_alias_ && type == "i32" && chance(20) ? "@other" : operand(pointer);
    if (chance(50)) return add(type, "load " + type + ", " + pointer + " " + place);
    line("  store " + type + " " + operand(type) + ", " + pointer + " " + place);
  }
  void write_address() {
    if (chance(50))
      return add("i32*",
                 "getelementptr inbounds i32, i32* " + operand("i32*") + ", i64 " + operand("i64"));
    if (chance(50))
      return add("double*", "getelementptr %node, %node* " + operand("%node*") +
                                ", i64 0, i32 2, i64 " + operand("i64") + ", i32 1");
    add("%node**", "getelementptr %node, %node* @head, i64 0, i32 1");
  }
  void write_select() {
    const std::string type = scalar_type();
    add(type, "select i1 " + operand("i1") + ", " + type + " " + operand(type) + ", " + type + " " +
                  operand(type));
  }
  void write_vector() {
    const std::string type = "<4 x float>";
    switch (below(3)) {
      case 0:
        return add(type, "insertelement " + type + " " + operand(type) + ", float " +
                             operand("float") + ", i32 " + std::to_string(below(4)));
      case 1:
        return add("float",
                   "extractelement " + type + " " + operand(type) + ", i32 " + operand("i32"));
      default:
        return add(type, "shufflevector " + type + " " + operand(type) + ", " + type + " " +
                             operand(type) + ", <4 x i32> " +
                             (chance(50)   ? "<i32 0, i32 4, i32 1, i32 5>"
                              : chance(50) ? "zeroinitializer"
                                           : "undef"));
    }
  }
  void write_aggregate() {
    if (chance(50)) return add("i32", "extractvalue %pair " + operand("%pair") + ", 0");
    add("%pair", "insertvalue %pair " + operand("%pair") + ", double " + operand("double") + ", 1");
  }
  void write_atomic() {
    switch (below(3)) {
      case 0:
        return add("i32", "atomicrmw add i32* " + operand("i32*") + ", i32 " + operand("i32") +
                              " seq_cst");
      case 1:
        return add("{ i32, i1 }", "cmpxchg i32* " + operand("i32*") + ", i32 " + operand("i32") +
                                      ", i32 " + operand("i32") + " acq_rel monotonic");
      default:
        return line("  fence seq_cst");
    }
  }
  void write_alloca() {
    const std::string type = any_type();
    add(type + "*", "alloca " + type + (chance(20) ? ", i32 " + operand("i32") : ""));
  }

  std::string arguments(const Signature& callee) {
    std::string list;
    for (const std::string& type : callee.parameters)
      list += (list.empty() ? "" : ", ") + type + " " + operand(type);
    return list;
  }
  void write_call() {
    if (chance(15))
      return add("i32",
                 "call i32 (i8*, ...) @printf(i8* getelementptr inbounds ([4 x i8], [4 x "
                 "i8]* @text, i64 0, i64 0), i32 " +
                     operand("i32") + ")");
    if (chance(15))
      return add("float", "call float @llvm.fabs.f32(float " + operand("float") + ")");
    if (chance(10)) {
      // Through a pointer that only the run knows.
      const std::string slot = fresh(), target = fresh();
      line("  " + slot + " = inttoptr i64 " + operand("i64") + " to i32 (i32)*");
      line("  " + target + " = call i32 " + slot + "(i32 " + operand("i32") + ")");
      return block_values_.push_back({"i32", target});
    }
    const Signature& callee = pick(signatures_);
    if (chance(10)) {
      // Through a cast, which hides the callee.
      return line("  call void bitcast (" + callee.result + " (" + type_list(callee) + ")* " +
                  callee.name + " to void ()*)()");
    }
    const std::string call =
        "call " + callee.result + " " + callee.name + "(" + arguments(callee) + ")";
    if (callee.result == "void") return line("  " + call);
    add(callee.result, call);
  }

  // ---- ends of blocks ----------------------------------------------------------------------

  void write_terminator(bool throws) {
    const std::vector<std::size_t>& to = successors_[block_];
    if (to.empty()) return write_end();
    const auto label = [&](std::size_t k) { return "label %" + block_name(to[k]); };
    if (to.size() == 1) {
      if (throws && chance(40)) return write_invoke(label(0));
      return line("  br " + label(0));
    }
    if (to.size() == 2 && chance(80))
      return line("  br i1 " + operand("i1") + ", " + label(0) + ", " + label(1));
    std::string cases;
    for (std::size_t k = 1; k < to.size(); ++k)
      cases += " i32 " + std::to_string(k * 3) + ", " + label(k);
    line("  switch i32 " + operand("i32") + ", " + label(0) + " [" + cases + " ]");
  }
  void write_end() {
    if (chance(15)) return line("  unreachable");
    if (result_ == "void") return line("  ret void");
    line("  ret " + result_ + " " + operand(result_));
  }
  void write_invoke(const std::string& next) {
    const Signature& callee = pick(signatures_);
    const std::string handler = "h" + std::to_string(block_);
    const std::string result = callee.result == "void" ? "" : fresh() + " = ";
    line("  " + result + "invoke " + callee.result + " " + callee.name + "(" + arguments(callee) +
         ") to " + next + " unwind label %" + handler);
    const std::string pad = "%p" + std::to_string(block_);
    handlers_.push_back(handler + ":\n  " + pad + " = landingpad { i8*, i32 }\n          " +
                        (chance(50) ? "cleanup" : "catch i8* null") + "\n  resume { i8*, i32 } " +
                        pad + "\n");
  }

  std::mt19937_64 random_;
  std::string text_;
  std::vector<Signature> signatures_;
  bool has_alias_ = false;
  // Of the function being written.
  std::string result_;
  std::size_t blocks_ = 0, block_ = 0, next_value_ = 0;
  bool endless_ = false;
  std::vector<Value> entry_values_, block_values_;
  std::vector<std::vector<std::size_t>> successors_, incoming_;
  std::vector<std::string> handlers_;
};

}  // namespace

std::string random_module(std::uint64_t seed) {
  return Generator(seed).module();
}

}  // namespace omen::loadbalance::bench
