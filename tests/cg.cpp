// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of the cg app. The same program runs on one rank and, by further CTest entries, on several.
#include <algorithm>
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cg/checkpoint.hpp>
#include <cg/colouring.hpp>
#include <cg/preconditioner.hpp>
#include <cg/solver.hpp>
#include <cg/sums.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <unistd.h>

using namespace tessera;
using namespace tessera::cg;
using Catch::Matchers::ContainsSubstring;

namespace {

/// The own rows of the matrix whose entries are f(i, j), zeros left out.
template <class F>
HostRows rows_of(index_t n, const Communicator& communicator, F&& f) {
  HostRows a;
  a.n = n;
  a.fingerprint = 1;
  a.range = block_range(n, communicator.size(), communicator.rank());
  std::vector<index_t> offsets{0}, columns;
  std::vector<double> values;
  for (index_t i = a.range.begin; i < a.range.end; ++i) {
    for (index_t j = 0; j < n; ++j)
      if (const double v = f(i, j); v != 0) {
        columns.push_back(j);
        values.push_back(v);
      }
    offsets.push_back(static_cast<index_t>(columns.size()));
  }
  const auto array = [](const auto& from) {
    using T = std::remove_cvref_t<decltype(from[0])>;
    HostArray<T> to("rows", from.size());
    std::copy(from.begin(), from.end(), to.data());
    return to;
  };
  a.offsets = array(offsets);
  a.columns = array(columns);
  a.values = array(values);
  return a;
}

/// A random symmetric matrix made positive definite by its diagonal, about `filled` entries a row off it.
double random_spd(index_t i, index_t j, index_t n, double filled) {
  if (i == j) return 4 + filled + static_cast<double>(i % 7);
  const auto low = static_cast<std::uint64_t>(std::min(i, j)), high = static_cast<std::uint64_t>(std::max(i, j));
  std::mt19937_64 random(low * 1000003 + high);
  random.discard(3);
  const double u = static_cast<double>(random() >> 11) * 0x1p-53;
  return u < filled / static_cast<double>(n) ? -1 + 0.5 * static_cast<double>(random() >> 11) * 0x1p-53 : 0;
}

double laplace5(index_t i, index_t j, index_t edge) {
  if (i == j) return 4;
  const index_t dx = std::abs(i % edge - j % edge), dy = std::abs(i / edge - j / edge);
  return dx + dy == 1 ? -1 : 0;
}

/// A system with all that solving it takes.
struct System {
  Space exec;
  Communicator communicator;
  HostRows rows;
  GhostPlan plan;
  DistributedMatrix a;
  Vector b, x;

  System(HostRows host, const Communicator& c)
      : communicator(c),
        rows(std::move(host)),
        plan(plan_ghosts(rows, communicator)),
        a(exec, rows, plan, communicator),
        b(a.make_vector(exec, "b")),
        x(a.make_vector(exec, "x")) {}

  /// Sets own elements to f(global index).
  template <class F>
  void set(const Vector& v, F&& f) const {
    std::vector<double> host;
    for (index_t i = rows.range.begin; i < rows.range.end; ++i) host.push_back(f(i));
    Kokkos::deep_copy(a.own(v), Kokkos::View<const double*, Kokkos::HostSpace>(host.data(), host.size()));
  }
  [[nodiscard]] std::vector<double> get(const Vector& v) const {
    std::vector<double> host(static_cast<std::size_t>(a.rows()));
    Kokkos::deep_copy(Kokkos::View<double*, Kokkos::HostSpace>(host.data(), host.size()), a.own(v));
    return host;
  }
  void right_side_of_ones() {
    set(x, [](index_t) { return 1.0; });
    a.apply(exec, x, a.own(b));
    set(x, [](index_t) { return 0.0; });
  }
  Outcome solve(const std::string& preconditioner, const SolveOptions& options = {}, State* resume = nullptr) {
    const auto m = make_preconditioner(preconditioner, exec, rows, plan, a);
    return cg::solve(exec, a, *m, b, x, options, resume);
  }
};

Communicator world() { return Communicator::world(); }

constexpr bool on_host = is_host_space<Space>;

}  // namespace

