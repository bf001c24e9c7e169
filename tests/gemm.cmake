# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
tessera_test(plan HOST_ONLY LIBRARIES tessera::core)
foreach(unit IN ITEMS gemm_real gemm_complex gemm_narrow gemm_integer gemm_call gemm_epilogue gemm_any_type)
  tessera_test(${unit} LIBRARIES tessera::gemm)
endforeach()
# the kernels of one chip, through their plain interfaces too
if("Cuda" IN_LIST TESSERA_SPACES)
  add_executable(test_gemm_sm90a_Cuda "${PROJECT_SOURCE_DIR}/backends/cuda/tests/gemm_sm90a.cpp" $<TARGET_OBJECTS:test_main>)
  target_include_directories(test_gemm_sm90a_Cuda PRIVATE "${PROJECT_SOURCE_DIR}/backends/cuda")
  target_link_libraries(test_gemm_sm90a_Cuda PRIVATE Catch2::Catch2 tessera::gemm)
  tessera_kokkos_target(test_gemm_sm90a_Cuda)
  add_test(NAME gemm_sm90a.Cuda COMMAND test_gemm_sm90a_Cuda)
endif()
