// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "output.hpp"

#include "planes.hpp"
#include <array>
#include <bit>
#include <common/files.hpp>
#include <common/picture.hpp>
#include <cstring>
#include <fstream>
#include <system_error>

#include <tessera/core/trace.hpp>

namespace tessera::heat {
namespace {

namespace fs = std::filesystem;

// "tessera-heat-1", a word that tells the byte order, bytes of an element, n, step; then n planes; then a checksum.
struct Header {
  char magic[16] = {'t', 'e', 's', 's', 'e', 'r', 'a', '-', 'h', 'e', 'a', 't', '-', '1', 0, 0};
  std::int64_t byte_order = 0x0102030405060708;
  std::int64_t element_bytes = 0;
  std::int64_t n = 0;
  std::int64_t step = 0;
};
static_assert(sizeof(Header) == 48);

/// Not against forgery: against cut-off files and flipped bits.
class Checksum {
 public:
  void add(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      std::uint64_t word = 0;
      const std::size_t n = std::min(sizeof word, bytes.size());
      std::memcpy(&word, bytes.data(), n);
      m_value = (m_value ^ word) * 0x9e3779b97f4a7c15u;
      m_value ^= m_value >> 29;
      bytes = bytes.subspan(n);
    }
  }
  [[nodiscard]] std::uint64_t value() const { return m_value; }

 private:
  std::uint64_t m_value = 0xcbf29ce484222325u;
};

template <class V>
std::span<const std::byte> bytes_of(const V& value) {
  return std::as_bytes(std::span(&value, 1));
}

/// Reads the file through; returns what is wrong with it, or nothing.
std::string examine(const fs::path& path, CheckpointInfo& info) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error) return error.message();
  std::ifstream file(path, std::ios::binary);
  if (!file) return "it cannot be opened";
  Header header;
  const Header expected;
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  if (!file) return "it is cut off within its header";
  if (std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0) return "it is no checkpoint of heat";
  if (header.byte_order != expected.byte_order) return "it was written on a machine of another byte order";
  if ((header.element_bytes != 4 && header.element_bytes != 8) || header.n < 1 || header.n > 1000000 || header.step < 0)
    return "its header is damaged";
  const auto n = static_cast<std::uint64_t>(header.n);
  const std::uint64_t plane_bytes = n * n * static_cast<std::uint64_t>(header.element_bytes);
  const std::uint64_t whole = sizeof header + n * plane_bytes + sizeof(std::uint64_t);
  if (size != whole) return "it has " + std::to_string(size) + " bytes where " + std::to_string(whole) + " belong";
  Checksum sum;
  sum.add(bytes_of(header));
  std::vector<std::byte> plane(plane_bytes);
  for (std::uint64_t k = 0; k < n && file; ++k) {
    file.read(reinterpret_cast<char*>(plane.data()), static_cast<std::streamsize>(plane_bytes));
    sum.add(plane);
  }
  std::uint64_t stored = 0;
  file.read(reinterpret_cast<char*>(&stored), sizeof stored);
  if (!file) return "it cannot be read to its end";
  if (stored != sum.value()) return "its checksum does not match";
  info = {path, header.element_bytes, header.n, header.step};
  return {};
}

}  // namespace

template <class T>
void write_slice(const app::App& app, const Solver<T>& solver, const fs::path& path) {
  const index_t n = solver.problem().n, k = n / 2;
  const std::vector<T> plane = gather_plane(solver, k);
  app.on_root([&] {
    // with the surface, where u is 0
    const auto m = static_cast<std::size_t>(n + 2);
    std::vector<double> values(m * m, 0.0);
    for (std::size_t j = 1; j + 1 < m; ++j)
      for (std::size_t i = 1; i + 1 < m; ++i) values[j * m + i] = static_cast<double>(plane[(j - 1) * (m - 2) + i - 1]);
    const double h = solver.problem().h();
    app::HeatmapOptions o;
    o.title =
        fmt::format("heat: u(x, y, z = {:.4g}) at t = {:.4g}, {} x {} x {} points", static_cast<double>(k + 1) * h,
                    static_cast<double>(solver.step()) * solver.problem().dt(), n, n, n);
    o.x_label = "x";
    o.y_label = "y";
    o.value_label = "temperature u";
    o.x_range = o.y_range = {-0.5 * h, 1 + 0.5 * h};  // points lie in the middle of their cells
    app::write_png_heatmap(path, values, static_cast<int>(m), static_cast<int>(m), o);
  });
}