TEST_CASE("cg: sums of doubles are exact until they are rounded", "[cg]") {
  const auto sum = [](const std::vector<double>& values) {
    ExactSum s;
    for (const double v : values) s.add(v);
    return s.value();
  };
  const double least = std::numeric_limits<double>::denorm_min(), most = std::numeric_limits<double>::max();
  CHECK(sum({}) == 0);
  CHECK(sum({1e308, 1, -1e308}) == 1);
  CHECK(sum({most, most, -most, least, -most}) == least);
  CHECK(sum({-least}) == -least);
  CHECK(sum({-1, least}) == -1);
  CHECK(sum({0x1p53, 1}) == 0x1p53);             // half way: to even
  CHECK(sum({0x1p53, 1, least}) == 0x1p53 + 2);  // above half way, by the last bit there is
  CHECK(sum({0x1p53 + 2, 1}) == 0x1p53 + 4);
  CHECK(sum({-0x1p53, -1, -least}) == -0x1p53 - 2);
  CHECK(sum({0.1, 0.2, 0.3, -0.6}) == 0x1p-55);  // of these doubles; a plain sum gives 2^-53
  CHECK(std::isnan(sum({1, std::numeric_limits<double>::infinity()})));
  CHECK(std::isnan(sum({std::numeric_limits<double>::quiet_NaN()})));

  // any order and any cut into parts give the same bits
  std::mt19937_64 random(3);
  std::vector<double> values;
  for (int k = 0; k < 2000; ++k) {
    const double v = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 1900) - 1000);
    values.push_back(v);
    values.push_back(-v);
    if (k % 50 == 0) values.push_back(static_cast<double>(random() % 1000));
  }
  const double whole = sum(values);
  double expected = 0;  // the pairs cancel; what is left are integers
  for (std::size_t k = 2; k < values.size(); k += 101) expected += values[k];
  CHECK(whole == expected);
  std::shuffle(values.begin(), values.end(), random);
  ExactSum parts[3], total;
  for (std::size_t k = 0; k < values.size(); ++k) parts[k % 3].add(values[k]);
  for (const ExactSum& part : parts)
    for (std::size_t d = 0; d < total.digit.size(); ++d) total.digit[d] += part.digit[d];
  CHECK(total.value() == whole);
}

TEST_CASE("cg: compensated dot products", "[cg]") {
  const Space exec;
  const index_t n = GENERATE(0, 1, 31, 32, 33, 1000, 4097, 100003);
  Scalars scalars(exec, Communicator::self(), SumKind::compensated);
  Vector x("x", n), y("y", n);
  const auto hx = Kokkos::create_mirror_view(x), hy = Kokkos::create_mirror_view(y);
  // products of up to 2^60 that cancel in pairs, round integers that remain: a plain sum is off by hundreds
  std::mt19937_64 random(11);
  double expected = 0;
  for (index_t i = 0; i < n; ++i) {
    if (i % 3 == 2) {
      hx(i) = static_cast<double>(random() % 1000);
      hy(i) = static_cast<double>(random() % 1000) - 500;
      expected += hx(i) * hy(i);
    } else if (i % 3 == 0 && i + 1 < n) {
      hx(i) = std::ldexp(static_cast<double>(random() >> 34), -static_cast<int>(random() % 10));
      hy(i) = static_cast<double>(random() >> 34);
    } else if (i % 3 == 1) {
      hx(i) = -hx(i - 1);
      hy(i) = hy(i - 1);
    }
  }
  Kokkos::deep_copy(x, hx);
  Kokkos::deep_copy(y, hy);
  INFO("n = " << n);
  CHECK(scalars.dot_now(exec, x, y) == expected);
}

TEST_CASE("cg: the 27-point operator", "[cg]") {
  const index_t edge = GENERATE(1, 2, 3, 5);
  const HostRows a = stencil_rows(edge, world());
  const HostRows expected = rows_of(edge * edge * edge, world(), [&](index_t i, index_t j) {
    const index_t dx = std::abs(i % edge - j % edge), dy = std::abs(i / edge % edge - j / edge % edge),
                  dz = std::abs(i / edge / edge - j / edge / edge);
    return i == j ? 26.0 : dx <= 1 && dy <= 1 && dz <= 1 ? -1.0 : 0.0;
  });
  INFO("edge " << edge);
  REQUIRE(a.nnz() == expected.nnz());
  REQUIRE(a.range == expected.range);
  bool same = true;
  for (index_t i = 0; i <= a.rows(); ++i) same = same && a.offsets(i) == expected.offsets(i);
  for (index_t k = 0; k < a.nnz(); ++k)
    same = same && a.columns(k) == expected.columns(k) && a.values(k) == expected.values(k);
  CHECK(same);
  CHECK(world().all_reduce(static_cast<double>(a.nnz()), Reduction::sum) == stencil_nnz(edge));
  CHECK_THROWS_WITH(stencil_rows(0, world()), ContainsSubstring("an edge of 0"));
}

