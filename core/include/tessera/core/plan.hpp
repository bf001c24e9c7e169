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
#include <tessera/core/tuning.hpp>

/// \file
/// How a call finds the code that runs it. An algorithm has a tuple of providers in order of preference; the
/// portable kernel always can. The choice has two stages:
///   compile time  Provider::supports<Types, Space>: may it exist for these element types on this space?
///   run time      Provider::can_run(problem, device): shapes, strides, alignment, exact architecture, precision
/// A provider is an empty struct:
///   static constexpr std::string_view name;                       // "openmp:cblas", "portable"
///   template <class Types, class Space> static constexpr bool supports;
///   template <class Problem> static Verdict can_run(const Problem&, const DeviceInfo&);
///   template <class Problem> static std::string configuration(const Problem&, const DeviceInfo&);  // "" or tiles
///   // optional: the number, from 0 on, of the configuration expected to be fastest, which is kept with the choice;
///   // Problem::configuration says it
///   template <class Problem> static int choose(const Problem&, const DeviceInfo&);
///   // optional, where they can be named: the name of each by its number, empty where it cannot take the problem
///   template <class Problem> static std::vector<std::string> configurations(const Problem&, const DeviceInfo&);
///   static std::uint64_t state();  // optional: what can_run looks at outside the problem, as a number
///   (and the algorithm's own run() and workspace_bytes())
/// Where a problem has `by_name`, that tells can_run that a path was asked for: what is only slower is no reason then.

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

  bool operator==(const Refusal&) const = default;
};

/// The outcome of a choice. `provider` indexes the algorithm's tuple.
struct Selection {
  std::size_t provider = 0;
  std::string path;               ///< "gemm[openmp:cblas]"
  std::string region;             ///< "tessera::gemm[openmp:cblas]": the name of the region that runs it
  std::vector<Refusal> refusals;  ///< every provider tried before the chosen one, and why not
  bool by_name = false;           ///< it was forced, or measured to be the fastest
  int configuration = -1;         ///< of the provider's configurations; -1 where it has none

  bool operator==(const Selection&) const = default;
};

namespace detail {

/// How a candidate is asked.
struct Wanted {
  bool by_name = false;
  int configuration = -1;  ///< -1: the provider chooses
};

/// What a provider answers, in the tuple's order; asked up to the first yes.
struct Candidate {
  std::string_view name;
  bool compiled = false;  ///< supports<Types, Space>
  std::function<Verdict(Wanted)> can_run;
  std::function<std::string(Wanted)> configuration;
  std::function<int(Wanted)> choose;                         ///< null where there is nothing to choose
  std::function<std::vector<std::string>()> configurations;  ///< null where none is named
  std::function<bool(Wanted)> lacks_workspace;  ///< whether it wants one and the call has none; may be null
};

/// The part of a choice that needs no template: honours `forced`, then `tuned` where that can run, asks the candidates
/// in order, notes refusals. Both are names of providers, with that of a configuration behind them or without.
/// \throws Error where the forced path is unknown or cannot run, naming the paths there are and the reason
Selection choose(std::string_view algorithm, std::string_view forced, std::string_view tuned,
                 const std::vector<Candidate>& candidates, const std::source_location& where);

/// Everything that a choice depends on. `signature` is read as bytes.
struct SelectionKey {
  std::string_view algorithm;
  std::string_view types;
  std::string_view device;
  std::string_view forced;
  std::string_view signature;
  std::uint64_t state = 0;  ///< of the providers

