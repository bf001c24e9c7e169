// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views at the boundary: references, wrappers, scalars, adopt.
#include <array>
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <vector>

#include <tessera/core/views.hpp>

using Space = TESSERA_TEST_SPACE;
using Memory = Space::memory_space;
using Catch::Matchers::ContainsSubstring;
using tessera::index_t;

namespace {

template <class Function>
std::string message(Function&& function) {
  try {
    function();
  } catch (const tessera::Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("a reference has the view's pointer, extents and strides", "[core][views]") {
  const Kokkos::View<double**, Kokkos::LayoutLeft, Space> left("left", 5, 7);
  const Kokkos::View<double***, Kokkos::LayoutRight, Space> right("right", 2, 3, 4);
  const auto l = tessera::ref(left);
  CHECK(l.pointer == left.data());
  CHECK((l.extents[0] == 5 && l.extents[1] == 7 && l.strides[0] == 1 && l.strides[1] == 5));
  CHECK(l.size() == 35);
  CHECK(l.offset(3, 2) == 13);
  const auto r = tessera::const_ref(right);
  CHECK((r.strides[0] == 12 && r.strides[1] == 4 && r.strides[2] == 1));
  CHECK_FALSE(r.conj);
  static_assert(std::is_same_v<decltype(r), const tessera::StridedRef<const double, 3>>);

  // rows 1-3, every column from 2: the pointer moves, the strides stay
  const auto part = Kokkos::subview(left, std::pair(1, 4), std::pair(2, 7));
  const auto p = tessera::ref(part);
  CHECK(p.pointer == left.data() + 1 + 2 * 5);
  CHECK((p.extents[0] == 3 && p.extents[1] == 5 && p.strides[0] == 1 && p.strides[1] == 5));
  const auto row = tessera::ref(Kokkos::subview(left, 4, Kokkos::ALL));
  CHECK((row.extents[0] == 7 && row.strides[0] == 5));

  const Kokkos::View<double, Space> scalar("scalar");
  const auto s = tessera::ref(scalar);
  CHECK((s.pointer == scalar.data() && s.extents[0] == 1 && s.strides[0] == 1));
}

TEST_CASE("empty and zero-extent views give empty references", "[core][views]") {
  const auto none = tessera::ref(Kokkos::View<float*, Space>());
  CHECK((none.extents[0] == 0 && none.size() == 0));
  const auto flat = tessera::ref(Kokkos::View<float**, Space>("flat", 0, 9));
  CHECK((flat.size() == 0 && flat.extents[1] == 9));
}

TEST_CASE("transposed, conjugated and adjoint swap strides and set a flag", "[core][views]") {
  using C = Kokkos::complex<double>;
  const Kokkos::View<C**, Kokkos::LayoutRight, Space> a("a", 3, 4);
  const auto plain = tessera::ref(a);

  const auto t = tessera::ref(tessera::transposed(a));
  CHECK((t.pointer == plain.pointer && t.extents[0] == 4 && t.extents[1] == 3));
  CHECK((t.strides[0] == plain.strides[1] && t.strides[1] == plain.strides[0] && !t.conj));
  const auto c = tessera::ref(tessera::conjugated(a));
  CHECK((c.conj && c.extents[0] == 3));
  const auto h = tessera::ref(tessera::adjoint(a));
  CHECK((h.conj && h.extents[0] == 4 && h.strides[0] == plain.strides[1]));

  // wrapped twice, each undoes itself and none is lost
  const auto tt = tessera::ref(tessera::transposed(tessera::transposed(a)));
  CHECK((tt.extents[0] == 3 && tt.strides[0] == plain.strides[0] && !tt.conj));
  const auto cc = tessera::ref(tessera::conjugated(tessera::conjugated(a)));
  CHECK((!cc.conj && cc.extents[0] == 3));
  const auto th = tessera::ref(tessera::transposed(tessera::adjoint(a)));
  CHECK((th.conj && th.extents[0] == 3));
  const auto ct = tessera::ref(tessera::conjugated(tessera::transposed(a)));
  CHECK((ct.conj && ct.extents[0] == 4));
  const auto hh = tessera::ref(tessera::adjoint(tessera::adjoint(a)));
  CHECK((!hh.conj && hh.extents[0] == 3 && hh.strides[0] == plain.strides[0]));

  // of real elements a conjugation is nothing, and the result may still be written
  const Kokkos::View<float**, Space> real("real", 2, 2);
  CHECK_FALSE(tessera::ref(tessera::adjoint(real)).conj);
  static_assert(tessera::MutableMatrixView<decltype(tessera::adjoint(real))>);
  static_assert(!tessera::MutableMatrixView<decltype(tessera::adjoint(a))>);
  static_assert(tessera::MutableMatrixView<decltype(tessera::transposed(a))>);
  static_assert(tessera::MutableMatrixView<decltype(tessera::conjugated(tessera::adjoint(a)))>);
  // a const view stays const in a wrapper
  const Kokkos::View<const C**, Kokkos::LayoutRight, Space> fixed = a;
  static_assert(!tessera::MutableView<decltype(tessera::transposed(fixed))>);
}

TEST_CASE("scalars come from the host or from a rank-0 view", "[core][views]") {
  const Kokkos::View<double, Space> device("device");
  const auto from_view = tessera::scalar_ref<double>(device);
  CHECK((from_view.pointer == device.data() && !from_view.on_host()));
  const auto from_host = tessera::scalar_ref<double>(3);
  CHECK((from_host.on_host() && from_host.get() == 3.0));
  static_assert(tessera::ScalarOf<int, double>);
  static_assert(!tessera::ScalarOf<Kokkos::View<float, Space>, double>);
  static_assert(!tessera::ScalarOf<Kokkos::View<double*, Space>, double>);
  static_assert(tessera::ScalarFor<Kokkos::View<const double, Space>, double, Space>);
}

TEST_CASE("refs convert to read-only ones and vectors to matrices", "[core][refs]") {
  double data[6] = {};
  tessera::VectorRef<double> x;
  x.pointer = data;
  x.extents[0] = 3;
  x.strides[0] = 2;
  x.conj = true;
  const tessera::VectorRef<const double> fixed = x;
  CHECK((fixed.pointer == data && fixed.strides[0] == 2 && fixed.conj));
  const auto m = tessera::as_matrix(fixed);
  CHECK((m.extents[0] == 3 && m.extents[1] == 1 && m.strides[0] == 2 && m.conj));
  x(2) = 7;
  CHECK(data[4] == 7);
}

TEST_CASE("mdspan goes in directly", "[core][views]") {
  std::vector<double> data(24);
  using Right = Kokkos::mdspan<double, Kokkos::dextents<std::size_t, 2>>;
  const Right span(data.data(), 4, 6);
  static_assert(tessera::MutableMatrixView<Right>);
  const auto r = tessera::ref(span);
  CHECK((r.pointer == data.data() && r.extents[0] == 4 && r.extents[1] == 6 && r.strides[0] == 6 && r.strides[1] == 1));
  const auto t = tessera::ref(tessera::transposed(span));
  CHECK((t.extents[0] == 6 && t.strides[1] == 6));

  using Left = Kokkos::mdspan<const float, Kokkos::extents<int, 2, 3>, Kokkos::layout_left>;
  const float numbers[6] = {};
  const Left left(numbers);
  static_assert(tessera::MatrixView<Left> && !tessera::MutableView<Left>);
  CHECK(tessera::ref(left).strides[1] == 2);

  using Strided = Kokkos::mdspan<double, Kokkos::dextents<int, 1>, Kokkos::layout_stride>;
  const Strided every_third(data.data(), {Kokkos::dextents<int, 1>(8), std::array<int, 1>{3}});
  CHECK((tessera::ref(every_third).extents[0] == 8 && tessera::ref(every_third).strides[0] == 3));

  // a view's own mdspan remembers its memory
  const Kokkos::View<double**, Space> view("view", 3, 5);
  const auto of_view = view.to_mdspan();
  static_assert(tessera::View<std::remove_const_t<decltype(of_view)>>);
  CHECK(tessera::ref(of_view).pointer == view.data());
  CHECK(tessera::ref(of_view).strides[0] == tessera::ref(view).strides[0]);
}

TEST_CASE("adopt gives a view of foreign memory", "[core][adopt]") {
  std::vector<double> data(60);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<double>(i);
  const auto packed = tessera::adopt(data.data(), std::array<index_t, 2>{6, 10});
  CHECK((packed(2, 3) == 23 && packed.extent(0) == 6 && packed.stride(0) == 10));
  const auto columns = tessera::adopt(data.data(), std::array<index_t, 2>{10, 6}, std::array<index_t, 2>{1, 10});
  CHECK(columns(3, 2) == 23);
  const auto strided = tessera::adopt(data.data() + 1, std::array<index_t, 1>{20}, std::array<index_t, 1>{3});
  CHECK(strided(19) == 58);
  const auto cube = tessera::adopt(data.data(), std::array<index_t, 3>{3, 4, 5});
  CHECK(cube(2, 3, 4) == 59);
  static_assert(tessera::MutableMatrixView<decltype(packed)>);
  // extents of 1 may have any stride; empty ones any pointer
  CHECK(tessera::adopt(data.data(), std::array<index_t, 2>{1, 5}, std::array<index_t, 2>{0, 1})(0, 4) == 4);
  CHECK(tessera::adopt(static_cast<double*>(nullptr), std::array<index_t, 2>{0, 5}).extent(0) == 0);
}

TEST_CASE("adopt refuses what is no view, and says why", "[core][adopt]") {
  double data[64] = {};
  using E2 = std::array<index_t, 2>;
  const auto adopting = [&](double* pointer, E2 extents, E2 strides) {
    return message([&] { (void)tessera::adopt(pointer, extents, strides); });
  };
  CHECK_THAT(adopting(data, {-1, 2}, {2, 1}),
             ContainsSubstring("tessera::adopt: extent 0 is -1; extents are 0 or more"));
  CHECK_THAT(adopting(data, {4, 2}, {2, 0}), ContainsSubstring("stride 1 is 0; strides are 1 or more, in elements"));
  CHECK_THAT(adopting(data, {4, 2}, {-2, 1}), ContainsSubstring("stride 0 is -2"));
  CHECK_THAT(adopting(nullptr, {4, 2}, {2, 1}), ContainsSubstring("the pointer is null and no extent is 0"));
  auto* const crooked = reinterpret_cast<double*>(reinterpret_cast<char*>(data) + 3);
  CHECK_THAT(adopting(crooked, {2, 2}, {2, 1}), ContainsSubstring("not aligned to 8 bytes"));
  CHECK_THAT(adopting(data, {4, 3}, {2, 1}),
             ContainsSubstring("stride 0 is 2 and the dimensions of smaller stride span 3"));
  CHECK_THAT(adopting(data, {4, 3}, {1, 1}), ContainsSubstring("different indices must name different elements"));
  const index_t huge = index_t{1} << 61;
  CHECK_THAT(adopting(data, {2, huge}, {huge, 1}), ContainsSubstring("more bytes than 64 bits count"));
  CHECK_THAT(message([&] { (void)tessera::adopt(data, E2{4, huge}); }), ContainsSubstring("64 bits"));
  // the caller's line
  CHECK_THAT(adopting(nullptr, {4, 2}, {2, 1}), ContainsSubstring("core_views.cpp:"));
}
