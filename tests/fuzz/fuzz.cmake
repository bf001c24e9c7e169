# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# libFuzzer needs clang; what it drives needs no Kokkos. So the driver is built by a command of its own, whatever the
# compiler of the rest. CTest entries: fuzz.<name>, bounded by TESSERA_FUZZ_SECONDS.
find_program(TESSERA_FUZZ_CXX NAMES clang++ clang++-21 clang++-20 clang++-19 clang++-18 clang++-17)
if(NOT TESSERA_FUZZ_CXX)
  message(FATAL_ERROR "TESSERA_FUZZ=ON needs clang++ with libFuzzer. Install clang, or name it by -DTESSERA_FUZZ_CXX=")
endif()
set(TESSERA_FUZZ_SECONDS 20 CACHE STRING "Seconds of the CTest entries that fuzz")

# tessera_fuzz(name CORPUS folder OPTIONS ... SOURCES ...): fuzz_<name>.cpp and what it drives
function(tessera_fuzz name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CORPUS" "OPTIONS;SOURCES;HEADERS")
  set(sources "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/fuzz_${name}.cpp")
  foreach(source IN LISTS arg_SOURCES)
    list(APPEND sources "${PROJECT_SOURCE_DIR}/${source}")
  endforeach()
  list(TRANSFORM arg_HEADERS PREPEND "${PROJECT_SOURCE_DIR}/")
  set(program "${CMAKE_CURRENT_BINARY_DIR}/fuzz/fuzz_${name}") # not the name of the target: ninja
  add_custom_command(
    OUTPUT "${program}"
    COMMAND "${TESSERA_FUZZ_CXX}" -std=c++20 -O1 -g -Wall -Wextra -Werror -fno-omit-frame-pointer
            -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
            "-I${PROJECT_SOURCE_DIR}/apps" "-I${PROJECT_SOURCE_DIR}/core/include" ${sources} -o "${program}"
    DEPENDS ${sources} ${arg_HEADERS}
    COMMENT "Building fuzz_${name} with ${TESSERA_FUZZ_CXX}"
    VERBATIM)
  add_custom_target(fuzz_${name} ALL DEPENDS "${program}")
  # New inputs go to the build folder; the corpus in the sources is only read. Whoever wants to keep some merges them:
  #   fuzz_matrix_market -merge=1 tests/fuzz/corpus <build>/tests/fuzz_found/matrix_market
  set(found "${CMAKE_CURRENT_BINARY_DIR}/fuzz_found/${name}")
  file(MAKE_DIRECTORY "${found}" "${CMAKE_CURRENT_BINARY_DIR}/fuzz")
  add_test(NAME fuzz.${name}
    COMMAND "${program}" -max_total_time=${TESSERA_FUZZ_SECONDS} -max_len=4096 -timeout=10 -rss_limit_mb=2048
            ${arg_OPTIONS} "-artifact_prefix=${found}/" "${found}" ${arg_CORPUS})
  set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 600)
endfunction()

tessera_fuzz(matrix_market
  CORPUS "${CMAKE_CURRENT_LIST_DIR}/corpus" OPTIONS "-dict=${CMAKE_CURRENT_LIST_DIR}/matrix_market.dict"
  SOURCES apps/common/matrix_market.cpp apps/common/matrix_market_write.cpp apps/common/files.cpp core/src/error.cpp
  HEADERS apps/common/matrix_market.hpp)
tessera_fuzz(tuning_table SOURCES core/src/tuning_table.cpp core/src/error.cpp
             HEADERS core/include/tessera/core/tuning_table.hpp)
