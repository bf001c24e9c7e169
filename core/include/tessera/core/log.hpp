// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

namespace tessera {

/// TESSERA_LOG holds a comma-separated list of topics ("paths", "devices", "mpi", "all"). Nothing is printed unless
/// it asks; lines go to standard error as "tessera[topic] text".
[[nodiscard]] bool log_enabled(std::string_view topic);
void log_line(std::string_view topic, std::string_view text);

/// A notice that is printed once a process for each text: used where a slower way had to be taken.
void notice_once(std::string_view text);

}  // namespace tessera