TEST_CASE("cg: a distributed product equals the whole one", "[cg]") {
  const index_t n = GENERATE(1, 5, 83);
  System s(rows_of(n, world(), [&](index_t i, index_t j) { return random_spd(i, j, n, 6); }), world());
  const auto element = [](index_t i) { return std::sin(static_cast<double>(i + 1)); };
  s.set(s.x, element);
  s.a.apply(s.exec, s.x, s.a.own(s.b));
  const std::vector<double> y = s.get(s.b);
  double worst = 0;
  for (index_t i = 0; i < s.a.rows(); ++i) {
    long double sum = 0;
    for (index_t j = 0; j < n; ++j)
      sum += static_cast<long double>(random_spd(s.rows.range.begin + i, j, n, 6)) * element(j);
    worst = std::max(worst, std::abs(static_cast<double>(sum) - y[static_cast<std::size_t>(i)]));
  }
  // at most 30 terms below 17 in magnitude
  CHECK(worst <= 30 * 17 * std::numeric_limits<double>::epsilon());
  CHECK(s.a.global_rows() == n);
}

TEST_CASE("cg: one colouring of the whole matrix", "[cg]") {
  const index_t n = GENERATE(1, 5, 97, 216);
  const auto make = [&](const Communicator& c) {
    return n == 216 ? stencil_rows(6, c) : rows_of(n, c, [&](index_t i, index_t j) { return random_spd(i, j, n, 8); });
  };
  const HostRows rows = make(world());
  const GhostPlan plan = plan_ghosts(rows, world());
  const Colouring colouring = colour_rows(rows, plan, world());
  bool distinct = true;
  for (index_t i = 0; i < rows.rows(); ++i)
    for (index_t k = rows.offsets(i); k < rows.offsets(i + 1); ++k) {
      const auto j = static_cast<std::size_t>(plan.local(rows, rows.columns(k)));
      if (j != static_cast<std::size_t>(i))
        distinct = distinct && colouring.of[j] != colouring.of[static_cast<std::size_t>(i)];
    }
  CHECK(distinct);
  if (n == 216) CHECK(colouring.colours == 8);

  const HostRows whole = make(Communicator::self());
  const Colouring serial = colour_rows(whole, plan_ghosts(whole, Communicator::self()), Communicator::self());
  CHECK(serial.colours == colouring.colours);
  CHECK(std::equal(colouring.of.begin(), colouring.of.begin() + rows.rows(), serial.of.begin() + rows.range.begin));
}

TEST_CASE("cg: symmetric Gauss-Seidel is the operator it says", "[cg]") {
  const index_t n = 61;
  System s(rows_of(n, world(), [&](index_t i, index_t j) { return random_spd(i, j, n, 7); }), world());
  const auto m = make_preconditioner("symgs", s.exec, s.rows, s.plan, s.a);
  const auto element = [](index_t i) { return std::cos(static_cast<double>(3 * i)); };
  s.set(s.b, element);
  m->apply(s.exec, s.b, s.x);
  m->apply(s.exec, s.b, s.x);  // what x held must not matter
  const std::vector<double> z = s.get(s.x);

  // (D + L) D^-1 (D + U) z = r, solved densely in the order of the colours
  const HostRows whole = rows_of(n, Communicator::self(), [&](index_t i, index_t j) { return random_spd(i, j, n, 7); });
  const Colouring c = colour_rows(whole, plan_ghosts(whole, Communicator::self()), Communicator::self());
  std::vector<long double> y(static_cast<std::size_t>(n));
  for (int colour = 0; colour < c.colours; ++colour)
    for (index_t i = 0; i < n; ++i) {
      if (c.of[static_cast<std::size_t>(i)] != colour) continue;
      long double sum = element(i);
      for (index_t j = 0; j < n; ++j)
        if (c.of[static_cast<std::size_t>(j)] < colour) sum -= random_spd(i, j, n, 7) * y[static_cast<std::size_t>(j)];
      y[static_cast<std::size_t>(i)] = sum / random_spd(i, i, n, 7);
    }
  for (int colour = c.colours; colour-- > 0;)
    for (index_t i = 0; i < n; ++i) {
      if (c.of[static_cast<std::size_t>(i)] != colour) continue;
      long double sum = 0;
      for (index_t j = 0; j < n; ++j)
        if (c.of[static_cast<std::size_t>(j)] > colour) sum += random_spd(i, j, n, 7) * y[static_cast<std::size_t>(j)];
      y[static_cast<std::size_t>(i)] -= sum / random_spd(i, i, n, 7);
    }
  double worst = 0;
  for (index_t i = 0; i < s.a.rows(); ++i)
    worst = std::max(worst, std::abs(z[static_cast<std::size_t>(i)] -
                                     static_cast<double>(y[static_cast<std::size_t>(s.rows.range.begin + i)])));
  // |z| < 1 and the rows are diagonally dominant: errors do not grow
  CHECK(worst <= 60 * std::numeric_limits<double>::epsilon());
  CHECK_THROWS_WITH(make_preconditioner("ilu", s.exec, s.rows, s.plan, s.a), ContainsSubstring("\"ilu\""));
}

