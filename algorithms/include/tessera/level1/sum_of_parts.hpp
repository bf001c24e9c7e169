// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/level1/reduction.hpp>
#include <tessera/level1/results.hpp>

namespace tessera::detail {

/// Sum of term(part) over all real parts of x, in sum_t<T>. Term gives Wide of Wide, by lanes and single, and
/// finish() of the sum.
template <class T, class Space, Access access, class Term>
struct PartsBody {
  using Wide = sum_t<T>;
  using Result = norm_result_t<T>;
  using Partial = Wide;
  static constexpr int per = is_complex_v<T> ? 2 : 1;
  static constexpr int lanes = lanes_of<Space, T, std::conditional_t<is_complex_v<T>, Wide[2], Wide>, access>;

  const T* x;
  index_t xs;

  struct Walker {
    static constexpr int sums = machine<Space>::is_host ? in_flight : 1;
    using V = vec<Wide, per * lanes>;
    const PartsBody& b;
    V sum[sums];
    Wide rest = Wide{};

    TESSERA_INLINE_FUNCTION Walker(const PartsBody& body, const Share&) : b(body) {
      for (int s = 0; s < sums; ++s) sum[s] = V(Wide{});
    }
    template <int U>
    TESSERA_INLINE_FUNCTION void group(index_t i, index_t step) {
      vec<T, lanes> v[U];
      for (int u = 0; u < U; ++u) v[u] = fetch<Space, access, lanes>(b.x, b.xs, i + u * step);
      for (int u = 0; u < U; ++u) sum[u % sums] = Term::add(convert<Wide>(parts_of(v[u])), sum[u % sums]);
    }
    TESSERA_INLINE_FUNCTION void single(index_t i) {
      const vec<T, 1> v = vec<T, 1>::load(b.x + i * b.xs);
      rest += reduce_add(Term::add(convert<Wide>(parts_of(v)), vec<Wide, per>(Wide{})));
    }
    TESSERA_INLINE_FUNCTION Partial collapse() {
      for (int s = 1; s < sums; ++s) sum[0] += sum[s];
      return rest + reduce_add(sum[0]);
    }
  };

  TESSERA_INLINE_FUNCTION static Partial identity() { return Partial{}; }
  TESSERA_INLINE_FUNCTION static void join(Partial& a, const Partial& b) { a += b; }
  TESSERA_INLINE_FUNCTION Result finish(const Partial& sum) const { return static_cast<Result>(Term::finish(sum)); }
};

}  // namespace tessera::detail
