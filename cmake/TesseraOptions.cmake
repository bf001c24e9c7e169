# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Every option of Tessera, in one place; TesseraSummary prints them. The backends that are built are those of the
# Kokkos that is used: TESSERA_BACKEND and TESSERA_GPU_ARCH only say which Kokkos to look for, or to build.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo, Debug" FORCE)
endif()

option(TESSERA_BUILD_TESTS "Build the tests (Catch2 3)" ${PROJECT_IS_TOP_LEVEL})
option(TESSERA_BUILD_APPS "Build the mini-apps and tools" ${PROJECT_IS_TOP_LEVEL})
option(TESSERA_INSTALL "Make the install target and the CMake package" ${PROJECT_IS_TOP_LEVEL})
set(TESSERA_BACKEND "" CACHE STRING "Kokkos backend required: SERIAL, OPENMP, THREADS, CUDA, HIP; empty takes what is found")
set_property(CACHE TESSERA_BACKEND PROPERTY STRINGS "" SERIAL OPENMP THREADS CUDA HIP)
set(TESSERA_GPU_ARCH "" CACHE STRING "Kokkos name of the GPU architecture required: HOPPER90, AMD_GFX942, ...")
set(TESSERA_SPACES_ONLY "" CACHE STRING "Spaces whose kernels are compiled in, as OpenMP or Cuda; empty: the device and one host space")
option(TESSERA_BOUNDS_CHECK "Ask for a Kokkos that checks the bounds of every view" OFF)
option(TESSERA_ENABLE_MPI "Several ranks through MPI" OFF)
option(TESSERA_ENABLE_CBLAS "CBLAS as a provider on hosts, where one is found" ON)
set(TESSERA_HOST_ARCH "native" CACHE STRING "-march of host code: native, x86-64-v3, none, ...")
set(TESSERA_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize=: address,undefined | thread | empty")
option(TESSERA_FUZZ "Build the libFuzzer drivers (clang)" OFF)
option(TESSERA_WERROR "Warnings are errors" OFF)
option(TESSERA_DOWNLOAD "Download release archives of dependencies that are not found" ON)
if(DEFINED ENV{TESSERA_CACHE})
  set(_cache "$ENV{TESSERA_CACHE}")
elseif(DEFINED ENV{XDG_CACHE_HOME})
  set(_cache "$ENV{XDG_CACHE_HOME}/tessera")
else()
  set(_cache "$ENV{HOME}/.cache/tessera")
endif()
set(TESSERA_CACHE_DIR "${_cache}" CACHE PATH "Where dependencies are built once, and found by later builds")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
include(GNUInstallDirs)

# An x86 level means nothing on other processors: their compiler's default then.
set(TESSERA_HOST_ARCH_FLAG "")
if(TESSERA_HOST_ARCH AND NOT TESSERA_HOST_ARCH STREQUAL "none"
   AND (NOT TESSERA_HOST_ARCH MATCHES "^x86" OR CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$"))
  set(TESSERA_HOST_ARCH_FLAG "-march=${TESSERA_HOST_ARCH}")
  # of processors with AVX10, clang 19's "native" names two vector lengths, and warns of that in every file
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    include(CheckCXXCompilerFlag)
    check_cxx_compiler_flag(-Winvalid-feature-combination TESSERA_WARNS_OF_FEATURES)
    if(TESSERA_WARNS_OF_FEATURES)
      list(APPEND TESSERA_HOST_ARCH_FLAG -Wno-invalid-feature-combination)
    endif()
  endif()
endif()
