// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <bench/result.hpp>
#include <cmath>
#include <common/stored.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <tuple>

namespace tessera::bench {

bool Result::verified() const {
  return !interrupted && std::ranges::all_of(cases, [](const CaseResult& c) { return c.verified && c.ran(); });
}

namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

}  // namespace

std::string type_of(const CaseResult& c) {
  static const std::set<std::string> types{"fp64", "fp32", "fp16", "bf16",  "fp8",   "u8",    "u16",
                                           "u32",  "u64",  "int8", "int16", "int32", "int64", "u32+u32"};
  const std::vector<std::string> words = words_of(c.name);
  for (std::size_t i = 0; i < words.size(); ++i)
    if (types.contains(words[i])) return i > 0 && words[i - 1] == "complex" ? "complex " + words[i] : words[i];
  return {};
}

const char* timing_mark(const CaseResult& c) { return c.replayed ? "replay" : c.not_replayed.empty() ? "" : "calls"; }

bool counts_flops(const CaseResult& c) { return c.flops > 20 * c.bytes; }
double rate(const CaseResult& c, double seconds) { return (counts_flops(c) ? c.flops : c.bytes) / seconds / 1e9; }
const char* unit(const CaseResult& c) { return counts_flops(c) ? "GFLOP/s" : "GB/s"; }

Peaks peaks_of(const Result& result) {
  Peaks peaks = result.products;
  for (const CaseResult& c : result.cases) {
    if (!c.ran() || !c.verified || !counts_flops(c)) continue;
    double& peak = peaks[type_of(c)];
    for (const Timing& t : c.timings) peak = std::max(peak, c.flops / t.seconds / 1e9);
  }
  return peaks;
}

Share share_of_ceiling(const Result& result, const CaseResult& c, const Peaks& peaks) {
  const double by_copy = c.bytes / 1e9 / result.copy_gb_per_s;  // seconds
  double least = by_copy;
  Share share{0, "copy"};
  const std::string type = type_of(c);
  if (const auto peak = peaks.find(type); peak != peaks.end() && c.flops / 1e9 / peak->second > by_copy) {
    least = c.flops / 1e9 / peak->second;
    share.of = (type.empty() ? "" : type + " ") + "product";
  }
  share.value = least / c.seconds();
  return share;
}

bool matches(const std::string& name, const std::vector<std::string>& filters) {
  return filters.empty() || std::ranges::any_of(filters, [&](const std::string& filter) {
           return std::ranges::all_of(words_of(filter),
                                      [&](const std::string& word) { return name.find(word) != std::string::npos; });
         });
}

Result selection(Result result, const std::vector<std::string>& filters) {
  result.products = peaks_of(result);
  std::erase_if(result.cases, [&](const CaseResult& c) { return !matches(c.name, filters); });
  return result;
}

Result in_order(Result result) {
  std::ranges::stable_sort(result.cases, {}, [](const CaseResult& c) { return std::tie(c.algorithm, c.name); });
  return result;
}

// JSON out --------------------------------------------------------------------------------------------------------

nlohmann::json to_json(const Result& result) {
  using nlohmann::json;
  const Peaks peaks = peaks_of(result);
  json document{{"app", "bench"},
                {"version", result.version},
                {"backend", result.backend},
                {"device", result.device},
                {"concurrency", result.concurrency},
                {"copy_gb_per_s", result.copy_gb_per_s},
                {"cases_asked_for", result.asked},
                {"interrupted", result.interrupted},
                {"verified", result.verified()},
                {"machine", json::array()},
                {"product_gflop_per_s", json::object()},
                {"results", json::array()}};
  for (const auto& [name, value] : result.machine) document["machine"].push_back({{"name", name}, {"value", value}});
  for (const auto& [type, peak] : peaks) document["product_gflop_per_s"][type] = peak;
  for (const CaseResult& c : result.cases) {
    json j{{"case", c.name},           {"algorithm", c.algorithm},
           {"path", c.path},           {"bytes", c.bytes},
           {"flops", c.flops},         {"operand_sets", c.operand_sets},
           {"verified", c.verified},   {"worst_error_in_bounds", std::isfinite(c.worst_error) ? c.worst_error : 1e300},
           {"timings", json::array()}, {"ratios", json::object()}};
    if (c.past_cache) j["past_cache"] = *c.past_cache;
    if (c.ran()) j["timed"] = c.replayed ? "replay" : "calls";
    if (!c.not_replayed.empty()) j["not_replayed"] = c.not_replayed;
    if (!c.error.empty()) j["error"] = c.error;
    for (const Timing& t : c.timings)
      j["timings"].push_back({{"name", t.name}, {"seconds", t.seconds}, {"spread", t.spread}});
    if (c.ran()) {
      const Share share = share_of_ceiling(result, c, peaks);
      j["share_of_copy"] = c.bytes / c.seconds() / 1e9 / result.copy_gb_per_s;
      j["share_of_ceiling"] = share.value;
      j["ceiling"] = share.of;
      for (std::size_t i = 1; i < c.timings.size(); ++i) j["ratios"][c.timings[i].name] = c.ratio(i);
    }
    document["results"].push_back(std::move(j));
  }
  return document;
}

