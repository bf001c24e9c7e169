# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
tessera_test(sort LIBRARIES tessera::sort)
tessera_test(sort_paths LIBRARIES tessera::sort)
