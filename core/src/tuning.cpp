// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <mutex>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

#include <tessera/core/error.hpp>
#include <tessera/core/log.hpp>
#include <tessera/core/tuning.hpp>
#include <tessera/core/version.hpp>

namespace tessera {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here writes it
  return value ? value : "";
}

std::string plain(std::string text) {
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return text;
}

std::string hexadecimal(std::string_view bytes) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += digits[byte / 16];
    text += digits[byte % 16];
  }
  return text;
}

/// A name for a file from any text: what differs differs.
std::string file_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool kept =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
    name += kept ? c : '_';
  }
  std::uint64_t mixed = 0xcbf29ce484222325u;
  for (const char c : text) mixed = (mixed ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  char end[20];
  std::snprintf(end, sizeof end, "-%08x", static_cast<unsigned>(mixed ^ (mixed >> 32)));
  return name.substr(0, 100) + end;
}

/// A file's text, or nothing where there is none; at most `most` bytes and one more.
std::string read_file(const fs::path& path, std::size_t most) {
  std::string text;
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return text;  // a pipe would be waited for
  std::ifstream file(path, std::ios::binary);
  char block[1 << 16];
  while (file && text.size() <= most) {
    file.read(block, sizeof block);
    text.append(block, static_cast<std::size_t>(file.gcount()));
  }
  return text;
}

/// The one process, or thread, that writes.
class FileLock {
 public:
  explicit FileLock(const fs::path& path)
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): the system's interface
      : m_file(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644)) {
    if (m_file < 0) throw std::system_error(errno, std::generic_category(), "opening " + path.string());
    while (::flock(m_file, LOCK_EX) != 0)
      if (errno != EINTR) {
        const int why = errno;
        ::close(m_file);
        throw std::system_error(why, std::generic_category(), "locking " + path.string());
      }
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  FileLock(FileLock&&) = delete;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock() { ::close(m_file); }

 private:
  int m_file;
};

void replace_file(const fs::path& path, const std::string& text) {
  const fs::path beside = path.string() + "." + std::to_string(::getpid()) + ".new";
  try {
    {
      std::ofstream file(beside, std::ios::binary | std::ios::trunc);
      file << text;
      file.close();
      if (!file) throw std::system_error(errno, std::generic_category(), "writing " + beside.string());
    }
    fs::rename(beside, path);
  } catch (...) {
    std::error_code ignored;
    fs::remove(beside, ignored);
    throw;
  }
}

/// What the process knows, a table for each first line.
struct Known {
  std::mutex mutex;
  std::map<std::string, TuningTable, std::less<>> tables;
  std::atomic<std::uint64_t> state{0};
};

Known& known() {
  static Known instance;
  return instance;
}

fs::path file_of(std::string_view algorithm, const DeviceInfo& device) {
  const fs::path folder = tuning_folder();
  return folder.empty() ? folder : folder / (std::string(algorithm) + "-" + file_name(device.key) + ".tsv");
}

TuningTable load(const fs::path& path, const std::string& header) {
  if (path.empty()) return TuningTable(header);
  try {
    return TuningTable::parse(read_file(path, TuningTable::most_bytes), header);
  } catch (const Error& e) {
    notice_once("the tuning file " + path.string() + " is not used: " + e.what());
    return TuningTable(header);
  }
}

/// The table of an algorithm and a device; the caller has the lock.
TuningTable& table_of(std::string_view algorithm, const DeviceInfo& device) {
  std::string header = tuning_header(algorithm, device);
  const auto found = known().tables.find(header);
  if (found != known().tables.end()) return found->second;
  TuningTable loaded = load(file_of(algorithm, device), header);
  log_line("tuning", header + ": " + std::to_string(loaded.size()) + " problems known");
  return known().tables.emplace(std::move(header), std::move(loaded)).first->second;
}

}  // namespace

std::string tuning_header(std::string_view algorithm, const DeviceInfo& device) {
  std::string line(TuningTable::magic);
  for (const std::string& field :
       {std::string(algorithm), device.key, device.driver, device.architecture_built, version().text()})
    line += "\t" + plain(field);
  return line;
}

Tuning tuning() {
  const std::string value = environment("TESSERA_TUNE");
  if (value.empty()) return Tuning::look_up;
  if (value == "0") return Tuning::off;
  if (value == "1") return Tuning::measure;
  throw Error("tessera::tuning", "TESSERA_TUNE is '" + value + "'",
              "it may be 1 (plans measure what the tuning file does not know), 0 (no file is used) or unset",
              "Set it to one of these");
}

bool plans_measure(bool asked) {
  const Tuning mode = tuning();
  return mode != Tuning::off && (asked || mode == Tuning::measure);
}

fs::path tuning_folder() {
  if (const std::string folder = environment("TESSERA_TUNING_DIR"); !folder.empty()) return folder;
  if (const std::string cache = environment("XDG_CACHE_HOME"); !cache.empty())
    return fs::path(cache) / "tessera/tuning";
  if (const std::string home = environment("HOME"); !home.empty()) return fs::path(home) / ".cache/tessera/tuning";
  return {};
}

std::string tuned_path(std::string_view algorithm, const DeviceInfo& device, std::string_view types,
                       std::string_view signature) {
  const std::scoped_lock lock(known().mutex);
  const TuningTable& table = table_of(algorithm, device);
  if (table.size() == 0) return {};
  const TuningTable::Entry* const entry = table.find({plain(std::string(types)), hexadecimal(signature)});
  return entry == nullptr ? std::string() : entry->path;
}

void remember_tuned(std::string_view algorithm, const DeviceInfo& device, std::string_view types,
                    std::string_view signature, std::string_view path, double seconds) {
  const std::scoped_lock lock(known().mutex);
  TuningTable& table = table_of(algorithm, device);
  const TuningTable::Key key{plain(std::string(types)), hexadecimal(signature)};
  const TuningTable::Entry entry{plain(std::string(path)), seconds};
  table.put(key, entry);
  ++known().state;
  const fs::path file = file_of(algorithm, device);
  try {
    if (file.empty()) throw std::system_error(ENOENT, std::generic_category(), "no folder: HOME is not set");
    fs::create_directories(file.parent_path());
    const FileLock writer(file.string() + ".lock");
    // what others measured meanwhile is kept, and known from now on
    TuningTable written = load(file, tuning_header(algorithm, device));
    written.put(key, entry);
    replace_file(file, written.text());
    table = std::move(written);
  } catch (const std::system_error& e) {
    notice_once(std::string("what was measured is not kept for later runs: ") + e.what() +
                "; set TESSERA_TUNING_DIR to a folder that can be written");
  }
}

namespace detail {

std::uint64_t tuning_state() { return known().state; }

void forget_tuning() {
  const std::scoped_lock lock(known().mutex);
  known().tables.clear();
  ++known().state;
}

}  // namespace detail
}  // namespace tessera
