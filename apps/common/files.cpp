// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cerrno>
#include <common/files.hpp>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <tessera/core/error.hpp>

namespace tessera::app {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

std::string reason(int error) { return std::generic_category().message(error); }

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

/// Where a file of this name is to be written: behind a link, what the link names. A device, a pipe or a folder is
/// never replaced by a file.
std::filesystem::path place_of(const std::filesystem::path& path) {
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  using Type = std::filesystem::file_type;
  if (kind != Type::not_found && kind != Type::none && kind != Type::regular)
    throw Error("tessera::app::AtomicFile",
                "file \"" + path.string() + "\" could not be made: " +
                    (kind == Type::directory ? "a folder has its name" : "a device, a pipe or a socket has its name"),
                "a name is free, or a file's that may be replaced", "Give another place, or - for standard output");
  if (!std::filesystem::is_symlink(path, error)) return path;
  const auto target = std::filesystem::weakly_canonical(path, error);
  return error ? path : target;
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& path) : m_path(place_of(path)) {
  std::string name = (folder_of(m_path) / ("." + m_path.filename().string() + ".XXXXXX")).string();
  m_descriptor = mkstemp(name.data());
  const int error = errno;
  m_temporary = name;
  if (m_descriptor < 0) failed("made", error);
  // mkstemp gives 0600; a result should have the permissions of any other new file
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(m_descriptor, 0666 & ~mask);
}

AtomicFile::~AtomicFile() {
  if (m_descriptor < 0) return;
  close(m_descriptor);
  unlink(m_temporary.c_str());
}

void AtomicFile::failed(std::string_view what, int error) const {
  throw Error("tessera::app::AtomicFile",
              "file \"" + m_path.string() + "\" could not be " + std::string(what) + ": " + reason(error),
              "its folder must exist, be writable and have room", "Nothing was left behind; give another place");
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  m_buffer.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (m_buffer.size() >= buffer_bytes) flush();
}

void AtomicFile::flush() {
  std::size_t done = 0;
  while (done < m_buffer.size()) {
    const ssize_t n = ::write(m_descriptor, m_buffer.data() + done, m_buffer.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) failed("written", errno);
    done += static_cast<std::size_t>(n);
  }
  m_buffer.clear();
}

void AtomicFile::commit() {
  flush();
  if (fsync(m_descriptor) != 0 && errno != EINVAL && errno != EROFS) failed("flushed to the disk", errno);
  const int descriptor = m_descriptor;
  m_descriptor = -1;
  if (close(descriptor) != 0) {
    const int error = errno;
    unlink(m_temporary.c_str());
    failed("closed", error);
  }
  if (rename(m_temporary.c_str(), m_path.c_str()) != 0) {
    const int error = errno;
    unlink(m_temporary.c_str());
    failed("renamed into place", error);
  }
  // the rename itself is on the disk only once the folder is
  if (const int folder = open(folder_of(m_path).c_str(), O_RDONLY | O_DIRECTORY); folder >= 0) {
    fsync(folder);
    close(folder);
  }
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder))
    throw Error("tessera::app::make_folder",
                "folder \"" + folder.string() +
                    "\" could not be made: " + (error ? error.message() : std::string("something else has its name")),
                "it must be possible to make it, or it must exist", "Give another folder");
}

void check_writable(const std::filesystem::path& path) {
  const std::filesystem::path folder = folder_of(place_of(path));
  if (access(folder.c_str(), W_OK | X_OK) == 0) return;
  const int error = errno;
  throw Error("tessera::app::check_writable", "file \"" + path.string() + "\" could not be made: " + reason(error),
              "its folder must exist and be writable", "Make the folder, or give another place");
}

}  // namespace tessera::app
