// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The scan of devices, and the look-back that it shares with compactions: one launch, each element read once and
/// written once. A team holds a tile in registers, publishes its total, and looks back for what comes before it
/// (decoupled look-back: Merrill and Garland 2016). Here the looking back has two levels, tiles in their group and
/// groups, whose sums are formed in the order of tree.hpp wherever they are found; every word of a published value
/// carries the number of the call, so that neither fences nor a cleared memory are needed. It stands on what devices
/// promise: a team that has begun goes on. Where teams need not begin in the order of their numbers, they draw the
/// numbers of their tiles as they begin.

#include <Kokkos_Core.hpp>
#include <memory>
#include <utility>
#include <vector>

#include <tessera/backends/enabled.hpp>
#include <tessera/core/execution.hpp>
#include <tessera/core/instance_lock.hpp>
#include <tessera/core/registry.hpp>
#include <tessera/core/warp.hpp>
#include <tessera/scan/tree.hpp>

namespace tessera::detail {

/// A value in memory that one team writes and others read while both run: each 8 bytes hold 4 bytes of it and the tag.
template <class Space, class T>
struct Published {
  static constexpr int pairs = (Words<T>::count + 1) / 2;
  static constexpr int words = 2 * pairs;

  TESSERA_INLINE_FUNCTION static void write(std::uint64_t* at, std::uint32_t tag, const T& value) {
    const Words<T> w(value);
    const std::uint64_t high = std::uint64_t{tag} << 32;
    for (int i = 0; i < words; i += 2)
      warp<Space>::store(at + i, high | w.word[i], high | (i + 1 < w.count ? w.word[i + 1] : 0u));
  }
  /// False where the value is not there yet.
  [[nodiscard]] TESSERA_INLINE_FUNCTION static bool read(const std::uint64_t* at, std::uint32_t tag, T& value) {
    Words<T> w;
    bool there = true;
    for (int i = 0; i < words; i += 2) {
      std::uint64_t a = 0, b = 0;
      warp<Space>::load(at + i, a, b);
      there = there && static_cast<std::uint32_t>(a >> 32) == tag && static_cast<std::uint32_t>(b >> 32) == tag;
      w.word[i] = static_cast<std::uint32_t>(a);
      if (i + 1 < w.count) w.word[i + 1] = static_cast<std::uint32_t>(b);
    }
    value = w.value();
    return there;
  }
};

/// What a stream keeps for its scans and compactions.
template <class Space>
class ScanWorkspace {
 public:
  explicit ScanWorkspace(const Space& exec) { m_ticket = zeroed(exec, 64); }
  ~ScanWorkspace() {
    for (void* block : m_blocks) Kokkos::kokkos_free<typename Space::memory_space>(block);
  }
  ScanWorkspace(const ScanWorkspace&) = delete;
  ScanWorkspace& operator=(const ScanWorkspace&) = delete;
  ScanWorkspace(ScanWorkspace&&) = delete;
  ScanWorkspace& operator=(ScanWorkspace&&) = delete;

  /// The number of the call in the upper half, in the lower one of the next tile to be drawn. The team of the last tile
  /// begins the next call.
  [[nodiscard]] std::uint64_t* ticket() const { return m_ticket; }
  /// 32 bytes that a kernel may leave for the next one of its call.
  [[nodiscard]] void* note() const { return m_ticket + 4; }
  /// Room for published values. Outgrown memory is kept: a captured graph may still name it.
  [[nodiscard]] std::uint64_t* published(const Space& exec, std::size_t bytes) {
    if (bytes > m_bytes) {
      m_bytes = bytes > 2 * m_bytes ? bytes : 2 * m_bytes;
      if (m_bytes < least) m_bytes = least;
      m_published = zeroed(exec, m_bytes);
    }
    return m_published;
  }
  /// Room for what one kernel of a call leaves for the next one. Outgrown memory is kept here as well.
  [[nodiscard]] void* room(std::size_t bytes) {
    if (bytes > m_room_bytes) {
      m_room_bytes = bytes > 2 * m_room_bytes ? bytes : 2 * m_room_bytes;
      m_room = Kokkos::kokkos_malloc<typename Space::memory_space>("tessera::scan::workspace", m_room_bytes);
      m_blocks.push_back(m_room);
    }
    return m_room;
  }

  static ScanWorkspace& of(const Space& exec) {
    static Registry<ScanWorkspace> all("scan workspaces");
    return all.get(stream_key_of(exec), [&] { return std::make_unique<ScanWorkspace>(exec); });
  }

 private:
  static constexpr std::size_t least = std::size_t{1} << 20;
  std::uint64_t* zeroed(const Space& exec, std::size_t bytes) {
    using Memory = typename Space::memory_space;
    auto* const block = static_cast<std::uint64_t*>(Kokkos::kokkos_malloc<Memory>("tessera::scan::workspace", bytes));
    m_blocks.push_back(block);
    // call 1 is the first: no word of a zeroed memory has its tag
    const Kokkos::View<std::uint64_t*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>> view(block, bytes / 8);
    Kokkos::deep_copy(exec, view, m_blocks.size() == 1 ? std::uint64_t{1} << 32 : std::uint64_t{0});
    return block;
  }

