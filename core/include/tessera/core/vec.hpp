// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <tessera/core/portability.hpp>
#include <tessera/core/refs.hpp>
#include <tessera/core/types.hpp>

/// \file
/// vec<T, N>: N elements that are loaded, computed and stored together. On hosts it is a vector of the compiler's
/// (GCC and Clang extension), on devices an aligned array that the compiler keeps in registers and moves 16 bytes
/// at a time. N is the kernel's choice: machine<Space>::simd_bytes / sizeof(T) fills a host register; wider ones
/// work and are split. Element types: arithmetic (computes), half, bfloat16 and fp8 (loads, stores and converts
/// only), complex of float or double (pairs side by side, as in memory). Knows neither Kokkos nor a vendor.

// A vector wider than the processor's is returned in another way than where the processor has it. Nothing returns one
// but functions of this file, and all of them are inlined.
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpsabi"
#endif

namespace tessera {

template <class T, int N>
struct vec;

/// Chosen lanes: what comparisons of vec<T, N> give and select() takes.
template <class T, int N>
struct vec_mask;

namespace detail {

template <int N>
inline constexpr bool power_of_two = N > 0 && (N & (N - 1)) == 0;

/// Alignment of vec<T, N>: its own size where that is a power of two, else the element's.
template <class T, int N>
inline constexpr std::size_t vec_alignment = power_of_two<N> ? N * sizeof(T) : alignof(T);

template <int Bytes>
struct SignedOfSize;
template <>
struct SignedOfSize<1> {
  using type = std::int8_t;
};
template <>
struct SignedOfSize<2> {
  using type = std::int16_t;
};
template <>
struct SignedOfSize<4> {
  using type = std::int32_t;
};
template <>
struct SignedOfSize<8> {
  using type = std::int64_t;
};

/// A plain array of lanes.
template <class T, int N>
struct LaneArray {
  T lane[N];
  TESSERA_INLINE_FUNCTION T get(int i) const { return lane[i]; }
  TESSERA_INLINE_FUNCTION void set(int i, T value) { lane[i] = value; }
};

/// Lanes of 1 or 2 bytes in 32-bit words, which device compilers move four at a time.
template <class T, int N>
struct WordArray {
  static constexpr int per_word = 4 / static_cast<int>(sizeof(T));
  static constexpr std::uint32_t lane_bits = (sizeof(T) == 1) ? 0xffu : 0xffffu;
  std::uint32_t word[N / per_word];
  TESSERA_INLINE_FUNCTION T get(int i) const {
    using Bits = std::make_unsigned_t<typename SignedOfSize<sizeof(T)>::type>;
    const int shift = (i % per_word) * 8 * static_cast<int>(sizeof(T));
    return detail::bit_cast<T>(static_cast<Bits>(word[i / per_word] >> shift));
  }
  TESSERA_INLINE_FUNCTION void set(int i, T value) {
    using Bits = std::make_unsigned_t<typename SignedOfSize<sizeof(T)>::type>;
    const int shift = (i % per_word) * 8 * static_cast<int>(sizeof(T));
    const auto bits = static_cast<std::uint32_t>(detail::bit_cast<Bits>(value));
    word[i / per_word] = (word[i / per_word] & ~(lane_bits << shift)) | (bits << shift);
  }
};

#if TESSERA_DEVICE_PASS
template <class T, int N>
inline constexpr bool native_lanes = false;
template <class T, int N>
inline constexpr bool bit_lanes = false;
template <class T, int N>
struct NativeLanes {
  using type = LaneArray<T, N>;
  using in_memory = type;
};
template <class T, int N>
struct Lanes {
  using type = std::conditional_t<(sizeof(T) < 4 && (N * sizeof(T)) % 4 == 0), WordArray<T, N>, LaneArray<T, N>>;
};
#else
template <class T, int N>
inline constexpr bool native_lanes =
    std::is_arithmetic_v<T> && sizeof(T) <= 8 && power_of_two<N> && N * sizeof(T) >= 16;
template <class T, int N, bool Native = native_lanes<T, N>>
struct Lanes {
  using type = LaneArray<T, N>;
};
// NOLINTBEGIN(modernize-use-using): GCC wants a typedef
template <class T, int N>
struct NativeLanes {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
  typedef T in_memory __attribute__((vector_size(N * sizeof(T)), aligned(sizeof(T)), may_alias));
};
// NOLINTEND(modernize-use-using)
template <class T, int N>
struct Lanes<T, N, true> : NativeLanes<T, N> {};

/// Narrow floats: a compiler's vector of their bits.
template <class T, int N>
struct BitLanes {
  typename NativeLanes<typename T::bits_type, N>::type bits;
  TESSERA_INLINE_FUNCTION T get(int i) const { return T::from_bits(bits[i]); }
  TESSERA_INLINE_FUNCTION void set(int i, T value) { bits[i] = value.bits; }
};
template <class T, int N>
inline constexpr bool bit_lanes = is_stored_float_v<T> && power_of_two<N> && N * sizeof(T) >= 8;
template <class T, int N>
  requires(bit_lanes<T, N>)
struct Lanes<T, N, false> {
  using type = BitLanes<T, N>;
};
#endif

/// `Bytes` bytes to p, aligned to as many: past the caches where that is a register and the host can.
template <int Bytes>
TESSERA_INLINE_FUNCTION void stream_bytes(void* p, const void* from) {
  __builtin_memcpy(p, from, Bytes);
}
#if TESSERA_STREAMING_STORES
#if defined(__clang__)
#define TESSERA_STREAM(builtin, words, p) __builtin_nontemporal_store(words, p)
#else
#define TESSERA_STREAM(builtin, words, p) builtin(p, words)
#endif
#define TESSERA_STREAM_BYTES(bytes, builtin)                                    \
  template <>                                                                   \
  TESSERA_INLINE_FUNCTION void stream_bytes<bytes>(void* p, const void* from) { \
    using Words = __attribute__((vector_size(bytes))) long long;                \
    Words words;                                                                \
    __builtin_memcpy(&words, from, bytes);                                      \
    TESSERA_STREAM(builtin, words, static_cast<Words*>(p));                     \
  }
TESSERA_STREAM_BYTES(16, __builtin_ia32_movntdq)
#if defined(__AVX__)
TESSERA_STREAM_BYTES(32, __builtin_ia32_movntdq256)
#endif
#if defined(__AVX512F__)
TESSERA_STREAM_BYTES(64, __builtin_ia32_movntdq512)
#endif
#undef TESSERA_STREAM_BYTES
#undef TESSERA_STREAM
#endif

}  // namespace detail

/// Asks a host's second-level cache, which has more requests under way than the first, for the line at p; p need not
/// be valid.
TESSERA_INLINE_FUNCTION void prefetch([[maybe_unused]] const void* p) {
#if !TESSERA_DEVICE_PASS
  __builtin_prefetch(p, 0, 2);
#endif
}

/// Streamed stores of this thread are seen by others before its later stores are.
TESSERA_INLINE_FUNCTION void streaming_fence() {
#if TESSERA_STREAMING_STORES
  __builtin_ia32_sfence();
#endif
}

template <class T, int N>
struct alignas(detail::vec_alignment<T, N>) vec_mask {
  using lane_type = typename detail::SignedOfSize<sizeof(T)>::type;
  typename detail::Lanes<lane_type, N>::type lanes;  ///< -1 where chosen, 0 elsewhere

