// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "planes.hpp"

namespace tessera::heat {
namespace {

using app::Space;

template <class Field, class Buffer>
struct FromField {
  Field field;
  Buffer buffer;
  index_t nx, layer;
  KOKKOS_FUNCTION void operator()(index_t m) const { buffer(m) = field(m % nx + 1, m / nx + 1, layer); }
};
template <class Field, class Buffer>
struct ToField {
  Field field;
  Buffer buffer;
  index_t nx, layer;
  KOKKOS_FUNCTION void operator()(index_t m) const { field(m % nx + 1, m / nx + 1, layer) = buffer(m); }
};

/// Calls visit(rank, x range, y range) for the ranks that own a part of plane k.
template <class T, class Visit>
void owners(const Solver<T>& solver, index_t k, Visit&& visit) {
  for (int rank = 0; rank < solver.world().size(); ++rank) {
    const IndexRange z = solver.block().range_of_rank(rank, 2);
    if (k >= z.begin && k < z.end)
      visit(rank, solver.block().range_of_rank(rank, 0), solver.block().range_of_rank(rank, 1));
  }
}

}  // namespace

template <class T>
std::vector<T> gather_plane(const Solver<T>& solver, index_t k) {
  const auto n = static_cast<std::size_t>(solver.problem().n);
  const IndexRange z = solver.block().range(2);
  Exchange exchange(solver.world());
  std::vector<std::vector<T>> parts;
  if (solver.world().is_root())
    owners(solver, k, [&](int rank, IndexRange x, IndexRange y) {
      parts.emplace_back(static_cast<std::size_t>(x.size() * y.size()));
      exchange.receive(rank, 0, std::as_writable_bytes(std::span(parts.back())));
    });
  using Buffer = Kokkos::View<T*, Space>;
  std::vector<T> mine;
  if (k >= z.begin && k < z.end) {
    const index_t nx = solver.block().extent(0), size = nx * solver.block().extent(1);
    const Buffer buffer(Kokkos::view_alloc(solver.exec(), Kokkos::WithoutInitializing, "tessera::heat::plane"), size);
    Kokkos::parallel_for("tessera::heat::gather_plane", Range<Space>(solver.exec(), 0, size),
                         FromField<typename Solver<T>::Field, Buffer>{solver.field(), buffer, nx, k - z.begin + 1});
    mine.resize(static_cast<std::size_t>(size));
    Kokkos::deep_copy(solver.exec(), Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(mine.data(), size),
                      buffer);
    solver.wait();
    exchange.send(0, 0, std::as_bytes(std::span(mine)));
  }
  exchange.wait();
  std::vector<T> plane;
  if (solver.world().is_root()) {
    plane.resize(n * n);
    std::size_t part = 0;
    owners(solver, k, [&](int, IndexRange x, IndexRange y) {
      const T* from = parts[part++].data();
      for (index_t j = y.begin; j < y.end; ++j)
        for (index_t i = x.begin; i < x.end; ++i)
          plane[static_cast<std::size_t>(j) * n + static_cast<std::size_t>(i)] = *from++;
    });
  }
  return plane;
}

template <class T>
void scatter_plane(Solver<T>& solver, index_t k, std::span<const T> plane) {
  const auto n = static_cast<std::size_t>(solver.problem().n);
  const IndexRange z = solver.block().range(2);
  const bool own = k >= z.begin && k < z.end;
  Exchange exchange(solver.world());
  const index_t nx = solver.block().extent(0), size = nx * solver.block().extent(1);
  std::vector<T> mine(own ? static_cast<std::size_t>(size) : 0);
  if (own) exchange.receive(0, 0, std::as_writable_bytes(std::span(mine)));
  std::vector<std::vector<T>> parts;
  if (solver.world().is_root())
    owners(solver, k, [&](int rank, IndexRange x, IndexRange y) {
      std::vector<T>& part = parts.emplace_back();
      part.reserve(static_cast<std::size_t>(x.size() * y.size()));
      for (index_t j = y.begin; j < y.end; ++j)
        for (index_t i = x.begin; i < x.end; ++i)
          part.push_back(plane[static_cast<std::size_t>(j) * n + static_cast<std::size_t>(i)]);
      exchange.send(rank, 0, std::as_bytes(std::span(part)));
    });
  exchange.wait();
  if (!own) return;
  using Buffer = Kokkos::View<T*, Space>;
  const Buffer buffer(Kokkos::view_alloc(solver.exec(), Kokkos::WithoutInitializing, "tessera::heat::plane"), size);
  Kokkos::deep_copy(solver.exec(), buffer,
                    Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(mine.data(), size));
  Kokkos::parallel_for("tessera::heat::scatter_plane", Range<Space>(solver.exec(), 0, size),
                       ToField<typename Solver<T>::Field, Buffer>{solver.field(), buffer, nx, k - z.begin + 1});
  solver.wait();
}

template std::vector<float> gather_plane(const Solver<float>&, index_t);
template std::vector<double> gather_plane(const Solver<double>&, index_t);
template void scatter_plane(Solver<float>&, index_t, std::span<const float>);
template void scatter_plane(Solver<double>&, index_t, std::span<const double>);

}  // namespace tessera::heat
