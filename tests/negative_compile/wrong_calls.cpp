// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that must not compile. Each line marked `// refused by: Concept` must be an error, and the compiler must name
// that concept of ours as what is not satisfied (check.py reads the marks). With TESSERA_RIGHT_CALLS the same calls
// are made rightly and must compile, so that a test cannot pass because everything fails.
#include <memory>
#include <string>
#include <vector>

#include <tessera/axpby.hpp>
#include <tessera/gather.hpp>
#include <tessera/gemm.hpp>
#include <tessera/gemv.hpp>
#include <tessera/histogram.hpp>
#include <tessera/merge.hpp>
#include <tessera/random_fill.hpp>
#include <tessera/scatter.hpp>
#include <tessera/select_if.hpp>
#include <tessera/set_operations.hpp>
#include <tessera/unique.hpp>

namespace {

/// Memory that no space of this build can reach: on a build for CPUs alone there is no other such memory.
struct FarMemory {
  using memory_space = FarMemory;
  using execution_space = Kokkos::DefaultHostExecutionSpace;
  using device_type = Kokkos::Device<execution_space, memory_space>;
  using size_type = std::size_t;
};

template <class T, int Rank>
struct FarView {};

struct ThreeBytes {
  unsigned char byte[3];
};
struct Packed {
  unsigned char byte[8];
};

}  // namespace

template <class T, int Rank>
struct tessera::view_traits<FarView<T, Rank>> {
  using value_type = T;
  using memory_space = FarMemory;
  static constexpr int rank = Rank;
  static constexpr bool conjugates = false;
  static StridedRef<T, Rank == 0 ? 1 : Rank> ref(const FarView<T, Rank>&) { return {}; }
};

namespace {

template <tessera::VectorView V>
void wants_vector(const V&) {}
template <tessera::MatrixView V>
void wants_matrix(const V&) {}
template <tessera::MutableMatrixView V>
void wants_mutable_matrix(const V&) {}
template <tessera::MutableVectorView V>
void wants_mutable_vector(const V&) {}
template <tessera::ScalarView V>
void wants_scalar(const V&) {}
template <tessera::MutableScalarView V>
void wants_mutable_scalar(const V&) {}
template <tessera::ScalarOf<double> S>
void wants_scalar_of_double(const S&) {}

struct Positive {
  bool operator()(double x) const { return x > 0; }
};
struct Near {
  bool operator()(double a, double b) const { return a - b < 1; }
};

}  // namespace