  [[nodiscard]] TESSERA_INLINE_FUNCTION bool operator[](int i) const {
    if constexpr (detail::native_lanes<lane_type, N>)
      return lanes[i] != 0;
    else
      return lanes.get(i) != 0;
  }
};

template <class T, int N>
struct alignas(detail::vec_alignment<T, N>) vec {
  static_assert(std::is_arithmetic_v<T> || is_stored_float_v<T>, "tessera::vec: arithmetic, narrow float or complex");
  using value_type = T;
  using lanes_type = typename detail::Lanes<T, N>::type;
  static constexpr int size = N;
  static constexpr bool native = detail::native_lanes<T, N>;

  lanes_type lanes;

  vec() = default;
  /// The same value in every lane.
  TESSERA_INLINE_FUNCTION explicit vec(T value) {
    if constexpr (native)
      lanes = value - lanes_type{};  // value - 0 keeps -0; the compiler makes it a broadcast
    else
      for (int i = 0; i < N; ++i) lanes.set(i, value);
  }

  [[nodiscard]] TESSERA_INLINE_FUNCTION T operator[](int i) const {
    if constexpr (native)
      return lanes[i];
    else
      return lanes.get(i);
  }
  TESSERA_INLINE_FUNCTION void set(int i, T value) {
    if constexpr (native)
      lanes[i] = value;
    else
      lanes.set(i, value);
  }

  /// N elements from p, aligned as T is.
  [[nodiscard]] TESSERA_INLINE_FUNCTION static vec load(const T* p) {
    vec v;
    if constexpr (native)
      v.lanes = *reinterpret_cast<const typename detail::NativeLanes<T, N>::in_memory*>(p);
    else if constexpr (detail::bit_lanes<T, N>)
      v.lanes.bits = *reinterpret_cast<const typename detail::NativeLanes<typename T::bits_type, N>::in_memory*>(p);
    else
      for (int i = 0; i < N; ++i) v.lanes.set(i, p[i]);
    return v;
  }
  /// N elements from p, aligned as vec is: on devices, the widest loads.
  [[nodiscard]] TESSERA_INLINE_FUNCTION static vec load_aligned(const T* p) {
#if TESSERA_DEVICE_PASS
    return *reinterpret_cast<const vec*>(p);
#else
    return load(p);  // the same instruction on hosts
#endif
  }
  /// The first `count` (0 to N) elements from p, zeros behind; memory beyond them is not touched.
  [[nodiscard]] TESSERA_INLINE_FUNCTION static vec load(const T* p, int count) {
    vec v = vec(T{});
    for (int i = 0; i < N; ++i)
      if (i < count) v.set(i, p[i]);
    return v;
  }
  /// p[0], p[stride], p[2 stride], ...
  [[nodiscard]] TESSERA_INLINE_FUNCTION static vec load_strided(const T* p, index_t stride) {
    vec v;
    for (int i = 0; i < N; ++i) v.set(i, p[i * stride]);
    return v;
  }

