// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The sort on host threads: least significant digit first, 8 bits at a time. Each thread counts the digits of its
/// stretch of the keys and then moves them to places of its own, so that no two threads meet. Keys go straight to their
/// places: gathering them in buffers of a cache line first was measured slower, with and without streaming stores
/// (1e7 keys on 2 threads: 34 ms against 53 and 42 for 32 bits, 90 against 151 and 120 for 64).
/// Digits that all keys share are skipped; few keys are sorted by insertion.

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include <tessera/sort/layout.hpp>

namespace tessera::detail {

struct HostSortShape {
  static constexpr index_t insertion = 48;  // up to so many keys
  static constexpr index_t keys_a_worker = 1 << 14;
  static constexpr int most_workers = 256;
};

/// Digit counts of one worker, for each pass; later where it puts its next key of each digit.
template <class Key>
struct HostDigits {
  index_t of[Key::bits / 8][256];
};

template <class Key, class Payload>
struct HostSort {
  using Word = typename Key::word;
  using Arrays = SortArrays<Key, Payload>;

  static index_t workers(index_t n, index_t threads) {
    index_t w = n / HostSortShape::keys_a_worker;
    w = w < threads ? w : threads;
    w = w < HostSortShape::most_workers ? w : HostSortShape::most_workers;
    return w < 1 ? 1 : w;
  }

  /// [first, second) of worker w.
  static std::pair<index_t, index_t> stretch(index_t n, index_t w, index_t all) {
    const index_t chunk = ((n + all - 1) / all + 63) / 64 * 64;
    const index_t begin = w * chunk < n ? w * chunk : n;
    return {begin, n - begin < chunk ? n : begin + chunk};
  }

  /// Counts the digits of pass `only`, or of all passes where it is -1.
  static void count(const Arrays& a, const Word* keys, index_t begin, index_t end, int only, HostDigits<Key>& counts) {
    const int passes = a.passes();
    if (only >= 0 || passes == 1) {
      // several tables, since equal digits in a row wait for one another's counts
      constexpr int tables = 4;
      std::uint32_t table[tables][256];
      const int pass = only < 0 ? 0 : only;
      const SortDigit<Key> digit = digit_of(a, pass);
      std::memset(counts.of[pass], 0, sizeof counts.of[pass]);
      constexpr index_t piece = index_t{1} << 30;  // 32 bits count so far
      for (index_t from = begin; from < end; from += piece) {
        const index_t to = end - from < piece ? end : from + piece;
        std::memset(table, 0, sizeof table);
        index_t i = from;
        for (; i + tables <= to; i += tables)
          for (int t = 0; t < tables; ++t) ++table[t][digit(keys[i + t])];
        for (; i < to; ++i) ++table[0][digit(keys[i])];
        for (int d = 0; d < 256; ++d)
          for (int t = 0; t < tables; ++t) counts.of[pass][d] += table[t][d];
      }
      return;
    }
    std::memset(&counts, 0, sizeof counts);
    const SortDigit<Key> last = digit_of(a, passes - 1);
    for (index_t i = begin; i < end; ++i) {
      auto ordered = static_cast<Word>(a.order(keys[i]) >> a.first_bit);
      for (int p = 0; p < passes - 1; ++p) {
        ++counts.of[p][ordered & 0xff];
        ordered = static_cast<Word>(ordered >> 8);
      }
      ++counts.of[passes - 1][ordered & last.mask];
    }
  }

  /// Moves a worker's keys, and what goes with them, to the places that `next` counts up from.
  static void scatter(const SortDigit<Key> digit, const Word* keys, Word* keys_to,
                      [[maybe_unused]] const Payload* values, [[maybe_unused]] Payload* values_to, index_t begin,
                      index_t end, index_t* next) {
    index_t place[256];  // of its own, which no store can touch
    std::memcpy(place, next, sizeof place);
    const auto move = [&]<bool Keys, bool Positions>(std::bool_constant<Keys>, std::bool_constant<Positions>) {
      for (index_t i = begin; i < end; ++i) {
        const Word key = keys[i];
        const index_t to = place[digit(key)]++;
        if constexpr (Keys) keys_to[to] = key;
        if constexpr (has_payload<Payload>) {
          if constexpr (Positions)
            values_to[to] = static_cast<Payload>(i);
          else
            values_to[to] = values[i];
        }
      }
    };
    const auto either = [&](auto with_keys) {
      if constexpr (has_payload<Payload>)
        if (values == nullptr) return move(with_keys, std::true_type());
      move(with_keys, std::false_type());
    };
    if (keys_to != nullptr)
      either(std::true_type());
    else
      either(std::false_type());
  }

