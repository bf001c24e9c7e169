// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cuda_runtime_api.h>
#include <map>
#include <memory>
#include <new>
#include <thrust/execution_policy.h>
#include <thrust/set_operations.h>

#include <tessera/backends/peers.hpp>

namespace tessera::peers {
namespace {
/// Memory that stays for the next call: Thrust would allocate its workspace in each.
class Kept {
 public:
  using value_type = char;
  Kept() = default;
  ~Kept() {
    for (const auto& [bytes, memory] : m_free) cudaFree(memory);
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  Kept(Kept&&) = delete;
  Kept& operator=(Kept&&) = delete;
  char* allocate(std::ptrdiff_t bytes) {
    if (const auto found = m_free.find(bytes); found != m_free.end()) {
      char* const memory = found->second;
      m_free.erase(found);
      return memory;
    }
    void* memory = nullptr;
    if (cudaMalloc(&memory, static_cast<std::size_t>(bytes)) != cudaSuccess) throw std::bad_alloc();
    return static_cast<char*>(memory);
  }
  void deallocate(char* memory, std::size_t bytes) { m_free.emplace(static_cast<std::ptrdiff_t>(bytes), memory); }

 private:
  std::multimap<std::ptrdiff_t, char*> m_free;
};
}  // namespace

template <class T>
Peers set_union(const Queue& queue, index_t a_count, const T* a, index_t b_count, const T* b, T* out) {
  auto* const stream = static_cast<cudaStream_t>(queue.stream);
  const auto kept = std::make_shared<Kept>();
  return {
      {"Thrust", [=] { thrust::set_union(thrust::cuda::par(*kept).on(stream), a, a + a_count, b, b + b_count, out); }}};
}
template <class T>
Peers set_intersection(const Queue& queue, index_t a_count, const T* a, index_t b_count, const T* b, T* out) {
  auto* const stream = static_cast<cudaStream_t>(queue.stream);
  const auto kept = std::make_shared<Kept>();
  return {{"Thrust", [=] {
             thrust::set_intersection(thrust::cuda::par(*kept).on(stream), a, a + a_count, b, b + b_count, out);
           }}};
}

template Peers set_union(const Queue&, index_t, const std::int32_t*, index_t, const std::int32_t*, std::int32_t*);
template Peers set_union(const Queue&, index_t, const double*, index_t, const double*, double*);
template Peers set_intersection(const Queue&, index_t, const std::int32_t*, index_t, const std::int32_t*,
                                std::int32_t*);
template Peers set_intersection(const Queue&, index_t, const double*, index_t, const double*, double*);

}  // namespace tessera::peers