  TESSERA_INLINE_FUNCTION void store(T* p) const {
    if constexpr (native)
      *reinterpret_cast<typename detail::NativeLanes<T, N>::in_memory*>(p) = lanes;
    else if constexpr (detail::bit_lanes<T, N>)
      *reinterpret_cast<typename detail::NativeLanes<typename T::bits_type, N>::in_memory*>(p) = lanes.bits;
    else
      for (int i = 0; i < N; ++i) p[i] = lanes.get(i);
  }
  TESSERA_INLINE_FUNCTION void store_aligned(T* p) const {
#if TESSERA_DEVICE_PASS
    // Subtracts 0, which the compiler cannot know: the lanes' addresses then differ by constants alone, without which
    // nvcc 13.0 takes the store apart into one a lane.
    char* const whole = reinterpret_cast<char*>(p) - (reinterpret_cast<std::uintptr_t>(p) & (alignof(vec) - 1));
    *reinterpret_cast<vec*>(whole) = *this;
#else
    store(p);
#endif
  }
  /// For data that no cache could hold until it is read: whole lines are not fetched first where the host can store
  /// past its caches. p is aligned as vec is; streaming_fence() comes before the end of the kernel.
  TESSERA_INLINE_FUNCTION void store_streaming(T* p) const { detail::stream_bytes<sizeof(vec)>(p, this); }
  TESSERA_INLINE_FUNCTION void store(T* p, int count) const {
    for (int i = 0; i < N; ++i)
      if (i < count) p[i] = (*this)[i];
  }
  TESSERA_INLINE_FUNCTION void store_strided(T* p, index_t stride) const {
    for (int i = 0; i < N; ++i) p[i * stride] = (*this)[i];
  }
};

namespace detail {

template <class T>
inline constexpr bool computes = std::is_arithmetic_v<T>;

/// Lane by lane where the compiler has no vectors; `f` sees whole native vectors or single lanes.
template <class T, int N, class F>
TESSERA_INLINE_FUNCTION vec<T, N> map2(const vec<T, N>& a, const vec<T, N>& b, F f) {
  vec<T, N> r;
  if constexpr (vec<T, N>::native)
    r.lanes = f(a.lanes, b.lanes);
  else
    for (int i = 0; i < N; ++i) r.set(i, static_cast<T>(f(a[i], b[i])));
  return r;
}
template <class T, int N, class F>
TESSERA_INLINE_FUNCTION vec_mask<T, N> compare(const vec<T, N>& a, const vec<T, N>& b, F f) {
  vec_mask<T, N> r;
  if constexpr (vec<T, N>::native)
    r.lanes = (typename detail::Lanes<typename vec_mask<T, N>::lane_type, N>::type)(f(a.lanes, b.lanes));
  else
    for (int i = 0; i < N; ++i) r.lanes.set(i, f(a[i], b[i]) ? -1 : 0);
  return r;
}

struct Plus {
  template <class A>
  TESSERA_INLINE_FUNCTION A operator()(const A& a, const A& b) const {
    return a + b;
  }
};
struct Minus {
  template <class A>
  TESSERA_INLINE_FUNCTION A operator()(const A& a, const A& b) const {
    return a - b;
  }
};
struct Times {
  template <class A>
  TESSERA_INLINE_FUNCTION A operator()(const A& a, const A& b) const {
    return a * b;
  }
};
struct Over {
  template <class A>
  TESSERA_INLINE_FUNCTION A operator()(const A& a, const A& b) const {
    return a / b;
  }
};
struct BitAnd {
  template <class A>
  TESSERA_INLINE_FUNCTION A operator()(const A& a, const A& b) const {
    return a & b;
  }
};
struct Lesser {
  template <class A>
  TESSERA_INLINE_FUNCTION A operator()(const A& a, const A& b) const {
    return a < b ? a : b;
  }
};
struct Greater {
  template <class A>
  TESSERA_INLINE_FUNCTION A operator()(const A& a, const A& b) const {
    return a > b ? a : b;
  }
};
struct IsLess {
  template <class A>
  TESSERA_INLINE_FUNCTION auto operator()(const A& a, const A& b) const {
    return a < b;
  }
};
struct IsEqual {
  template <class A>
  TESSERA_INLINE_FUNCTION auto operator()(const A& a, const A& b) const {
    return a == b;
  }
};

}  // namespace detail

template <class T, int N>
  requires(detail::computes<T>)
[[nodiscard]] TESSERA_INLINE_FUNCTION vec<T, N> operator+(const vec<T, N>& a, const vec<T, N>& b) {
  return detail::map2(a, b, detail::Plus{});
}
template <class T, int N>
  requires(detail::computes<T>)
[[nodiscard]] TESSERA_INLINE_FUNCTION vec<T, N> operator-(const vec<T, N>& a, const vec<T, N>& b) {
  return detail::map2(a, b, detail::Minus{});
}
template <class T, int N>
  requires(detail::computes<T>)
[[nodiscard]] TESSERA_INLINE_FUNCTION vec<T, N> operator*(const vec<T, N>& a, const vec<T, N>& b) {
  return detail::map2(a, b, detail::Times{});
}
template <class T, int N>
  requires(detail::computes<T>)
[[nodiscard]] TESSERA_INLINE_FUNCTION vec<T, N> operator/(const vec<T, N>& a, const vec<T, N>& b) {
  return detail::map2(a, b, detail::Over{});
}
template <class T, int N>
  requires(detail::computes<T>)
[[nodiscard]] TESSERA_INLINE_FUNCTION vec<T, N> operator-(const vec<T, N>& a) {
  vec<T, N> r;
  if constexpr (vec<T, N>::native)
    r.lanes = -a.lanes;
  else
    for (int i = 0; i < N; ++i) r.set(i, static_cast<T>(-a[i]));
  return r;
}
template <class T, int N>
TESSERA_INLINE_FUNCTION vec<T, N>& operator+=(vec<T, N>& a, const vec<T, N>& b) {
  return a = a + b;
}
template <class T, int N>
TESSERA_INLINE_FUNCTION vec<T, N>& operator-=(vec<T, N>& a, const vec<T, N>& b) {
  return a = a - b;
}
template <class T, int N>
TESSERA_INLINE_FUNCTION vec<T, N>& operator*=(vec<T, N>& a, const vec<T, N>& b) {
  return a = a * b;
}

/// a * b + c; one rounding where the compiler contracts (its default) and the machine has the instruction.
template <class T, int N>
  requires(detail::computes<T>)
[[nodiscard]] TESSERA_INLINE_FUNCTION vec<T, N> fma(const vec<T, N>& a, const vec<T, N>& b, const vec<T, N>& c) {
  vec<T, N> r;
  if constexpr (vec<T, N>::native)
    r.lanes = a.lanes * b.lanes + c.lanes;
  else
    for (int i = 0; i < N; ++i) r.set(i, static_cast<T>(a[i] * b[i] + c[i]));
  return r;
}

namespace detail {
/// a * b + c with one rounding, whatever the machine and the compiler's flags.
template <class T>
[[nodiscard]] TESSERA_INLINE_FUNCTION T fused(T a, T b, T c) {
#if TESSERA_DEVICE_PASS
  return ::fma(a, b, c);
#else
  if constexpr (std::is_same_v<T, float>)
    return __builtin_fmaf(a, b, c);
  else
    return __builtin_fma(a, b, c);
#endif
}
}  // namespace detail

/// a * b + c of floats with one rounding, whatever the machine and the compiler's flags; slow on a host without the
/// instruction. fma() is what to use where the last bit does not matter.
template <class T, int N>
  requires(std::is_floating_point_v<T>)
[[nodiscard]] TESSERA_INLINE_FUNCTION vec<T, N> fused(const vec<T, N>& a, const vec<T, N>& b, const vec<T, N>& c) {
  vec<T, N> r;
  for (int i = 0; i < N; ++i) r.set(i, detail::fused(a[i], b[i], c[i]));  // host compilers make one instruction of it
  return r;
}

/// Lane by lane a < b ? a : b, hence b where either is NaN (as the hardware's instruction does).
template <class T, int N>
  requires(detail::computes<T>)
[[nodiscard]] TESSERA_INLINE_FUNCTION vec<T, N> min(const vec<T, N>& a, const vec<T, N>& b) {
  return detail::map2(a, b, detail::Lesser{});
}
/// Lane by lane a > b ? a : b, hence b where either is NaN.
template <class T, int N>
  requires(detail::computes<T>)
[[nodiscard]] TESSERA_INLINE_FUNCTION vec<T, N> max(const vec<T, N>& a, const vec<T, N>& b) {
  return detail::map2(a, b, detail::Greater{});
}
/// |a|; for floats the sign bit is cleared, for integers the smallest value stays as it is.
template <class T, int N>
  requires(detail::computes<T>)
[[nodiscard]] TESSERA_INLINE_FUNCTION vec<T, N> abs(const vec<T, N>& a) {
  if constexpr (std::is_unsigned_v<T>) {
    return a;
  } else if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::make_unsigned_t<typename detail::SignedOfSize<sizeof(T)>::type>;
    constexpr Bits magnitude = static_cast<Bits>(~(Bits{1} << (8 * sizeof(T) - 1)));
    vec<T, N> r;
    if constexpr (vec<T, N>::native) {
      using BitLanes = typename detail::Lanes<Bits, N>::type;
      r.lanes = (typename vec<T, N>::lanes_type)((BitLanes)a.lanes & magnitude);
    } else {
      for (int i = 0; i < N; ++i)
        r.set(i, detail::bit_cast<T>(static_cast<Bits>(detail::bit_cast<Bits>(a[i]) & magnitude)));
    }
    return r;
  } else {
    return max(a, -a);
  }
}

