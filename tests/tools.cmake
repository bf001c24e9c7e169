# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What tools see of every algorithm, and chains of algorithms on several instances.
tessera_test(tools LIBRARIES tessera::algorithms)
tessera_test(tools_instances LIBRARIES tessera::axpby tessera::gemm tessera::scal)
