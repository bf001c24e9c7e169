# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Every option of Tessera, in one place. Backends are not options: they are those of the Kokkos that is used.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo, Debug" FORCE)
endif()

option(TESSERA_BUILD_TESTS "Build the tests (Catch2 3)" ${PROJECT_IS_TOP_LEVEL})
option(TESSERA_BUILD_APPS "Build the mini-apps and tools" ${PROJECT_IS_TOP_LEVEL})
option(TESSERA_ENABLE_MPI "Several ranks through MPI" OFF)
option(TESSERA_ENABLE_CBLAS "CBLAS as a provider on hosts, where one is found" ON)
option(TESSERA_WERROR "Warnings are errors" OFF)
set(TESSERA_HOST_ARCH "native" CACHE STRING "-march of host code: native, x86-64-v3, none, ...")
set(TESSERA_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize=: address,undefined | thread | empty")
option(TESSERA_FUZZ "Build the libFuzzer drivers (clang)" OFF)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
include(GNUInstallDirs)