template <class T, int N>
[[nodiscard]] TESSERA_INLINE_FUNCTION vec_mask<T, N> operator<(const vec<T, N>& a, const vec<T, N>& b) {
  return detail::compare(a, b, detail::IsLess{});
}
template <class T, int N>
[[nodiscard]] TESSERA_INLINE_FUNCTION vec_mask<T, N> operator==(const vec<T, N>& a, const vec<T, N>& b) {
  return detail::compare(a, b, detail::IsEqual{});
}
/// a where the mask has the lane, b elsewhere.
template <class T, int N>
[[nodiscard]] TESSERA_INLINE_FUNCTION vec<T, N> select(const vec_mask<T, N>& mask, const vec<T, N>& a,
                                                       const vec<T, N>& b) {
  vec<T, N> r;
  if constexpr (vec<T, N>::native)
    r.lanes = mask.lanes ? a.lanes : b.lanes;
  else
    for (int i = 0; i < N; ++i) r.set(i, mask[i] ? a[i] : b[i]);
  return r;
}
template <class T, int N>
[[nodiscard]] TESSERA_INLINE_FUNCTION bool any(const vec_mask<T, N>& mask) {
  bool found = false;
  for (int i = 0; i < N; ++i) found |= mask[i];
  return found;
}

namespace detail {
/// Halves are joined until one lane is left: an order that depends on N alone.
template <class T, int N, class F>
TESSERA_INLINE_FUNCTION T reduce(const vec<T, N>& v, F f) {
  if constexpr (N == 1) {
    return v[0];
  } else if constexpr (power_of_two<N>) {
    vec<T, N / 2> low, high;
    if constexpr (vec<T, N>::native) {
      __builtin_memcpy(&low, &v, sizeof low);
      __builtin_memcpy(&high, reinterpret_cast<const char*>(&v) + sizeof low, sizeof high);
    } else {
      for (int i = 0; i < N / 2; ++i) {
        low.set(i, v[i]);
        high.set(i, v[i + N / 2]);
      }
    }
    return reduce(map2(low, high, f), f);
  } else {
    T sum = v[0];
    for (int i = 1; i < N; ++i) sum = static_cast<T>(f(sum, v[i]));
    return sum;
  }
}
}  // namespace detail

