// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include <tessera/core/log.hpp>
#include <tessera/core/plan.hpp>

namespace tessera::detail {
namespace {

struct Cache {
  std::shared_mutex mutex;
  std::map<std::string, std::unique_ptr<const Selection>, std::less<>> entries;
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

}  // namespace

std::string forced_by_environment(std::string_view algorithm) {
  std::string variable = "TESSERA_";
  for (const char c : algorithm) variable += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const char* value = std::getenv(variable.c_str());  // NOLINT(concurrency-mt-unsafe): nothing here writes it
  return value ? value : "";
}

Selection choose(std::string_view algorithm, std::string_view forced, const std::vector<Candidate>& candidates,
                 const std::source_location& where) {
  const std::string function = "tessera::" + std::string(algorithm);
  const std::string not_compiled = "not compiled for these element types on this execution space";
  Selection selection;
  bool known = false;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& c = candidates[i];
    if (!forced.empty() && c.name != forced) continue;
    known = true;
    const Verdict verdict = c.compiled ? c.can_run() : Verdict::no(not_compiled);
    if (!verdict) {
      if (!forced.empty())
        throw Error(function, "the path '" + std::string(forced) + "' was forced and cannot run: " + verdict.reason,
                    "paths of this build are " + names(candidates),
                    "Drop the option or the TESSERA_ variable that forces it, or change the problem as the reason says",
                    where);
      selection.refusals.push_back({std::string(c.name), verdict.reason});
      continue;
    }
    selection.provider = i;
    const std::string configuration = c.configuration();
    selection.path = std::string(algorithm) + "[" + std::string(c.name);
    if (!configuration.empty()) selection.path += " " + configuration;
    selection.path += "]";
    return selection;
  }
  if (!forced.empty() && !known)
    throw Error(function, "there is no path '" + std::string(forced) + "' in this build",
                "paths of this build are " + names(candidates), "Force one of these, or none", where);
  throw Error(function, "no provider can run this problem", "paths of this build are " + names(candidates),
              "This is a fault of Tessera: the portable kernel must always run", where);
}

const Selection* cached_selection(const std::string& key) {
  std::shared_lock lock(cache().mutex);
  const auto found = cache().entries.find(key);
  return found == cache().entries.end() ? nullptr : found->second.get();
}

const Selection& remember_selection(const std::string& key, Selection selection) {
  std::unique_lock lock(cache().mutex);
  auto& slot = cache().entries[key];
  if (!slot) {
    slot = std::make_unique<const Selection>(std::move(selection));
    if (log_enabled("paths")) {
      std::string line = slot->path;
      for (const Refusal& r : slot->refusals) line += "\n  not " + r.provider + ": " + r.reason;
      log_line("paths", line);
    }
  }
  return *slot;
}

}  // namespace tessera::detail
