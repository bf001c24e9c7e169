# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tests of the house itself: the arrows between folders, headers that stand alone, calls that must not compile.

find_package(Python3 COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND)
  add_test(NAME architecture.lint COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/architecture/lint.py"
                                          "${PROJECT_SOURCE_DIR}")
  add_test(NAME architecture.selftest COMMAND Python3::Interpreter
                                              "${CMAKE_CURRENT_SOURCE_DIR}/architecture/selftest.py")
  set_tests_properties(architecture.lint architecture.selftest PROPERTIES LABELS house TIMEOUT 120)
else()
  message(STATUS "Tessera: no python3, so the architecture and negative-compile tests are left out")
endif()

# Every public header compiles alone: a translation unit for each, which includes it twice. The plain ones (problem
# descriptions and what they stand on) must not bring Kokkos, since device code without Kokkos reads them.
set(header_folders core/include algorithms/include backends/include)
if(TARGET tessera::app_common)
  list(APPEND header_folders apps)
endif()
set(header_sources "")
foreach(folder IN LISTS header_folders)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/${folder}"
       "${PROJECT_SOURCE_DIR}/${folder}/*.hpp")
  if(folder STREQUAL "apps")
    list(FILTER headers INCLUDE REGEX "^common/")
  endif()
  foreach(header IN LISTS headers)
    if((header MATCHES "backends/cuda/" AND NOT "Cuda" IN_LIST TESSERA_SPACES) OR
       (header MATCHES "backends/hip/" AND NOT "HIP" IN_LIST TESSERA_SPACES) OR
       (header MATCHES "backends/openmp/gemm_cblas" AND NOT "OpenMP" IN_LIST TESSERA_SPACES))
      continue()
    endif()
    # what builds for hosts show is not compiled again for a device
    if(NOT header MATCHES "backends/(cuda|hip)/" AND ("Cuda" IN_LIST TESSERA_SPACES OR "HIP" IN_LIST TESSERA_SPACES))
      continue()
    endif()
    set(text "// generated: ${header} compiles alone\n#include <${header}>\n#include <${header}>\n")
    if(header MATCHES "/problem\\.hpp$|core/(refs|types|portability)\\.hpp$")
      string(APPEND text "#ifdef KOKKOS_VERSION\n#error \"${header} brings Kokkos: plain device code cannot read it\"\n#endif\n")
    endif()
    string(MAKE_C_IDENTIFIER "${header}" name)
    file(GENERATE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.cpp" CONTENT "${text}")
    list(APPEND header_sources "${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.cpp")
  endforeach()
endforeach()
add_library(test_headers_alone OBJECT ${header_sources})
target_link_libraries(test_headers_alone PRIVATE tessera::core tessera::problems tessera::backends)
if(TARGET tessera::app_common)
  target_link_libraries(test_headers_alone PRIVATE tessera::app_common)
endif()
tessera_kokkos_target(test_headers_alone)
target_compile_options(test_headers_alone PRIVATE -O0)
if(TESSERA_SANITIZE) # nothing of it runs
  set_target_properties(test_headers_alone PROPERTIES EXCLUDE_FROM_ALL TRUE)
endif()

# Wrong calls must fail in one line that names our concept, with each compiler there is.
if(Python3_Interpreter_FOUND AND NOT "Cuda" IN_LIST TESSERA_SPACES AND NOT "HIP" IN_LIST TESSERA_SPACES)
  set(flags_file "${CMAKE_CURRENT_BINARY_DIR}/negative_compile_$<CONFIG>.flags")
  # a compiler's own folder, named again as -isystem, would hide the C headers from the C++ ones
  set(include_dirs
    "$<FILTER:$<REMOVE_DUPLICATES:$<TARGET_PROPERTY:test_headers_alone,INCLUDE_DIRECTORIES>>,EXCLUDE,^/usr/include$>")
  set(definitions "$<TARGET_PROPERTY:test_headers_alone,COMPILE_DEFINITIONS>")
  file(GENERATE OUTPUT "${flags_file}" CONTENT
    "$<$<BOOL:${include_dirs}>:-isystem$<JOIN:${include_dirs},\n-isystem>>\n$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},\n-D>>\n-fopenmp\n")
  set(compilers "${CMAKE_CXX_COMPILER}")
  find_program(TESSERA_CLANGXX NAMES clang++ clang++-21 clang++-20 clang++-19 clang++-18 clang++-17)
  mark_as_advanced(TESSERA_CLANGXX)
  if(TESSERA_CLANGXX AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    list(APPEND compilers "${TESSERA_CLANGXX}")
  endif()
  foreach(compiler IN LISTS compilers)
    get_filename_component(name "${compiler}" NAME)
    add_test(NAME "negative_compile.${name}" COMMAND Python3::Interpreter
             "${CMAKE_CURRENT_SOURCE_DIR}/negative_compile/check.py" "${compiler}"
             "${CMAKE_CURRENT_SOURCE_DIR}/negative_compile/wrong_calls.cpp" "${flags_file}")
    set_tests_properties("negative_compile.${name}" PROPERTIES LABELS house TIMEOUT 300)
  endforeach()
endif()

# The guide's code, compiled and run.
add_subdirectory("${PROJECT_SOURCE_DIR}/docs/samples" "${CMAKE_CURRENT_BINARY_DIR}/samples")
