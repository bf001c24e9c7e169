// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Kokkos_Core.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <tessera/backends/enabled.hpp>
#include <tessera/core/execution.hpp>
#include <tessera/core/types.hpp>

// The narrow floats against the toolkit's own conversions, on the device: every pattern, every float, many doubles and
// 64-bit integers. Both the one-instruction conversions and the portable arithmetic are compared.

namespace {

using tessera::index_t;
using Space = Kokkos::Cuda;

/// Runs over n indices and tells how many of them `differs` marks, and the first.
struct Differences {
  std::uint64_t count = 0;
  std::uint64_t first = ~std::uint64_t{0};
};

template <class Differs>
struct Counting {
  Differs differs;
  KOKKOS_FUNCTION void operator()(index_t i, std::uint64_t& count, std::uint64_t& first) const {
    if (!differs(static_cast<std::uint64_t>(i))) return;
    ++count;
    if (static_cast<std::uint64_t>(i) < first) first = static_cast<std::uint64_t>(i);
  }
};

template <class Differs>
Differences differences(index_t n, const Differs& differs) {
  Differences d;
  Kokkos::parallel_reduce("tessera::test::device_types", tessera::Range<Space>(Space(), 0, n),
                          Counting<Differs>{differs}, Kokkos::Sum<std::uint64_t>(d.count),
                          Kokkos::Min<std::uint64_t>(d.first));
  return d;
}

void require_none(const char* what, const Differences& d) {
  INFO(what << ": " << d.count << " differ, the first is number " << d.first);
  REQUIRE(d.count == 0);
}

KOKKOS_FUNCTION std::uint32_t bits_of(float x) { return tessera::detail::bit_cast<std::uint32_t>(x); }
KOKKOS_FUNCTION float float_of(std::uint64_t bits) {
  return tessera::detail::bit_cast<float>(static_cast<std::uint32_t>(bits));
}
/// A different 64-bit pattern for each index (a bijection: splitmix64).
KOKKOS_FUNCTION std::uint64_t scrambled(std::uint64_t i) {
  i = (i + 0x9e3779b97f4a7c15u);
  i = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9u;
  i = (i ^ (i >> 27)) * 0x94d049bb133111ebu;
  return i ^ (i >> 31);
}
/// A double of moderate exponent, so that most are in the narrow formats' range.
KOKKOS_FUNCTION double double_of(std::uint64_t i) {
  const std::uint64_t r = scrambled(i);
  const std::uint64_t exponent = 1023 - 140 + (i % 280);
  return tessera::detail::bit_cast<double>((r & 0x800fffffffffffffu) | (exponent << 52));
}

KOKKOS_FUNCTION bool same_float(float ours, float theirs) {
  return bits_of(ours) == bits_of(theirs) || (ours != ours && theirs != theirs);
}

struct HalfWidens {
  KOKKOS_FUNCTION bool operator()(std::uint64_t i) const {
    [[maybe_unused]] const auto bits = static_cast<std::uint16_t>(i);
    KOKKOS_IF_ON_DEVICE((const float theirs = __half2float(__ushort_as_half(bits));
                         return !same_float(tessera::half::from_bits(bits), theirs) ||
                                !same_float(tessera::half::format::decode(bits), theirs);))
    KOKKOS_IF_ON_HOST((return false;))
  }
};
struct Bfloat16Widens {
  KOKKOS_FUNCTION bool operator()(std::uint64_t i) const {
    [[maybe_unused]] const auto bits = static_cast<std::uint16_t>(i);
    KOKKOS_IF_ON_DEVICE((const float theirs = __bfloat162float(__ushort_as_bfloat16(bits));
                         return !same_float(tessera::bfloat16::from_bits(bits), theirs) ||
                                !same_float(tessera::bfloat16::format::decode(bits), theirs);))
    KOKKOS_IF_ON_HOST((return false;))
  }
};
template <class T, __nv_fp8_interpretation_t Interpretation>
struct Fp8Widens {
  KOKKOS_FUNCTION bool operator()(std::uint64_t i) const {
    [[maybe_unused]] const auto bits = static_cast<std::uint8_t>(i);
    KOKKOS_IF_ON_DEVICE(
        (const float theirs = __half2float(__half(__nv_cvt_fp8_to_halfraw(bits, Interpretation)));
         return !same_float(T::from_bits(bits), theirs) || !same_float(T::format::decode(bits), theirs);))
    KOKKOS_IF_ON_HOST((return false;))
  }
};

struct HalfNarrows {
  KOKKOS_FUNCTION bool operator()(std::uint64_t i) const {
    [[maybe_unused]] const float x = float_of(i);
    KOKKOS_IF_ON_DEVICE((const std::uint32_t theirs = __half_as_ushort(__float2half_rn(x));
                         return tessera::half(x).bits != theirs || tessera::half::format::encode(x) != theirs;))
    KOKKOS_IF_ON_HOST((return false;))
  }
};
struct Bfloat16Narrows {
  KOKKOS_FUNCTION bool operator()(std::uint64_t i) const {
    [[maybe_unused]] const float x = float_of(i);
    KOKKOS_IF_ON_DEVICE((const std::uint32_t theirs = __bfloat16_as_ushort(__float2bfloat16_rn(x));
                         return tessera::bfloat16(x).bits != theirs || tessera::bfloat16::format::encode(x) != theirs;))
    KOKKOS_IF_ON_HOST((return false;))
  }
};
template <class T, __nv_fp8_interpretation_t Interpretation>
struct Fp8Narrows {
  KOKKOS_FUNCTION bool operator()(std::uint64_t i) const {
    [[maybe_unused]] const float x = float_of(i);
    KOKKOS_IF_ON_DEVICE((const std::uint32_t theirs = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, Interpretation);
                         return T(x).bits != theirs || T::format::encode(x) != theirs;))
    KOKKOS_IF_ON_HOST((return false;))
  }
};

