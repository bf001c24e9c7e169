# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The archives and their SHA-256 are those that their projects released and several package collections carry.
include(TesseraCachedPackage)
include(TesseraKokkos)

find_package(Threads REQUIRED)
if(TESSERA_ENABLE_MPI)
  find_package(MPI REQUIRED COMPONENTS CXX)
endif()
set(TESSERA_HAVE_CBLAS OFF)
if(TESSERA_ENABLE_CBLAS AND "OpenMP" IN_LIST TESSERA_SPACES)
  find_package(TesseraCBLAS QUIET)
  set(TESSERA_HAVE_CBLAS ${TesseraCBLAS_FOUND})
endif()
if(TESSERA_BUILD_TESTS)
  tessera_dependency(TARGET Catch2::Catch2 NAME Catch2 FIND 3 VERSION 3.7.1
    URL https://github.com/catchorg/Catch2/archive/refs/tags/v3.7.1.tar.gz
    SHA256 c991b247a1a0d7bb9c39aa35faf0fe9e19764213f28ffba3109388e62ee0269c)
endif()
if(TESSERA_BUILD_APPS)
  tessera_dependency(TARGET CLI11::CLI11 NAME CLI11 FIND 2 VERSION 2.4.2
    URL https://github.com/CLIUtils/CLI11/archive/refs/tags/v2.4.2.tar.gz
    SHA256 f2d893a65c3b1324c50d4e682c0cdc021dd0477ae2c048544f39eed6654b699a
    OPTIONS -DCLI11_BUILD_TESTS=OFF -DCLI11_BUILD_EXAMPLES=OFF -DCLI11_BUILD_DOCS=OFF)
  tessera_dependency(TARGET fmt::fmt NAME fmt FIND 9 VERSION 11.0.2
    URL https://github.com/fmtlib/fmt/archive/refs/tags/11.0.2.tar.gz
    SHA256 6cb1e6d37bdcb756dbbe59be438790db409cdb4868c66e888d5df9f13f7c027f
    OPTIONS -DFMT_TEST=OFF -DFMT_DOC=OFF)
  tessera_dependency(TARGET nlohmann_json::nlohmann_json NAME nlohmann_json FIND 3 VERSION 3.11.3
    URL https://github.com/nlohmann/json/releases/download/v3.11.3/json.tar.xz
    SHA256 d6c65aca6b1ed68e7a182f4757257b107ae403032760ed6ef121c9d55e81757d
    OPTIONS -DJSON_BuildTests=OFF)
endif()
