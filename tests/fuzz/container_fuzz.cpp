// SPDX-License-Identifier: Apache-2.0
// Container bytes of any kind; what the reader accepts is read completely and written again.
// covers: sdk/container/reader.cpp
// covers: sdk/container/header_parser.cpp
// covers: sdk/container/table_file.cpp
#include <cstdint>
#include <cstdlib>
#include <numeric>

#include "omen/container.hpp"

namespace {

using namespace omen;
using container::Reader;
using container::Writer;

void require(bool condition) {
  if (!condition) std::abort();
}

Reader over(const void* bytes, std::size_t size) {
  // A copy of exactly this size lets the sanitizer see every byte read past its end.
  auto copy = std::shared_ptr<char[]>(new char[size + 1]);
  if (size > 0) std::memcpy(copy.get(), bytes, size);
  return Reader::from_memory(copy.get(), size, copy);
}

std::uint64_t sum(const Reader& reader) {
  std::uint64_t total = 0;
  for (const container::Entry& entry : reader.entries()) {
    const auto* bytes = static_cast<const unsigned char*>(reader.bytes(entry));
    total = std::accumulate(bytes, bytes + (entry.end - entry.begin), total);
  }
  return total;
}

void rewrite_tensors(const Reader& reader) {
  Writer writer;
  const ArtifactReader in(reader.source());
  ArtifactWriter out(writer.sink());
  for (const std::string& name : in.names()) {
    const TensorView view = in.tensor(name);
    out.put_raw(name, view.dtype.c_str(), view.shape, view.bytes, view.size);
  }
  for (const auto& [key, value] : reader.metadata()) writer.put_meta(key, value);
  const std::string bytes = writer.serialise();
  const Reader back = over(bytes.data(), bytes.size());
  back.verify_digest();
  require(back.entries().size() == reader.entries().size() && sum(back) == sum(reader));
}

void rewrite_table(const Reader& reader, const std::string& name) {
  const Table table = container::get_table(reader, name);
  Writer writer;
  try {
    container::put_table(writer, name, table);
  } catch (const Error&) {
    return;  // such as two columns of one name
  }
  const std::string bytes = writer.serialise();
  const Table back = container::get_table(over(bytes.data(), bytes.size()), name);
  require(back.rows() == table.rows() && back.columns() == table.columns());
  Writer again;
  container::put_table(again, name, back);
  require(again.serialise() == bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const Reader reader = over(data, size);
    rewrite_tensors(reader);
    for (const std::string& name : container::table_names(reader)) {
      try {
        rewrite_table(reader, name);
      } catch (const Error& error) {
        require(error.code() == OMEN_INVALID_DATA);
      }
    }
    reader.verify_digest();
  } catch (const Error& error) {
    require(error.code() == OMEN_INVALID_DATA && !error.hint().empty());
  }
  return 0;
}
