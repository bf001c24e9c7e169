// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "hand_written.hpp"
#include <Kokkos_Core.hpp>

#include <tessera/core/execution.hpp>
#include <tessera/dot.hpp>

/// \file
/// The five kernels of BabelStream (T. Deakin et al., 2016) over three arrays, written once; and their peers: a
/// plain OpenMP loop on hosts, the text of a first Kokkos program on devices.

namespace tessera::app {

/// Kernels of one element; each thread or lane takes the next index.
template <class T>
struct StreamArrays {
  T* a;
  T* b;
  T* c;
  T scalar;
};
template <class T>
struct CopyElement {
  StreamArrays<T> s;
  KOKKOS_FUNCTION void operator()(index_t i) const { s.c[i] = s.a[i]; }
};
template <class T>
struct MulElement {
  StreamArrays<T> s;
  KOKKOS_FUNCTION void operator()(index_t i) const { s.b[i] = s.scalar * s.c[i]; }
};
template <class T>
struct AddElement {
  StreamArrays<T> s;
  KOKKOS_FUNCTION void operator()(index_t i) const { s.c[i] = s.a[i] + s.b[i]; }
};
template <class T>
struct TriadElement {
  StreamArrays<T> s;
  KOKKOS_FUNCTION void operator()(index_t i) const { s.a[i] = s.b[i] + s.scalar * s.c[i]; }
};
template <class T>
struct DotElement {
  StreamArrays<T> s;
  KOKKOS_FUNCTION void operator()(index_t i, T& sum) const { sum += s.a[i] * s.b[i]; }
};

template <class T, ExecutionSpace Space>
struct OurStream {
  using Array = Kokkos::View<T*, Space>;
  Space exec;
  Array a, b, c;
  T scalar;

  void copy() const { run("tessera::stream::copy", CopyElement<T>{arrays()}); }
  void mul() const { run("tessera::stream::mul", MulElement<T>{arrays()}); }
  void add() const { run("tessera::stream::add", AddElement<T>{arrays()}); }
  void triad() const { run("tessera::stream::triad", TriadElement<T>{arrays()}); }
  [[nodiscard]] double dot() const { return static_cast<double>(tessera::dot(exec, a, b)); }
  [[nodiscard]] static const char* name() { return "tessera"; }

 private:
  [[nodiscard]] StreamArrays<T> arrays() const { return {a.data(), b.data(), c.data(), scalar}; }
  template <class Element>
  void run(const char* label, const Element& element) const {
    Kokkos::parallel_for(label, Range<Space>(exec, 0, static_cast<index_t>(a.extent(0))), element);
  }
};

/// Devices: the same loops, and Kokkos's own reduction.
template <class T, ExecutionSpace Space>
struct PeerStream : OurStream<T, Space> {
  [[nodiscard]] double dot() const {
    T sum = 0;
    Kokkos::parallel_reduce("tessera::stream_peer::dot",
                            Range<Space>(this->exec, 0, static_cast<index_t>(this->a.extent(0))),
                            DotElement<T>{{this->a.data(), this->b.data(), this->c.data(), this->scalar}}, sum);
    return static_cast<double>(sum);
  }
  [[nodiscard]] static const char* name() { return "plain Kokkos"; }
};

/// Hosts.
template <class T, ExecutionSpace Space>
  requires(is_host_space<Space>)
struct PeerStream<T, Space> {
  using Array = Kokkos::View<T*, Space>;
  Space exec;
  Array a, b, c;
  T scalar;

  void copy() const { hand_written::copy(size(), a.data(), c.data()); }
  void mul() const { hand_written::mul(size(), scalar, c.data(), b.data()); }
  void add() const { hand_written::add(size(), a.data(), b.data(), c.data()); }
  void triad() const { hand_written::triad(size(), scalar, b.data(), c.data(), a.data()); }
  [[nodiscard]] double dot() const { return static_cast<double>(hand_written::dot(size(), a.data(), b.data())); }
  [[nodiscard]] static const char* name() { return "OpenMP loop"; }

 private:
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(a.extent(0)); }
};

}  // namespace tessera::app
