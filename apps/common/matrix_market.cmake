# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The Matrix Market reader and writer: a library of its own. Of the rest it needs only files.cpp, and no Kokkos, so
# that the fuzzer builds those few sources alone.
include_guard(GLOBAL)
add_library(tessera_matrix_market STATIC "${CMAKE_CURRENT_LIST_DIR}/matrix_market.cpp"
                                         "${CMAKE_CURRENT_LIST_DIR}/matrix_market_write.cpp")
add_library(tessera::matrix_market ALIAS tessera_matrix_market)
get_filename_component(tessera_apps_folder "${CMAKE_CURRENT_LIST_DIR}" DIRECTORY)
target_include_directories(tessera_matrix_market PUBLIC "${tessera_apps_folder}")
target_compile_features(tessera_matrix_market PUBLIC cxx_std_20)
target_link_libraries(tessera_matrix_market PUBLIC tessera::core PRIVATE tessera::app_common)
tessera_kokkos_target(tessera_matrix_market) # core brings the device flags of Kokkos
