// SPDX-License-Identifier: Apache-2.0
// Walks a module once; node and edge order follow the program, never a hash map.
#include "llvm/graph_builder.hpp"

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ModuleSlotTracker.h>
#include <llvm/Support/raw_ostream.h>

#include <array>
#include <deque>
#include <optional>

#include "llvm/type_texts.hpp"

namespace omen::loadbalance {
namespace {

// Members of structures get fresh nodes each, so nested ones may grow without bound.
constexpr std::size_t kMaxTypeNodes = 1'000'000;

// Where a value is read: the instruction's node, and which of its operands it is.
struct Use {
  std::int32_t node, position;
};

// Values in the order of their first use, with all uses of each.
class UsesInOrder {
 public:
  struct Entry {
    const llvm::Value* value;
    std::int32_t first = -1, last = -1;  // of links_
  };
  void add(const llvm::Value* value, Use use) {
    const auto [at, fresh] = index_.try_emplace(value, static_cast<unsigned>(entries_.size()));
    if (fresh) entries_.push_back({value});
    Entry& entry = entries_[at->second];
    const auto link = static_cast<std::int32_t>(links_.size());
    links_.push_back({use, -1});
    if (entry.first < 0)
      entry.first = link;
    else
      links_[static_cast<std::size_t>(entry.last)].next = link;
    entry.last = link;
  }
  const std::vector<Entry>& entries() const { return entries_; }
  template <class Visit>
  void each(const Entry& entry, Visit&& visit) const {
    for (std::int32_t at = entry.first; at >= 0; at = links_[static_cast<std::size_t>(at)].next)
      visit(links_[static_cast<std::size_t>(at)].use);
  }
  void clear() {
    index_.clear();
    entries_.clear();
    links_.clear();
  }

 private:
  struct Link {
    Use use;
    std::int32_t next;
  };
  llvm::DenseMap<const llvm::Value*, unsigned> index_;
  std::vector<Entry> entries_;
  std::vector<Link> links_;
};

struct CallSite {
  std::int32_t node;
  const llvm::Function* callee;
};

struct Boundary {
  std::int32_t entry;
  std::vector<std::int32_t> exits;
};

class Builder {
 public:
  Builder(const llvm::Module& module, const std::string& name, const BuildOptions& options)
      : options_(options), texts_(graph_) {
    graph_.name = name;
    opcode_texts_.fill(-1);
    if (options.full_text || options.dialect == Dialect::kIdentifier) slots_.emplace(&module);
    add_node(NodeType::kInstruction, texts_.code("[external]"), -1);
  }

  ProgramGraph build(const std::vector<const llvm::Function*>& functions) {
    reserve(functions);
    for (const llvm::Function* function : functions) visit(*function);
    connect_calls(functions);
    for (const UsesInOrder::Entry& entry : constants_.entries()) add_constant(entry);
    return std::move(graph_);
  }

 private:
  bool typed() const { return options_.dialect == Dialect::kTyped; }
  bool by_identifier() const { return options_.dialect == Dialect::kIdentifier; }

  // About one and a half variables and constants for each instruction, one edge and a half per
  // node.
  void reserve(const std::vector<const llvm::Function*>& functions) {
    std::size_t instructions = 0;
    for (const llvm::Function* function : functions)
      for (const llvm::BasicBlock& block : *function) instructions += block.size();
    graph_.nodes.reserve(functions.size() + instructions * 5 / 2);
    graph_.edges.reserve(functions.size() * 2 + instructions * 4);
  }

  std::int32_t add_node(NodeType type, std::int32_t text, std::int32_t function) {
    const auto number = static_cast<std::int32_t>(graph_.nodes.size());
    graph_.nodes.push_back({type, text, function, block_});
    if (options_.full_text) graph_.full_texts.emplace_back();
    if (by_identifier()) graph_.values.emplace_back();
    return number;
  }
  void add_edge(Flow flow, std::int32_t source, std::int32_t target, std::int32_t position = 0) {
    graph_.edges.push_back({source, target, position, flow});
  }
  std::string& full_text_of(std::int32_t node) {
    return graph_.full_texts[static_cast<std::size_t>(node)];
  }

