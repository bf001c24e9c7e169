// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <source_location>
#include <string>
#include <string_view>

#include <tessera/core/refs.hpp>

namespace tessera {
namespace detail {

/// A strided box of bytes, whatever its element type and rank.
struct Box {
  const void* pointer = nullptr;
  int rank = 0;
  index_t extents[4] = {};
  index_t strides[4] = {};  ///< in elements
  index_t element_bytes = 0;
};

template <class T, int Rank>
[[nodiscard]] Box box(const StridedRef<T, Rank>& r) {
  static_assert(Rank <= 4);
  Box b;
  b.pointer = r.pointer;
  b.rank = Rank;
  for (int i = 0; i < Rank; ++i) {
    b.extents[i] = r.extents[i];
    b.strides[i] = r.strides[i];
  }
  b.element_bytes = static_cast<index_t>(sizeof(T));
  return b;
}

/// True where the two are proved to share an element: same pointer, a contiguous range that meets another or the rows
/// of a matrix, or rectangles of equal leading dimension that intersect. False where they are disjoint or nothing is
/// proved cheaply. `exhaustive` also enumerates up to 1e6 elements.
[[nodiscard]] bool proved_overlap(const Box& a, const Box& b, bool exhaustive);

void refuse_overlap(std::string_view function, std::string_view out_name, const Box& out, std::string_view in_name,
                    const Box& in, const std::source_location& where);

/// The same for algorithms that document in-place use: exactly the same view is accepted.
void refuse_partial_overlap(std::string_view function, std::string_view out_name, const Box& out,
                            std::string_view in_name, const Box& in, const std::source_location& where);

/// Throws unless the two have equal extents.
void check_same_extents(std::string_view function, std::string_view a_name, const Box& a, std::string_view b_name,
                        const Box& b, const std::source_location& where);

/// "3 x 4": extents for messages.
std::string extents_text(const Box& box);

}  // namespace detail

/// Refuses an output that is proved to overlap an input (CONTRACT 2); in Debug builds also by enumeration.
/// \throws Error naming both arguments
template <class TOut, int ROut, class TIn, int RIn>
void require_disjoint(std::string_view function, std::string_view out_name, const StridedRef<TOut, ROut>& out,
                      std::string_view in_name, const StridedRef<TIn, RIn>& in, const std::source_location& where) {
  detail::refuse_overlap(function, out_name, detail::box(out), in_name, detail::box(in), where);
}

}  // namespace tessera
