# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
tessera_test(merge LIBRARIES tessera::merge)
tessera_test(set_operations LIBRARIES tessera::set_operations)
tessera_test(merge_any_type LIBRARIES tessera::merge tessera::set_operations)
