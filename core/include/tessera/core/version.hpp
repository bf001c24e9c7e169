// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Macros.hpp>
#include <compare>
#include <source_location>
#include <string>

#include <tessera/core/config.hpp>

namespace tessera {

/// TESSERA_VERSION_MAJOR, _MINOR, _PATCH and TESSERA_VERSION (major * 10000 + minor * 100 + patch) are of the
/// headers; version() is of the library that the program found.
struct Version {
  int major = 0;
  int minor = 0;
  int patch = 0;

  [[nodiscard]] std::string text() const;
  friend constexpr bool operator==(const Version&, const Version&) = default;
  friend constexpr auto operator<=>(const Version&, const Version&) = default;
};

[[nodiscard]] Version version();
/// The Kokkos that the library was built against, and the one that runs (known once Kokkos is initialised;
/// 0.0.0 before).
[[nodiscard]] Version kokkos_version_built();
[[nodiscard]] Version kokkos_version_found();
/// One line: version, compiler, host architecture, MPI, CBLAS.
[[nodiscard]] std::string build_description();

namespace detail {

constexpr Version split_version(int packed) { return {packed / 10000, packed / 100 % 100, packed % 100}; }

/// What a translation unit was compiled against. As the default argument of ScopeGuard it is made where that is
/// called, in the user's own file, so that a mixture of headers and libraries is noticed before it does harm.
struct Abi {
  Version tessera;
  Version kokkos;
};

/// \throws Error where the user's file and the library were compiled against different Tesseras or Kokkoses
void check_compiled_abi(const Abi& user, const Abi& library, const std::source_location& where);
/// \throws Error where the Kokkos that runs is not the one that the library was compiled against
void check_running_kokkos(const Version& built, const Version& found, const std::source_location& where);

}  // namespace detail
}  // namespace tessera
