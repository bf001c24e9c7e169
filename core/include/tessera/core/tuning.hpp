// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <tessera/core/device.hpp>
#include <tessera/core/tuning_table.hpp>

/// \file
/// What was measured fastest on this machine, from one run of a program to the next: a small text file for each
/// algorithm and device.
///
/// TESSERA_TUNE         unset: choices follow the file where there is one; "1": plans also measure problems that it
///                      does not know, and add them; "0": files are neither read nor written
/// TESSERA_TUNING_DIR   the folder; else tessera/tuning in XDG_CACHE_HOME, else in ~/.cache

namespace tessera {

/// What a table is of: algorithm, device, driver, what is built for and version of Tessera, as its first line.
[[nodiscard]] std::string tuning_header(std::string_view algorithm, const DeviceInfo& device);

enum class Tuning : std::uint8_t {
  off,      ///< no file is looked at
  look_up,  ///< choices follow the file
  measure,  ///< and plans add to it
};

/// As TESSERA_TUNE says.
/// \throws Error where it is none of "", "0" and "1"
[[nodiscard]] Tuning tuning();

/// Whether a plan measures what the file does not know: where that is asked of it, or of all plans; never where files
/// are not looked at.
[[nodiscard]] bool plans_measure(bool asked);

/// The folder of the files; empty where the environment names none.
[[nodiscard]] std::filesystem::path tuning_folder();

/// The path that was measured fastest, or nothing. Reads the file the first time; one that is no table is told once
/// on standard error, and stays until something is measured.
[[nodiscard]] std::string tuned_path(std::string_view algorithm, const DeviceInfo& device, std::string_view types,
                                     std::string_view signature);

/// Adds to what this process knows, and to the file: under a lock, with what other processes wrote meanwhile, and all
/// at once, so that nobody reads half a file. A file that cannot be written is told once on standard error.
void remember_tuned(std::string_view algorithm, const DeviceInfo& device, std::string_view types,
                    std::string_view signature, std::string_view path, double seconds);

namespace detail {
/// Grows whenever an answer of tuned_path() may have changed.
std::uint64_t tuning_state();
/// As a new process would begin; for tests.
void forget_tuning();
}  // namespace detail

}  // namespace tessera
