// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/core/device.hpp>
#include <tessera/core/error.hpp>

/// \file
/// How a call finds the code that runs it. An algorithm has a tuple of providers in order of preference; the
/// portable kernel is the last and always can. The choice has two stages:
///   compile time  Provider::supports<Types, Space>: may it exist for these element types on this space?
///   run time      Provider::can_run(problem, device): shapes, strides, alignment, exact architecture, precision
/// A provider is an empty struct:
///   static constexpr std::string_view name;                       // "openmp:cblas", "portable"
///   template <class Types, class Space> static constexpr bool supports;
///   template <class Problem> static Verdict can_run(const Problem&, const DeviceInfo&);
///   template <class Problem> static std::string configuration(const Problem&, const DeviceInfo&);  // "" or tiles
///   (and the algorithm's own run() and workspace_bytes())

namespace tessera {

/// Yes, or no with a reason that a user can act on.
struct Verdict {
  bool can = true;
  std::string reason;

  [[nodiscard]] static Verdict yes() { return {}; }
  [[nodiscard]] static Verdict no(std::string why) { return {false, std::move(why)}; }
  explicit operator bool() const { return can; }
};

/// Why a provider was not chosen.
struct Refusal {
  std::string provider;
  std::string reason;
};

/// The outcome of a choice. `provider` indexes the algorithm's tuple.
struct Selection {
  std::size_t provider = 0;
  std::string path;               ///< "gemm[openmp:cblas]"
  std::vector<Refusal> refusals;  ///< every provider tried before the chosen one, and why not
};

namespace detail {

/// What a provider answered, in the tuple's order; filled lazily up to the first yes.
struct Candidate {
  std::string_view name;
  bool compiled = false;  ///< supports<Types, Space>
  std::function<Verdict()> can_run;
  std::function<std::string()> configuration;
};

/// The part of a choice that needs no template: honours `forced` (the option, else TESSERA_<ALGORITHM>), asks
/// the candidates in order, notes refusals, and prints the choice under TESSERA_LOG=paths.
/// \throws Error where the forced path is unknown or cannot run, naming the paths there are and the reason
Selection choose(std::string_view algorithm, std::string_view forced, const std::vector<Candidate>& candidates,
                 const std::source_location& where);

/// Process-wide memory of choices, keyed by everything that a choice depends on. Thread-safe.
/// Returns null where the key is new.
const Selection* cached_selection(const std::string& key);
const Selection& remember_selection(const std::string& key, Selection selection);

/// The path forced by the environment for an algorithm ("gemm" reads TESSERA_GEMM); empty where none is.
std::string forced_by_environment(std::string_view algorithm);

}  // namespace detail

/// Chooses among Providers for a problem. `signature` holds all of the problem that a can_run may look at (extents,
/// strides, alignment bits, flags), so that equal signatures may share a choice.
template <class Types, class Space, class Problem, class... Providers>
const Selection& select_provider(std::string_view algorithm, const Problem& problem, const DeviceInfo& device,
                                 std::string_view types_name, const std::string& signature, std::string_view forced,
                                 const std::tuple<Providers...>& /*providers*/,
                                 const std::source_location& where = std::source_location::current()) {
  const std::string wanted = forced.empty() ? detail::forced_by_environment(algorithm) : std::string(forced);
  std::string key;
  key.append(algorithm).append("|").append(types_name).append("|").append(device.key).append("|").append(wanted);
  key.append("|").append(signature);
  if (const Selection* known = detail::cached_selection(key)) return *known;

  std::vector<detail::Candidate> candidates;
  (candidates.push_back([&] {
    detail::Candidate c;
    c.name = Providers::name;
    if constexpr (Providers::template supports<Types, Space>) {
      c.compiled = true;
      c.can_run = [&] { return Providers::can_run(problem, device); };
      c.configuration = [&] { return Providers::configuration(problem, device); };
    }
    return c;
  }()),
   ...);
  return detail::remember_selection(key, detail::choose(algorithm, wanted, candidates, where));
}

/// Calls f.template operator()<Provider>() for the chosen provider.
template <class Types, class Space, class... Providers, class F>
void with_provider(std::size_t chosen, const std::tuple<Providers...>& /*providers*/, F&& f) {
  std::size_t i = 0;
  (
      [&] {
        if (i++ != chosen) return;
        if constexpr (Providers::template supports<Types, Space>) f.template operator()<Providers>();
      }(),
      ...);
}

}  // namespace tessera
