# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
tessera_test(histogram LIBRARIES tessera::histogram)