TEST_CASE("cg: the same iterations on any number of ranks", "[cg]") {
  const std::string preconditioner = GENERATE("none", "jacobi", "symgs");
  const auto make = [](const Communicator& c) {
    return rows_of(300, c, [](index_t i, index_t j) {
      return i == j ? random_spd(i, j, 300, 5) - 3.9 : random_spd(i, j, 300, 5);
    });
  };
  System together(make(world()), world()), alone(make(Communicator::self()), Communicator::self());
  together.right_side_of_ones();
  alone.right_side_of_ones();
  const Outcome many = together.solve(preconditioner), one = alone.solve(preconditioner);
  INFO(preconditioner << ": " << many.iterations << " and " << one.iterations << " iterations");
  CHECK(many.converged());
  CHECK(one.converged());
  CHECK(std::abs(many.iterations - one.iterations) <= 2);
  if (on_host) CHECK(many.history == one.history);  // to the last bit; devices may choose another shape of spmv
  CHECK(many.relative_residual <= 1e-8);
  CHECK(independent_residual(together.exec, together.a, together.b, together.x) <= 1.01e-8);
  CHECK(error_against_ones(together.exec, together.a, together.x) < 1e-5);
  CHECK(static_cast<index_t>(many.history.size()) == many.iterations + 1);
}

TEST_CASE("cg: symmetric Gauss-Seidel takes fewer iterations than Jacobi", "[cg]") {
  System s(rows_of(24 * 24, world(), [](index_t i, index_t j) { return laplace5(i, j, 24); }), world());
  s.right_side_of_ones();
  const index_t jacobi = s.solve("jacobi").iterations;
  s.set(s.x, [](index_t) { return 0.0; });
  CHECK(s.solve("symgs").iterations < jacobi);
}

TEST_CASE("cg: plain sums work too", "[cg]") {
  System s(rows_of(100, world(), [](index_t i, index_t j) { return laplace5(i, j, 10); }), world());
  s.right_side_of_ones();
  const Outcome out = s.solve("jacobi", {.sums = SumKind::fast});
  CHECK(out.converged());
  CHECK(error_against_ones(s.exec, s.a, s.x) < 1e-6);
  CHECK(sum_kind("fast") == SumKind::fast);
  CHECK_THROWS_WITH(sum_kind("slow"), ContainsSubstring("\"slow\""));
}

TEST_CASE("A25: nothing to do, nothing divided by zero", "[cg][A25]") {
  const std::string preconditioner = GENERATE("none", "jacobi", "symgs");
  System s(rows_of(64, world(), [](index_t i, index_t j) { return laplace5(i, j, 8); }), world());
  SECTION("b = 0") {
    const Outcome out = s.solve(preconditioner);
    CHECK(out.converged());
    CHECK(out.iterations == 0);
    CHECK(out.relative_residual == 0);
    CHECK(s.get(s.x) == std::vector<double>(static_cast<std::size_t>(s.a.rows()), 0.0));
  }
  SECTION("an exact guess") {
    s.set(s.x, [](index_t i) { return static_cast<double>(i % 5); });
    s.a.apply(s.exec, s.x, s.a.own(s.b));
    const std::vector<double> before = s.get(s.x);
    const Outcome out = s.solve(preconditioner);
    CHECK(out.converged());
    CHECK(out.iterations == 0);
    CHECK(s.get(s.x) == before);
  }
  SECTION("b = 0 and another guess") {
    s.set(s.x, [](index_t i) { return static_cast<double>(i % 5); });
    const Outcome out = s.solve(preconditioner);
    CHECK(out.converged());
    CHECK(out.iterations > 0);
    CHECK(norm(s.exec, s.a, s.x) < 1e-6);
  }
  SECTION("1 x 1") {
    System one(rows_of(1, world(), [](index_t, index_t) { return 3.0; }), world());
    one.right_side_of_ones();
    const Outcome out = one.solve(preconditioner);
    CHECK(out.converged());
    CHECK(out.iterations == 1);
    CHECK(error_against_ones(one.exec, one.a, one.x) == 0);
  }
  SECTION("0 x 0") {
    System none(rows_of(0, world(), [](index_t, index_t) { return 3.0; }), world());
    CHECK(none.solve(preconditioner).converged());
  }
}

