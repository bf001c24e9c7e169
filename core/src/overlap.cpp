// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tessera/core/error.hpp>
#include <tessera/core/overlap.hpp>

namespace tessera::detail {
namespace {

/// Drops dimensions of extent 1, makes strides positive, sorts by stride, and merges what is contiguous.
struct Normal {
  std::intptr_t first = 0;  // byte address of the lowest element
  std::intptr_t last = 0;   // one past the highest byte
  int rank = 0;
  index_t extents[4] = {};
  index_t strides[4] = {};  // in bytes, ascending
  bool empty = false;
};

Normal normalise(const Box& box) {
  Normal n;
  n.first = reinterpret_cast<std::intptr_t>(box.pointer);
  for (int r = 0; r < box.rank; ++r) {
    if (box.extents[r] == 0) n.empty = true;
    if (box.extents[r] <= 1 || box.strides[r] == 0) continue;
    index_t stride = box.strides[r] * box.element_bytes;
    if (stride < 0) {
      n.first += stride * (box.extents[r] - 1);
      stride = -stride;
    }
    int at = n.rank++;
    for (; at > 0 && n.strides[at - 1] > stride; --at) {
      n.strides[at] = n.strides[at - 1];
      n.extents[at] = n.extents[at - 1];
    }
    n.strides[at] = stride;
    n.extents[at] = box.extents[r];
  }
  n.last = n.first + box.element_bytes;
  for (int r = 0; r < n.rank; ++r) n.last += (n.extents[r] - 1) * n.strides[r];
  // merge from the innermost: rows that follow each other without a gap are one long row
  int kept = 0;
  for (int r = 1; r < n.rank; ++r) {
    if (n.strides[r] == n.strides[kept] * n.extents[kept]) {
      n.extents[kept] *= n.extents[r];
    } else {
      ++kept;
      n.extents[kept] = n.extents[r];
      n.strides[kept] = n.strides[r];
    }
  }
  if (n.rank > 0) n.rank = kept + 1;
  return n;
}

/// Rows of contiguous bytes at equal distances that do not reach into each other; what is contiguous is one row.
struct Rows {
  std::intptr_t first = 0;
  index_t count = 1;
  index_t pitch = 0;
  index_t width = 0;
};

std::optional<Rows> as_rows(const Normal& n, index_t element_bytes) {
  if (n.rank == 0) return Rows{n.first, 1, 0, element_bytes};
  const bool dense = n.strides[0] == element_bytes;
  if (n.rank == 1 && dense) return Rows{n.first, 1, 0, n.extents[0] * element_bytes};
  if (n.rank == 1) return Rows{n.first, n.extents[0], n.strides[0], element_bytes};
  const index_t width = n.extents[0] * element_bytes;
  if (n.rank == 2 && dense && width <= n.strides[1]) return Rows{n.first, n.extents[1], n.strides[1], width};
  return std::nullopt;
}

/// Does one row meet one of several?
bool row_meets(const Rows& row, const Rows& rows) {
  // the first of `rows` that does not end before `row` begins
  index_t r = 0;
  if (rows.pitch > 0 && rows.first + rows.width <= row.first)
    r = (row.first - rows.first - rows.width) / rows.pitch + 1;
  return r < rows.count && rows.first + r * rows.pitch < row.first + row.width;
}

/// Rectangles of one pitched allocation: y starts `down` whole pitches and `right` bytes (in [0, pitch)) after x.
bool rectangles_meet(const Rows& x, const Rows& y) {
  index_t down = (y.first - x.first) / x.pitch, right = (y.first - x.first) % x.pitch;
  if (right < 0) {
    right += x.pitch;
    --down;
  }
  const auto meets = [](index_t s1, index_t n1, index_t s2, index_t n2) { return s1 < s2 + n2 && s2 < s1 + n1; };
  // y's rows occupy bytes [right, right + width) and, where that passes the pitch, wrap into x's next row
  return (meets(0, x.count, down, y.count) && meets(0, x.width, right, y.width)) ||
         (meets(0, x.count, down + 1, y.count) && meets(0, x.width, right - x.pitch, y.width));
}

template <class Visit>
void for_each_element(const Box& box, Visit visit) {
  index_t index[4] = {};
  const auto base = reinterpret_cast<std::intptr_t>(box.pointer);
  while (true) {
    index_t offset = 0;
    for (int r = 0; r < box.rank; ++r) offset += index[r] * box.strides[r];
    visit(base + offset * box.element_bytes);
    int r = 0;
    for (; r < box.rank; ++r) {
      if (++index[r] < box.extents[r]) break;
      index[r] = 0;
    }
    if (r == box.rank) return;
  }
}

index_t elements(const Box& box) {
  index_t n = 1;
  for (int r = 0; r < box.rank; ++r) n *= box.extents[r];
  return n;
}

/// First bytes of all elements, ascending.
std::vector<std::intptr_t> sorted_elements(const Box& box) {
  std::vector<std::intptr_t> first;
  first.reserve(static_cast<std::size_t>(elements(box)));
  for_each_element(box, [&](std::intptr_t at) { first.push_back(at); });
  std::ranges::sort(first);
  return first;
}

bool overlap_by_enumeration(const Box& a, const Box& b) {
  const auto x = sorted_elements(a), y = sorted_elements(b);
  for (std::size_t i = 0, j = 0; i < x.size() && j < y.size();) {
    if (x[i] + a.element_bytes <= y[j]) {
      ++i;
    } else if (y[j] + b.element_bytes <= x[i]) {
      ++j;
    } else {
      return true;
    }
  }
  return false;
}

/// The same elements in the same order: strides count only where there is more than one index.
bool same_elements(const Box& a, const Box& b) {
  if (a.pointer != b.pointer || a.element_bytes != b.element_bytes || a.rank != b.rank) return false;
  for (int r = 0; r < a.rank; ++r) {
    if (a.extents[r] != b.extents[r]) return false;
    if (a.extents[r] > 1 && a.strides[r] != b.strides[r]) return false;
  }
  return true;
}

}  // namespace

bool proved_overlap(const Box& a, const Box& b, bool exhaustive) {
  const Normal x = normalise(a);
  const Normal y = normalise(b);
  if (x.empty || y.empty) return false;
  if (x.last <= y.first || y.last <= x.first) return false;
  if (a.pointer == b.pointer) return true;  // neither is empty: both hold the element at all-zero indices

  const auto u = as_rows(x, a.element_bytes), v = as_rows(y, b.element_bytes);
  if (u && v) {  // decided exactly
    if (u->count == 1) return row_meets(*u, *v);
    if (v->count == 1) return row_meets(*v, *u);
    if (u->pitch == v->pitch) return rectangles_meet(*u, *v);
  }
  constexpr index_t enumerated = 1000000;
  return exhaustive && elements(a) <= enumerated && elements(b) <= enumerated && overlap_by_enumeration(a, b);
}

void refuse_overlap(std::string_view function, std::string_view out_name, const Box& out, std::string_view in_name,
                    const Box& in, const std::source_location& where) {
#ifdef NDEBUG
  constexpr bool exhaustive = false;
#else
  constexpr bool exhaustive = true;
#endif
  if (!proved_overlap(out, in, exhaustive)) return;
  throw Error(function, "the output " + std::string(out_name) + " overlaps the input " + std::string(in_name),
              "an output must not share elements with an input",
              "Write into a separate view, or copy " + std::string(in_name) + " first", where);
}

void refuse_partial_overlap(std::string_view function, std::string_view out_name, const Box& out,
                            std::string_view in_name, const Box& in, const std::source_location& where) {
  if (same_elements(out, in)) return;
  refuse_overlap(function, out_name, out, in_name, in, where);
}

std::string extents_text(const Box& box) {
  std::string text;
  for (int r = 0; r < box.rank; ++r) {
    if (r > 0) text += " x ";
    text += std::to_string(box.extents[r]);
  }
  return text;
}

void check_same_extents(std::string_view function, std::string_view a_name, const Box& a, std::string_view b_name,
                        const Box& b, const std::source_location& where) {
  if (a.rank == b.rank && std::equal(a.extents, a.extents + a.rank, b.extents)) return;
  throw Error(function,
              std::string(a_name) + " is " + extents_text(a) + " and " + std::string(b_name) + " is " + extents_text(b),
              std::string(a_name) + " and " + std::string(b_name) + " must have the same extents",
              "Pass a subview of the larger one, or transposed() where the dimensions are swapped", where);
}

}  // namespace tessera::detail