// JSON in ---------------------------------------------------------------------------------------------------------

namespace {

constexpr std::size_t most_cases = 10'000;
constexpr std::size_t most_timings = 32;

class Reader : public app::StoredReader {
 public:
  explicit Reader(const std::string& source) : StoredReader("tessera-bench", "tessera-bench --json", source) {}

  [[nodiscard]] CaseResult read_case(const Json& j, const std::string& where) const {
    CaseResult c;
    c.name = text(need(j, "case", where), where + ".case");
    if (c.name.empty()) refuse(where + ".case is empty");
    c.algorithm = text(need(j, "algorithm", where), where + ".algorithm");
    c.path = text(need(j, "path", where), where + ".path");
    c.bytes = number(need(j, "bytes", where), 0, 1e18, where + ".bytes");
    c.flops = number(need(j, "flops", where), 0, 1e24, where + ".flops");
    c.verified = truth(need(j, "verified", where), where + ".verified");
    c.worst_error = number(need(j, "worst_error_in_bounds", where), 0, 1e300, where + ".worst_error_in_bounds");
    if (const Json* const sets = find(j, "operand_sets"))
      c.operand_sets = static_cast<int>(number(*sets, 1, 1e6, where + ".operand_sets"));
    if (const Json* const past = find(j, "past_cache")) c.past_cache = truth(*past, where + ".past_cache");
    if (const Json* const timed = find(j, "timed")) {  // older files do not tell: they timed calls
      const std::string how = text(*timed, where + ".timed");
      if (how != "replay" && how != "calls") refuse(where + ".timed is neither \"replay\" nor \"calls\"");
      c.replayed = how == "replay";
    }
    if (const Json* const why = find(j, "not_replayed")) c.not_replayed = text(*why, where + ".not_replayed");
    if (c.replayed && !c.not_replayed.empty()) refuse(where + " was replayed, and tells why it was not");
    if (const Json* const error = find(j, "error")) c.error = text(*error, where + ".error");
    for (const Json& t : list(need(j, "timings", where), most_timings, where + ".timings")) {
      const std::string at = fmt::format("{}.timings[{}]", where, c.timings.size());
      c.timings.push_back({text(need(t, "name", at), at + ".name"),
                           number(need(t, "seconds", at), 1e-12, 1e9, at + ".seconds"),
                           number(need(t, "spread", at), 0, 1e9, at + ".spread")});
    }
    if (!c.ran() && c.error.empty()) refuse(where + " has neither timings nor an error");
    return c;
  }

  [[nodiscard]] Result read(const Json& document) const {
    Result result;
    result.version = text(need(document, "version", "the document"), "version");
    result.backend = text(need(document, "backend", "the document"), "backend");
    result.device = text(need(document, "device", "the document"), "device");
    result.concurrency = number(need(document, "concurrency", "the document"), 0, 1e12, "concurrency");
    result.copy_gb_per_s = number(need(document, "copy_gb_per_s", "the document"), 1e-6, 1e9, "copy_gb_per_s");
    if (const Json* const asked = find(document, "cases_asked_for"))
      result.asked = static_cast<std::size_t>(number(*asked, 0, 1e6, "cases_asked_for"));
    if (const Json* const interrupted = find(document, "interrupted"))
      result.interrupted = truth(*interrupted, "interrupted");
    if (const Json* const machine = find(document, "machine"))
      for (const Json& entry : list(*machine, 64, "machine")) {
        const std::string where = fmt::format("machine[{}]", result.machine.size());
        result.machine.emplace_back(text(need(entry, "name", where), where + ".name"),
                                    text(need(entry, "value", where), where + ".value"));
      }
    if (const Json* const products = find(document, "product_gflop_per_s")) {
      if (!products->is_object() || products->size() > 64)
        refuse("product_gflop_per_s is no object of at most 64 rates");
      for (const auto& [type, peak] : products->items())
        result.products[text(type, "product_gflop_per_s")] = number(peak, 1e-30, 1e30, "product_gflop_per_s of a type");
    }
    std::set<std::string> names;
    for (const Json& j : list(need(document, "results", "the document"), most_cases, "results")) {
      const std::string where = fmt::format("results[{}]", result.cases.size());
      result.cases.push_back(read_case(j, where));
      if (!names.insert(result.cases.back().name).second) refuse(where + " is the second of its name");
    }
    return result;
  }
};

}  // namespace

Result parse_result(std::string_view text, const std::string& source) {
  const Reader reader(source);
  return reader.read(reader.parse(text, "bench"));
}

Result read_result(const std::string& file) { return parse_result(Reader(file).contents(), file); }

}  // namespace tessera::bench
