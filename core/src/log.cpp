// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

#include <tessera/core/log.hpp>

namespace tessera {
namespace {

std::mutex& output_mutex() {
  static std::mutex mutex;
  return mutex;
}

const std::set<std::string, std::less<>>& topics() {
  static const std::set<std::string, std::less<>> wanted = [] {
    std::set<std::string, std::less<>> set;
    const char* value = std::getenv("TESSERA_LOG");  // NOLINT(concurrency-mt-unsafe): nothing here writes it
    std::string text = value ? value : "";
    for (std::size_t start = 0; start <= text.size();) {
      const std::size_t comma = std::min(text.find(',', start), text.size());
      if (comma > start) set.insert(text.substr(start, comma - start));
      start = comma + 1;
    }
    return set;
  }();
  return wanted;
}

}  // namespace

bool log_enabled(std::string_view topic) { return topics().contains(topic) || topics().contains("all"); }

void log_line(std::string_view topic, std::string_view text) {
  if (!log_enabled(topic)) return;
  const std::scoped_lock lock(output_mutex());
  std::fprintf(stderr, "tessera[%.*s] %.*s\n", static_cast<int>(topic.size()), topic.data(),
               static_cast<int>(text.size()), text.data());
}

void notice_once(std::string_view text) {
  static std::set<std::string, std::less<>> said;
  const std::scoped_lock lock(output_mutex());
  if (!said.emplace(text).second) return;
  std::fprintf(stderr, "tessera: notice: %.*s\n", static_cast<int>(text.size()), text.data());
}

}  // namespace tessera
