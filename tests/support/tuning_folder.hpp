// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <unistd.h>

#include <tessera/core/tuning.hpp>

/// While it lives, tuning files are looked up, in a folder of their own; tests run without any otherwise.
class TuningFolder {
 public:
  explicit TuningFolder(std::string folder = {}) : m_path(std::move(folder)) {
    if (m_path.empty()) {
      m_path = (std::filesystem::temp_directory_path() / "tessera-tuning-XXXXXX").string();
      REQUIRE(mkdtemp(m_path.data()) != nullptr);
      m_made = true;
    }
    // NOLINTBEGIN(concurrency-mt-unsafe): no other thread runs
    REQUIRE(setenv("TESSERA_TUNING_DIR", m_path.c_str(), 1) == 0);
    REQUIRE(unsetenv("TESSERA_TUNE") == 0);
    // NOLINTEND(concurrency-mt-unsafe)
    tessera::detail::forget_tuning();
  }
  TuningFolder(const TuningFolder&) = delete;
  TuningFolder& operator=(const TuningFolder&) = delete;
  TuningFolder(TuningFolder&&) = delete;
  TuningFolder& operator=(TuningFolder&&) = delete;
  ~TuningFolder() {
    // NOLINTBEGIN(concurrency-mt-unsafe): no other thread runs
    (void)setenv("TESSERA_TUNE", "0", 1);
    (void)unsetenv("TESSERA_TUNING_DIR");
    // NOLINTEND(concurrency-mt-unsafe)
    tessera::detail::forget_tuning();
    std::error_code ignored;
    if (m_made) std::filesystem::remove_all(m_path, ignored);
  }

  [[nodiscard]] std::filesystem::path path() const { return m_path; }

 private:
  std::string m_path;
  bool m_made = false;
};