TEST_CASE("A25: a matrix that is not positive definite is reported", "[cg][A25]") {
  SECTION("indefinite") {
    System s(rows_of(2, world(), [](index_t i, index_t j) { return i == j ? 1.0 : 2.0; }), world());
    s.set(s.b, [](index_t i) { return i == 0 ? 1.0 : -1.0; });
    const Outcome out = s.solve("jacobi");
    CHECK(out.ending == Ending::breakdown);
    CHECK(out.iterations == 0);
    CHECK_THAT(out.message, ContainsSubstring("not positive definite") && ContainsSubstring("p'Ap = -"));
    CHECK(out.relative_residual == 1);  // x was left alone
  }
  SECTION("semidefinite, the right-hand side in its null space") {
    System s(rows_of(2, world(), [](index_t i, index_t j) { return i == j ? 1.0 : -1.0; }), world());
    s.set(s.b, [](index_t) { return 1.0; });
    const Outcome out = s.solve("none");
    CHECK(out.ending == Ending::breakdown);
    CHECK(out.relative_residual == 1);
  }
  SECTION("by its diagonal") {
    const HostRows rows =
        rows_of(7, world(), [](index_t i, index_t j) { return i == j ? (i == 5 ? -2.0 : 1.0) : 0.0; });
    CHECK_THAT(diagonal_fault(rows, world()), ContainsSubstring("(6, 6) is -2"));
    const HostRows missing = rows_of(7, world(), [](index_t i, index_t j) { return i == j && i != 3 ? 1.0 : 0.0; });
    CHECK_THAT(diagonal_fault(missing, world()), ContainsSubstring("(4, 4) is 0"));
    const HostRows good = rows_of(7, world(), [](index_t i, index_t j) { return i == j ? 1.0 : 0.0; });
    CHECK(diagonal_fault(good, world()).empty());
  }
}

TEST_CASE("cg: it gives up when told to, and says so", "[cg]") {
  System s(rows_of(400, world(), [](index_t i, index_t j) { return laplace5(i, j, 20); }), world());
  s.right_side_of_ones();
  SECTION("too few iterations") {
    const Outcome out = s.solve("none", {.max_iterations = 3});
    CHECK(out.ending == Ending::too_many_iterations);
    CHECK(out.iterations == 3);
    CHECK_THAT(out.message, ContainsSubstring("not converged in 3 iterations"));
    CHECK(out.relative_residual > 1e-8);
  }
  SECTION("a tolerance beyond double precision") {
    const Outcome out = s.solve("jacobi", {.tolerance = 1e-40, .max_iterations = 100000});
    CHECK(out.ending == Ending::stagnated);
    CHECK_THAT(out.message, ContainsSubstring("cannot be reduced further"));
    CHECK(out.relative_residual < 1e-14);
  }
  SECTION("a tolerance that the recurrence meets before x does") {
    const Outcome out = s.solve("jacobi", {.tolerance = 1e-15, .max_iterations = 100000});
    CHECK((out.converged() ? out.relative_residual <= 1e-15 : out.ending == Ending::stagnated));
  }
}

namespace {
/// A folder that all ranks know, removed at the end.
struct SharedFolder {
  std::filesystem::path path;
  SharedFolder() {
    path = world().broadcast(
        (std::filesystem::temp_directory_path() / ("tessera_cg_" + std::to_string(getpid()))).string());
    if (world().is_root()) std::filesystem::create_directories(path);
    world().barrier();
  }
  ~SharedFolder() {
    world().barrier();
    if (world().is_root()) std::filesystem::remove_all(path);
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
};

std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}
/// By rank 0, seen by all.
void spit(const std::filesystem::path& path, const std::string& text) {
  world().barrier();
  if (world().is_root()) std::ofstream(path, std::ios::binary) << text;
  world().barrier();
}
}  // namespace

