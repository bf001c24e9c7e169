# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The teaching ladder: its steps, its app, and the tables of its page.
if(NOT TARGET tessera::gemm_ladder_steps)
  return()
endif()
tessera_test(ladder LIBRARIES tessera::gemm_ladder_steps)