template <class T, int N>
  requires(detail::computes<T>)
[[nodiscard]] TESSERA_INLINE_FUNCTION T reduce_add(const vec<T, N>& v) {
  return detail::reduce(v, detail::Plus{});
}
template <class T, int N>
  requires(detail::computes<T>)
[[nodiscard]] TESSERA_INLINE_FUNCTION T reduce_min(const vec<T, N>& v) {
  return detail::reduce(v, detail::Lesser{});
}
template <class T, int N>
  requires(detail::computes<T>)
[[nodiscard]] TESSERA_INLINE_FUNCTION T reduce_max(const vec<T, N>& v) {
  return detail::reduce(v, detail::Greater{});
}

/// True where a lane is below `low`, above `high`, or NaN.
template <class T, int N>
[[nodiscard]] TESSERA_INLINE_FUNCTION bool any_outside(const vec<T, N>& v, const vec<T, N>& low,
                                                       const vec<T, N>& high) {
  // the lanes inside are counted by a sum of masks, which costs hosts less than a test of each
  if constexpr (vec<T, N>::native) {
    const auto inside = (v.lanes >= low.lanes) & (v.lanes <= high.lanes);
    vec<typename detail::SignedOfSize<sizeof(T)>::type, N> masks;
    masks.lanes = (typename decltype(masks)::lanes_type)(inside);
    return detail::reduce(masks, detail::BitAnd{}) == 0;
  } else {
    bool inside = true;
    for (int i = 0; i < N; ++i) inside = inside && v[i] >= low[i] && v[i] <= high[i];
    return !inside;
  }
}

