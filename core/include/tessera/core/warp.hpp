// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace tessera {

/// What the lanes of a device's warp can tell each other: Kokkos has no votes, and shuffles only as internals. Lane l
/// of warp w is the thread of rank w * width + l of a team with vector length 1. All lanes of the warp must make a
/// call together. The backends specialise it for their devices; hosts have none.
///   using mask;                                     // unsigned, a bit a lane
///   static constexpr int width;
///   static mask ballot(bool);                       // which lanes say yes
///   template <class T> static T shuffle(T, int lane);  // that lane's value; T of 4 bytes
template <class Space>
struct warp;

}  // namespace tessera
