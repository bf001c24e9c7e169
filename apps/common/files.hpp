// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace tessera::app {

/// A file that appears whole or not at all: what is written goes to a temporary name in the same folder, and
/// commit() flushes it to the disk and renames it. Without commit() it is removed. A link stays and its target is
/// replaced.
class AtomicFile {
 public:
  /// \throws Error where the folder cannot be written to, or the name is a device's, a pipe's or a folder's
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  AtomicFile(AtomicFile&&) = delete;
  AtomicFile& operator=(AtomicFile&&) = delete;

  /// \throws Error where the disk is full or fails
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }
  void commit();

 private:
  void flush();
  [[noreturn]] void failed(std::string_view what, int error) const;
  std::filesystem::path m_path;
  std::filesystem::path m_temporary;
  std::string m_buffer;
  int m_descriptor = -1;
};

void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// Makes the folder and those above it. \throws Error naming the folder and the reason
void make_folder(const std::filesystem::path& folder);
/// \throws Error unless a file of this name could be made: asked before hours of work, not after.
void check_writable(const std::filesystem::path& path);

}  // namespace tessera::app