void calls() {
  using Space = Kokkos::DefaultHostExecutionSpace;
  const Space exec;
  Kokkos::View<double*, Space> x("x", 4), y("y", 4);
  Kokkos::View<const double*, Space> fixed = x;
  Kokkos::View<double**, Space> a("a", 4, 4);
  Kokkos::View<const double**, Space> fixed_matrix = a;
  Kokkos::View<double, Space> s("s");
  Kokkos::View<const double, Space> fixed_scalar = s;
  Kokkos::View<float, Space> narrow("narrow");
  Kokkos::View<Kokkos::complex<double>*, Space> z("z", 4);
  std::vector<double> numbers(4);
  Kokkos::View<bool*, Space> flags("flags", 4);
  Kokkos::View<std::int64_t, Space> count("count");
  Kokkos::View<std::int32_t*, Space> lengths("lengths", 4);
  Kokkos::View<int*, Space> counts("counts", 4);
  Kokkos::View<short*, Space> shorts("shorts", 4);
  Kokkos::View<ThreeBytes*, Space> threes("threes", 4);
  Kokkos::View<Packed*, Space> packed("packed", 4);
  Kokkos::View<double***, Space> cube("cube", 4, 4, 4);
#ifdef TESSERA_RIGHT_CALLS
  tessera::axpby(exec, 2.0, x, 1.0, y);
  tessera::axpby(exec, s, fixed, fixed_scalar, y);
  tessera::axpby(exec, 2, tessera::conjugated(z), 1, z);
  tessera::gemv(exec, 1.0, a, x, s, y);
  tessera::merge(exec, fixed, x, y, tessera::KeyBefore{true});
  tessera::set_union(exec, fixed, x, y, count);
  (void)tessera::set_symmetric_difference(exec, x, fixed, y, tessera::KeyBefore{true});
  tessera::gemm(exec, 1.0, fixed_matrix, tessera::transposed(a), s, a);
  tessera::gemm(exec, 1.0, tessera::adjoint(cube), fixed_matrix, s, cube);
  wants_vector(fixed);
  wants_matrix(tessera::transposed(fixed_matrix));
  wants_mutable_matrix(tessera::transposed(a));
  wants_mutable_vector(tessera::conjugated(x));  // conjugating reals changes nothing
  wants_scalar(fixed_scalar);
  wants_mutable_scalar(s);
  wants_scalar_of_double(2);
  wants_scalar_of_double(s);
  tessera::select(exec, fixed, flags, y, count);
  (void)tessera::partition(exec, x, lengths, y);
  tessera::select_if(exec, x, Positive{}, y, count);
  tessera::unique(exec, x, y, count, Near{});
  (void)tessera::run_length_encode(exec, x, y, lengths);
  tessera::histogram(exec, fixed, 0, 1.5F, counts);
  tessera::histogram(exec, shorts, -4, 4, counts, counts);
  tessera::histogram(exec, x, fixed, counts);
  tessera::gather(exec, fixed, counts, y);
  tessera::scatter(exec, z, counts, z);
  tessera::scatter_add(exec, fixed, counts, y);
  tessera::random_fill(exec, tessera::transposed(a), {1});
  tessera::random_fill(exec, counts, {1, 2}, 0, 10);
#else
  tessera::axpby(0, 2.0, x, 1.0, y);                          // refused by: ExecutionSpace
  tessera::axpby(x, 2.0, x, 1.0, y);                          // refused by: ExecutionSpace
  tessera::axpby(exec, 2.0, numbers, 1.0, y);                 // refused by: View
  tessera::axpby(exec, 2.0, numbers.data(), 1.0, y);          // refused by: View
  tessera::axpby(exec, 2.0, x, 1.0, fixed);                   // refused by: MutableView
  tessera::axpby(exec, 2.0, z, 1.0, tessera::conjugated(z));  // refused by: MutableView
  tessera::axpby(exec, std::string("2"), x, 1.0, y);          // refused by: ScalarFor
  tessera::axpby(exec, 2.0, x, narrow, y);                    // refused by: ScalarFor
  tessera::axpby(exec, FarView<double, 0>(), x, 1.0, y);      // refused by: ScalarFor
  tessera::gemv(exec, 1.0, a, x, FarView<double, 0>(), y);    // refused by: ScalarFor
  wants_scalar_of_double(std::string("2"));                   // refused by: ScalarOf
  wants_scalar_of_double(narrow);                             // refused by: ScalarOf
  tessera::axpby(exec, 2.0, FarView<double, 1>(), 1.0, y);    // refused by: AccessibleFrom
  tessera::axpby(exec, 2.0, x, 1.0, FarView<double, 1>());    // refused by: AccessibleFrom
  tessera::merge(exec, fixed, x, y, std::string("<"));        // refused by: KeyOrdering
  tessera::merge(exec, z, z, z);                              // refused by: KeyOrdering
  (void)tessera::set_union(exec, x, x, y, std::string("<"));  // refused by: KeyOrdering
  (void)tessera::set_difference(exec, x, x, fixed);           // refused by: SetOperands
  (void)tessera::set_union(exec, x, counts, y);               // refused by: SetOperands
  tessera::set_intersection(exec, x, x, y, s);                // refused by: SelectCount
  tessera::gemv(exec, 1.0, a, x, 0.0, fixed);                 // refused by: MutableVectorView
  tessera::gemv(exec, 1.0, x, x, 0.0, y);                     // refused by: MatrixView
  tessera::gemm(exec, 1.0, a, x, 0.0, a);                     // refused by: MatricesView
  tessera::gemm(exec, 1.0, a, a, 0.0, fixed_matrix);          // refused by: MutableMatricesView
  tessera::gemm(exec, 1.0, a, a, 0.0, y);                     // refused by: MutableMatricesView
  tessera::gemm(exec, 1.0, cube, a, 0.0, a);                  // refused by: GemmOperands
  tessera::gemm(exec, 1.0, a, numbers, 0.0, a);               // refused by: GemmOperands
  tessera::gemm(exec, 1.0, a, FarView<double, 2>(), 0.0, a);  // refused by: GemmOperands
  tessera::gemm(exec, 1.0, a, FarView<double, 2>(), 0.0, a);  // refused by: AccessibleFrom
  tessera::gemm(exec, narrow, a, a, 0.0, a);                  // refused by: ScalarFor
  tessera::gemm(exec, 1.0, a, a, FarView<double, 0>(), a);    // refused by: ScalarFor
  wants_vector(a);                                            // refused by: VectorView
  wants_vector(s);                                            // refused by: VectorView
  wants_mutable_vector(fixed);                                // refused by: MutableVectorView
  wants_mutable_vector(a);                                    // refused by: MutableVectorView
  wants_matrix(x);                                            // refused by: MatrixView
  (void)tessera::transposed(x);                               // refused by: MatricesView
  (void)tessera::adjoint(s);                                  // refused by: MatricesView
  wants_mutable_matrix(fixed_matrix);                         // refused by: MutableMatrixView
  wants_mutable_matrix(y);                                    // refused by: MutableMatrixView
  wants_scalar(x);                                            // refused by: ScalarView
  wants_scalar(2.0);                                          // refused by: ScalarView
  wants_mutable_scalar(fixed_scalar);                         // refused by: MutableScalarView
  wants_mutable_scalar(2.0);                                  // refused by: MutableScalarView
  (void)tessera::select(exec, numbers, flags, y);             // refused by: SelectInput
  (void)tessera::unique(exec, tessera::conjugated(z), z);     // refused by: SelectInput
  (void)tessera::select(exec, x, flags, fixed);               // refused by: SelectOutput
  (void)tessera::unique(exec, x, z);                          // refused by: SelectOutput
  (void)tessera::select(exec, x, x, y);                       // refused by: SelectFlags
  (void)tessera::partition(exec, x, a, y);                    // refused by: SelectFlags
  tessera::select(exec, x, flags, y, narrow);                 // refused by: SelectCount
  tessera::unique(exec, x, y, lengths);                       // refused by: SelectCount
  (void)tessera::select_if(exec, x, flags, y);                // refused by: SelectPredicate
  (void)tessera::partition_if(exec, x, Near{}, y);            // refused by: SelectPredicate
  (void)tessera::unique(exec, x, y, Positive{});              // refused by: RunEquality
  (void)tessera::unique(exec, z, z, Near{});                  // refused by: RunEquality
  (void)tessera::run_length_encode(exec, x, y, x);            // refused by: RunLengths
  (void)tessera::run_length_encode(exec, x, y, flags);        // refused by: RunLengths
  tessera::histogram(exec, flags, 0, 1, counts);              // refused by: HistogramElement
  tessera::histogram(exec, z, 0, 1, counts);                  // refused by: HistogramElement
  tessera::histogram(exec, numbers, 0, 1, counts);            // refused by: HistogramValues
  tessera::histogram(exec, a, 0, 1, counts);                  // refused by: HistogramValues
  tessera::histogram(exec, shorts, 0.5, 1, counts);           // refused by: HistogramLevel
  tessera::histogram(exec, x, 0, std::string("1"), counts);   // refused by: HistogramLevel
  tessera::histogram(exec, x, 0, 1, y);                       // refused by: HistogramCountsView
  tessera::histogram(exec, x, 0, 1, shorts);                  // refused by: HistogramCountsView
  tessera::gather(exec, threes, counts, threes);              // refused by: MovedElement
  tessera::scatter(exec, packed, counts, packed);             // refused by: MovedElement
  tessera::gather(exec, x, shorts, y);                        // refused by: IndexView
  tessera::scatter_add(exec, x, y, y);                        // refused by: IndexView
  tessera::scatter_add(exec, shorts, counts, shorts);         // refused by: ScatterAddElement
  tessera::scatter_add(exec, flags, counts, flags);           // refused by: ScatterAddElement
  tessera::random_fill(exec, fixed, {1});                     // refused by: RandomView
  tessera::random_fill(exec, cube, {1});                      // refused by: RandomView
  tessera::random_fill(exec, z, {1});                         // refused by: RandomElement
  tessera::random_normal(exec, shorts, {1});                  // refused by: RandomElement
#endif
}
