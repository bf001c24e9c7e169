// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tessera/core/communicator.hpp>
#include <tessera/core/error.hpp>
#include <tessera/core/execution.hpp>
#include <tessera/core/log.hpp>
#include <tessera/core/trace.hpp>

/// \file
/// Halo exchange: data packed by kernels on one rank, unpacked by kernels on its neighbours. On hosts MPI reads the
/// buffers themselves. Device buffers are copied through host memory, unless TESSERA_MPI_GPU_AWARE=1 says that this
/// MPI reads device memory; that is tried once, with a small message, before it is believed.

namespace tessera {

enum class Staging { automatic, direct, staged };

namespace detail {

inline bool gpu_aware_asked() {
  const char* value = std::getenv("TESSERA_MPI_GPU_AWARE");  // NOLINT(concurrency-mt-unsafe): only read
  const std::string text = value == nullptr ? "" : value;
  require(text.empty() || text == "0" || text == "1",
          [&] { return Error("tessera::HaloExchange", "TESSERA_MPI_GPU_AWARE=" + text, "it must be 0 or 1"); });
  return text == "1";
}

/// Sends a few words from device memory round the ring of ranks and looks at what arrives. Collective.
template <ExecutionSpace Space>
bool gpu_aware_works(const Space& exec, const Communicator& communicator) {
  constexpr int words = 64;
  using Words = Kokkos::View<int*, typename Space::memory_space>;
  const Words out("tessera::communicator::probe_send", words), in("tessera::communicator::probe_receive", words);
  const int me = communicator.rank(), ranks = communicator.size();
  log_line("mpi", "trying device memory in MPI; should this crash, set TESSERA_MPI_GPU_AWARE=0");
  Kokkos::deep_copy(exec, out, me + 1);
  Kokkos::deep_copy(exec, in, -1);
  exec.fence("tessera::communicator::probe");
  Exchange exchange(communicator);
  exchange.receive((me + ranks - 1) % ranks, 0, std::as_writable_bytes(std::span(in.data(), words)));
  exchange.send((me + 1) % ranks, 0, std::as_bytes(std::span(out.data(), words)));
  exchange.wait();
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), in);
  bool right = true;
  for (int i = 0; i < words; ++i) right = right && host(i) == (me + ranks - 1) % ranks + 1;
  return communicator.all_agree(right);
}

}  // namespace detail

/// The buffers and messages between this rank and its neighbours. One exchange at a time:
///   pack kernels on exec -> start(exec) -> other work -> finish(exec) -> unpack kernels on exec
template <class T, ExecutionSpace Space>
class HaloExchange {
 public:
  using Buffer = Kokkos::View<T*, typename Space::memory_space>;
  struct Neighbour {
    int rank = 0;
    int send_tag = 0;  ///< the neighbour's receive_tag
    int receive_tag = 0;
    index_t sends = 0;  ///< elements
    index_t receives = 0;
  };

  /// Allocates the buffers; neighbours' data lie in them one after the other. Collective.
  /// \throws Error where Staging::direct, or TESSERA_MPI_GPU_AWARE=1, asks for what this MPI cannot do
  HaloExchange(const Space& exec, const Communicator& communicator, std::vector<Neighbour> neighbours,
               Staging staging = Staging::automatic)
      : m_neighbours(std::move(neighbours)), m_exchange(communicator) {
    index_t sends = 0, receives = 0;
    for (const Neighbour& n : m_neighbours) {
      m_send_offsets.push_back(sends);
      m_receive_offsets.push_back(receives);
      sends += n.sends;
      receives += n.receives;
    }
    m_direct = is_host_space<Space> ? staging != Staging::staged : choose_direct(exec, communicator, staging);
    using Kokkos::view_alloc;
    using Kokkos::WithoutInitializing;
    m_send = Buffer(view_alloc(exec, WithoutInitializing, "tessera::halo::send"), sends);
    m_receive = Buffer(view_alloc(exec, WithoutInitializing, "tessera::halo::receive"), receives);
    if (!m_direct) {
      m_host_send = HostBuffer(view_alloc(WithoutInitializing, "tessera::halo::host_send"), sends);
      m_host_receive = HostBuffer(view_alloc(WithoutInitializing, "tessera::halo::host_receive"), receives);
    }
  }

  /// Where pack kernels write and unpack kernels read; neighbour n's part begins at its offset.
  [[nodiscard]] const Buffer& send_buffer() const { return m_send; }
  [[nodiscard]] const Buffer& receive_buffer() const { return m_receive; }
  [[nodiscard]] index_t send_offset(std::size_t neighbour) const { return m_send_offsets[neighbour]; }
  [[nodiscard]] index_t receive_offset(std::size_t neighbour) const { return m_receive_offsets[neighbour]; }
  [[nodiscard]] const std::vector<Neighbour>& neighbours() const { return m_neighbours; }
  /// "direct" or "staged"
  [[nodiscard]] const char* path() const { return m_direct ? "direct" : "staged"; }

  /// Waits for the pack kernels on exec (nothing may leave before they are done) and posts the messages.
  void start(const Space& exec) {
    const Region region("tessera::halo::start");
    if (!m_direct) Kokkos::deep_copy(exec, m_host_send, m_send);
    // also: the unpack kernels of the exchange before have read what will be received into
    exec.fence("tessera::halo::packed");
    T* const in = m_direct ? m_receive.data() : m_host_receive.data();
    const T* const out = m_direct ? m_send.data() : m_host_send.data();
    for (std::size_t i = 0; i < m_neighbours.size(); ++i) {
      const Neighbour& n = m_neighbours[i];
      m_exchange.receive(
          n.rank, n.receive_tag,
          std::as_writable_bytes(std::span(in + m_receive_offsets[i], static_cast<std::size_t>(n.receives))));
    }
    for (std::size_t i = 0; i < m_neighbours.size(); ++i) {
      const Neighbour& n = m_neighbours[i];
      m_exchange.send(n.rank, n.send_tag,
                      std::as_bytes(std::span(out + m_send_offsets[i], static_cast<std::size_t>(n.sends))));
    }
  }

  /// Lets messages move on while the host has nothing else to do; never waits.
  void progress() { m_exchange.progress(); }

  /// Waits for the messages; kernels put on exec afterwards see what arrived.
  void finish(const Space& exec) {
    const Region region("tessera::halo::finish");
    m_exchange.wait();
    if (!m_direct) Kokkos::deep_copy(exec, m_receive, m_host_receive);
  }

 private:
  using HostBuffer = Kokkos::View<T*, Kokkos::SharedHostPinnedSpace>;

  static bool choose_direct(const Space& exec, const Communicator& communicator, Staging staging) {
    if (staging == Staging::staged || communicator.size() == 1) return false;
    const bool asked = staging == Staging::direct || detail::gpu_aware_asked();
    if (!asked) {
      if (communicator.size() > 1)
        log_line("mpi", "halos of device data go through host memory; TESSERA_MPI_GPU_AWARE=1 sends them directly");
      return false;
    }
    static const bool works = detail::gpu_aware_works(exec, communicator);
    require(works, [] {
      return Error("tessera::HaloExchange", "device memory was asked to go through MPI, and a trial arrived damaged",
                   "the MPI library must be built for this device", "Set TESSERA_MPI_GPU_AWARE=0");
    });
    return true;
  }

  std::vector<Neighbour> m_neighbours;
  std::vector<index_t> m_send_offsets, m_receive_offsets;
  Exchange m_exchange;
  Buffer m_send, m_receive;
  HostBuffer m_host_send, m_host_receive;  // where staged
  bool m_direct = true;
};

}  // namespace tessera