  // ---- texts -------------------------------------------------------------------------------

  std::int32_t opcode_text(const llvm::Instruction& instruction) {
    std::int32_t& code = opcode_texts_[instruction.getOpcode()];
    if (code < 0) code = texts_.code(instruction.getOpcodeName());
    return code;
  }
  std::int32_t type_text_code(llvm::Type* type) {
    const auto [at, fresh] = type_codes_.try_emplace(type, 0);
    if (fresh) at->second = texts_.code(type_text(type));
    return at->second;
  }
  std::string printed(const llvm::Value& value) {
    std::string text;
    llvm::raw_string_ostream out(text);
    value.print(out, *slots_);
    out.flush();
    return text.substr(std::min(text.find_first_not_of(' '), text.size()));
  }
  std::string operand_text(const llvm::Value& value) {
    std::string text;
    llvm::raw_string_ostream out(text);
    value.printAsOperand(out, false, *slots_);
    return out.str();
  }

  // ---- types -------------------------------------------------------------------------------

  // The node of a type; one that is being built is found again, so that a pointer back to a
  // structure ends at it.
  std::int32_t type_node(llvm::Type* type) {
    if (const auto open = open_structs_.find(type); open != open_structs_.end())
      return open->second;
    if (const auto known = type_nodes_.find(type); known != type_nodes_.end()) return known->second;
    const std::int32_t node = fresh_type_node(type);
    type_nodes_[type] = node;
    return node;
  }
  std::int32_t fresh_type_node(llvm::Type* type) {
    if (++type_node_count_ > kMaxTypeNodes)
      throw Error(OMEN_INVALID_DATA, "the types of this module unfold to more than a million nodes",
                  "Use the dialect without type nodes: --dialect programl");
    const std::int32_t node = add_node(NodeType::kType, texts_.code(composite_text(type)), -1);
    if (options_.full_text) full_text_of(node) = type_text(type);
    if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
      open_structs_[type] = node;
      for (unsigned i = 0; i < structure->getNumElements(); ++i) {
        const std::int32_t member = fresh_type_node(structure->getElementType(i));
        add_edge(Flow::kType, member, node, static_cast<std::int32_t>(i));
      }
    } else if (llvm::Type* element = element_of(type)) {
      const std::int32_t inner = type_node(element);
      add_edge(Flow::kType, inner, node);
    }
    return node;
  }
  // Gives a variable or constant its type node.
  void connect_type(std::int32_t node, llvm::Type* type) {
    if (!typed()) return;
    open_structs_.clear();
    const std::int32_t source = type_node(type);
    add_edge(Flow::kType, source, node);
  }
  std::int32_t add_value_node(NodeType kind, llvm::Type* type, std::int32_t function) {
    const std::int32_t text =
        !typed() ? type_text_code(type) : texts_.code(kind == NodeType::kVariable ? "var" : "val");
    return add_node(kind, text, function);
  }

  // ---- functions ---------------------------------------------------------------------------

  void visit(const llvm::Function& function) {
    function_ = static_cast<std::int32_t>(graph_.functions.size());
    graph_.functions.push_back(function.getName().str());
    if (function.isDeclaration()) {
      const std::int32_t node =
          add_node(NodeType::kInstruction, texts_.code("; undefined function"), function_);
      graph_.nodes.back().block = 0;
      boundaries_.push_back({node, {node}});
    } else {
      instruction_nodes_.clear();
      definitions_.clear();
      arguments_.clear();
      identifiers_.clear();
      for (const llvm::BasicBlock& block : function) visit(block);
      for (const UsesInOrder::Entry& entry : arguments_.entries()) add_argument(entry);
      for (const auto& [definition, variable] : definitions_)
        add_edge(Flow::kData, instruction_nodes_.lookup(definition), variable);
      boundaries_.push_back(connect_blocks(function));
    }
    function_numbers_[&function] = boundaries_.size() - 1;
  }

