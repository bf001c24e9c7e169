# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
tessera_test(plan HOST_ONLY LIBRARIES tessera::core)
foreach(unit IN ITEMS gemm_real gemm_complex gemm_narrow gemm_integer gemm_call gemm_any_type)
  tessera_test(${unit} LIBRARIES tessera::gemm)
endforeach()
