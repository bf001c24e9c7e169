// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <source_location>
#include <type_traits>

#include <tessera/core/random.hpp>
#include <tessera/core/views.hpp>
#include <tessera/random_fill/problem.hpp>

namespace tessera {

/// What random numbers are made as: float, double, int32, int64, uint32.
template <class T>
concept RandomElement = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int32_t> ||
                        std::same_as<T, std::int64_t> || std::same_as<T, std::uint32_t>;

/// A vector or matrix that Space fills with random numbers.
template <class V, class Space>
concept RandomView =
    MutableView<V> && (rank_v<V> == 1 || rank_v<V> == 2) && AccessibleFrom<V, Space> && RandomElement<value_t<V>>;

namespace detail {
template <class T, class Space>
void run_random_fill(const Space& exec, const RandomFillProblem<T>& problem);  // defined in random_fill/any_type.hpp

void check_random_bounds(double lower, double upper, bool finite, const std::source_location& where);
void check_random_bounds(std::int64_t lower, std::int64_t upper, const std::source_location& where);
void check_random_normal(double mean, double deviation, const std::source_location& where);
}  // namespace detail

/// Fills y with uniform random numbers: floats in [0, 1), multiples of 2^-24 (double: 2^-53); integers from all values
/// of their type. Element i (of a matrix, of row i and column j: number i * columns + j) depends on the seed, the
/// stream and i alone: the bits are the same on every backend, for any strides and number of threads. The number i of
/// 32 bits is word i mod 4 of Philox block i / 4 (tessera/core/random.hpp), of 64 bits the words 2 (i mod 2) and the
/// next, low word first, of block i / 2; a float takes the upper 24 bits of 32, a double the upper 53 of 64.
/// \param exec  instance that runs it; the call returns at once
/// \param y     rank 1 or 2, any strides, of float, double, int32, int64, uint32
/// \param from  seed and stream: as many streams as wanted, which share no numbers
/// Source: Salmon et al. 2011 (Philox4x32-10).
template <ExecutionSpace Space, RandomView<Space> YV>
void random_fill(const Space& exec, const YV& y, const RandomStream& from) {
  using T = value_t<YV>;
  RandomFillProblem<T> problem{as_matrix(ref(y)), from, Distribution::any, T(0), T(1)};
  if constexpr (!std::is_integral_v<T>) problem.distribution = Distribution::uniform;
  detail::run_random_fill<T, Space>(exec, problem);
}

/// The same, uniform in [lower, upper). Floats: fma(u, upper - lower, lower) of the u in [0, 1) above, and the number
/// before upper where that rounds to upper. Integers: lower + floor(b (upper - lower) / 2^64) of the number b of 64
/// bits, so that two values differ in probability by at most 2^-64.
/// \throws Error unless lower < upper, and of floats unless both and upper - lower are finite
template <ExecutionSpace Space, RandomView<Space> YV>
void random_fill(const Space& exec, const YV& y, const RandomStream& from, value_t<YV> lower, value_t<YV> upper,
                 std::source_location where = std::source_location::current()) {
  using T = value_t<YV>;
  if constexpr (std::is_integral_v<T>)
    detail::check_random_bounds(static_cast<std::int64_t>(lower), static_cast<std::int64_t>(upper), where);
  else
    detail::check_random_bounds(static_cast<double>(lower), static_cast<double>(upper),
                                upper - lower <= std::numeric_limits<T>::max(), where);
  detail::run_random_fill<T, Space>(exec, {as_matrix(ref(y)), from, Distribution::uniform, lower, upper});
}

/// Fills y with normal random numbers, by the transform of Box and Muller: numbers 2 k and 2 k + 1 are
/// mean + deviation r cos(a) and mean + deviation r sin(a), r = sqrt(-2 log u), a = 2 pi v. Floats: u = (b + 1/2) 2^-32
/// of the word b of 32 bits with number 2 k, rounded, v the float in [0, 1) of number 2 k + 1, so that |r| <= 6.7;
/// double: u = (b + 1) 2^-53 of the upper 53 bits of the number 2 k of 64 bits, v the double of number 2 k + 1, so that
/// |r| <= 8.6. The same bits on every backend; log, sin and cos are right to some units of the last place.
/// \param y          as above, of float or double
/// \param deviation  standard deviation, 0 or more
/// \throws Error     unless both are finite and deviation is 0 or more
/// Source: G. Box and M. Muller, A note on the generation of random normal deviates (1958).
template <ExecutionSpace Space, RandomView<Space> YV>
  requires(std::floating_point<value_t<YV>>)
void random_normal(const Space& exec, const YV& y, const RandomStream& from, value_t<YV> mean = 0,
                   value_t<YV> deviation = 1, std::source_location where = std::source_location::current()) {
  using T = value_t<YV>;
  detail::check_random_normal(static_cast<double>(mean), static_cast<double>(deviation), where);
  detail::run_random_fill<T, Space>(exec, {as_matrix(ref(y)), from, Distribution::normal, mean, deviation});
}

}  // namespace tessera
