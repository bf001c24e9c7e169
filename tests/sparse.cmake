# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
tessera_test(gemv LIBRARIES tessera::gemv)
tessera_test(spmv LIBRARIES tessera::spmv SOURCES spmv_any_type.cpp)
tessera_test(stencil LIBRARIES tessera::stencil)
