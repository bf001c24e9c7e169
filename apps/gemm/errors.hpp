// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <common/app.hpp>
#include <string>

namespace tessera::app {

/// Multiplies matrices of several kinds at every precision, compares with sums in two doubles and with
/// gemm_error_bound(), and prints what docs/gemm-errors.md holds. Whether every bound held.
bool measure_errors(App& app);

/// The same text and answer from a file that --json wrote; false too where the run that wrote it was interrupted or
/// rows are missing.
/// \throws Error where there is no such file, or it is not what --errors writes
bool print_errors_from(App& app, const std::string& file);

}  // namespace tessera::app
