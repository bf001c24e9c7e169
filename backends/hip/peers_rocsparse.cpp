// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "peer.hpp"
#include <memory>
#include <string>
#include <type_traits>

#if TESSERA_HAVE_ROCSPARSE
#include <rocsparse/rocsparse.h>
#endif

namespace tessera::peers {

#if TESSERA_HAVE_ROCSPARSE
namespace {
void check(rocsparse_status status, const char* what) {
  if (status != rocsparse_status_success)
    throw Error("tessera::peers", std::string(what) + ": " + rocsparse_get_status_name(status),
                "the call must succeed");
}
struct Product {
  rocsparse_handle handle = nullptr;
  rocsparse_spmat_descr matrix = nullptr;
  rocsparse_dnvec_descr x = nullptr, y = nullptr;
  void* buffer = nullptr;
  std::size_t bytes = 0;
  Product() = default;
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;
  Product(Product&&) = delete;
  Product& operator=(Product&&) = delete;
  ~Product() {
    (void)rocsparse_destroy_dnvec_descr(x);
    (void)rocsparse_destroy_dnvec_descr(y);
    (void)rocsparse_destroy_spmat_descr(matrix);
    (void)rocsparse_destroy_handle(handle);
    (void)hipFree(buffer);
  }
};
}  // namespace
#endif

/// rocSPARSE, the matrix looked at once before.
template <class T>
Peers spmv(const Queue& queue, index_t rows, index_t columns, index_t nnz, const std::int32_t* offsets,
           const std::int32_t* indices, const T* values, const T* x, T* y) {
#if TESSERA_HAVE_ROCSPARSE
  const auto p = std::make_shared<Product>();
  constexpr auto type = std::is_same_v<T, float> ? rocsparse_datatype_f32_r : rocsparse_datatype_f64_r;
  check(rocsparse_create_handle(&p->handle), "rocsparse_create_handle");
  check(rocsparse_set_stream(p->handle, stream_of(queue)), "rocsparse_set_stream");
  check(rocsparse_create_csr_descr(&p->matrix, rows, columns, nnz, const_cast<std::int32_t*>(offsets),
                                   const_cast<std::int32_t*>(indices), const_cast<T*>(values), rocsparse_indextype_i32,
                                   rocsparse_indextype_i32, rocsparse_index_base_zero, type),
        "rocsparse_create_csr_descr");
  check(rocsparse_create_dnvec_descr(&p->x, columns, const_cast<T*>(x), type), "rocsparse_create_dnvec_descr");
  check(rocsparse_create_dnvec_descr(&p->y, rows, y, type), "rocsparse_create_dnvec_descr");
  const auto stage = [](const std::shared_ptr<Product>& product, rocsparse_spmv_stage which) {
    const T one = 1, zero = 0;
    check(rocsparse_spmv(product->handle, rocsparse_operation_none, &one, product->matrix, product->x, &zero,
                         product->y, type, rocsparse_spmv_alg_csr_adaptive, which, &product->bytes, product->buffer),
          "rocsparse_spmv");
  };
  stage(p, rocsparse_spmv_stage_buffer_size);
  check(hipMalloc(&p->buffer, p->bytes > 0 ? p->bytes : 1), "hipMalloc");
  stage(p, rocsparse_spmv_stage_preprocess);
  return {{"rocSPARSE", [=] { stage(p, rocsparse_spmv_stage_compute); }}};
#else
  return none(queue, rows, columns, nnz, offsets, indices, values, x, y);
#endif
}

template Peers spmv(const Queue&, index_t, index_t, index_t, const std::int32_t*, const std::int32_t*, const float*,
                    const float*, float*);
template Peers spmv(const Queue&, index_t, index_t, index_t, const std::int32_t*, const std::int32_t*, const double*,
                    const double*, double*);

}  // namespace tessera::peers