TEST_CASE("cg: stopped and resumed, it ends in the same bits", "[cg][checkpoint]") {
  const std::string preconditioner = GENERATE("none", "jacobi", "symgs");
  const SharedFolder folder;
  const auto make = [] { return rows_of(225, world(), [](index_t i, index_t j) { return laplace5(i, j, 15); }); };
  System straight(make(), world()), stopped(make(), world()), resumed(make(), world());
  for (System* s : {&straight, &stopped, &resumed}) s->right_side_of_ones();
  const Outcome whole = straight.solve(preconditioner);
  REQUIRE(whole.converged());

  Checkpoint writer(folder.path / "state", {7, 225, preconditioner}, world());
  const Outcome first = stopped.solve(preconditioner, {.between = [&](const State& state) {
                                        if (state.iteration < 5) return false;
                                        writer.save(stopped.exec, state, stopped.a);
                                        return true;
                                      }});
  CHECK(first.ending == Ending::stopped);
  CHECK(first.iterations == 5);

  Checkpoint reader(folder.path / "state", {7, 225, preconditioner}, world());
  std::string notice;
  State state = reader.load(resumed.exec, resumed.a, notice);
  CHECK(notice.empty());
  CHECK(state.iteration == 5);
  const Outcome second = resumed.solve(preconditioner, {}, &state);
  CHECK(second.iterations == whole.iterations);
  CHECK(second.history == whole.history);
  CHECK(resumed.get(resumed.x) == straight.get(straight.x));
}

TEST_CASE("cg: a checkpoint that was cut or damaged is recognised, and the one before it is used", "[cg][checkpoint]") {
  const SharedFolder folder;
  const std::filesystem::path file = folder.path / "state", previous = folder.path / "state.previous";
  System s(
      rows_of(6, world(), [](index_t i, index_t j) { return i == j ? 4.0 : 1.0 / static_cast<double>(1 + i + j); }),
      world());
  s.right_side_of_ones();
  Checkpoint writer(file, {7, 6, "none"}, world());
  (void)s.solve("none", {.tolerance = 1e-300, .max_iterations = 3, .between = [&](const State& state) {
                           writer.save(s.exec, state, s.a);
                           return state.iteration == 1;
                         }});
  const std::string newer = slurp(file), older = slurp(previous);
  REQUIRE(newer.size() > older.size());  // one more entry of the history
  const auto load = [&](std::string& notice, const Problem& problem = {7, 6, "none"}) {
    return Checkpoint(file, problem, world()).load(s.exec, s.a, notice);
  };
  std::string notice;
  CHECK(load(notice).iteration == 1);
  CHECK(notice.empty());

  for (std::size_t length = 0; length < newer.size(); length += length < 100 ? 7 : 1) {
    spit(file, newer.substr(0, length));
    const State state = load(notice);
    CHECK(state.iteration == 0);
    CHECK_THAT(notice, ContainsSubstring("state.previous"));
  }
  for (std::size_t at = 0; at < newer.size(); ++at) {
    std::string damaged = newer;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    spit(file, damaged);
    CHECK(load(notice).iteration == 0);
  }
  // a damaged file does not push the good one out
  spit(file, newer.substr(0, 50));
  Checkpoint again(file, {7, 6, "none"}, world());
  const State old = again.load(s.exec, s.a, notice);
  again.save(s.exec, old, s.a);
  CHECK(slurp(previous) == older);
  CHECK(slurp(file) == older);

  spit(previous, older.substr(0, 60));
  spit(file, newer.substr(0, newer.size() - 1));
  CHECK_THROWS_WITH(load(notice), ContainsSubstring("cut off") && ContainsSubstring("state.previous") &&
                                      ContainsSubstring("without --resume"));
  spit(file, newer);
  CHECK_THROWS_WITH(load(notice, {8, 6, "none"}), ContainsSubstring("another matrix"));
  CHECK_THROWS_WITH(load(notice, {7, 5, "none"}), ContainsSubstring("6 rows"));
  CHECK_THROWS_WITH(load(notice, {7, 6, "jacobi"}), ContainsSubstring("--preconditioner none"));
}