  void visit(const llvm::BasicBlock& block) {
    std::int32_t previous = -1;
    for (const llvm::Instruction& instruction : block) {
      const std::int32_t node =
          add_node(NodeType::kInstruction, opcode_text(instruction), function_);
      if (options_.full_text) full_text_of(node) = printed(instruction);
      instruction_nodes_[&instruction] = node;
      if (previous >= 0) add_edge(Flow::kControl, previous, node);
      previous = node;
      remember_call(instruction, node);
      if (!options_.instructions_only) visit_operands(instruction, node);
    }
    ++block_;
  }

  void remember_call(const llvm::Instruction& instruction, std::int32_t node) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (const llvm::Function* callee = call ? call->getCalledFunction() : nullptr)
      calls_.push_back({node, callee});
  }

  void visit_operands(const llvm::Instruction& instruction, std::int32_t node) {
    std::int32_t position = 0;
    for (const llvm::Use& use : instruction.operands())
      visit_operand(use.get(), {node, position++});
    // Up to LLVM 10 the mask was the third operand.
    if (const auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction))
      constants_.add(shuffle->getShuffleMaskForBitcode(), {node, position});
    if (by_identifier())
      if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
        stores_to(store->getPointerOperand(), {node, 1});
  }

  void visit_operand(const llvm::Value* value, Use use) {
    if (llvm::isa<llvm::Constant>(value)) {
      if (!llvm::isa<llvm::Function>(value)) constants_.add(value, use);
    } else if (const auto* definition = llvm::dyn_cast<llvm::Instruction>(value)) {
      add_edge(Flow::kData, variable_of(definition), use.node, use.position);
    } else if (llvm::isa<llvm::Argument>(value)) {
      arguments_.add(value, use);
    }
  }

  // A new variable for this use, or the one of the identifier.
  std::int32_t variable_of(const llvm::Instruction* definition) {
    if (by_identifier())
      if (const auto known = identifiers_.find(definition); known != identifiers_.end())
        return known->second;
    const std::int32_t variable =
        add_value_node(NodeType::kVariable, definition->getType(), function_);
    if (options_.full_text)
      full_text_of(variable) = type_text(definition->getType()) + " " + operand_text(*definition);
    definitions_.emplace_back(definition, variable);
    if (by_identifier()) identifiers_[definition] = variable;
    connect_type(variable, definition->getType());
    return variable;
  }

  // A store changes what its pointer names, which later loads read: an edge back to the pointer,
  // marked by a negative position until its node exists.
  void stores_to(const llvm::Value* pointer, Use use) {
    const Use mark{use.node, -1 - use.position};
    if (const auto* definition = llvm::dyn_cast<llvm::Instruction>(pointer))
      add_edge(Flow::kData, use.node, variable_of(definition), use.position);
    else if (llvm::isa<llvm::Argument>(pointer))
      arguments_.add(pointer, mark);
    else if (llvm::isa<llvm::Constant>(pointer) && !llvm::isa<llvm::Function>(pointer))
      constants_.add(pointer, mark);
  }

  void connect_uses(const UsesInOrder& uses, const UsesInOrder::Entry& entry, std::int32_t node) {
    uses.each(entry, [&](Use use) {
      if (use.position >= 0)
        add_edge(Flow::kData, node, use.node, use.position);
      else
        add_edge(Flow::kData, use.node, node, -1 - use.position);
    });
  }
  void add_argument(const UsesInOrder::Entry& entry) {
    llvm::Type* type = entry.value->getType();
    const std::int32_t node = add_value_node(NodeType::kVariable, type, function_);
    if (options_.full_text) full_text_of(node) = type_text(type) + " " + operand_text(*entry.value);
    connect_type(node, type);
    connect_uses(arguments_, entry, node);
  }
  void add_constant(const UsesInOrder::Entry& entry) {
    llvm::Type* type = entry.value->getType();
    const std::int32_t node = add_value_node(NodeType::kConstant, type, -1);
    if (options_.full_text) full_text_of(node) = printed(*entry.value);
    if (by_identifier()) graph_.values[static_cast<std::size_t>(node)] = operand_text(*entry.value);
    connect_type(node, type);
    connect_uses(constants_, entry, node);
  }

  // Control edges between blocks, breadth first from the entry; blocks that it does not reach keep
  // none.
  Boundary connect_blocks(const llvm::Function& function) {
    Boundary boundary{instruction_nodes_.lookup(&function.getEntryBlock().front()), {}};
    llvm::DenseMap<const llvm::BasicBlock*, char> seen;
    std::deque<const llvm::BasicBlock*> todo{&function.getEntryBlock()};
    seen[todo.front()] = 1;
    while (!todo.empty()) {
      const llvm::BasicBlock* block = todo.front();
      todo.pop_front();
      if (block->empty()) continue;
      const std::int32_t last = instruction_nodes_.lookup(&block->back());
      std::int32_t position = 0;
      for (const llvm::BasicBlock* successor : llvm::successors(block)) {
        if (!successor->empty())
          add_edge(Flow::kControl, last, instruction_nodes_.lookup(&successor->front()), position);
        ++position;
        if (seen.try_emplace(successor, 1).second) todo.push_back(successor);
      }
      if (position == 0) boundary.exits.push_back(last);
    }
    return boundary;
  }

  void connect_calls(const std::vector<const llvm::Function*>& functions) {
    for (std::size_t i = 0; i < functions.size(); ++i) connect_call(0, boundaries_[i]);
    for (const CallSite& call : calls_)
      if (const auto callee = function_numbers_.find(call.callee);
          callee != function_numbers_.end())
        connect_call(call.node, boundaries_[callee->second]);
  }
  void connect_call(std::int32_t site, const Boundary& callee) {
    add_edge(Flow::kCall, site, callee.entry);
    if (!options_.call_returns) return;
    for (const std::int32_t exit : callee.exits) add_edge(Flow::kCall, exit, site);
  }

  BuildOptions options_;
  ProgramGraph graph_;
  TextTable texts_;
  std::optional<llvm::ModuleSlotTracker> slots_;
  std::int32_t block_ = 0, function_ = -1;
  std::array<std::int32_t, llvm::Instruction::OtherOpsEnd> opcode_texts_{};
  llvm::DenseMap<llvm::Type*, std::int32_t> type_codes_, type_nodes_, open_structs_;
  std::size_t type_node_count_ = 0;
  // Of the function being visited.
  llvm::DenseMap<const llvm::Instruction*, std::int32_t> instruction_nodes_, identifiers_;
  std::vector<std::pair<const llvm::Instruction*, std::int32_t>> definitions_;
  UsesInOrder arguments_;
  // Of the module.
  UsesInOrder constants_;
  std::vector<CallSite> calls_;
  std::vector<Boundary> boundaries_;
  llvm::DenseMap<const llvm::Function*, std::size_t> function_numbers_;
};

}  // namespace

const char* dialect_name(Dialect dialect) {
  switch (dialect) {
    case Dialect::kTyped:
      return kTypedDialect;
    case Dialect::kIdentifier:
      return kIdentifierDialect;
    case Dialect::kPrograml:
      break;
  }
  return kDialect;
}

ProgramGraph build_graph(const llvm::Module& module, const std::string& name,
                         const BuildOptions& options) {
  std::vector<const llvm::Function*> functions;
  for (const llvm::Function& function : module) functions.push_back(&function);
  return build_graph(module, functions, name, options);
}

ProgramGraph build_graph(const llvm::Module& module,
                         const std::vector<const llvm::Function*>& functions,
                         const std::string& name, const BuildOptions& options) {
  return Builder(module, name, options).build(functions);
}

}  // namespace omen::loadbalance
