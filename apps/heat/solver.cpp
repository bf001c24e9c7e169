// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "solver.hpp"

#include <cmath>

#include <tessera/core/trace.hpp>
#include <tessera/stencil.hpp>

namespace tessera::heat {
namespace {

constexpr double pi = 3.14159265358979323846;
constexpr double beyond_any_bound = 1e300;  // what NaN counts as

/// The faces of a box with ghosts and their places in a message buffer, face after face.
template <class View, class Buffer>
struct FaceCopy {
  struct Face {
    index_t begin = 0;  // first element in the buffer
    index_t inner = 1;  // cells along `fast`
    int dimension = 0;  // across the face
    index_t layer = 0;  // index in that dimension, ghosts counted
  };
  View field;
  Buffer buffer;
  Face faces[6];
  int count = 0;
  index_t size = 0;

  /// Field element that belongs to element m of the buffer. Neighbouring threads walk along the dimension that lies
  /// densest in memory; both sides of a face have the same layout, so they agree on the order.
  KOKKOS_FUNCTION typename View::reference_type cell(index_t m) const {
    int f = 0;
    while (f + 1 < count && m >= faces[f + 1].begin) ++f;
    const Face& face = faces[f];
    const index_t q = m - face.begin;
    const index_t fast = q % face.inner + 1, slow = q / face.inner + 1;
    const bool last_fast = field.stride(2) <= field.stride(0);
    switch (face.dimension) {
      case 0:
        return last_fast ? field(face.layer, slow, fast) : field(face.layer, fast, slow);
      case 1:
        return last_fast ? field(slow, face.layer, fast) : field(fast, face.layer, slow);
      default:
        return last_fast ? field(slow, fast, face.layer) : field(fast, slow, face.layer);
    }
  }
};

template <class View, class Buffer>
struct Pack : FaceCopy<View, Buffer> {
  KOKKOS_FUNCTION void operator()(index_t m) const { this->buffer(m) = this->cell(m); }
};
template <class View, class Buffer>
struct Unpack : FaceCopy<View, Buffer> {
  KOKKOS_FUNCTION void operator()(index_t m) const { this->cell(m) = this->buffer(m); }
};

/// A flat loop over the points of a box, the densest dimension innermost.
template <class View>
struct Box {
  View field;
  index_t extents[3];  // of the points visited
  index_t first;       // index of the first one in each dimension of the field
  index_t global[3];   // point of the cube at index 0 of the field

