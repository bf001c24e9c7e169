// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <ostream>
#include <vector>

#include <tessera/core/trace.hpp>

namespace tessera {
namespace {

struct Entry {
  long calls = 0;
  double seconds = 0;
};

struct Table {
  std::mutex mutex;
  std::map<std::vector<std::string>, Entry> entries;  // by path of nested names
};

Table& table() {
  static Table instance;
  return instance;
}

std::atomic<bool>& timings_on() {
  static std::atomic<bool> on = detail::timings_asked_for();
  return on;
}

thread_local std::vector<std::string> open_regions;

}  // namespace

bool Region::watched() { return timings_on() || Kokkos::Tools::profileLibraryLoaded(); }

void Region::open(std::string name) {
  Kokkos::Profiling::pushRegion(name);
  m_timed = timings_on();
  if (m_timed) {
    open_regions.push_back(std::move(name));
    m_start = std::chrono::steady_clock::now();
  }
}

void Region::close() {
  if (m_timed) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
    {
      const std::scoped_lock lock(table().mutex);
      Entry& entry = table().entries[open_regions];
      ++entry.calls;
      entry.seconds += seconds;
    }
    open_regions.pop_back();
  }
  Kokkos::Profiling::popRegion();
}

bool detail::timings_asked_for() {
  const char* value = std::getenv("TESSERA_TIMINGS");  // NOLINT(concurrency-mt-unsafe): nothing here writes it
  return value != nullptr && value[0] != '\0' && value[0] != '0';
}

void enable_timings(bool on) { timings_on() = on; }

void reset_timings() {
  const std::scoped_lock lock(table().mutex);
  table().entries.clear();
}

void print_timings(std::ostream& out) {
  const std::scoped_lock lock(table().mutex);
  double whole = 0;
  for (const auto& [path, entry] : table().entries)
    if (path.size() == 1) whole += entry.seconds;
  char line[200];
  std::snprintf(line, sizeof line, "%-52s %9s %12s %12s %7s\n", "region", "calls", "total s", "mean us", "share");
  out << line;
  using Item = std::pair<const std::vector<std::string>, Entry>;
  // depth first, longest first among siblings
  const auto visit = [&](const auto& self, const std::vector<std::string>& parent) -> void {
    std::vector<const Item*> children;
    for (const Item& item : table().entries)
      if (item.first.size() == parent.size() + 1 && std::equal(parent.begin(), parent.end(), item.first.begin()))
        children.push_back(&item);
    std::sort(children.begin(), children.end(),
              [](const Item* a, const Item* b) { return a->second.seconds > b->second.seconds; });
    for (const Item* item : children) {
      const std::string name = std::string(2 * parent.size(), ' ') + item->first.back();
      const Entry& e = item->second;
      std::snprintf(line, sizeof line, "%-52s %9ld %12.6f %12.2f %6.1f%%\n", name.c_str(), e.calls, e.seconds,
                    1e6 * e.seconds / static_cast<double>(e.calls), whole > 0 ? 100 * e.seconds / whole : 0);
      out << line;
      self(self, item->first);
    }
  };
  visit(visit, {});
}

}  // namespace tessera
