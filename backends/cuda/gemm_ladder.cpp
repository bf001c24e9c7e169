// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gemm/ladder_sm90a/ladder_sm90a.hpp"
#include <cstdint>

#include <tessera/backends/cuda/gemm_ladder.hpp>
#include <tessera/core/error.hpp>

namespace tessera::backends {

Verdict ladder_can_run(LadderKernel kernel, const LadderProduct& p, const DeviceInfo& device) {
  const std::string found = std::to_string(device.major) + "." + std::to_string(device.minor);
  if (kernel == LadderKernel::mma_sync) {
    if (device.major < 8) return Verdict::no("the kernel is for 8.0 and newer and the device is " + found);
  } else if (device.major != 9 || device.minor != 0) {
    return Verdict::no("the kernel is machine code for exactly 9.0 and the device is " + found);
  }
  for (const LadderMatrix* m : {&p.a, &p.b})
    if (reinterpret_cast<std::uintptr_t>(m->data) % 16 != 0 || m->stride % 8 != 0)
      return Verdict::no("rows of A and B must begin at multiples of 16 bytes");
  constexpr index_t most = (index_t{1} << 31) - 1 - 256;  // indices within the kernels are of 32 bits
  if (p.c.rows > most || p.c.columns > most || p.a.columns > most) return Verdict::no("an extent is 2^31 or more");
  if (((p.c.rows + 127) / 128) * ((p.c.columns + 127) / 128) > most) return Verdict::no("there are too many tiles");
  return Verdict::yes();
}

void ladder_run(LadderKernel kernel, const LadderProduct& p, void* stream) {
  namespace sm80 = cuda::sm80::ladder;
  namespace sm90a = cuda::sm90a::ladder;
  using Run = const char* (*)(const sm80::Product&, void*);
  static constexpr Run runs[] = {sm80::mma_sync, sm90a::wgmma_tma, sm90a::warp_specialised, sm90a::clusters};
  const char* const wrong = runs[static_cast<int>(kernel)](
      {p.a.data, p.b.data, p.c.data, p.c.rows, p.c.columns, p.a.columns, p.a.stride, p.b.stride, p.c.stride}, stream);
  if (wrong != nullptr)
    throw Error("tessera::ladder", std::string("a kernel failed to start: ") + wrong,
                "the driver must be of CUDA 12 or newer", "Take the other steps with --step");
}

}  // namespace tessera::backends