/// The same bits in lanes of unsigned integers.
template <class T, int N>
[[nodiscard]] TESSERA_INLINE_FUNCTION auto bits_of(const vec<T, N>& v) {
  using Bits = std::make_unsigned_t<typename detail::SignedOfSize<sizeof(T)>::type>;
  vec<Bits, N> r;
  if constexpr (vec<T, N>::native)
    r.lanes = (typename vec<Bits, N>::lanes_type)(v.lanes);
  else
    for (int i = 0; i < N; ++i) r.set(i, detail::bit_cast<Bits>(v[i]));
  return r;
}

/// Complex lanes, real and imaginary parts side by side as in memory.
template <class T, int N>
  requires(is_complex_v<T>)
struct alignas(detail::vec_alignment<T, N>) vec<T, N> {
  using value_type = T;
  using real_type = typename T::value_type;
  using parts_type = vec<real_type, 2 * N>;
  static_assert(sizeof(T) == 2 * sizeof(real_type));
  static constexpr int size = N;
  static constexpr bool native = parts_type::native;

  parts_type parts;

  vec() = default;
  TESSERA_INLINE_FUNCTION explicit vec(const T& value) {
    for (int i = 0; i < N; ++i) set(i, value);
  }
  TESSERA_INLINE_FUNCTION explicit vec(const parts_type& p) : parts(p) {}

  [[nodiscard]] TESSERA_INLINE_FUNCTION T operator[](int i) const { return T(parts[2 * i], parts[2 * i + 1]); }
  TESSERA_INLINE_FUNCTION void set(int i, const T& value) {
    parts.set(2 * i, value.real());
    parts.set(2 * i + 1, value.imag());
  }