template <class T>
void write_vtk(const app::App& app, const Solver<T>& solver, const fs::path& path) {
  const index_t n = solver.problem().n;
  const auto m = static_cast<std::size_t>(n + 2);
  std::unique_ptr<app::AtomicFile> file;
  const std::vector<T> surface(m * m, T(0));
  const auto put = [&](std::span<const T> values) { file->write(std::as_bytes(values)); };
  app.on_root([&] {
    file = std::make_unique<app::AtomicFile>(path);
    const std::string extent = fmt::format("0 {0} 0 {0} 0 {0}", n + 1);
    const double h = solver.problem().h();
    file->write(fmt::format(
        "<?xml version=\"1.0\"?>\n"
        "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"{}\" header_type=\"UInt64\">\n"
        " <ImageData WholeExtent=\"{}\" Origin=\"0 0 0\" Spacing=\"{:.17g} {:.17g} {:.17g}\">\n"
        "  <FieldData>\n"
        "   <DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{:.17g}</DataArray>\n"
        "  </FieldData>\n"
        "  <Piece Extent=\"{}\">\n"
        "   <PointData Scalars=\"u\">\n"
        "    <DataArray type=\"{}\" Name=\"u\" format=\"appended\" offset=\"0\"/>\n"
        "   </PointData>\n"
        "  </Piece>\n"
        " </ImageData>\n"
        " <AppendedData encoding=\"raw\">\n_",
        std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian", extent, h, h, h,
        static_cast<double>(solver.step()) * solver.problem().dt(), extent, sizeof(T) == 4 ? "Float32" : "Float64"));
    const std::uint64_t bytes = m * m * m * sizeof(T);
    file->write(bytes_of(bytes));
    put(surface);
  });
  for (index_t k = 0; k < n; ++k) {
    const std::vector<T> plane = gather_plane(solver, k);
    if (!solver.world().is_root()) continue;
    put(std::span(surface).first(m));
    for (std::size_t j = 0; j + 2 < m; ++j) {
      put(std::span(surface).first(1));
      put(std::span(plane).subspan(j * (m - 2), m - 2));
      put(std::span(surface).first(1));
    }
    put(std::span(surface).first(m));
  }
  app.on_root([&] {
    put(surface);
    file->write("\n </AppendedData>\n</VTKFile>\n");
    file->commit();
  });
}

fs::path previous_of(const fs::path& path) {
  fs::path previous = path;
  previous += ".previous";
  return previous;
}

template <class T>
void write_checkpoint(const app::App& app, const Solver<T>& solver, const fs::path& path) {
  const Region region("tessera::heat::checkpoint");
  std::unique_ptr<app::AtomicFile> file;
  Checksum sum;
  const auto put = [&](std::span<const std::byte> bytes) {
    file->write(bytes);
    sum.add(bytes);
  };
  app.on_root([&] {
    file = std::make_unique<app::AtomicFile>(path);
    Header header;
    header.element_bytes = sizeof(T);
    header.n = solver.problem().n;
    header.step = solver.step();
    put(bytes_of(header));
  });
  for (index_t k = 0; k < solver.problem().n; ++k) {
    const std::vector<T> plane = gather_plane(solver, k);
    if (solver.world().is_root()) put(std::as_bytes(std::span(plane)));
  }
  app.on_root([&] {
    const std::uint64_t value = sum.value();
    file->write(bytes_of(value));
    // between the two renames the previous one is there, whole
    std::error_code none;
    if (fs::exists(path, none)) fs::rename(path, previous_of(path));
    file->commit();
  });
}

CheckpointInfo find_checkpoint(const app::App& app, const fs::path& path) {
  CheckpointInfo info;
  app.on_root([&] {
    const std::string wrong = examine(path, info);
    if (wrong.empty()) return;
    const std::string wrong_before = examine(previous_of(path), info);
    if (!wrong_before.empty())
      throw Error("heat --resume",
                  "checkpoint \"" + path.string() + "\" is of no use: " + wrong + "; and \"" +
                      previous_of(path).string() + "\", the one before it: " + wrong_before,
                  "one of the two must be whole", "Give another file, or start without --resume");
    app.print("heat: checkpoint \"{}\" is of no use ({}); going on from the one before it, \"{}\"\n", path.string(),
              wrong, previous_of(path).string());
  });
  info.path = app.world().broadcast(info.path.string());
  std::array<index_t, 3> numbers = {info.element_bytes, info.n, info.step};
  app.world().broadcast(std::span<index_t>(numbers));
  info.element_bytes = numbers[0];
  info.n = numbers[1];
  info.step = numbers[2];
  return info;
}

template <class T>
void read_checkpoint(const app::App& app, Solver<T>& solver, const CheckpointInfo& info) {
  const auto n = static_cast<std::size_t>(solver.problem().n);
  std::ifstream file;
  app.on_root([&] {
    require(info.n == solver.problem().n && info.element_bytes == static_cast<index_t>(sizeof(T)), [&] {
      return Error("heat --resume", "checkpoint \"" + info.path.string() + "\" of another size or precision",
                   "both must be those of this run");
    });
    file.open(info.path, std::ios::binary);
    file.seekg(sizeof(Header));
  });
  std::vector<T> plane(app.world().is_root() ? n * n : 0);
  bool whole = true;
  for (index_t k = 0; k < solver.problem().n; ++k) {
    if (app.world().is_root()) {
      file.read(reinterpret_cast<char*>(plane.data()), static_cast<std::streamsize>(plane.size() * sizeof(T)));
      whole = whole && file.good();
    }
    scatter_plane(solver, k, std::span<const T>(plane));
  }
  app.on_root([&] {
    require(whole, [&] {
      return Error("heat --resume", "checkpoint \"" + info.path.string() + "\" could not be read again",
                   "it must not change while it is read");
    });
  });
  solver.set_step(info.step);
}

template void write_slice(const app::App&, const Solver<float>&, const fs::path&);
template void write_slice(const app::App&, const Solver<double>&, const fs::path&);
template void write_vtk(const app::App&, const Solver<float>&, const fs::path&);
template void write_vtk(const app::App&, const Solver<double>&, const fs::path&);
template void write_checkpoint(const app::App&, const Solver<float>&, const fs::path&);
template void write_checkpoint(const app::App&, const Solver<double>&, const fs::path&);
template void read_checkpoint(const app::App&, Solver<float>&, const CheckpointInfo&);
template void read_checkpoint(const app::App&, Solver<double>&, const CheckpointInfo&);

}  // namespace tessera::heat
