// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <random>
#include <string>

/// A text with up to three of a few kinds of damage: a byte changed, some removed, some repeated, the end cut off.
inline std::string damaged(std::string text, std::mt19937& random) {
  for (unsigned change = 0; change <= random() % 3; ++change) {
    const std::size_t at = random() % text.size();
    switch (random() % 4) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + random() % 20);
        break;
      case 2:
        text.insert(at, text.substr(random() % text.size(), random() % 40));
        break;
      default:
        text.resize(at + 1);
    }
    if (text.empty()) text = " ";
  }
  return text;
}
