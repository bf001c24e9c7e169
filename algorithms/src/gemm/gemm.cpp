// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <string>

#include <tessera/gemm.hpp>

namespace tessera {

double gemm_error_bound(Precision precision, index_t k) {
  // k roundings of relative size u
  const auto gamma = [](double roundings, double u) {
    const double sum = roundings * u;
    return sum < 0.5 ? sum / (1 - sum) : 2 * sum;
  };
  const auto sums = static_cast<double>(k > 0 ? k : 0);
  constexpr double second_order = 1.01;
  switch (precision) {
    case Precision::full:
      return gamma(sums, 0x1p-24);
    case Precision::tf32:  // 11 bits, which may be cut
      return second_order * 2 * 0x1p-10 + gamma(sums, 0x1p-23);
    case Precision::bf16:  // 8 bits
      return second_order * 2 * 0x1p-8 + gamma(sums, 0x1p-23);
    case Precision::fp32_bf16x3:  // 16 bits of either, and the product of the second terms left out
      return second_order * 3 * 0x1p-16 + gamma(sums, 0x1p-23);
    case Precision::fp32_bf16x6:  // products of order 2^-24 left out; 24 cut sums in each 32 of K
    case Precision::fp32_bf16x9:
      return second_order * 4 * 0x1p-24 + gamma(sums + 32, 0x1p-24);
    case Precision::fp32_tf32x3:  // 2^-23 of either, which the second term may lose, and the product of second terms
      return second_order * 8 * 0x1p-24 + gamma(sums + 32, 0x1p-24);
  }
  return gamma(sums, 0x1p-24);
}

namespace detail {

double gemm_absolute_bound(Precision precision, std::pair<double, double> norms, index_t k) {
  const auto sums = static_cast<double>(k);
  const double small_operands = precision == Precision::full ? 0 : sums * 0x1p-126 * (norms.first + norms.second);
  return gemm_error_bound(precision, k) * norms.first * norms.second + sums * 0x1p-149 + small_operands;
}

namespace {
constexpr const char* function = "tessera::gemm";

std::string short_text(double value) {
  char text[32] = {};
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}
}  // namespace

void check_max_error(double max_error, Precision precision, bool is_float, const std::source_location& where) {
  if (max_error == 0) return;
  require(max_error > 0 && std::isfinite(max_error), [&] {
    return Error(function, "max_error is " + short_text(max_error), "it must be a finite number above 0, or 0 for none",
                 "", where);
  });
  require(is_float, [&] {
    return Error(function, "max_error was given for operands that are not float",
                 "precisions are chosen for products of fp32 operands alone", "Leave it out", where);
  });
  require(precision == Precision::full, [&] {
    return Error(function, "max_error was given together with a precision",
                 "one of them settles how products are formed", "Leave one out", where);
  });
}

Precision precision_within(double max_error, std::pair<double, double> norms, index_t k,
                           const std::source_location& where) {
  const double a = norms.first, b = norms.second;
  // nothing is known of sums of infinities
  if (!std::isfinite(a) || !std::isfinite(b)) return Precision::full;
  require(a * b < std::numeric_limits<float>::max(), [&] {
    return Error(function, "max_error was given, and elements of A B may be beyond the range of fp32",
                 "a row of A is " + short_text(a) + " long and a column of B " + short_text(b),
                 "Scale the operands, or convert them to double", where);
  });
  const auto bound = [&](Precision p) { return gemm_absolute_bound(p, norms, k); };
  // In the order of their rates on tensor cores; the largest numbers would be rounded to infinity. Of tf32 terms three
  // products take as long as six of bf16 terms, whose bound is lower.
  const bool rounds = a < 0x1p126 && b < 0x1p126;
  if (rounds)
    for (const Precision p : {Precision::bf16, Precision::tf32, Precision::fp32_bf16x3, Precision::fp32_bf16x6})
      if (bound(p) <= max_error) return p;
  require(bound(Precision::full) <= max_error, [&] {
    return Error(function, "max_error is " + short_text(max_error),
                 "with these operands the bound of full fp32 is " + short_text(bound(Precision::full)),
                 "Allow as much, or convert the operands to double", where);
  });
  return Precision::full;
}

void check_gemm_shapes(const Box& a, const Box& b, const Box& c, const std::source_location& where) {
  const auto rows = [](const Box& x) { return x.extents[x.rank - 2]; };
  const auto columns = [](const Box& x) { return x.extents[x.rank - 1]; };
  const auto given = [&] {
    return "A is " + extents_text(a) + ", B is " + extents_text(b) + " and C is " + extents_text(c);
  };
  const bool inner = columns(a) == rows(b);
  if (!inner || rows(a) != rows(c) || columns(b) != columns(c))
    throw Error(function, given(),
                inner ? "C must have the rows of A and the columns of B" : "A's columns must equal B's rows",
                "Pass transposed(A), transposed(B) or subviews that fit", where);
  if (c.rank == 2) return;
  for (const Box* x : {&a, &b})
    require(x->rank == 2 || x->extents[0] == c.extents[0], [&] {
      return Error(function, given(),
                   "the first index counts the products of a batch, and C's count must be A's and B's",
                   "Pass subviews that fit, or a matrix of rank 2 to have all products share it", where);
    });
  // the second product's C against the first's, and a step of the first index against one of the others
  Box first = c;
  first.extents[0] = 1;
  Box second = first;
  second.pointer = static_cast<const char*>(c.pointer) + c.strides[0] * c.element_bytes;
  bool shares = c.extents[0] > 1 && proved_overlap(first, second, false);
  for (const int d : {1, 2})
    if (c.extents[0] > 1 && rows(c) > 0 && columns(c) > 0 && c.extents[d] > 1 && c.strides[0] > 0)
      if (const index_t common = std::gcd(c.strides[0], c.strides[d]); c.strides[d] > 0)
        shares = shares || (c.strides[d] / common < c.extents[0] && c.strides[0] / common < c.extents[d]);
  require(!shares, [&] {
    return Error(function,
                 "C's products share elements: C is " + extents_text(c) + " and its first index steps over " +
                     std::to_string(c.strides[0]) + (c.strides[0] == 1 ? " element" : " elements"),
                 "each product of a batch must have elements of its own to write", "Pass a C of greater stride", where);
  });
}

void check_gemm_epilogue(const GemmEpilogue& e, const Box& c, const std::type_info& out,
                         const std::type_info& accumulator, bool real, bool on_host,
                         const std::source_location& where) {
  const index_t m = c.extents[c.rank - 2], n = c.extents[c.rank - 1];
  require(real, [&] {
    return Error(function, "an epilogue was given for complex or integer elements",
                 "epilogues are for C of double, float, half or bfloat16", "Apply it in a kernel of your own", where);
  });
  const auto check = [&](const EpilogueOperand& o, const char* name, index_t rows, index_t columns, bool may_be_wide) {
    if (!o.given()) return;
    const index_t products = o.batches < 0 ? 0 : o.batches;
    // a bias has no index that counts products
    const bool counted = o.batches != 0 && (may_be_wide || c.rank == 2 || products != c.extents[0]);
    require(!counted && o.extents[0] == rows && o.extents[1] == columns, [&] {
      const std::string given = (o.batches != 0 ? std::to_string(products) + " x " : "") + std::to_string(o.extents[0]),
                        wanted = std::to_string(rows);
      return Error(function,
                   std::string(name) + " has " +
                       (may_be_wide ? given + " elements" : given + " x " + std::to_string(o.extents[1])),
                   "C is " + extents_text(c) + ", which wants " +
                       (may_be_wide ? wanted : wanted + " x " + std::to_string(columns)),
                   may_be_wide ? "Pass a subview, or name bias_along" : "Pass a residual of C's extents", where);
    });
    require(*o.type == out || (may_be_wide && *o.type == accumulator), [&] {
      return Error(function, std::string(name) + " is of another element type than C",
                   may_be_wide ? "it may be of C's type or the accumulator's" : "it must be of C's type",
                   "Convert it first", where);
    });
    require(on_host ? o.host_reads : o.device_reads, [&] {
      return Error(function, std::string(name) + " is in memory that the kernels of this space cannot read",
                   "it must be where C may be", "Copy it there first", where);
    });
  };
  const bool along_rows = e.bias_along == BiasAlong::rows;
  check(e.bias, "the bias", along_rows ? m : n, 1, true);
  check(e.residual, "the residual", m, n, false);
}

void check_gemm_operands(const GemmSignature& planned, const GemmSignature& given, std::size_t needed_bytes,
                         std::size_t given_bytes, const std::source_location& where) {
  constexpr const char* function = "tessera::GemmPlan::run";
  require(given_bytes >= needed_bytes, [&] {
    return Error(function, "the workspace has " + std::to_string(given_bytes) + " bytes",
                 "this plan needs " + std::to_string(needed_bytes), "Allocate plan.workspace_bytes()", where);
  });
  const auto refuse = [&](const std::string& what) {
    throw Error(function, what, "a plan runs the operands that it was made for, at any address of equal alignment",
                "Make another plan, or call gemm()", where);
  };
  const auto text = [](const GemmSignature& s) {
    return std::to_string(s.m) + " x " + std::to_string(s.n) + " x " + std::to_string(s.k) +
           (s.batches != 1 ? ", " + std::to_string(s.batches) + " of them," : "");
  };
  if (planned.m != given.m || planned.n != given.n || planned.k != given.k || planned.batches != given.batches)
    refuse("M x N x K is " + text(given) + " and was planned as " + text(planned));
  for (int i = 0; i < 6; ++i)
    if (planned.strides[i] != given.strides[i])
      refuse("stride " + std::to_string(i % 2) + " of " + "AABBCC"[i] + " is " + std::to_string(given.strides[i]) +
             " and was planned as " + std::to_string(planned.strides[i]));
  for (int i = 0; i < 3; ++i)
    if (planned.batch_strides[i] != given.batch_strides[i])
      refuse("the stride of " + std::string(1, "ABC"[i]) + "'s batch is " + std::to_string(given.batch_strides[i]) +
             " and was planned as " + std::to_string(planned.batch_strides[i]));
  for (int i = 0; i < 3; ++i) {
    const auto of = [&](const GemmSignature& s) { return s.alignments >> (8 * i) & 0xff; };
    if (of(given) < of(planned))
      refuse(std::string(1, "ABC"[i]) + " is aligned to " + std::to_string(1 << of(given)) +
             " bytes and was planned as aligned to " + std::to_string(1 << of(planned)));
  }
  // which scalars are on the host is not part of a plan
  constexpr std::uint64_t scalars = 4 | 8;
  if ((planned.flags | scalars) != (given.flags | scalars))
    refuse(
        "the conjugation of A or B, the precision, the epilogue or the threads of the instance differ from the plan's");
}

}  // namespace detail
}  // namespace tessera
