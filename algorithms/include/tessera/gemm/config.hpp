// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/core/machine.hpp>
#include <tessera/core/types.hpp>
#include <tessera/gemm/problem.hpp>

/// \file
/// The shapes of the portable kernel, derived from machine<Space> and the element types.
///
/// A team computes a block of C, `tile_m` x `tile_n` on devices and of a size chosen at run time on hosts. It walks
/// along K in panels of `bk`; a panel's part of A and B lies packed in scratch, converted to the accumulator's real
/// type, real and imaginary parts of complex numbers in planes of their own. A thread owns micro-tiles of C of
/// `mr` rows x `nv` vectors, held in registers:
///   one each on devices: its sums stay there along the whole of K ("resident"), the next panel is on its way from
///     memory into registers while the present one is multiplied;
///   many on hosts: each is opened at zero, runs through a long panel, and is added to C.

namespace tessera::detail {

/// How blocks are sized. `large` is all there is on hosts; on devices `small` spreads small products over more teams.
enum class GemmBlock { large, small };

template <class Types, class Machine, GemmBlock Block = GemmBlock::large>
struct GemmConfig {
  using In = typename Types::in;
  using Out = typename Types::out;
  using Accumulator = typename Types::accumulator;
  using Real = real_t<Accumulator>;

  static constexpr int real_bytes = static_cast<int>(sizeof(Real));
  static constexpr int planes = is_complex_v<Accumulator> ? 2 : 1;
  static constexpr bool resident = !Machine::is_host;
  static constexpr int threads = Machine::team_threads;
  static constexpr int lanes = Machine::simd_bytes / real_bytes > 1 ? Machine::simd_bytes / real_bytes : 1;

  // Registers of a micro-tile, vectors: planes * mr * nv sums, planes * nv of B, one of A. With 32 registers 24 sums,
  // with 16 12 (8 for complex): more loads of A and B per product otherwise.
  static constexpr bool many_registers = Machine::vector_registers >= 32;
  static constexpr int host_mr = planes == 1 ? (many_registers ? 8 : 6) : (many_registers ? 4 : 2);
  static constexpr int host_nv = many_registers ? 3 : 2;
  // 64 4-byte sums or 32 8-byte ones a thread leave room for two teams of 256 threads on a multiprocessor of 65,536
  // registers, fragments and the panel under way included.
  static constexpr int device_mr = planes == 1 ? 8 : 4;
  static constexpr int device_nv = 2;
  static constexpr int shrink = Block == GemmBlock::small ? 2 : 1;
  static constexpr int mr = resident ? device_mr / shrink : host_mr;
  static constexpr int nv = resident ? device_nv / shrink : host_nv;
  static constexpr int nr = nv * lanes;

  // Threads of a device team lie 16 x 16 on the block; a warp covers 8 columns of them, so that the parts of A and B
  // that it reads at once are few and wide.
  static constexpr int threads_n = resident ? 16 : 1;
  static constexpr int threads_m = threads / threads_n;
  static constexpr int warp_n = resident ? 8 : 1;
  static constexpr int warp_m = Machine::warp_width / warp_n > 0 ? Machine::warp_width / warp_n : 1;

  // Rows that a thread owns side by side, and the distance to its next such group; the same for vectors of columns.
  static constexpr int group = resident ? (mr < lanes ? mr : lanes) : mr;
  static constexpr int group_stride = group * threads_m;
  static constexpr int vector_stride = lanes * threads_n;

  // Block, and depth of a panel. On hosts a row block of A (mc x bk) fills most of a core's second-level cache, the
  // panel of B comes from the third; block_limit bounds its width.
  static constexpr int tile_m = mr * threads_m;
  static constexpr int tile_n = nr * threads_n;
  static constexpr int bk = resident ? (sizeof(In) <= 2 ? 16 : 8) : 512 / planes;
  static constexpr int unroll = resident ? 8 : 1;  // device panels are always whole: zeros fill them
  static constexpr int cached_rows = static_cast<int>(Machine::l2_bytes * 3 / 4 / (bk * planes * real_bytes));
  static constexpr int mc = resident ? tile_m : (cached_rows / mr > 0 ? cached_rows / mr * mr : mr);
  static constexpr index_t block_limit_n = 8192 / (planes * real_bytes) / nr * nr;

  // Scratch: on devices two stages, so that one barrier a panel suffices. Four reals of padding keep rows aligned to
  // 16 bytes and spread the columns that a warp writes over the banks.
  static constexpr int stages = resident ? 2 : 1;
  static constexpr int padding = resident ? 4 : 0;
  static constexpr int width_a = resident ? tile_m + padding : mr;
  static constexpr int width_b = resident ? tile_n + padding : nr;
  static constexpr int scratch_level = resident ? 0 : 1;

  // Where Out is narrower than the accumulator, sums that are not complete wait in scratch and not in C.
  static constexpr bool waits_in_scratch = !resident && sizeof(Out) < sizeof(Accumulator);

  static constexpr int load_bytes = static_cast<int>(Machine::load_bytes);

  // Registers are shared by this many teams of a multiprocessor.
  static constexpr int teams_per_unit = 2;

  static_assert(threads_m * threads_n == threads && threads_m % warp_m == 0 && threads_n % warp_n == 0);
};

}  // namespace tessera::detail