  bool operator==(const SelectionKey&) const = default;
};

/// Process-wide memory of choices. Thread-safe; what it returns stays valid until the process ends. Keys are
/// forgotten when there are very many of them; equal outcomes are kept once.
/// Returns null where the key is new.
const Selection* cached_selection(const SelectionKey& key);
/// Also prints a new outcome under TESSERA_LOG=paths.
const Selection& remember_selection(const SelectionKey& key, Selection selection);

/// What was measured fastest for the problem that `signature` describes, unless TESSERA_TUNE=0.
std::string tuned_for(const SelectionKey& key, std::string_view signature, const DeviceInfo& device);

/// The path forced by the environment for an algorithm ("gemm" reads TESSERA_GEMM); empty where none is.
std::string forced_by_environment(std::string_view algorithm);

template <class Provider>
std::uint64_t provider_state() {
  if constexpr (requires { Provider::state(); })
    return Provider::state();
  else
    return 0;
}

/// A problem as a candidate is asked for it.
template <class Problem>
Problem asked_for(const Problem& problem, const Wanted& wanted) {
  Problem p = problem;
  if constexpr (requires { p.by_name; }) p.by_name = wanted.by_name;
  if constexpr (requires { p.configuration; }) p.configuration = wanted.configuration;
  return p;
}

template <class Types, class Space, class Problem, class... Providers>
std::vector<Candidate> candidates_of(const Problem& problem, const DeviceInfo& device,
                                     const std::tuple<Providers...>& /*providers*/) {
  std::vector<Candidate> candidates;
  (candidates.push_back([&] {
    Candidate c;
    c.name = Providers::name;
    if constexpr (Providers::template supports<Types, Space>) {
      c.compiled = true;
      c.can_run = [&](Wanted w) { return Providers::can_run(asked_for(problem, w), device); };
      c.configuration = [&](Wanted w) { return Providers::configuration(asked_for(problem, w), device); };
      if constexpr (requires { Providers::choose(problem, device); })
        c.choose = [&](Wanted w) { return Providers::choose(asked_for(problem, w), device); };
      if constexpr (requires { Providers::configurations(problem, device); })
        c.configurations = [&] { return Providers::configurations(asked_for(problem, {true, -1}), device); };
      if constexpr (requires { problem.planned; } && requires { Providers::workspace_bytes(problem); })
        c.lacks_workspace = [&](Wanted w) {
          return !problem.planned && Providers::workspace_bytes(asked_for(problem, w)) > 0;
        };
    }
    return c;
  }()),
   ...);
  return candidates;
}

}  // namespace detail

/// The bytes of a plain struct as a signature. Padding must be zeroed, or there must be none.
template <class T>
  requires(std::has_unique_object_representations_v<T>)
[[nodiscard]] std::string_view signature_bytes(const T& plain) {
  return {reinterpret_cast<const char*>(&plain), sizeof(T)};
}

/// Chooses among Providers for a problem. `signature` holds all of the problem that a can_run may look at (extents,
/// strides, alignment bits, flags), as text or through signature_bytes(), so that equal signatures may share a
/// choice. A known choice costs well under a microsecond. `measured_as` is the signature under which measurements of
/// the problem are kept, where that has less in it.
template <class Types, class Space, class Problem, class... Providers>
const Selection& select_provider(std::string_view algorithm, const Problem& problem, const DeviceInfo& device,
                                 std::string_view types_name, std::string_view signature, std::string_view forced,
                                 const std::tuple<Providers...>& providers,
                                 const std::source_location& where = std::source_location::current(),
                                 std::string_view measured_as = {}) {
  const std::string wanted = forced.empty() ? detail::forced_by_environment(algorithm) : std::string(forced);
  detail::SelectionKey key{algorithm, types_name, device.key, wanted, signature, detail::tuning_state()};
  ((key.state = key.state * 1000003 + detail::provider_state<Providers>()), ...);
  if (const Selection* known = detail::cached_selection(key)) return *known;

  const auto candidates = detail::candidates_of<Types, Space>(problem, device, providers);
  if (measured_as.empty()) measured_as = signature;
  const std::string tuned = wanted.empty() ? detail::tuned_for(key, measured_as, device) : std::string();
  return detail::remember_selection(key, detail::choose(algorithm, wanted, tuned, candidates, where));
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