  // a complex number may be read as an array of its two parts
  [[nodiscard]] TESSERA_INLINE_FUNCTION static vec load(const T* p) {
    return vec(parts_type::load(reinterpret_cast<const real_type*>(p)));
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION static vec load_aligned(const T* p) {
    return vec(parts_type::load_aligned(reinterpret_cast<const real_type*>(p)));
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION static vec load(const T* p, int count) {
    return vec(parts_type::load(reinterpret_cast<const real_type*>(p), 2 * count));
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION static vec load_strided(const T* p, index_t stride) {
    vec v;
    for (int i = 0; i < N; ++i) v.set(i, p[i * stride]);
    return v;
  }
  TESSERA_INLINE_FUNCTION void store(T* p) const { parts.store(reinterpret_cast<real_type*>(p)); }
  TESSERA_INLINE_FUNCTION void store_aligned(T* p) const { parts.store_aligned(reinterpret_cast<real_type*>(p)); }
  TESSERA_INLINE_FUNCTION void store_streaming(T* p) const { parts.store_streaming(reinterpret_cast<real_type*>(p)); }
  TESSERA_INLINE_FUNCTION void store(T* p, int count) const { parts.store(reinterpret_cast<real_type*>(p), 2 * count); }
  TESSERA_INLINE_FUNCTION void store_strided(T* p, index_t stride) const {
    for (int i = 0; i < N; ++i) p[i * stride] = (*this)[i];
  }
};

namespace detail {

/// (re, re, ...) for Which = 0, (im, im, ...) for 1, (im, re, ...) for 2.
template <int Which, class R, int N2>
TESSERA_INLINE_FUNCTION vec<R, N2> pair_shuffle(const vec<R, N2>& v) {
  vec<R, N2> r;
#if TESSERA_PACK_SHUFFLES
  if constexpr (vec<R, N2>::native) {
    const auto pick = [&]<std::size_t... I>(std::index_sequence<I...>) {
      r.lanes = __builtin_shufflevector(v.lanes, v.lanes, (Which == 0 ? I & ~1u : Which == 1 ? I | 1u : I ^ 1u)...);
    };
    pick(std::make_index_sequence<N2>{});
  } else
#endif
  {
    for (int i = 0; i < N2; ++i) r.set(i, v[Which == 0 ? i & ~1 : Which == 1 ? i | 1 : i ^ 1]);
  }
  return r;
}
/// (-1, 1, -1, 1, ...) for First = -1, (1, -1, ...) for First = 1.
template <int First, class R, int N2>
TESSERA_INLINE_FUNCTION vec<R, N2> alternating() {
  vec<R, N2> r;
  for (int i = 0; i < N2; ++i) r.set(i, static_cast<R>((i & 1) ? -First : First));
  return r;
}

}  // namespace detail

template <class T, int N>
  requires(is_complex_v<T>)
[[nodiscard]] TESSERA_INLINE_FUNCTION vec<T, N> operator+(const vec<T, N>& a, const vec<T, N>& b) {
  return vec<T, N>(a.parts + b.parts);
}
template <class T, int N>
  requires(is_complex_v<T>)
[[nodiscard]] TESSERA_INLINE_FUNCTION vec<T, N> operator-(const vec<T, N>& a, const vec<T, N>& b) {
  return vec<T, N>(a.parts - b.parts);
}
template <class T, int N>
  requires(is_complex_v<T>)
[[nodiscard]] TESSERA_INLINE_FUNCTION vec<T, N> operator-(const vec<T, N>& a) {
  return vec<T, N>(-a.parts);
}
/// a * b + c by four real products and no test for infinities, as BLAS does.
template <class T, int N>
  requires(is_complex_v<T>)
[[nodiscard]] TESSERA_INLINE_FUNCTION vec<T, N> fma(const vec<T, N>& a, const vec<T, N>& b, const vec<T, N>& c) {
  using R = typename T::value_type;
  const auto imaginary = detail::pair_shuffle<1>(a.parts) * detail::alternating<-1, R, 2 * N>();
  return vec<T, N>(
      fma(imaginary, detail::pair_shuffle<2>(b.parts), fma(detail::pair_shuffle<0>(a.parts), b.parts, c.parts)));
}
template <class T, int N>
  requires(is_complex_v<T>)
[[nodiscard]] TESSERA_INLINE_FUNCTION vec<T, N> operator*(const vec<T, N>& a, const vec<T, N>& b) {
  using R = typename T::value_type;
  const auto imaginary = detail::pair_shuffle<1>(a.parts) * detail::alternating<-1, R, 2 * N>();
  return vec<T, N>(fma(imaginary, detail::pair_shuffle<2>(b.parts), detail::pair_shuffle<0>(a.parts) * b.parts));
}
template <class T, int N>
  requires(is_complex_v<T>)
[[nodiscard]] TESSERA_INLINE_FUNCTION T reduce_add(const vec<T, N>& v) {
  T sum = v[0];
  for (int i = 1; i < N; ++i) sum = T(sum.real() + v[i].real(), sum.imag() + v[i].imag());
  return sum;
}

/// conj lane by lane; real vectors as they are.
template <class T, int N>
[[nodiscard]] TESSERA_INLINE_FUNCTION vec<T, N> conj(const vec<T, N>& v) {
  if constexpr (is_complex_v<T>)
    return vec<T, N>(v.parts * detail::alternating<1, typename T::value_type, 2 * N>());
  else
    return v;
}

namespace detail {
template <class V>
inline constexpr bool native_of = V::native;

/// Lane by lane static_cast<U> of compiler vectors. Written as a list of lanes, which GCC turns into the one
/// instruction there is; of __builtin_convertvector it makes halves.
template <class U, class From, class To, std::size_t... I>
TESSERA_INLINE_FUNCTION void convert_lanes(const From& from, To& to, std::index_sequence<I...>) {
  to = To{static_cast<U>(from[I])...};
}

/// half to float in vectors of integers: bit for bit what half's own conversion gives.
template <int N>
TESSERA_INLINE_FUNCTION vec<float, N> widen_half(const vec<std::uint32_t, N>& bits) {
  using Floats = typename vec<float, N>::lanes_type;
  using Words = typename vec<std::uint32_t, N>::lanes_type;
  using Signed = typename Lanes<std::int32_t, N>::type;
  const Words sign = (bits.lanes & 0x8000u) << 16;
  const Words magnitude = bits.lanes & 0x7fffu;
  // exponent moved from bias 15 to 127; infinity and NaN move once more to reach the top
  Words wide = (magnitude << 13) + (112u << 23);
  wide = magnitude >= 0x7c00u ? wide + (112u << 23) : wide;
  const Floats small = __builtin_convertvector((Signed)magnitude, Floats) * 0x1p-24F;
  wide = magnitude < 0x400u ? (Words)small : wide;
  vec<float, N> r;
  r.lanes = (Floats)(wide | sign);
  return r;
}

/// float to half or bfloat16 in vectors of integers, the bits in the low halves of the lanes: the text of
/// FloatFormat::encode(float) without its branches.
template <class Format, int N>
TESSERA_INLINE_FUNCTION vec<std::uint32_t, N> narrow_float(const vec<float, N>& v) {
  using Floats = typename vec<float, N>::lanes_type;
  using Words = typename vec<std::uint32_t, N>::lanes_type;
  constexpr int drop = 23 - Format::mantissa_bits;
  constexpr std::uint32_t rebias = static_cast<std::uint32_t>(127 - Format::bias) << 23;
  const Words source = (Words)v.lanes;
  const Words magnitude = source & 0x7fffffffu;
  const Words moved = magnitude - rebias;
  Words field = (moved + ((1u << (drop - 1)) - 1) + ((moved >> drop) & 1u)) >> drop;
  if constexpr (Format::bias != 127) {
    field = field > Format::max_finite ? Words{} + Format::above_range : field;
    constexpr std::uint32_t shift = static_cast<std::uint32_t>(127 + drop + 1 - Format::bias) << 23;
    const Words tiny = (Words)((Floats)magnitude + bit_cast<float>(shift)) - shift;
    field = magnitude < rebias + (1u << 23) ? tiny : field;
  }
  field |= (source >> 31) << 15;
  vec<std::uint32_t, N> r;
  r.lanes = magnitude > 0x7f800000u ? Words{} + Format::nan : field;
  return r;
}
}  // namespace detail

/// Lane by lane static_cast<U>; complex from complex or real.
template <class U, class T, int N>
[[nodiscard]] TESSERA_INLINE_FUNCTION vec<U, N> convert(const vec<T, N>& v) {
  if constexpr (std::is_same_v<U, T>) {
    return v;
  } else if constexpr (is_complex_v<U>) {
    using R = typename U::value_type;
    if constexpr (is_complex_v<T>) {
      return vec<U, N>(convert<R>(v.parts));
    } else {
      vec<U, N> r;
      for (int i = 0; i < N; ++i) r.set(i, U(static_cast<R>(v[i]), R{}));
      return r;
    }
  } else if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) {
    if constexpr (std::is_same_v<U, float> && vec<float, N>::native) {
      vec<std::uint32_t, N> bits;
      detail::convert_lanes<std::uint32_t>(v.lanes.bits, bits.lanes, std::make_index_sequence<N>{});
      if constexpr (std::is_same_v<T, half>) {
        return detail::widen_half(bits);
      } else {
        vec<float, N> r;
        r.lanes = (typename vec<float, N>::lanes_type)(bits.lanes << 16);
        return r;
      }
    } else if constexpr (std::is_floating_point_v<U> && !std::is_same_v<U, float>) {
      return convert<U>(convert<float>(v));
    } else {
      vec<U, N> r;
      for (int i = 0; i < N; ++i) r.set(i, static_cast<U>(static_cast<float>(v[i])));
      return r;
    }
  } else if constexpr ((std::is_same_v<U, half> || std::is_same_v<U, bfloat16>) && std::is_same_v<T, float> &&
                       vec<float, N>::native) {
    vec<U, N> r;
    detail::convert_lanes<std::uint16_t>(detail::narrow_float<typename U::format>(v).lanes, r.lanes.bits,
                                         std::make_index_sequence<N>{});
    return r;
  } else {
    vec<U, N> r;
    if constexpr (detail::native_of<vec<T, N>> && detail::native_of<vec<U, N>>)
      detail::convert_lanes<U>(v.lanes, r.lanes, std::make_index_sequence<N>{});
    else
      for (int i = 0; i < N; ++i) r.set(i, static_cast<U>(v[i]));
    return r;
  }
}

namespace detail {

/// Exchanges, between two rows of a square of lanes, the blocks of `Width` lanes that lie off its diagonal.
template <int Width, class Lanes, std::size_t... I>
TESSERA_INLINE_FUNCTION void exchange_blocks(Lanes& a, Lanes& b, std::index_sequence<I...>) {
#if TESSERA_PACK_SHUFFLES
  constexpr std::size_t n = sizeof...(I);
  const Lanes upper = __builtin_shufflevector(a, b, ((I & Width) == 0 ? I : n + I - Width)...);
  b = __builtin_shufflevector(a, b, ((I & Width) == 0 ? I + Width : n + I)...);
  a = upper;
#else
  const Lanes lower = b;
  for (std::size_t i = 0; i < sizeof...(I); ++i) {
    if ((i & Width) != 0) continue;
    b[i] = a[i + Width];
    a[i + Width] = lower[i];
  }
#endif
}

template <int Width, class T, int N>
TESSERA_INLINE_FUNCTION void transpose_blocks(vec<T, N> (&rows)[N]) {
  if constexpr (Width < N) {
    for (int r = 0; r < N; ++r) {
      if ((r & Width) != 0) continue;
      if constexpr (is_complex_v<T>)
        exchange_blocks<2 * Width>(rows[r].parts.lanes, rows[r + Width].parts.lanes, std::make_index_sequence<2 * N>{});
      else if constexpr (bit_lanes<T, N>)
        exchange_blocks<Width>(rows[r].lanes.bits, rows[r + Width].lanes.bits, std::make_index_sequence<N>{});
      else
        exchange_blocks<Width>(rows[r].lanes, rows[r + Width].lanes, std::make_index_sequence<N>{});
    }
    transpose_blocks<2 * Width>(rows);
  }
}

}  // namespace detail

/// Row r, lane l becomes row l, lane r: in registers, by log2(N) rounds of exchanges on hosts.
template <class T, int N>
TESSERA_INLINE_FUNCTION void transpose(vec<T, N> (&rows)[N]) {
  if constexpr (vec<T, N>::native || detail::bit_lanes<T, N>) {
    detail::transpose_blocks<1>(rows);
  } else {
    for (int r = 0; r < N; ++r)
      for (int l = 0; l < r; ++l) {
        const T upper = rows[l][r];
        rows[l].set(r, rows[r][l]);
        rows[r].set(l, upper);
      }
  }
}

}  // namespace tessera

#ifdef __clang__
#pragma clang diagnostic pop
#endif