  std::vector<void*> m_blocks;
  std::uint64_t* m_ticket = nullptr;
  std::uint64_t* m_published = nullptr;
  void* m_room = nullptr;
  std::size_t m_bytes = 0, m_room_bytes = 0;
};

/// A value of each lane with those of the lanes below, doubling.
template <class Space, class Body, class T>
TESSERA_INLINE_FUNCTION T along_lanes(const Body& body, T value, int lane) {
  for (int by = 1; by < 32; by *= 2) {
    const T lower = warp_up<Space>(value, by);
    if (lane >= by) value = body.join(lower, value);
  }
  return value;
}

/// How the teams of one launch learn what comes before their tiles: a team takes a tile, publishes its total, and finds
/// the sum of all earlier ones. A team has `Strips` rows of 32 lanes, of which each helps. Body gives first() and
/// join(Carry, Carry).
template <class Space, class Carry, int Strips>
struct LookBack {
  using Slot = Published<Space, Carry>;
  static constexpr int width = 32;  // tiles in a group

  index_t tiles;
  std::uint64_t* ticket;
  std::uint64_t* totals;  // of tiles, then what comes before each group

  struct Scratch {
    Carry groups[Strips];  // before this tile's: [l] is l groups before
    Carry before, inside;  // what comes before the group `nearest` before this one; this group up to the tile
    int nearest;
    std::uint64_t drawn;  // the ticket
  };
  static std::size_t published_bytes(index_t tiles) {
    const index_t groups = (tiles + width - 1) / width;
    return static_cast<std::size_t>((tiles + groups + 1) * Slot::words) * 8;
  }

  /// The tile of this team.
  template <class Member>
  TESSERA_INLINE_FUNCTION index_t take(const Member& team, Scratch& shared) const {
    if constexpr (warp<Space>::teams_begin_in_order) {
      if (team.team_rank() == 0) shared.drawn = *ticket;  // read after the next barrier
      return team.league_rank();
    } else {
      if (team.team_rank() == 0) {
        const std::uint64_t drawn = Kokkos::atomic_fetch_add(ticket, std::uint64_t{1});
        if (static_cast<index_t>(drawn & 0xffffffffu) == tiles - 1) *ticket = ((drawn >> 32) + 1) << 32;
        shared.drawn = drawn;
      }
      team.team_barrier();
      return static_cast<index_t>(shared.drawn & 0xffffffffu);
    }
  }
  /// The number of the call, after a barrier.
  [[nodiscard]] TESSERA_INLINE_FUNCTION static std::uint32_t call(const Scratch& shared) {
    return static_cast<std::uint32_t>(shared.drawn >> 32);
  }
  /// By one thread.
  TESSERA_INLINE_FUNCTION void publish(index_t tile, std::uint32_t call, const Carry& total) const {
    Slot::write(totals + tile * Slot::words, call, total);
  }
  /// By one thread of the last tile that has found what comes before: every tile has published its total and so has
  /// read the number of this call.
  TESSERA_INLINE_FUNCTION void end(std::uint32_t call) const {
    if constexpr (warp<Space>::teams_begin_in_order) *ticket = (std::uint64_t{call} + 1) << 32;
  }

  /// What comes before tile `tile`, once its total is published. Row of lanes 0, which brings that total, sums the
  /// tiles before it in its group; the others one earlier group each; to them is added the nearest value known to come
  /// before a group. A barrier of the team is within.
  template <class Body, class Member>
  TESSERA_INLINE_FUNCTION Carry find(const Body& body, const Member& team, Scratch& shared, index_t tile,
                                     std::uint32_t call, const Carry& total, int strip, int lane) const {
    const index_t group = tile / width;
    const int place = static_cast<int>(tile % width);
    std::uint64_t* const before_groups = totals + tiles * Slot::words;

    const index_t summed = group - strip, behind = group - lane;
    Carry value = total, before{};
    bool there = summed < 0 || (strip == 0 && lane >= place);
    const bool asks = strip == 0 && lane < Strips;
    bool before_there = asks && behind == 0;
    if (before_there) before = body.first();
    std::uint32_t found = 0;
    while (true) {
      if (!there) there = Slot::read(totals + (summed * width + lane) * Slot::words, call, value);
      if (asks && behind > 0 && !before_there)
        before_there = Slot::read(before_groups + behind * Slot::words, call, before);
      found = warp<Space>::ballot(before_there || strip > 0);
      if (warp<Space>::ballot(there) == 0xffffffffu && found != 0) break;
    }
    const Carry inside = along_lanes<Space>(body, value, lane);
    if (strip == 0) {
      int nearest = 0;
      while ((found >> nearest & 1u) == 0) ++nearest;
      if (lane == nearest) {
        shared.before = before;
        shared.nearest = nearest;
      }
      if (lane == place - 1) shared.inside = inside;
    } else if (lane == width - 1) {
      shared.groups[strip] = inside;
    }
    team.team_barrier();
    Carry carry = shared.before;
    for (int l = shared.nearest; l > 0; --l) carry = body.join(carry, shared.groups[l]);
    if (strip == 0 && place == width - 1 && lane == width - 1)
      Slot::write(before_groups + (group + 1) * Slot::words, call, body.join(carry, inside));
    if (place > 0) carry = body.join(carry, shared.inside);
    return carry;
  }
};

template <class Space, class Body, int Rows>
struct ScanTiles {
  using Shape = ScanShape<Body, Rows>;
  using Value = typename Body::Value;
  using Carry = typename Body::Carry;
  using Look = LookBack<Space, Carry, Shape::strips>;
  static constexpr int width = Shape::width, rows = Shape::rows;
  static_assert(width == Look::width);

