// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include <tessera/core/error.hpp>

/// What f() complains of.
template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const tessera::Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}
