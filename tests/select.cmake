# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
tessera_test(select LIBRARIES tessera::select)
tessera_test(select_if LIBRARIES tessera::select)
tessera_test(unique LIBRARIES tessera::unique)
tessera_test(unique_any_type LIBRARIES tessera::unique)
