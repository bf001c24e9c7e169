# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
tessera_test(vec LIBRARIES tessera::core)
tessera_test(axpby LIBRARIES tessera::axpby)