  static void insertion(const Arrays& a) {
    Word keys[HostSortShape::insertion];
    Word ordered[HostSortShape::insertion];
    Payload values[HostSortShape::insertion];
    const int bits = a.last_bit - a.first_bit;
    const auto mask = static_cast<Word>(bits == Key::bits ? ~Word{0} : static_cast<Word>((Word{1} << bits) - 1));
    for (index_t i = 0; i < a.n; ++i) {
      const Word key = a.keys_in[i];
      const auto o = static_cast<Word>(static_cast<Word>(a.order(key) >> a.first_bit) & mask);
      Payload value{};
      if constexpr (has_payload<Payload>) value = a.values_in != nullptr ? a.values_in[i] : static_cast<Payload>(i);
      index_t j = i;
      for (; j > 0 && ordered[j - 1] > o; --j) {
        ordered[j] = ordered[j - 1];
        keys[j] = keys[j - 1];
        values[j] = values[j - 1];
      }
      ordered[j] = o;
      keys[j] = key;
      values[j] = value;
    }
    for (index_t i = 0; i < a.n; ++i) {
      if (a.keys_wanted) a.keys_out[i] = keys[i];
      if constexpr (has_payload<Payload>) a.values_out[i] = values[i];
    }
  }

  /// Runs f(worker) for each, together. `parallel` is a callable of (workers, f).
  template <class Parallel>
  static void run(const Arrays& given, HostDigits<Key>* counts, index_t all, const Parallel& parallel) {
    Arrays a = given;
    const index_t n = a.n;
    if (n <= HostSortShape::insertion && a.passes() > 0) return insertion(a);
    parallel(all, [&](index_t w) {
      const auto [begin, end] = stretch(n, w, all);
      if (a.passes() > 0) count(a, a.keys_in, begin, end, -1, counts[w]);
    });
    int order[Key::bits / 8];  // the passes that move anything
    int moving = 0;
    for (int p = 0; p < a.passes(); ++p) {
      const unsigned digit = digit_of(a, p)(a.keys_in[0]);
      index_t same = 0;
      for (index_t w = 0; w < all; ++w) same += counts[w].of[p][digit];
      if (same != n) order[moving++] = p;
    }
    // where the passes begin, so that they end in out: in place an odd number of them starts from a copy
    const Word* keys = a.keys_in;
    const Payload* values = a.values_in;
    const bool in_place =
        a.keys_in == a.keys_out || (has_payload<Payload> && a.values_in != nullptr && a.values_in == a.values_out);
    if (moving == 0 || (in_place && moving % 2 != 0)) {
      const SortCopy<Key, Payload> copy{keys, moving > 0 ? a.keys_tmp : (a.keys_wanted ? a.keys_out : nullptr), values,
                                        moving > 0 ? a.values_tmp : a.values_out};
      parallel(all, [&](index_t w) {
        const auto [begin, end] = stretch(n, w, all);
        for (index_t i = begin; i < end; ++i) copy(i);
      });
      if (moving == 0) return;
      keys = a.keys_tmp;
      values = a.values_tmp;
    }
    for (int m = 0; m < moving; ++m) {
      const int p = order[m];
      const bool last = m == moving - 1;
      if (m > 0 && all > 1)
        parallel(all, [&](index_t w) {
          const auto [begin, end] = stretch(n, w, all);
          count(a, keys, begin, end, p, counts[w]);
        });
      index_t place = 0;
      for (int d = 0; d < 256; ++d)
        for (index_t w = 0; w < all; ++w) {
          const index_t here = counts[w].of[p][d];
          counts[w].of[p][d] = place;
          place += here;
        }
      const bool to_out = (moving - 1 - m) % 2 == 0;
      Word* const keys_to = to_out ? a.keys_out : a.keys_tmp;
      const bool with_keys = !last || a.keys_wanted;
      Payload* const values_to = to_out ? a.values_out : a.values_tmp;
      parallel(all, [&](index_t w) {
        const auto [begin, end] = stretch(n, w, all);
        scatter(digit_of(a, p), keys, with_keys ? keys_to : nullptr, values, values_to, begin, end, counts[w].of[p]);
      });
      keys = keys_to;
      values = values_to;
    }
  }
};

}  // namespace tessera::detail
