// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <bit>
#include <cg/checkpoint.hpp>
#include <common/files.hpp>
#include <cstring>
#include <exception>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <span>
#include <system_error>
#include <vector>

#include <tessera/core/error.hpp>

namespace tessera::cg {
namespace {

// The file: Header, history, x, r, p (each n doubles), checksum of all before it. In the machine's own byte order,
// which the magic number shows.
constexpr std::uint64_t magic = 0x31304b4347534554ull;  // "TESGCK01" in little-endian order

struct Header {
  std::uint64_t magic = 0;
  std::uint64_t fingerprint = 0;
  std::int64_t n = 0;
  std::int64_t iteration = 0;
  std::int64_t replacements = 0;
  std::int64_t history = 0;  ///< entries
  double rz = 0;
  double last_true = 0;
  char preconditioner[16] = {};
};

struct Checksum {
  std::uint64_t value = 14695981039346656037ull;
  void add(std::span<const std::byte> bytes) {  // whole words: all that is written is
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i, 8);
      value = std::rotl((value ^ word) * 1099511628211ull, 29);
    }
  }
};

/// A State as it stands in a file, on rank 0.
struct Whole {
  Header header;
  std::vector<double> history, x, r, p;
};

template <class T>
bool read_into(std::ifstream& in, Checksum& sum, T* to, std::size_t count) {
  in.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(count * sizeof(T)));
  if (!in) return false;
  sum.add(std::as_bytes(std::span(to, count)));
  return true;
}

/// \throws Error saying what is wrong with the file
Whole read_whole(const std::filesystem::path& path, const Problem& problem) {
  const auto fail = [&](const std::string& what, std::string_view allowed) -> Error {
    return Error("tessera::cg::Checkpoint", path.string() + " " + what, allowed);
  };
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) throw fail("cannot be read: " + error.message(), "a checkpoint is wanted");
  std::ifstream in(path, std::ios::binary);
  Whole w;
  Checksum sum;
  if (size < sizeof(Header) || !read_into(in, sum, &w.header, 1))
    throw fail(fmt::format("is cut off: {} bytes", size), "its header alone is longer");
  const Header& h = w.header;
  if (h.magic != magic) throw fail("is no checkpoint of cg on this kind of machine", "it begins with other bytes");
  if (h.n != problem.n || h.history < 0)
    throw fail(fmt::format("is of {} rows", h.n), fmt::format("the matrix has {}", problem.n));
  // as doubles, so that no damaged header overflows
  const double expected = sizeof(Header) + 8.0 * static_cast<double>(h.history) + 24.0 * static_cast<double>(h.n) + 8;
  if (static_cast<double>(size) != expected)
    throw fail(fmt::format("is cut off or damaged: {} bytes", size), fmt::format("a whole one has {:.0f}", expected));
  w.history.resize(static_cast<std::size_t>(h.history));
  for (std::vector<double>* v : {&w.x, &w.r, &w.p}) v->resize(static_cast<std::size_t>(h.n));
  bool good = read_into(in, sum, w.history.data(), w.history.size());
  for (std::vector<double>* v : {&w.x, &w.r, &w.p}) good = good && read_into(in, sum, v->data(), v->size());
  std::uint64_t stored = 0;
  in.read(reinterpret_cast<char*>(&stored), sizeof stored);
  if (!good || !in || stored != sum.value) throw fail("is damaged: its checksum does not fit", "a whole one fits");
  const std::string name(h.preconditioner, strnlen(h.preconditioner, sizeof h.preconditioner));
  if (h.fingerprint != problem.fingerprint)
    throw fail("belongs to another matrix or right-hand side", "a run goes on with the system it began with");
  if (name != problem.preconditioner)
    throw fail("was made with --preconditioner " + name,
               "a run goes on with the preconditioner it began with, not " + problem.preconditioner);
  return w;
}