  KOKKOS_FUNCTION void split(index_t m, index_t (&at)[3]) const {
    if (field.stride(2) <= field.stride(0)) {
      at[2] = m % extents[2];
      at[1] = m / extents[2] % extents[1];
      at[0] = m / extents[2] / extents[1];
    } else {
      at[0] = m % extents[0];
      at[1] = m / extents[0] % extents[1];
      at[2] = m / extents[0] / extents[1];
    }
    for (index_t& i : at) i += first;
  }
};

template <class T, class View, class Sines>
struct Start : Box<View> {
  Sines sines;
  KOKKOS_FUNCTION void operator()(index_t m) const {
    index_t at[3];
    this->split(m, at);
    this->field(at[0], at[1], at[2]) = static_cast<T>(sines(this->global[0] + at[0]) * sines(this->global[1] + at[1]) *
                                                      sines(this->global[2] + at[2]));
  }
};

/// Largest distance from `factor` times the start.
template <class View, class Sines>
struct Distance : Box<View> {
  Sines sines;
  double factor;
  KOKKOS_FUNCTION void operator()(index_t m, double& worst) const {
    index_t at[3];
    this->split(m, at);
    const double exact =
        factor * (sines(this->global[0] + at[0]) * sines(this->global[1] + at[1]) * sines(this->global[2] + at[2]));
    const double d = Kokkos::fabs(static_cast<double>(this->field(at[0], at[1], at[2])) - exact);
    if (!(d <= worst)) worst = d == d ? d : beyond_any_bound;  // a maximum need not keep NaN
  }
};

/// Mixes 64 bits (the finaliser of SplitMix64, G. Steele et al., 2014).
KOKKOS_INLINE_FUNCTION std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

template <class View>
struct Hash : Box<View> {
  index_t n;
  KOKKOS_FUNCTION void operator()(index_t m, std::uint64_t& sum) const {
    index_t at[3];
    this->split(m, at);
    const index_t place =
        ((this->global[0] + at[0]) * (n + 2) + this->global[1] + at[1]) * (n + 2) + this->global[2] + at[2];
    // a float's bits are kept in the double
    const auto bits = detail::bit_cast<std::uint64_t>(static_cast<double>(this->field(at[0], at[1], at[2])));
    sum += mix(bits + mix(static_cast<std::uint64_t>(place) + 0x9e3779b97f4a7c15u));
  }
};

template <class View>
void fill_box(Box<View>& box, const View& field, const CartesianBlock& block, bool ghosts) {
  box.field = field;
  box.first = ghosts ? 0 : 1;
  for (int d = 0; d < 3; ++d) {
    box.extents[d] = block.extent(d) + (ghosts ? 2 : 0);
    box.global[d] = block.range(d).begin;  // point 0 of the cube is on its surface
  }
}

template <class View>
index_t points(const Box<View>& box) {
  return box.extents[0] * box.extents[1] * box.extents[2];
}

}  // namespace

double Problem::decay_of_equation(index_t step) const {
  return std::exp(-3 * pi * pi * static_cast<double>(step) * dt());
}

double Problem::decay_of_scheme(index_t step) const {
  const double s = std::sin(0.5 * pi * h());
  return std::exp(static_cast<double>(step) * std::log1p(-12 * time_ratio * s * s));
}

template <class T>
double Solver<T>::bytes_needed(const CartesianBlock& block) {
  double points = 1;
  for (int d = 0; d < 3; ++d) points *= static_cast<double>(block.extent(d) + 2);
  return 2 * points * sizeof(T);
}

template <class T>
Solver<T>::Solver(const Space& exec, const Communicator& world, const Problem& problem, bool overlap)
    : m_exec(exec),
      m_world(world),
      m_problem(problem),
      m_block(world.rank(), world.size(), {problem.n, problem.n, problem.n}),
      m_overlap(overlap) {
  using Kokkos::view_alloc;
  using Kokkos::WithoutInitializing;
  const index_t n = problem.n;
  // One table for all ranks and dimensions, made on the host: the same bits everywhere.
  m_sines = Kokkos::View<double*, Space>(view_alloc(exec, WithoutInitializing, "tessera::heat::sines"), n + 2);
  const auto host = Kokkos::create_mirror_view(Kokkos::HostSpace(), m_sines);
  for (index_t i = 0; i <= n + 1; ++i) host(i) = std::sin(pi * static_cast<double>(i) / static_cast<double>(n + 1));
  host(0) = host(n + 1) = 0;
  Kokkos::deep_copy(exec, m_sines, host);
  exec.fence("tessera::heat::sines");  // the host copy ends with this function

  const auto allocate = [&](const std::string& label) {
    return Field(view_alloc(exec, WithoutInitializing, label), m_block.extent(0) + 2, m_block.extent(1) + 2,
                 m_block.extent(2) + 2);
  };
  m_u = allocate("tessera::heat::u");
  m_next = allocate("tessera::heat::next");
  for (const Field& field : {m_u, m_next}) {  // both: the stencil leaves ghosts as they are
    Start<T, Field, Kokkos::View<double*, Space>> start;
    fill_box(start, field, m_block, true);
    start.sines = m_sines;
    Kokkos::parallel_for("tessera::heat::start", Range<Space>(exec, 0, points(start)), start);
  }

  std::vector<typename HaloExchange<T, Space>::Neighbour> neighbours;
  for (int d = 0; d < 3; ++d)
    for (int side = 0; side < 2; ++side) {
      const int rank = m_block.neighbour(d, side);
      if (rank == CartesianBlock::none) continue;
      const index_t cells = m_block.extent((d + 1) % 3) * m_block.extent((d + 2) % 3);
      // a tag for each face as its receiver sees it
      neighbours.push_back({rank, 2 * d + 1 - side, 2 * d + side, cells, cells});
      m_faces.push_back({d, side});
    }
  m_halo = std::make_unique<HaloExchange<T, Space>>(exec, world, neighbours);
}

/// next = scheme(u) on the cells given, counted without ghosts.
template <class T>
void Solver<T>::apply(const std::array<IndexRange, 3>& cells) const {
  for (const IndexRange& r : cells)
    if (r.size() <= 0) return;
  const T edge = static_cast<T>(time_ratio);
  const Stencil7Coefficients<T> coefficients{
      static_cast<T>(1 - 6 * time_ratio), {edge, edge}, {edge, edge}, {edge, edge}};
  const auto part = [&](const Field& field) {
    // cell c lies at index c + 1; a ghost on each side goes with it
    const auto range = [&](std::size_t d) { return Kokkos::pair<index_t, index_t>(cells[d].begin, cells[d].end + 2); };
    return Kokkos::subview(field, range(0), range(1), range(2));
  };
  stencil7(m_exec, coefficients, part(m_u), part(m_next));
}

template <class T>
void Solver<T>::advance() {
  std::array<IndexRange, 3> whole{};
  for (int d = 0; d < 3; ++d) whole[static_cast<std::size_t>(d)] = {0, m_block.extent(d)};
  using Buffer = typename HaloExchange<T, Space>::Buffer;
  if (m_faces.empty()) {
    apply(whole);
  } else {
    Pack<Field, Buffer> pack;
    Unpack<Field, Buffer> unpack;
    pack.field = unpack.field = m_u;
    pack.buffer = m_halo->send_buffer();
    unpack.buffer = m_halo->receive_buffer();
    for (std::size_t f = 0; f < m_faces.size(); ++f) {
      const auto [d, side] = m_faces[f];
      const index_t n = m_block.extent(d);
      const index_t inner = std::max(m_u.stride(2), m_u.stride(0)) == m_u.stride(0) ? m_block.extent(d == 2 ? 1 : 2)
                                                                                    : m_block.extent(d == 0 ? 1 : 0);
      pack.faces[f] = {m_halo->send_offset(f), inner, d, side == 0 ? 1 : n};
      unpack.faces[f] = {m_halo->receive_offset(f), inner, d, side == 0 ? 0 : n + 1};
    }
    pack.count = unpack.count = static_cast<int>(m_faces.size());
    const Range<Space> elements(m_exec, 0, static_cast<index_t>(m_halo->send_buffer().extent(0)));
    Kokkos::parallel_for("tessera::heat::pack", elements, pack);
    m_halo->start(m_exec);
    if (m_overlap) {
      // what no ghost reaches, while messages are under way; then the layers along the faces, each cell once
      std::array<IndexRange, 3> inside = whole;
      std::vector<std::array<IndexRange, 3>> layers;
      for (const auto& [d, side] : m_faces) {
        IndexRange& r = inside[static_cast<std::size_t>(d)];
        if (r.size() == 0) continue;  // one cell thick: it was the other side's
        std::array<IndexRange, 3> layer = inside;
        if (side == 0)
          layer[static_cast<std::size_t>(d)] = {r.begin, r.begin + 1}, ++r.begin;
        else
          layer[static_cast<std::size_t>(d)] = {r.end - 1, r.end}, --r.end;
        layers.push_back(layer);
      }
      apply(inside);
      m_halo->finish(m_exec);
      Kokkos::parallel_for("tessera::heat::unpack", elements, unpack);
      for (const auto& layer : layers) apply(layer);
    } else {
      m_halo->finish(m_exec);
      Kokkos::parallel_for("tessera::heat::unpack", elements, unpack);
      apply(whole);
    }
  }
  std::swap(m_u, m_next);
  ++m_step;
}

template <class T>
Errors Solver<T>::errors() const {
  Distance<Field, Kokkos::View<double*, Space>> distance;
  fill_box(distance, m_u, m_block, false);
  distance.sines = m_sines;
  const auto largest = [&](double factor) {
    distance.factor = factor;
    double worst = 0;
    Kokkos::parallel_reduce("tessera::heat::error", Range<Space>(m_exec, 0, points(distance)), distance,
                            Kokkos::Max<double>(worst));
    return m_world.all_reduce(worst, Reduction::max);
  };
  return {largest(m_problem.decay_of_equation(m_step)), largest(m_problem.decay_of_scheme(m_step))};
}

template <class T>
std::uint64_t Solver<T>::hash() const {
  Hash<Field> hash;
  fill_box(hash, m_u, m_block, false);
  hash.n = m_problem.n;
  std::uint64_t sum = 0;
  Kokkos::parallel_reduce("tessera::heat::hash", Range<Space>(m_exec, 0, points(hash)), hash, sum);
  std::uint64_t all = 0;
  for (const index_t part : m_world.all_gather(static_cast<index_t>(sum))) all += static_cast<std::uint64_t>(part);
  return all;
}

template class Solver<float>;
template class Solver<double>;

}  // namespace tessera::heat
