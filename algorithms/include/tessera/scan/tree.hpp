// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/core/refs.hpp>

/// \file
/// The one tree that every scan follows on every backend, so that its bits depend neither on time nor on the number
/// of threads. From the bottom: a leaf of Body::leaf elements, and a row of 32 leaves, both doubling (Hillis and Steele
/// 1986: x_i op= x_(i-1), then x_i op= x_(i-2), x_(i-4), ...); a strip of `rows` rows, in order; a tile of `strips`
/// strips, in order; a group of 32 tiles, doubling; groups, in order. Leaves and rows are combined as Body::Value, all
/// above as Body::Carry.
///
/// A Body gives
///   using Value, Carry, Leaf; static constexpr int leaf;            // elements a thread takes at once
///   Leaf fetch<whole>(i, count) const;                              // elements from i on; count is leaf where whole
///   Value total<whole>(const Leaf&, count) const;                   // doubling; the identity of none
///   void put<whole>(i, count, const Leaf&, below, before) const;    // writes the leaf's results: after `before`, and
///                                                                   // after `below` within its row
///   Value nothing() const;                                          // the identity
///   Value join(Value, Value) const; Carry join(Carry, Carry) const; // the earlier one first
///   Carry widen(Value) const; Value narrow(Carry) const;
///   Carry first() const;                                            // what comes before all elements
///   void finish(const Carry& total) const;                          // of first() and all elements

namespace tessera::detail {

template <class Body, int Rows>
struct ScanShape {
  static constexpr int width = 32;   ///< leaves in a row, and tiles in a group
  static constexpr int rows = Rows;  ///< in a strip: a thread's leaves
  static constexpr int strips = 8;   ///< in a tile
  static constexpr int row = width * Body::leaf;
  static constexpr int strip = rows * row;
  static constexpr int tile = strips * strip;
  static constexpr int threads = strips * width;
};

/// Few rows wait less, many rows look back less. Which of the two is part of the tree: it depends on n and the body.
/// Many are as many as a thread of a device has registers for.
inline constexpr int few_rows = 8;
template <class Body>
inline constexpr int many_rows = sizeof(typename Body::Value) <= 4 ? 16 : 12;
template <class Body>
constexpr bool takes_many_rows(index_t n) {
  return Body::many_rows_fit && n >= 512 * index_t{ScanShape<Body, many_rows<Body>>::tile};
}

/// Whether Values are sums since a head, with whether there was one.
template <class Body>
concept BodyWithHeads = requires { typename Body::HeadFlag; };

}  // namespace tessera::detail
