// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cctype>
#include <cstdlib>
#include <functional>
#include <list>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include <tessera/core/log.hpp>
#include <tessera/core/plan.hpp>

namespace tessera::detail {
namespace {

/// A SelectionKey that owns its text, as one string that the views of `key` point into.
struct StoredKey {
  std::string text;
  SelectionKey key;

  explicit StoredKey(const SelectionKey& k) : key(k) {
    std::string_view* const parts[] = {&key.algorithm, &key.types, &key.device, &key.forced, &key.signature};
    for (const auto* part : parts) text += *part;
    std::size_t start = 0;
    for (auto* part : parts) {
      *part = std::string_view(text).substr(start, part->size());
      start += part->size();
    }
  }
  StoredKey(const StoredKey&) = delete;
  StoredKey& operator=(const StoredKey&) = delete;
  StoredKey(StoredKey&&) = delete;
  StoredKey& operator=(StoredKey&&) = delete;
  ~StoredKey() = default;
};

struct KeyHash {
  using is_transparent = void;
  std::size_t operator()(const SelectionKey& k) const {
    const std::hash<std::string_view> hash;
    std::size_t sum = static_cast<std::size_t>(k.state);
    for (const std::string_view part : {k.algorithm, k.types, k.device, k.forced, k.signature})
      sum = sum * 0x9e3779b97f4a7c15u + hash(part);
    return sum;
  }
  std::size_t operator()(const StoredKey& k) const { return (*this)(k.key); }
};

struct KeyEqual {
  using is_transparent = void;
  static const SelectionKey& plain(const SelectionKey& k) { return k; }
  static const SelectionKey& plain(const StoredKey& k) { return k.key; }
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return plain(a) == plain(b);
  }
};

struct Cache {
  // A program whose shapes never repeat must not grow for ever
  static constexpr std::size_t most_keys = 1 << 16;

  std::shared_mutex mutex;
  std::list<Selection> outcomes;
  std::unordered_map<StoredKey, const Selection*, KeyHash, KeyEqual> entries;
};

Cache& cache() {
  static Cache instance;
  return instance;
}

std::string names(const std::vector<Candidate>& candidates) {
  std::string list;
  for (const Candidate& c : candidates) {
    if (!list.empty()) list += ", ";
    list += c.name;
  }
  return list;
}

Verdict ask(const Candidate& c, Wanted wanted) {
  return c.compiled ? c.can_run(wanted) : Verdict::no("not compiled for these element types on this execution space");
}

/// The candidate that a path names, and whether it can run so; past all of them where there is none.
struct Named {
  std::size_t candidate = 0;
  Wanted wanted;
  Verdict verdict;
};

Named find_named(std::string_view path, const std::vector<Candidate>& candidates) {
  Named named{candidates.size(), {true, -1}, {}};
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& c = candidates[i];
    const bool whole = path == c.name;
    if (!whole && !(path.size() > c.name.size() && path.starts_with(c.name) && path[c.name.size()] == ' ')) continue;
    named.candidate = i;
    named.verdict = ask(c, named.wanted);
    if (whole || !named.verdict) return named;
    const std::string_view configuration = path.substr(c.name.size() + 1);
    std::string list;
    if (c.configurations) {
      const std::vector<std::string> all = c.configurations();
      for (std::size_t k = 0; k < all.size(); ++k) {
        if (all[k].empty()) continue;
        if (all[k] == configuration) {
          named.wanted.configuration = static_cast<int>(k);
          return named;
        }
        list += (list.empty() ? "'" : ", '") + all[k] + "'";
      }
    }
    named.verdict = Verdict::no("it has no configuration '" + std::string(configuration) +
                                "' for this problem; it has " + (list.empty() ? "none to choose from" : list));
    return named;
  }
  return named;
}

}  // namespace

std::string forced_by_environment(std::string_view algorithm) {
  std::string variable = "TESSERA_";
  for (const char c : algorithm) variable += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const char* value = std::getenv(variable.c_str());  // NOLINT(concurrency-mt-unsafe): nothing here writes it
  return value ? value : "";
}

