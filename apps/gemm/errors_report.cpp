// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "errors_report.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <common/stored.hpp>
#include <set>
#include <tuple>

namespace tessera::app {
namespace {

constexpr double no_number = 1e300;  // JSON has neither infinities nor NaN

const char* special_inputs() { return all_inputs[static_cast<std::size_t>(Inputs::special)].name; }

using Key = std::tuple<std::string, std::string, std::string, index_t>;
Key key_of(const ErrorRow& r) { return {r.operands, r.inputs, r.precision, r.k}; }

/// Those of a whole run.
std::set<Key> all_keys() {
  std::set<Key> keys;
  for (const char* const operands : all_operands)
    for (const InputsNamed& inputs : all_inputs)
      for (const PrecisionNamed& p : all_precisions)
        if (is_measured(operands, inputs.inputs, p.precision))
          for (const index_t k : all_inner_extents) keys.emplace(operands, inputs.name, p.name, k);
  return keys;
}

std::string path_text(const std::string& path) {  // "gemm[cuda:cublas tf32]": what stands between the brackets
  const auto open = path.find('['), close = path.rfind(']');
  return open == std::string::npos || close == std::string::npos || close < open
             ? path
             : path.substr(open + 1, close - open - 1);
}

}  // namespace

bool ErrorRow::special() const { return inputs == special_inputs(); }

bool ErrorRow::within_bound() const {
  return special() || (normwise < no_number && componentwise < no_number && share_of_bound <= 1);
}

std::size_t Errors::missing() const {
  std::set<Key> keys = all_keys();
  for (const ErrorRow& r : rows) keys.erase(key_of(r));
  return keys.size();
}

bool Errors::verified() const {
  return !stored_as_failed && missing() == 0 && std::ranges::all_of(rows, &ErrorRow::within_bound);
}

Json to_json(const Errors& errors) {
  const auto number = [](double x) { return std::isfinite(x) ? std::min(x, no_number) : no_number; };
  Json rows = Json::array();
  for (const ErrorRow& r : errors.rows) {
    Json row = {
        {"operands", r.operands}, {"inputs", r.inputs}, {"precision", r.precision}, {"k", r.k}, {"path", r.path}};
    if (r.special()) {
      row["different"] = r.different;
    } else {
      row["normwise"] = number(r.normwise);
      row["componentwise"] = number(r.componentwise);
      row["bound"] = r.bound;
      row["share_of_bound"] = number(r.share_of_bound);
    }
    rows.push_back(std::move(row));
  }
  return {{"device", errors.device}, {"side", errors.side}, {"errors", std::move(rows)}};
}

Errors parse_errors(std::string_view text, const std::string& source) {
  const StoredReader in("gemm --errors-from", "gemm --errors --json", source);
  const StoredReader::Json document = in.parse(text, "gemm");
  if (in.find(document, "error") != nullptr) in.refuse("the run that wrote it ended with an error");
  const auto& results = in.need(document, "results", "the document");
  Errors errors;
  const auto& rows = in.need(results, "errors", "results");
  errors.device = in.text(in.need(results, "device", "results"), "device");
  errors.side = in.whole(in.need(results, "side", "results"), compared_samples, 1'000'000, "side");
  const std::set<Key> known = all_keys();
  std::set<Key> seen;
  for (const auto& j : in.list(rows, known.size(), "errors")) {
    const std::string where = fmt::format("errors[{}]", errors.rows.size());
    const auto text_at = [&](const char* key) { return in.text(in.need(j, key, where), where + "." + key); };
    const auto number_at = [&](const char* key, double least, double most) {
      return in.number(in.need(j, key, where), least, most, where + "." + key);
    };
    ErrorRow r;
    r.operands = text_at("operands");
    r.inputs = text_at("inputs");
    r.precision = text_at("precision");
    r.k = in.whole(in.need(j, "k", where), 0, index_t{1} << 40, where + ".k");
    r.path = text_at("path");
    // it stands between backticks in a cell, where nothing can be escaped
    if (r.path.find_first_of("`|") != std::string::npos) in.refuse(where + ".path holds ` or |");
    if (!known.contains(key_of(r)))
      in.refuse(where + " is of operands, inputs, a precision or a K that gemm --errors has not");
    if (!seen.insert(key_of(r)).second) in.refuse(where + " is there twice");
    if (r.special()) {
      r.different =
          in.whole(in.need(j, "different", where), 0, compared_samples * compared_samples, where + ".different");
    } else {
      r.normwise = number_at("normwise", 0, no_number);
      r.componentwise = number_at("componentwise", 0, no_number);
      r.bound = number_at("bound", 1e-12, 1);
      r.share_of_bound = number_at("share_of_bound", 0, no_number);
    }
    errors.rows.push_back(std::move(r));
  }
  errors.stored_as_failed = !in.truth(in.need(document, "verified", "the document"), "verified");
  if (const auto* const interrupted = in.find(document, "interrupted"))
    errors.stored_as_failed = in.truth(*interrupted, "interrupted") || errors.stored_as_failed;
  return errors;
}

Errors read_errors(const std::string& file) {
  return parse_errors(StoredReader("gemm --errors-from", "gemm --errors --json", file).contents(), file);
}

std::string tables_of(const Errors& errors) {
  std::string text =
      fmt::format("{}: C of {} x {}, of which {} x {} elements were compared.\n", markdown_text(errors.device),
                  errors.side, errors.side, compared_samples, compared_samples);
  const std::string header =
      "| operands | precision | K | path | by norm | by element | bound | largest share of it |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const InputsNamed& inputs : all_inputs) {
    const bool special = inputs.inputs == Inputs::special;
    text += fmt::format("\n## {} operands\n{}.\n\n",
                        static_cast<char>(std::toupper(inputs.name[0])) + std::string(inputs.name + 1), inputs.meaning);
    text += special ? "| operands | precision | K | path | elements that are of another kind than fp32's "
                      "|\n|---|---|---|---|---|\n"
                    : header;
    for (const ErrorRow& r : errors.rows) {
      if (r.inputs != inputs.name) continue;
      text += fmt::format("| {} | {} | {} | `{}` |", r.operands, r.precision, r.k, path_text(r.path));
      if (special)
        text += fmt::format(" {} |\n", r.different);
      else
        text += fmt::format(" {:.1e} | {:.1e} | {:.1e} | {:.1e}{} |\n", r.normwise, r.componentwise, r.bound,
                            r.share_of_bound, r.within_bound() ? "" : " WRONG");
    }
  }
  if (const std::size_t missing = errors.missing(); missing > 0)
    text += fmt::format("\nNot verified: {} rows of {} are missing.\n", missing, errors.rows.size() + missing);
  else if (errors.stored_as_failed)
    text += "\nNot verified: the run that wrote the file did not end as verified.\n";
  return text;
}

}  // namespace tessera::app
