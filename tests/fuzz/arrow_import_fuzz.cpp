// SPDX-License-Identifier: Apache-2.0
// Arrow structs of a hostile producer; accepted ones are read, copied and exported completely.
// covers: sdk/include/omen/table_impl.hpp
// covers: sdk/include/omen/table_build_impl.hpp
#include <array>
#include <cstdint>
#include <cstdlib>
#include <deque>

#include "omen/table.hpp"

namespace {

using namespace omen;

void require(bool condition) {
  if (!condition) std::abort();
}

// Takes decisions from the input; past its end everything is 0.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  std::uint8_t byte() { return at_ < size_ ? data_[at_++] : 0; }
  bool rarely() { return byte() > 240; }

  // Small numbers are bounded by the buffers below; all others must be refused, because a consumer
  // of the C structs cannot see how long a buffer is.
  std::int64_t extent(std::int64_t usual) {
    constexpr std::int64_t kImpossible[] = {-1, INT64_MIN, INT64_MAX, (std::int64_t{1} << 40) + 1};
    const std::uint8_t choice = byte();
    if (choice < 200) return usual;
    if (choice < 250) return choice % 17;
    return kImpossible[choice % 4];
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_, at_ = 0;
};

// Everything one import points at; buffers hold more than any accepted combination of extents can
// reach.
class Producer {
 public:
  explicit Producer(Input& in) : in_(in) {
    rows_ = in.byte() % 9;
    const int columns = in.byte() % 6;
    for (int c = 0; c < columns; ++c) add_column();
    schema.format = in.rarely() ? "i" : "+s";
    schema.name = "";
    schema.metadata = metadata();
    schema.n_children = in.rarely() ? in.byte() - 2 : columns;
    if (schema.n_children > columns) schema.n_children = -1;
    schema.children = in.rarely() ? nullptr : schema_children_.data();
    array.length = in.extent(rows_);
    array.offset = in.extent(0);
    array.null_count = in.rarely() ? in.byte() - 2 : 0;
    array.n_buffers = 1;
    array.buffers = buffers({in.rarely() ? bytes_.data() : nullptr});
    array.n_children = in.rarely() ? in.byte() - 2 : columns;
    array.children = array_children_.data();
    if (in.rarely()) array.dictionary = &array;
    schema.private_data = array.private_data = this;
    schema.release = [](ArrowSchema* s) {
      ++static_cast<Producer*>(s->private_data)->schema_releases;
      s->release = nullptr;
    };
    array.release = [](ArrowArray* a) {
      ++static_cast<Producer*>(a->private_data)->array_releases;
      a->release = nullptr;
    };
  }
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  ArrowSchema schema{};
  ArrowArray array{};
  int schema_releases = 0, array_releases = 0;

 private:
  static constexpr std::size_t kBytes = 16384;

  const void** buffers(std::initializer_list<const void*> list) {
    auto& held = buffer_lists_.emplace_back();
    std::copy(list.begin(), list.end(), held.begin());
    return held.data();
  }

  const char* metadata() {
    switch (in_.byte() % 8) {
      case 0:
        return metadata_.emplace_back(detail::encode_metadata({{"k", "v"}, {"omen.unit", ""}}))
            .data();
      case 1:
        return metadata_.emplace_back("\xff\xff\xff\xff").data();  // a count of -1
      case 2:
        return metadata_.emplace_back(8, '\0').data();
      default:
        return nullptr;
    }
  }

  // Offsets rise by small steps; sometimes one falls, which validate must see.
  const void* offsets() {
    auto& values = integers_.emplace_back();
    std::int32_t at = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint8_t step = i < 32 ? in_.byte() : 0;
      at += step == 255 ? -3 : step % 5;
      values[i] = at;
    }
    return values.data();
  }
  const void* codes() {
    auto& values = integers_.emplace_back();
    for (std::size_t i = 0; i < 32; ++i) values[i] = in_.byte() % 8 - (in_.rarely() ? 1 : 0);
    return values.data();
  }
  const void* numbers() {
    for (std::size_t i = 0; i < 16; ++i) bytes_[i] = in_.byte();
    return in_.rarely() ? bytes_.data() + 1 : bytes_.data();
  }
  const void* maybe(const void* pointer) { return in_.rarely() ? nullptr : pointer; }

  ArrowArray node(std::int64_t usual, std::int64_t count, const void** list) {
    ArrowArray a{};
    a.length = in_.extent(usual);
    a.offset = in_.extent(0);
    a.null_count = in_.byte() % 4 == 0 ? in_.byte() % 4 - 1 : 0;
    a.n_buffers = in_.rarely() ? in_.byte() % 5 : count;
    a.buffers = in_.rarely() ? nullptr : list;
    return a;
  }

