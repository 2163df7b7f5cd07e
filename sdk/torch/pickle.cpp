// SPDX-License-Identifier: Apache-2.0
// The part of the pickle machine that state dictionaries need, protocols 2 to 4.
#include "pickle.hpp"

#include <bit>
#include <cstring>
#include <unordered_map>

#include "omen/error.hpp"

namespace omen::torch_kit {
namespace {

using Kind = PickleValue::Kind;
using Ref = PickleValue::Ref;

[[noreturn]] void bad(const std::string& what) {
  throw Error(OMEN_INVALID_DATA, "the pickle " + what,
              "Only what torch.save makes of a state dictionary can be read.");
}

Ref make(Kind kind) {
  Ref value = std::make_shared<PickleValue>();
  value->kind = kind;
  return value;
}

class Machine {
 public:
  explicit Machine(std::string_view bytes) : left_(bytes) {}

  Ref run() {
    for (;;) {
      const auto code = static_cast<unsigned char>(take(1)[0]);
      if (code == '.') return pop();
      if (!constant(code) && !structure(code)) bad("has operation " + std::to_string(code));
    }
  }

 private:
  // Operations that push a value which stands in the bytes.
  bool constant(unsigned char code) {
    switch (code) {
      case 0x80:
        take(1);
        return true;  // protocol
      case 0x95:
        take(8);
        return true;  // frame
      case 'N':
        push(make(Kind::kNone));
        return true;
      case 0x88:
        return integer(1);
      case 0x89:
        return integer(0);
      case 'J':
        return integer(static_cast<std::int32_t>(number<std::uint32_t>()));
      case 'K':
        return integer(number<std::uint8_t>());
      case 'M':
        return integer(number<std::uint16_t>());
      case 0x8a:
        return long_integer();
      case 'G':
        return real();
      case 'X':
        return text(number<std::uint32_t>());
      case 0x8c:
        return text(number<std::uint8_t>());
      case 'c':
        return global();
      default:
        return false;
    }
  }

  // Operations on what was pushed before.
  bool structure(unsigned char code) {
    switch (code) {
      case '(':
        marks_.push_back(stack_.size());
        return true;
      case ')':
      case ']':
        push(make(Kind::kSequence));
        return true;
      case '}':
        push(make(Kind::kMapping));
        return true;
      case 't':
        return sequence(popped_mark());
      case 0x85:
        return sequence(last(1));
      case 0x86:
        return sequence(last(2));
      case 0x87:
        return sequence(last(3));
      case 'q':
        memo_[number<std::uint8_t>()] = top();
        return true;
      case 'r':
        memo_[number<std::uint32_t>()] = top();
        return true;
      case 0x94:
        memo_.emplace(memo_.size(), top());
        return true;
      case 'h':
        return recall(number<std::uint8_t>());
      case 'j':
        return recall(number<std::uint32_t>());
      case 's':
        return set_items(last(2));
      case 'u':
        return set_items(popped_mark());
      case 'a':
        return append(last(1));
      case 'e':
        return append(popped_mark());
      case 'Q':
        return stored();
      case 'R':
        return call();
      case 'b':
        pop();
        return true;  // attributes of an object say nothing about tensors
      default:
        return false;
    }
  }

  std::string_view take(std::size_t count) {
    if (left_.size() < count) bad("is cut off");
    const std::string_view head = left_.substr(0, count);
    left_.remove_prefix(count);
    return head;
  }
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  void push(Ref value) { stack_.push_back(std::move(value)); }
  Ref& top() {
    if (stack_.empty()) bad("takes from an empty stack");
    return stack_.back();
  }
  Ref pop() {
    Ref value = top();
    stack_.pop_back();
    return value;
  }

  bool integer(std::int64_t value) {
    push(make(Kind::kInteger));
    top()->integer = value;
    return true;
  }
  bool long_integer() {
    const std::string_view bytes = take(number<std::uint8_t>());
    if (bytes.size() > 8) bad("has a number beyond 64 bits");
    std::int64_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;)
      value = value << 8 | static_cast<unsigned char>(bytes[i]);
    const bool negative = !bytes.empty() && (bytes.back() & 0x80);
    if (negative && bytes.size() < 8) value -= std::int64_t{1} << (8 * bytes.size());
    return integer(value);
  }
  bool real() {
    std::uint64_t bits = 0;
    for (const char byte : take(8)) bits = bits << 8 | static_cast<unsigned char>(byte);
    push(make(Kind::kReal));
    top()->real = std::bit_cast<double>(bits);
    return true;
  }
  bool text(std::size_t length) {
    push(make(Kind::kText));
    top()->text = take(length);
    return true;
  }
  bool global() {
    std::string name;
    for (int part = 0; part < 2; ++part) {
      const std::size_t end = left_.find('\n');
      if (end == left_.npos) bad("is cut off");
      name += (part ? " " : "") + std::string(take(end));
      take(1);
    }
    push(make(Kind::kGlobal));
    top()->text = std::move(name);
    return true;
  }

  std::vector<Ref> last(std::size_t count) {
    if (stack_.size() < count) bad("takes from an empty stack");
    std::vector<Ref> items(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return items;
  }
  std::vector<Ref> popped_mark() {
    if (marks_.empty() || marks_.back() > stack_.size()) bad("lacks a mark");
    const std::size_t begin = marks_.back();
    marks_.pop_back();
    return last(stack_.size() - begin);
  }
  bool sequence(std::vector<Ref> items) {
    push(make(Kind::kSequence));
    top()->items = std::move(items);
    return true;
  }
  bool recall(std::size_t place) {
    const auto found = memo_.find(place);
    if (found == memo_.end()) bad("recalls what it never kept");
    push(found->second);
    return true;
  }
  bool set_items(const std::vector<Ref>& items) {
    if (items.size() % 2 != 0 || top()->kind != Kind::kMapping) bad("fills what is no dictionary");
    for (std::size_t i = 0; i < items.size(); i += 2)
      top()->entries.emplace_back(items[i], items[i + 1]);
    return true;
  }
  bool append(const std::vector<Ref>& items) {
    if (top()->kind != Kind::kSequence) bad("appends to what is no list");
    top()->items.insert(top()->items.end(), items.begin(), items.end());
    return true;
  }
  bool stored() {
    Ref id = pop();
    push(make(Kind::kStored));
    top()->items = {std::move(id)};
    return true;
  }
  bool call() {
    const std::vector<Ref> parts = last(2);
    const bool dictionary =
        parts[0]->kind == Kind::kGlobal && parts[0]->text == "collections OrderedDict";
    push(make(dictionary ? Kind::kMapping : Kind::kCall));
    if (!dictionary) top()->items = parts;
    return true;
  }

  std::string_view left_;
  std::vector<Ref> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::size_t, Ref> memo_;
};

}  // namespace

Ref read_pickle(std::string_view bytes) {
  return Machine(bytes).run();
}

}  // namespace omen::torch_kit
