// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Kokkos_Core.hpp>
#include <cstdio>
#include <sstream>

#include <tessera/core/error.hpp>
#include <tessera/core/version.hpp>

namespace tessera {

std::string Version::text() const {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

Version version() { return detail::split_version(TESSERA_VERSION); }
Version kokkos_version_built() { return detail::split_version(KOKKOS_VERSION); }

Version kokkos_version_found() {
  Version found;
  if (!Kokkos::is_initialized()) return found;
  // the one thing of the running library that tells its version is its configuration text
  std::ostringstream text;
  Kokkos::print_configuration(text);
  const std::string all = text.str();
  const std::string mark = "Kokkos Version:";
  const auto at = all.find(mark);
  if (at != std::string::npos)
    (void)std::sscanf(all.c_str() + at + mark.size(), " %d.%d.%d", &found.major, &found.minor, &found.patch);
  return found;
}

std::string build_description() {
  std::string text = "Tessera " + version().text() + " over Kokkos " + kokkos_version_built().text();
#if defined(__clang__)
  text += ", clang " __clang_version__;
#elif defined(__GNUC__)
  text += ", gcc " __VERSION__;
#endif
  text += ", host code for " TESSERA_HOST_ARCH;
  text += TESSERA_ENABLE_MPI ? ", with MPI" : ", without MPI";
  text += TESSERA_HAVE_CBLAS ? ", with CBLAS" : ", without CBLAS";
  return text;
}

namespace detail {

void check_compiled_abi(const Abi& user, const Abi& library, const std::source_location& where) {
  require(user.tessera == library.tessera, [&] {
    return Error("tessera::ScopeGuard",
                 "this program was compiled with the headers of Tessera " + user.tessera.text() +
                     " and runs with the library of " + library.tessera.text(),
                 "headers and library must be of one version",
                 "Rebuild the program, and look for a second Tessera in CMAKE_PREFIX_PATH or LD_LIBRARY_PATH", where);
  });
  require(user.kokkos == library.kokkos, [&] {
    return Error("tessera::ScopeGuard",
                 "this program was compiled against Kokkos " + user.kokkos.text() + " and Tessera against Kokkos " +
                     library.kokkos.text(),
                 "both must be compiled against the same Kokkos",
                 "Set Kokkos_ROOT to the Kokkos that Tessera was built with (see its configure summary), and rebuild",
                 where);
  });
}

void check_running_kokkos(const Version& built, const Version& found, const std::source_location& where) {
  if (found == Version{}) return;  // it did not tell
  require(built == found, [&] {
    return Error("tessera::ScopeGuard",
                 "Tessera was built against Kokkos " + built.text() + " and the Kokkos that runs is " + found.text(),
                 "a program must run with the Kokkos that it was built against",
                 "Put the right libkokkoscore first in LD_LIBRARY_PATH (ldd shows which is found), or rebuild", where);
  });
}

}  // namespace detail
}  // namespace tessera
