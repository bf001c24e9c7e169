# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# libFuzzer needs clang; what it drives needs no Kokkos. So the driver is built by a command of its own, whatever the
# compiler of the rest. CTest entry: fuzz.matrix_market, bounded by TESSERA_FUZZ_SECONDS.
find_program(TESSERA_FUZZ_CXX NAMES clang++ clang++-21 clang++-20 clang++-19 clang++-18 clang++-17)
if(NOT TESSERA_FUZZ_CXX)
  message(FATAL_ERROR "TESSERA_FUZZ=ON needs clang++ with libFuzzer. Install clang, or name it by -DTESSERA_FUZZ_CXX=")
endif()
set(TESSERA_FUZZ_SECONDS 20 CACHE STRING "Seconds of the CTest entries that fuzz")

set(fuzz_sources
  "${CMAKE_CURRENT_LIST_DIR}/fuzz_matrix_market.cpp"
  "${PROJECT_SOURCE_DIR}/apps/common/matrix_market.cpp"
  "${PROJECT_SOURCE_DIR}/apps/common/matrix_market_write.cpp"
  "${PROJECT_SOURCE_DIR}/apps/common/files.cpp"
  "${PROJECT_SOURCE_DIR}/core/src/error.cpp")
set(fuzz_program "${CMAKE_CURRENT_BINARY_DIR}/fuzz/fuzz_matrix_market") # not the name of the target: ninja
add_custom_command(
  OUTPUT "${fuzz_program}"
  COMMAND "${TESSERA_FUZZ_CXX}" -std=c++20 -O1 -g -Wall -Wextra -Werror -fno-omit-frame-pointer
          -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
          "-I${PROJECT_SOURCE_DIR}/apps" "-I${PROJECT_SOURCE_DIR}/core/include" ${fuzz_sources} -o "${fuzz_program}"
  DEPENDS ${fuzz_sources} "${PROJECT_SOURCE_DIR}/apps/common/matrix_market.hpp"
  COMMENT "Building fuzz_matrix_market with ${TESSERA_FUZZ_CXX}"
  VERBATIM)
add_custom_target(fuzz_matrix_market ALL DEPENDS "${fuzz_program}")

# New inputs go to the build folder; the corpus in the sources is only read. Whoever wants to keep some merges them:
#   fuzz_matrix_market -merge=1 tests/fuzz/corpus <build>/tests/fuzz_found
set(fuzz_found "${CMAKE_CURRENT_BINARY_DIR}/fuzz_found")
file(MAKE_DIRECTORY "${fuzz_found}" "${CMAKE_CURRENT_BINARY_DIR}/fuzz")
add_test(NAME fuzz.matrix_market
  COMMAND "${fuzz_program}" -max_total_time=${TESSERA_FUZZ_SECONDS} -max_len=4096 -timeout=10 -rss_limit_mb=2048
          "-dict=${CMAKE_CURRENT_LIST_DIR}/matrix_market.dict" "-artifact_prefix=${fuzz_found}/"
          "${fuzz_found}" "${CMAKE_CURRENT_LIST_DIR}/corpus")
set_tests_properties(fuzz.matrix_market PROPERTIES LABELS fuzz TIMEOUT 600)