  Body body;
  index_t n;
  Look look;

  struct Scratch {
    Carry strips[Shape::strips];
    typename Look::Scratch look;
  };
  static constexpr std::size_t scratch_bytes = sizeof(Scratch) + 16;

  template <bool whole, class Member>
  TESSERA_INLINE_FUNCTION void scan_tile(const Member& team, Scratch& shared, index_t tile) const {
    const int rank = static_cast<int>(team.team_rank()), lane = rank % width, strip = rank / width;
    const index_t first = tile * Shape::tile + strip * Shape::strip, begin = first + lane * Body::leaf;
    const auto absent = [&](int r) { return !whole && first + r * Shape::row >= n; };  // the row is behind the end
    const auto present = [&](int r) {
      if constexpr (whole) return Body::leaf;
      const index_t left = n - begin - r * Shape::row;
      return static_cast<int>(left < 0 ? 0 : left < Body::leaf ? left : Body::leaf);
    };
    typename Body::Leaf leaves[rows];
    for (int r = 0; r < rows; ++r)
      if (!absent(r)) leaves[r] = body.template fetch<whole>(begin + r * Shape::row, present(r));
    Value through[rows];  // the leaves of a row up to this one
    Carry sum{};
    for (int r = 0; r < rows; ++r) {
      through[r] = absent(r) ? body.nothing()
                             : along_lanes<Space>(body, body.template total<whole>(leaves[r], present(r)), lane);
      const Carry all = body.widen(warp_shuffle<Space>(through[r], width - 1));
      sum = r == 0 ? all : body.join(sum, all);
    }
    if (lane == 0) shared.strips[strip] = sum;
    team.team_barrier();
    const std::uint32_t call = Look::call(shared.look);
    Carry total{};
    if (strip == 0) {
      total = shared.strips[0];
      for (int s = 1; s < Shape::strips; ++s) total = body.join(total, shared.strips[s]);
    }
    if (strip == 0 && lane == 0) look.publish(tile, call, total);
    Carry carry = look.find(body, team, shared.look, tile, call, total, strip, lane);
    if (tile == look.tiles - 1 && rank == 0) {
      body.finish(body.join(carry, total));
      look.end(call);
    }
    for (int s = 0; s < strip; ++s) carry = body.join(carry, shared.strips[s]);
    for (int r = 0; r < rows; ++r) {
      if (absent(r)) continue;
      const Value below = warp_up<Space>(through[r], 1);
      body.template put<whole>(begin + r * Shape::row, present(r), leaves[r], lane == 0 ? body.nothing() : below,
                               body.narrow(carry));
      carry = body.join(carry, body.widen(warp_shuffle<Space>(through[r], width - 1)));
    }
  }

  KOKKOS_FUNCTION void operator()(const typename Teams<Space>::member_type& team) const {
    auto& shared = *static_cast<Scratch*>(team.team_shmem().get_shmem_aligned(sizeof(Scratch), 16));
    const index_t tile = look.take(team, shared.look);
    if ((tile + 1) * Shape::tile <= n)
      scan_tile<true>(team, shared, tile);
    else
      scan_tile<false>(team, shared, tile);
  }
};

/// Scans [0, n) with body; n > 0. The caller holds the lock of the instance.
template <int Rows, class Space, class Body>
void run_lookback(const Space& exec, const std::string& kernel_label, const Body& body, index_t n) {
  using Kernel = ScanTiles<Space, Body, Rows>;
  constexpr int teams_at_once = Rows > few_rows || BodyWithHeads<Body> ? 2 : 3;
  using Policy = BoundedTeams<Space, Kernel::Shape::threads, teams_at_once>;
  const index_t tiles = (n + Kernel::Shape::tile - 1) / Kernel::Shape::tile;
  auto& workspace = ScanWorkspace<Space>::of(exec);
  std::uint64_t* const published = workspace.published(exec, Kernel::Look::published_bytes(tiles));
  auto policy = Policy(exec, tiles, Kernel::Shape::threads).set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes));
  Kokkos::parallel_for(kernel_label, policy, Kernel{body, n, {tiles, workspace.ticket(), published}});
}

}  // namespace tessera::detail
