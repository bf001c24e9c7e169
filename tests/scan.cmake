# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
tessera_test(scan LIBRARIES tessera::scan)
tessera_test(scan_any_type LIBRARIES tessera::scan)
