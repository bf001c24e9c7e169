// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <tessera/core/refs.hpp>

/// \file
/// The processes of a run and what they say to each other. This header is the same with and without MPI: a build
/// without it, or a program that did not start it, is one process of rank 0. Device data goes through
/// tessera/core/halo.hpp, which stages it through the host where MPI cannot read device memory.

namespace tessera {

enum class Reduction { sum, min, max };

/// A group of processes (ranks). Copies share one group. Every member function marked collective must be called by
/// all ranks of the group in the same order. One thread at a time.
class Communicator {
 public:
  /// All ranks of the run. Tessera's messages travel apart from those of the caller's own MPI code.
  [[nodiscard]] static Communicator world();
  /// This process alone.
  [[nodiscard]] static Communicator self();

  [[nodiscard]] int rank() const noexcept;
  [[nodiscard]] int size() const noexcept;
  [[nodiscard]] bool is_root() const noexcept { return rank() == 0; }

  /// Ranks of equal `color` become a group, ordered by `key`, then by rank. Collective.
  [[nodiscard]] Communicator split(int color, int key) const;

  /// Returns when every rank has come here. Collective.
  void barrier() const;

  /// The reduction of one value of each rank, on every rank: floating-point values are reduced in double,
  /// integers in 64 bits. Collective.
  template <class T>
    requires(std::floating_point<T> || std::integral<T>)
  [[nodiscard]] T all_reduce(T value, Reduction op) const {
    using Wide = std::conditional_t<std::floating_point<T>, double, index_t>;
    Wide wide = static_cast<Wide>(value);
    all_reduce(std::span<Wide>(&wide, 1), op);
    return static_cast<T>(wide);
  }
  /// Element by element, in place. Every rank must pass the same length; with TESSERA_CHECK_COLLECTIVES=1 a
  /// difference is an Error that names both lengths (at the cost of one more small reduction). Collective.
  void all_reduce(std::span<double> values, Reduction op) const;
  void all_reduce(std::span<float> values, Reduction op) const;
  void all_reduce(std::span<index_t> values, Reduction op) const;
  /// True where it is true on every rank. Collective.
  [[nodiscard]] bool all_agree(bool mine) const { return all_reduce(index_t{mine}, Reduction::min) != 0; }

  /// Rank `root`'s bytes on every rank; equal lengths. Collective.
  void broadcast(std::span<std::byte> bytes, int root = 0) const;
  template <class T>
    requires(std::is_trivially_copyable_v<T> && !std::is_const_v<T>)
  void broadcast(std::span<T> values, int root = 0) const {
    broadcast(std::as_writable_bytes(values), root);
  }
  /// Rank `root`'s text on every rank, of any length. Collective.
  [[nodiscard]] std::string broadcast(std::string text, int root = 0) const;

  /// Each rank's value, by rank, on every rank. Collective.
  [[nodiscard]] std::vector<index_t> all_gather(index_t value) const;
  [[nodiscard]] std::vector<double> all_gather(double value) const;
  /// Each rank's bytes, by rank, on `root` (empty elsewhere); lengths may differ. Collective.
  [[nodiscard]] std::vector<std::vector<std::byte>> gather(std::span<const std::byte> bytes, int root = 0) const;

  /// Blocking message of a known length between two ranks of the group; 0 <= tag <= 32767.
  void send(int to, int tag, std::span<const std::byte> bytes) const;
  void receive(int from, int tag, std::span<std::byte> bytes) const;

  /// Waits at most `limit` for every rank to call this; each rank's value by rank where all did, nothing otherwise.
  /// Meant for error handling, apart from messages that an error left unfinished: after nothing, abort() is all that
  /// is left.
  [[nodiscard]] std::vector<index_t> all_gather_within(index_t value, std::chrono::milliseconds limit) const;
  [[nodiscard]] bool all_arrive_within(std::chrono::milliseconds limit) const {
    return !all_gather_within(0, limit).empty();
  }
  /// Writes the message to standard error and ends every rank of the run with the exit code.
  [[noreturn]] void abort(std::string_view message, int exit_code = 2) const;

  /// "Open MPI v5.0.7, thread level serialized", or "none (one process)".
  [[nodiscard]] std::string description() const;

 private:
  friend class Exchange;
  struct State;
  explicit Communicator(std::shared_ptr<State> state);
  std::shared_ptr<State> m_state;
};

/// Messages under way between ranks: post receives and sends, work on something else, wait. The memory must stay
/// alive and untouched until wait() returns. Pointers are host memory, or device memory where MPI reads it.
class Exchange {
 public:
  explicit Exchange(const Communicator& communicator);
  ~Exchange();
  Exchange(Exchange&&) noexcept;
  Exchange& operator=(Exchange&&) noexcept;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// \param from, to  rank in the group; the own rank is allowed
  /// \param tag       0 to 32767; equal on both sides
  void receive(int from, int tag, std::span<std::byte> bytes);
  void send(int to, int tag, std::span<const std::byte> bytes);
  /// Lets messages move on during long computations; never waits.
  void progress();
  /// Returns when all are done; the object can be used again.
  /// \throws Error where a message's length differs from what was expected, naming ranks, tag and lengths
  void wait();

 private:
  struct Messages;
  std::unique_ptr<Messages> m_messages;
};

namespace detail {
/// Starts MPI where this build has it and nobody started it yet; true where stop_mpi() must be called at the end.
bool start_mpi(int& argc, char**& argv);
void stop_mpi();
}  // namespace detail

}  // namespace tessera
