// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libFuzzer's driver of the tuning files: any text behind a first line that fits is either refused with an Error, or
// becomes a table that comes back the same from the text that it makes.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include <tessera/core/error.hpp>
#include <tessera/core/tuning_table.hpp>

using tessera::TuningTable;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string header(TuningTable::magic);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::string& whole : {std::string(text), header + "\n" + std::string(text)}) {
    try {
      const TuningTable table = TuningTable::parse(whole, header);
      const TuningTable again = TuningTable::parse(table.text(), header);
      if (again.size() != table.size() || again.text() != table.text()) {
        std::cerr << "broken promise: a table comes back from its text\n";
        std::abort();
      }
    } catch (const tessera::Error&) {
    }
  }
  return 0;
}
