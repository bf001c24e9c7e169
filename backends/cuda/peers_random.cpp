// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cuda_runtime_api.h>
#include <curand.h>
#include <memory>
#include <string>
#include <type_traits>

#include <tessera/backends/peers.hpp>
#include <tessera/core/error.hpp>

namespace tessera::peers {
namespace {
void check(curandStatus_t status, const char* what) {
  if (status != CURAND_STATUS_SUCCESS)
    throw Error("tessera::peers", std::string(what) + ": status " + std::to_string(static_cast<int>(status)),
                "the call must succeed");
}
struct Generator {
  curandGenerator_t handle = nullptr;
  explicit Generator(void* stream) {
    check(curandCreateGenerator(&handle, CURAND_RNG_PSEUDO_PHILOX4_32_10), "curandCreateGenerator");
    check(curandSetPseudoRandomGeneratorSeed(handle, 7), "curandSetPseudoRandomGeneratorSeed");
    check(curandSetStream(handle, static_cast<cudaStream_t>(stream)), "curandSetStream");
  }
  ~Generator() { (void)curandDestroyGenerator(handle); }
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;
  Generator(Generator&&) = delete;
  Generator& operator=(Generator&&) = delete;
};
}  // namespace

/// cuRAND's Philox4x32-10, the generator set up once.
template <class T>
Peers random(const Queue& queue, bool normal, index_t n, T* y) {
  const auto generator = std::make_shared<const Generator>(queue.stream);
  return {{"cuRAND", [=] {
             const auto count = static_cast<std::size_t>(n);
             auto* const g = generator->handle;
             if constexpr (std::is_same_v<T, float>)
               check(normal ? curandGenerateNormal(g, y, count, 0, 1) : curandGenerateUniform(g, y, count), "cuRAND");
             else
               check(normal ? curandGenerateNormalDouble(g, y, count, 0, 1) : curandGenerateUniformDouble(g, y, count),
                     "cuRAND");
           }}};
}

template Peers random(const Queue&, bool, index_t, float*);
template Peers random(const Queue&, bool, index_t, double*);

}  // namespace tessera::peers