std::vector<double> own_elements(const Space& exec, const DistributedMatrix& a, const Vector& v) {
  std::vector<double> host(static_cast<std::size_t>(a.rows()));
  Kokkos::deep_copy(exec, Kokkos::View<double*, Kokkos::HostSpace>(host.data(), host.size()), a.own(v));
  exec.fence("tessera::cg::checkpoint");
  return host;
}

}  // namespace

Checkpoint::Checkpoint(std::filesystem::path file, Problem problem, const Communicator& communicator)
    : m_file(std::move(file)), m_problem(std::move(problem)), m_communicator(communicator) {}

void Checkpoint::save(const Space& exec, const State& state, const DistributedMatrix& a) {
  std::optional<app::AtomicFile> out;
  Checksum sum;
  const auto put = [&](std::span<const std::byte> bytes) {
    sum.add(bytes);
    out->write(bytes);
  };
  on_root(m_communicator, [&] {
    out.emplace(m_file);
    Header h;
    h.magic = magic;
    h.fingerprint = m_problem.fingerprint;
    h.n = m_problem.n;
    h.iteration = state.iteration;
    h.replacements = state.replacements;
    h.history = static_cast<std::int64_t>(state.history.size());
    h.rz = state.rz;
    h.last_true = state.last_true;
    m_problem.preconditioner.copy(h.preconditioner, sizeof h.preconditioner - 1);
    put(std::as_bytes(std::span(&h, 1)));
    put(std::as_bytes(std::span(state.history)));
  });
  for (const Vector& v : {state.x, state.r, state.p}) {
    const std::vector<double> mine = own_elements(exec, a, v);
    const auto parts = m_communicator.gather(std::as_bytes(std::span(mine)));  // by rank, which is global order
    on_root(m_communicator, [&] {
      for (const auto& part : parts) put(part);
    });
  }
  on_root(m_communicator, [&] {
    const std::uint64_t value = sum.value;
    out->write(std::as_bytes(std::span(&value, 1)));
    // a file that was cut off must not take the place of a whole one before it
    std::error_code error;
    if (!m_whole && std::filesystem::exists(m_file, error)) {
      try {
        (void)read_whole(m_file, m_problem);
        m_whole = true;
      } catch (const Error&) {
        m_whole = false;  // it does not become the previous one
      }
    }
    if (m_whole) std::filesystem::rename(m_file, previous());
    out->commit();
    m_whole = true;
  });
}

State Checkpoint::load(const Space& exec, const DistributedMatrix& a, std::string& notice) {
  Whole w;
  std::string text;
  on_root(m_communicator, [&] {
    std::string first;
    try {
      w = read_whole(m_file, m_problem);
      m_whole = true;
      return;
    } catch (const Error& error) {
      first = error.given();
    }
    try {
      w = read_whole(previous(), m_problem);
      text = first + "; going on from " + previous().string();
    } catch (const Error& error) {
      throw Error("tessera::cg::Checkpoint", first + "; " + error.given(), "one of them must be whole",
                  "Start without --resume");
    }
  });
  notice = m_communicator.broadcast(std::move(text));
  m_communicator.broadcast(std::span(&w.header, 1));
  w.history.resize(static_cast<std::size_t>(w.header.history));
  m_communicator.broadcast(std::span(w.history));
  State state;
  state.iteration = w.header.iteration;
  state.replacements = static_cast<int>(w.header.replacements);
  state.rz = w.header.rz;
  state.last_true = w.header.last_true;
  state.history = w.history;
  const auto place = [&](const std::vector<double>& whole, const char* what) {
    const std::vector<double> mine = deal_out(whole, m_problem.n, m_communicator);
    Vector v = a.make_vector(exec, what);
    Kokkos::deep_copy(exec, a.own(v), Kokkos::View<const double*, Kokkos::HostSpace>(mine.data(), mine.size()));
    exec.fence("tessera::cg::checkpoint");
    return v;
  };
  state.x = place(w.x, "x");
  state.r = place(w.r, "r");
  state.p = place(w.p, "p");
  return state;
}

}  // namespace tessera::cg