struct DoublesNarrow {
  KOKKOS_FUNCTION bool operator()(std::uint64_t i) const {
    [[maybe_unused]] const double x = double_of(i);
    KOKKOS_IF_ON_DEVICE((return tessera::half(x).bits != __half_as_ushort(__double2half(x)) ||
                                    tessera::bfloat16(x).bits != __bfloat16_as_ushort(__double2bfloat16(x)) ||
                                    tessera::fp8_e4m3(x).bits != __nv_cvt_double_to_fp8(x, __NV_SATFINITE, __NV_E4M3) ||
                                    tessera::fp8_e5m2(x).bits != __nv_cvt_double_to_fp8(x, __NV_SATFINITE, __NV_E5M2);))
    KOKKOS_IF_ON_HOST((return false;))
  }
};

struct IntegersNarrow {
  KOKKOS_FUNCTION bool operator()(std::uint64_t i) const {
    [[maybe_unused]] const std::uint64_t u = scrambled(i) >> (i % 64);
    [[maybe_unused]] const auto s = static_cast<std::int64_t>(u) * ((i & 64) != 0 ? -1 : 1);
    KOKKOS_IF_ON_DEVICE((return tessera::half(s).bits != __half_as_ushort(__ll2half_rn(s)) ||
                                    tessera::half(u).bits != __half_as_ushort(__ull2half_rn(u)) ||
                                    tessera::bfloat16(s).bits != __bfloat16_as_ushort(__ll2bfloat16_rn(s)) ||
                                    tessera::bfloat16(u).bits != __bfloat16_as_ushort(__ull2bfloat16_rn(u));))
    KOKKOS_IF_ON_HOST((return false;))
  }
};

struct Available {
  KOKKOS_FUNCTION bool operator()(std::uint64_t) const {
    KOKKOS_IF_ON_DEVICE((return !tessera::detail::DeviceConversion<tessera::half::format>::available ||
                                    !tessera::detail::DeviceConversion<tessera::bfloat16::format>::available;))
    KOKKOS_IF_ON_HOST((return false;))
  }
};

}  // namespace

TEST_CASE("the device's conversions are in use", "[device_types]") {
  // a build without them is right but slower: it must not pass unnoticed
  require_none("DeviceConversion<HalfFormat>", differences(1, Available{}));
}

TEST_CASE("every narrow pattern widens as the toolkit widens it", "[device_types]") {
  require_none("half", differences(65536, HalfWidens{}));
  require_none("bfloat16", differences(65536, Bfloat16Widens{}));
  require_none("fp8_e4m3", differences(256, Fp8Widens<tessera::fp8_e4m3, __NV_E4M3>{}));
  require_none("fp8_e5m2", differences(256, Fp8Widens<tessera::fp8_e5m2, __NV_E5M2>{}));
}

TEST_CASE("every float narrows as the toolkit narrows it", "[device_types]") {
  constexpr index_t all = index_t{1} << 32;
  require_none("half", differences(all, HalfNarrows{}));
  require_none("bfloat16", differences(all, Bfloat16Narrows{}));
  require_none("fp8_e4m3", differences(all, Fp8Narrows<tessera::fp8_e4m3, __NV_E4M3>{}));
  require_none("fp8_e5m2", differences(all, Fp8Narrows<tessera::fp8_e5m2, __NV_E5M2>{}));
}

TEST_CASE("doubles and 64-bit integers narrow as the toolkit narrows them", "[device_types]") {
  require_none("double", differences(index_t{1} << 28, DoublesNarrow{}));
  require_none("integer", differences(index_t{1} << 28, IntegersNarrow{}));
}
