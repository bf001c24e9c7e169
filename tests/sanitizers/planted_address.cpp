// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes one element past an allocation, which the address sanitizer must report.
#include <cstdlib>
#include <memory>

int main(int argc, char**) {
  const std::unique_ptr<int[]> data(new int[16]());
  volatile int past = 15 + argc;
  data[static_cast<std::size_t>(past)] = 1;
  return data[0];
}
