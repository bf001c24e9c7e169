// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <bench/result.hpp>
#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <tuple>

#include <tessera/core/error.hpp>

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

constexpr std::size_t most_bytes = std::size_t{16} << 20;
constexpr int most_depth = 8;
constexpr std::size_t most_cases = 10'000;
constexpr std::size_t most_timings = 32;
constexpr std::size_t most_text = 2'000;

/// Reads the values of one document; each error names the file and the place in it.
class Reader {
 public:
  explicit Reader(std::string source) : m_source(std::move(source)) {}

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error("tessera-bench", "\"" + m_source + "\" is no result of this program: " + what,
                "a result is a JSON file that tessera-bench --json wrote", "Give such a file");
  }

  using Json = nlohmann::json;

  [[nodiscard]] const Json* find(const Json& in, const char* key) const {
    const auto at = in.find(key);
    return at == in.end() ? nullptr : &*at;
  }
  [[nodiscard]] const Json& need(const Json& in, const char* key, const std::string& where) const {
    if (!in.is_object()) refuse(where + " is not an object");
    if (const Json* const found = find(in, key)) return *found;
    refuse(where + " has no \"" + key + "\"");
  }
  [[nodiscard]] std::string text(const Json& value, const std::string& where) const {
    if (!value.is_string()) refuse(where + " is not a string");
    const auto& s = value.get_ref<const std::string&>();
    if (s.size() > most_text) refuse(fmt::format("{} is longer than {} bytes", where, most_text));
    for (std::size_t i = 0; i < s.size(); ++i) {
      const auto byte = static_cast<unsigned char>(s[i]);
      // C1 controls are 0xc2 0x80 .. 0xc2 0x9f in UTF-8, which the parser has checked to be whole
      const bool second = byte == 0xc2 && i + 1 < s.size() && static_cast<unsigned char>(s[i + 1]) < 0xa0;
      if (byte < 0x20 || byte == 0x7f || second) refuse(where + " holds control characters");
    }
    return s;
  }
  [[nodiscard]] double number(const Json& value, double least, double most, const std::string& where) const {
    if (!value.is_number()) refuse(where + " is not a number");
    const double x = value.get<double>();
    if (!(x >= least && x <= most)) refuse(fmt::format("{} is {}; it must be from {} to {}", where, x, least, most));
    return x;
  }
  [[nodiscard]] bool truth(const Json& value, const std::string& where) const {
    if (!value.is_boolean()) refuse(where + " is neither true nor false");
    return value.get<bool>();
  }
  [[nodiscard]] const Json& list(const Json& value, std::size_t most, const std::string& where) const {
    if (!value.is_array()) refuse(where + " is not an array");
    if (value.size() > most) refuse(fmt::format("{} has {} entries; at most {} are read", where, value.size(), most));
    return value;
  }

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
    if (text(need(document, "app", "the document"), "app") != "bench") refuse("another app wrote it");
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

 private:
  std::string m_source;
};

}  // namespace

Result parse_result(std::string_view text, const std::string& source) {
  const Reader reader(source);
  if (text.size() > most_bytes)
    reader.refuse(fmt::format("it is larger than {} MiB, the most that is read", most_bytes >> 20));
  const auto look = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > most_depth) reader.refuse(fmt::format("it is nested more than {} deep", most_depth));
    return true;
  };
  nlohmann::json document;
  try {
    document = nlohmann::json::parse(text, look);
  } catch (const nlohmann::json::parse_error& error) {
    // the library's own text would quote the file
    const std::string_view before = text.substr(0, std::min(error.byte, text.size()));
    reader.refuse(fmt::format("it is not JSON from byte {} (line {}) on", error.byte,
                              1 + std::ranges::count(before.substr(0, before.empty() ? 0 : before.size() - 1), '\n')));
  } catch (const nlohmann::json::exception&) {
    reader.refuse("a number in it is too large");
  }
  return reader.read(document);
}

Result read_result(const std::string& file) {
  std::ifstream opened;
  if (file != "-") {
    opened.open(file, std::ios::binary);
    if (!opened)
      throw Error("tessera-bench", "\"" + file + "\" could not be opened", "it must be a file that can be read",
                  "Give a file that tessera-bench --json wrote");
  }
  std::istream& in = file == "-" ? std::cin : opened;
  std::string text(most_bytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (in.bad())
    throw Error("tessera-bench", "\"" + file + "\" could not be read", "it must be a file that can be read",
                "Give a file that tessera-bench --json wrote");
  return parse_result(text, file);
}

}  // namespace tessera::bench