  void add_column() {
    static constexpr const char* kFormats[] = {"b",
                                               "c",
                                               "C",
                                               "s",
                                               "S",
                                               "i",
                                               "I",
                                               "l",
                                               "L",
                                               "f",
                                               "g",
                                               "u",
                                               "i",
                                               "+w:1",
                                               "+w:2",
                                               "+w:8",
                                               "+w:0",
                                               "+w:16777216",
                                               "+w:99999999999",
                                               "+w:x",
                                               "z",
                                               "",
                                               nullptr};
    constexpr int kText = 11, kDictionary = 12, kLists = 13;
    const int kind = in_.byte() % std::size(kFormats);
    ArrowSchema& s = schemas_.emplace_back();
    s.format = kFormats[kind];
    s.name = in_.rarely() ? nullptr : "column";
    s.metadata = metadata();
    const void* valid = in_.byte() % 3 == 0 ? bytes_.data() : nullptr;
    ArrowArray& a = arrays_.emplace_back();
    if (kind == kText) {
      a = node(rows_, 3, buffers({valid, maybe(offsets()), maybe(text_.data())}));
    } else if (kind == kDictionary) {
      a = node(rows_, 2, buffers({valid, maybe(codes())}));
      ArrowSchema& values = schemas_.emplace_back();
      values.format = in_.rarely() ? "i" : "u";
      s.dictionary = &values;
      ArrowArray& inner = arrays_.emplace_back(
          node(in_.byte() % 9, 3, buffers({nullptr, maybe(offsets()), maybe(text_.data())})));
      a.dictionary = in_.rarely() ? nullptr : &inner;
      bend(inner);
    } else if (kind >= kLists && kind < 20) {
      add_list(s, a, valid);
    } else {
      a = node(rows_, 2, buffers({valid, maybe(numbers())}));
    }
    bend(a);
    schema_children_.push_back(in_.rarely() ? nullptr : &s);
    array_children_.push_back(in_.rarely() ? nullptr : &a);
  }

  void add_list(ArrowSchema& s, ArrowArray& a, const void* valid) {
    ArrowSchema& item = schemas_.emplace_back();
    constexpr const char* kItems[] = {"f", "i", "g"};
    item.format = kItems[in_.byte() % 3];
    s.n_children = 1;
    s.children = &child_schemas_.emplace_back(in_.rarely() ? nullptr : &item);
    a = node(rows_, 1, buffers({valid}));
    ArrowArray& items =
        arrays_.emplace_back(node(rows_ * 8 + 128, 2, buffers({nullptr, maybe(numbers())})));
    bend(items);
    a.n_children = 1;
    a.children = &child_arrays_.emplace_back(in_.rarely() ? nullptr : &items);
  }

  void bend(ArrowArray& a) {
    if (in_.rarely()) a.n_children = in_.byte() - 2;
    if (in_.rarely()) a.dictionary = &a;
  }

  Input& in_;
  std::int64_t rows_ = 0;
  alignas(64) std::array<std::uint8_t, kBytes> bytes_{};
  std::array<char, kBytes> text_{};
  std::deque<ArrowSchema> schemas_;
  std::deque<ArrowArray> arrays_;
  std::deque<ArrowSchema*> child_schemas_;
  std::deque<ArrowArray*> child_arrays_;
  std::deque<std::array<std::int32_t, kBytes / 16>> integers_;
  std::deque<std::array<const void*, 5>> buffer_lists_;
  std::deque<std::string> metadata_;
  std::vector<ArrowSchema*> schema_children_;
  std::vector<ArrowArray*> array_children_;
};

// Touches every value and returns a number that depends on all of them.
double read(const Table& table) {
  double sum = 0;
  for (std::size_t c = 0; c < table.columns(); ++c) {
    if (is_number(table.type(c)))
      for (const double value : table.numbers(c)) sum += std::isfinite(value) ? 1 : 0;
    for (std::int64_t i = 0; i < table.rows(); ++i) {
      sum += table.is_null(c, i) ? 1 : 0;
      if (is_text(table.type(c)))
        for (const char byte : table.strings(c)[i]) sum += byte;
      for (std::int64_t k = 0; k < table.list_size(c); ++k)
        sum += table.type(c) == Type::kIntList             ? table.list<std::int32_t>(c)[i][k] % 7
               : std::isfinite(table.list<float>(c)[i][k]) ? 1
                                                           : 0;
    }
    sum += static_cast<double>(table.metadata(c).size());
  }
  return sum;
}

Table through_stream(const Table& table) {
  ArrowArrayStream stream{};
  int left = 2;
  TableStream batches(table, [table, left]() mutable -> std::optional<Table> {
    if (left-- > 0) return table;
    throw Error(OMEN_TIMEOUT, "end", "Stop.");
  });
  std::move(batches).export_to(&stream);
  TableStream back = TableStream::import(&stream);
  Table last = *back.next();
  last = *back.next();
  try {
    back.next();
    std::abort();
  } catch (const Error& error) {
    require(error.code() == OMEN_TIMEOUT && error.hint() == "Stop.");
  }
  return last;
}

void use(const Table& table) {
  const double sum = read(table);
  const Table streamed = through_stream(table);
  streamed.validate();
  require(read(streamed) == sum);
  const Table doubled = concat({table, table});
  doubled.validate();
  require(doubled.rows() == (table.columns() == 0 ? 0 : 2 * table.rows()));
  if (table.columns() == 0) return;
  read(doubled.slice(table.rows() / 2, table.rows()));
  read(take(table, std::vector<std::int64_t>(table.rows() > 0 ? 3 : 0, table.rows() - 1)));
  TableBuilder builder;
  for (std::size_t c = 0; c < table.columns(); ++c) builder.add_column(table, c);
  require(read(builder.finish()) == sum);
  TableStream twice(table, [table, left = 2]() mutable {
    return left-- > 0 ? std::optional(table) : std::nullopt;
  });
  require(twice.read_all().rows() == 2 * table.rows());
}

// A consumer may move one child out and release the rest before it.
void move_out(const Table& table) {
  ArrowArray array{};
  table.export_array(&array);
  ArrowArray child{};
  if (array.n_children > 0) std::swap(child, *array.children[array.n_children - 1]);
  array.release(&array);
  if (child.release) child.release(&child);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  Input in(data, size);
  Producer producer(in);
  try {
    const Table table = Table::import(&producer.schema, &producer.array);
    table.validate();
    use(table);
    move_out(table);
  } catch (const Error& error) {
    require(error.code() == OMEN_INVALID_DATA);
  }
  require(producer.schema_releases == 1 && producer.array_releases == 1);
  return 0;
}