std::string tuned_for(const SelectionKey& key, std::string_view signature, const DeviceInfo& device) {
  if (tuning() == Tuning::off) return {};
  return tuned_path(key.algorithm, device, key.types, signature);
}

Selection choose(std::string_view algorithm, std::string_view forced, std::string_view tuned,
                 const std::vector<Candidate>& candidates, const std::source_location& where) {
  const std::string function = "tessera::" + std::string(algorithm);
  Selection selection;
  const auto take = [&](std::size_t i, Wanted wanted) {
    const Candidate& c = candidates[i];
    if (wanted.configuration < 0 && c.choose) wanted.configuration = c.choose(wanted);
    selection.provider = i;
    selection.by_name = wanted.by_name;
    selection.configuration = wanted.configuration;
    const std::string configuration = c.configuration(wanted);
    selection.path = std::string(algorithm) + "[" + std::string(c.name);
    if (!configuration.empty()) selection.path += " " + configuration;
    selection.path += "]";
    selection.region = "tessera::" + selection.path;
    return selection;
  };
  if (const Named named = find_named(forced, candidates); named.candidate < candidates.size()) {
    if (!named.verdict)
      throw Error(function, "the path '" + std::string(forced) + "' was forced and cannot run: " + named.verdict.reason,
                  "paths of this build are " + names(candidates),
                  "Drop the option or the TESSERA_ variable that forces it, or change the problem as the reason says",
                  where);
    return take(named.candidate, named.wanted);
  }
  if (!forced.empty())
    throw Error(function, "there is no path '" + std::string(forced) + "' in this build",
                "paths of this build are " + names(candidates), "Force one of these, or none", where);
  if (Named named = find_named(tuned, candidates); named.candidate < candidates.size()) {
    const Candidate& c = candidates[named.candidate];
    if (named.verdict && named.wanted.configuration < 0 && c.choose)
      named.wanted.configuration = c.choose(named.wanted);
    if (named.verdict && c.lacks_workspace && c.lacks_workspace(named.wanted))
      named.verdict = Verdict::no("it needs a workspace, which runs of a plan are given");
    if (named.verdict) {
      for (std::size_t i = 0; i < candidates.size(); ++i)
        if (i != named.candidate)
          selection.refusals.push_back({std::string(candidates[i].name), "the tuning file names another as fastest"});
      return take(named.candidate, named.wanted);
    }
    selection.refusals.push_back({std::string(tuned), "the tuning file names it, but: " + named.verdict.reason});
  } else if (!tuned.empty()) {
    selection.refusals.push_back({std::string(tuned), "the tuning file names it, but this build has no such path"});
  }
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Verdict verdict = ask(candidates[i], {});
    if (verdict) return take(i, {});
    selection.refusals.push_back({std::string(candidates[i].name), verdict.reason});
  }
  throw Error(function, "no provider can run this problem", "paths of this build are " + names(candidates),
              "This is a fault of Tessera: the portable kernel must always run", where);
}

const Selection* cached_selection(const SelectionKey& key) {
  const std::shared_lock lock(cache().mutex);
  const auto found = cache().entries.find(key);
  return found == cache().entries.end() ? nullptr : found->second;
}

const Selection& remember_selection(const SelectionKey& key, Selection selection) {
  Cache& c = cache();
  const std::unique_lock lock(c.mutex);
  if (const auto found = c.entries.find(key); found != c.entries.end()) return *found->second;
  const Selection* outcome = nullptr;
  for (const Selection& known : c.outcomes)
    if (known == selection) outcome = &known;
  if (outcome == nullptr) outcome = &c.outcomes.emplace_back(std::move(selection));
  if (c.entries.size() >= Cache::most_keys) c.entries.clear();
  c.entries.emplace(std::piecewise_construct, std::forward_as_tuple(key), std::forward_as_tuple(outcome));
  if (log_enabled("paths")) {
    std::string line = outcome->path;
    for (const Refusal& r : outcome->refusals) line += "\n  not " + r.provider + ": " + r.reason;
    log_line("paths", line);
  }
  return *outcome;
}

}  // namespace tessera::detail
