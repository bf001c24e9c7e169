// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Complex.hpp>
#include <concepts>
#include <cstdint>

#include <tessera/core/types.hpp>

/// \file
/// The element types whose kernels come compiled in the library. Kernels for any other type are compiled in the
/// user's own file by including tessera/<algorithm>/any_type.hpp instead of tessera/<algorithm>.hpp.

namespace tessera {

/// Real and complex floats.
template <class T>
concept FloatElement = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, Kokkos::complex<float>> ||
                       std::same_as<T, Kokkos::complex<double>>;
/// 16-bit floats, computed in fp32.
template <class T>
concept NarrowFloatElement = std::same_as<T, half> || std::same_as<T, bfloat16>;
/// 32- and 64-bit signed integers.
template <class T>
concept IntegerElement = std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t>;

/// What is compiled in unless an algorithm says otherwise.
template <class T>
concept InstantiatedElement = FloatElement<T> || NarrowFloatElement<T> || IntegerElement<T>;

}  // namespace tessera
