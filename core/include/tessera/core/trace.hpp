// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <concepts>
#include <iosfwd>
#include <string>
#include <string_view>

namespace tessera {

/// A named, nested stretch of host time: pushed as a Kokkos Tools region, and, when timings are on, added to the
/// wall-time table. Asynchronous device work inside is counted only as far as the host waits for it.
class Region {
 public:
  explicit Region(std::string_view name) : m_open(watched()) {
    if (m_open) open(std::string(name));
  }
  /// The name is asked for only where somebody watches.
  template <std::invocable Name>
  explicit Region(const Name& name) : m_open(watched()) {
    if (m_open) open(name());
  }
  ~Region() {
    if (m_open) close();
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  Region(Region&&) = delete;
  Region& operator=(Region&&) = delete;

 private:
  /// Timings are on, or a tool listens.
  static bool watched();
  void open(std::string name);
  void close();

  bool m_open;
  bool m_timed = false;
  std::chrono::steady_clock::time_point m_start;
};

/// Turns the wall-time table on or off; TESSERA_TIMINGS=1 turns it on from the start and has ScopeGuard write it
/// to standard error at the end.
void enable_timings(bool on);
/// Writes the table: region, calls, total, share, longest first, nested names indented.
void print_timings(std::ostream& out);
/// Forgets what was measured.
void reset_timings();

namespace detail {
/// TESSERA_TIMINGS is set to something other than 0.
[[nodiscard]] bool timings_asked_for();
}  // namespace detail

}  // namespace tessera
