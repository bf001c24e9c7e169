# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
tessera_test(histogram LIBRARIES tessera::histogram)
tessera_test(gather LIBRARIES tessera::gather tessera::scatter)
tessera_test(random_fill LIBRARIES tessera::random_fill)
