# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
tessera_test(plan HOST_ONLY LIBRARIES tessera::core)
<<<<<<< HEAD
tessera_test(tuning HOST_ONLY LIBRARIES tessera::core)
foreach(unit IN ITEMS gemm_real gemm_complex gemm_narrow gemm_integer gemm_call gemm_epilogue gemm_any_type gemm_tuning)
=======
foreach(unit IN ITEMS gemm_real gemm_complex gemm_narrow gemm_integer gemm_call gemm_epilogue gemm_functor gemm_any_type)
>>>>>>> e609be9 (gemm: a functor of the caller's on each element of C, as a pass of its own or compiled into the Hopper kernels)
  tessera_test(${unit} LIBRARIES tessera::gemm)
endforeach()
# the kernels of one chip, through their plain interfaces too
if("Cuda" IN_LIST TESSERA_SPACES)
  tessera_add_gemm_epilogue(test_gemm_functor_Cuda gemm_functors.cu)
  foreach(unit IN ITEMS gemm_gate gemm_sm90a)
    add_executable(test_${unit}_Cuda "${PROJECT_SOURCE_DIR}/backends/cuda/tests/${unit}.cpp" $<TARGET_OBJECTS:test_main>)
    target_include_directories(test_${unit}_Cuda PRIVATE "${PROJECT_SOURCE_DIR}/backends" "${PROJECT_SOURCE_DIR}/backends/cuda")
    target_link_libraries(test_${unit}_Cuda PRIVATE Catch2::Catch2 tessera::gemm)
    tessera_kokkos_target(test_${unit}_Cuda)
    add_test(NAME ${unit}.Cuda COMMAND test_${unit}_Cuda)
  endforeach()
endif()
