// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstring>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>

#include <tessera/backends/cuda/device.hpp>
#include <tessera/backends/cuda/gemm_cublas.hpp>
#include <tessera/core/error.hpp>
#include <tessera/core/registry.hpp>

namespace tessera::backends {
namespace {

void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw Error("tessera::gemm", std::string("cuBLAS failed in ") + what + ": " + cublasGetStatusString(status),
                "cuBLAS must start on this device", "Set TESSERA_GEMM=portable to go on without it");
}

/// While it lives, this thread may allocate, load kernels and set up a library although a graph is being captured,
/// which has to repeat none of that.
class BesideCaptures {
 public:
  explicit BesideCaptures(bool needed = true) : m_needed(needed) { exchange(); }
  ~BesideCaptures() { exchange(); }
  BesideCaptures(const BesideCaptures&) = delete;
  BesideCaptures& operator=(const BesideCaptures&) = delete;
  BesideCaptures(BesideCaptures&&) = delete;
  BesideCaptures& operator=(BesideCaptures&&) = delete;

 private:
  void exchange() {
    if (m_needed) (void)cudaThreadExchangeStreamCaptureMode(&m_mode);
  }
  cudaStreamCaptureMode m_mode = cudaStreamCaptureModeRelaxed;
  bool m_needed;
};

/// Device memory, or none where the device has none left.
struct DeviceMemory {
  void* pointer = nullptr;

  explicit DeviceMemory(std::size_t bytes) {
    if (cudaMalloc(&pointer, bytes) == cudaSuccess) return;
    (void)cudaGetLastError();  // the caller sees it, not the next call that looks
    pointer = nullptr;
  }
  ~DeviceMemory() { cudaFree(pointer); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  DeviceMemory(DeviceMemory&&) = delete;
  DeviceMemory& operator=(DeviceMemory&&) = delete;
};

struct BlasEnd {
  void operator()(cublasHandle_t blas) const { (void)cublasDestroy(blas); }
};

/// A stream's handle, a place for scalars that have to go to the device beside others that are there already and, once
/// a call is captured, a workspace: of its own the library would allocate in each such call. With these 32 MiB, what it
/// takes by itself on Hopper, 1095 products of all sizes and types were measured to be as fast.
struct Handle {
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

  DeviceMemory scalars{64};
  std::unique_ptr<DeviceMemory> workspace;
  std::list<DeviceMemory> constants;                                     // of captured calls
  std::unique_ptr<std::remove_pointer_t<cublasHandle_t>, BlasEnd> blas;  // ends before what it uses
  std::mutex mutex;                                                      // pointer mode and call belong together
  cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST;

  explicit Handle(void* stream) {
    if (scalars.pointer == nullptr)
      throw Error("tessera::gemm", "no device memory for 64 bytes", "the device must have memory left");
    cublasHandle_t created = nullptr;
    check(cublasCreate(&created), "cublasCreate");
    blas.reset(created);
    check(cublasSetStream(created, static_cast<cudaStream_t>(stream)), "cublasSetStream");
    // sums of 16-bit products are formed in fp32 wherever K is split; by default the library rounds the parts to 16
    // bits
    check(cublasSetMathMode(created, static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH |
                                                               CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)),
          "cublasSetMathMode");
  }
  /// A scalar for the replays of a captured call, which cannot copy it from where the host has it now.
  void* constant(const void* scalar, std::size_t bytes) {
    auto& place = constants.emplace_back(bytes);
    cudaStream_t aside = nullptr;
    bool copied = place.pointer != nullptr && cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking) == cudaSuccess;
    copied = copied && cudaMemcpyAsync(place.pointer, scalar, bytes, cudaMemcpyHostToDevice, aside) == cudaSuccess;
    copied = copied && cudaStreamSynchronize(aside) == cudaSuccess;
    if (aside != nullptr) (void)cudaStreamDestroy(aside);
    if (!copied)
      throw Error("tessera::gemm", "a scalar of a captured product could not be brought to the device",
                  "alpha and beta must both lie on the host, or there must be device memory for one more",
                  "Pass both scalars from one place");
    return place.pointer;
  }
  /// For a call that is captured; where the device has no memory left, the library allocates by itself.
  void want_workspace() {
    if (workspace) return;
    workspace = std::make_unique<DeviceMemory>(workspace_bytes);
    if (workspace->pointer != nullptr)
      check(cublasSetWorkspace(blas.get(), workspace->pointer, workspace_bytes), "cublasSetWorkspace");
  }
};

Registry<Handle>& handles() {
  static Registry<Handle> registry("cuBLAS handles");
  return registry;
}

/// The handle of an instance. A thread remembers the last one: a product may take no longer than the search for it. It
/// knows it by the stream's address, to which the handle is bound; a new stream at the address of a dead one may use
/// it.
Handle& handle_of(const Kokkos::Cuda& exec) {
  struct Last {
    int device = -1;
    cudaStream_t stream = nullptr;
    std::uint64_t generation = 0;
    Handle* handle = nullptr;
  };
  thread_local Last last;
  const std::uint64_t generation = handles().generation();
  cudaStream_t const stream = exec.cuda_stream();
  if (last.handle == nullptr || last.device != exec.cuda_device() || last.stream != stream ||
      last.generation != generation)
    last = {exec.cuda_device(), stream, generation, &handles().get(stream_key_of(exec), [&] {
              const BesideCaptures beside;
              return std::make_unique<Handle>(stream);
            })};
  return *last.handle;
}

struct Operand {
  cublasOperation_t op = CUBLAS_OP_N;
  index_t leading = 0;
};

/// A matrix as cuBLAS names it, column-major: plain where the first dimension has unit stride, transposed where the
/// second has. A dimension of extent 1 has no stride of its own.
std::optional<Operand> operand(const CublasProduct::Matrix& m) {
  const auto leading = [&](int inner, int outer) {
    return std::max<index_t>(m.extents[outer] > 1 ? m.strides[outer] : m.extents[inner], 1);
  };
  const auto unit = [&](int d) { return m.extents[d] <= 1 || m.strides[d] == 1; };
  if (!m.conj && unit(0) && leading(0, 1) >= std::max<index_t>(m.extents[0], 1))
    return Operand{CUBLAS_OP_N, leading(0, 1)};
  if (unit(1) && leading(1, 0) >= std::max<index_t>(m.extents[1], 1))
    return Operand{m.conj ? CUBLAS_OP_C : CUBLAS_OP_T, leading(1, 0)};
  return std::nullopt;
}

/// C must be plain: where its rows are contiguous, the transposed product is asked for.
CublasProduct column_major(const CublasProduct& p) {
  CublasProduct q = p;
  if ((p.c.extents[0] <= 1 || p.c.strides[0] == 1) && operand(p.c) && operand(p.c)->op == CUBLAS_OP_N) return q;
  const auto transposed = [](CublasProduct::Matrix m) {
    std::swap(m.extents[0], m.extents[1]);
    std::swap(m.strides[0], m.strides[1]);
    return m;
  };
  q.a = transposed(p.b);
  q.b = transposed(p.a);
  q.c = transposed(p.c);
  return q;
}

cudaDataType type_of(CublasProduct::Element e) {
  switch (e) {
    case CublasProduct::Element::real16:
      return CUDA_R_16F;
    case CublasProduct::Element::brain16:
      return CUDA_R_16BF;
    case CublasProduct::Element::real32:
      return CUDA_R_32F;
    case CublasProduct::Element::real64:
      return CUDA_R_64F;
    case CublasProduct::Element::complex32:
      return CUDA_C_32F;
    case CublasProduct::Element::complex64:
      return CUDA_C_64F;
  }
  return CUDA_R_64F;
}

bool is_double(CublasProduct::Element e) {
  return e == CublasProduct::Element::real64 || e == CublasProduct::Element::complex64;
}

cublasComputeType_t compute_type(const CublasProduct& p) {
  if (is_double(p.in)) return CUBLAS_COMPUTE_64F;
  if (p.in != CublasProduct::Element::real32) return CUBLAS_COMPUTE_32F;
  if (p.precision == Precision::tf32) return CUBLAS_COMPUTE_32F_FAST_TF32;
  if (p.precision == Precision::bf16) return CUBLAS_COMPUTE_32F_FAST_16BF;
  return CUBLAS_COMPUTE_32F;
}

std::size_t scalar_bytes(CublasProduct::Element e) {
  switch (e) {
    case CublasProduct::Element::complex64:
      return 16;
    case CublasProduct::Element::complex32:
    case CublasProduct::Element::real64:
      return 8;
    default:
      return 4;
  }
}

/// Products of a batch so small that cuBLAS's strided call moves at most a third of what memory gives (measured on an
/// H200 for n = 4, 8 and 16): a team of the portable kernel takes several of them at once.
bool is_tiny(const CublasProduct& p) {
  const index_t bytes = static_cast<index_t>(scalar_bytes(p.in)), most = 64 / bytes;
  return p.c.extents[0] <= most && p.c.extents[1] <= most;
}

}  // namespace

Verdict cublas_can_run(const CublasProduct& product) {
  if (product.c.extents[0] == 0 || product.c.extents[1] == 0 || product.a.extents[1] == 0 || product.batches == 0)
    return Verdict::no("an extent is 0");
  const CublasProduct p = column_major(product);
  if (!operand(p.c) || operand(p.c)->op != CUBLAS_OP_N) return Verdict::no("C has unit stride in neither dimension");
  if (!operand(p.a) || !operand(p.b))
    return Verdict::no("an operand has unit stride in neither dimension, or is conjugated and not transposed");
  if (product.batches > 1 && is_tiny(product))
    return Verdict::no("a batch of so small products, of which a team of the portable kernel takes several");
  return Verdict::yes();
}

std::string cublas_configuration(const CublasProduct& product) {
  switch (compute_type(product)) {
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      return "tf32";
    case CUBLAS_COMPUTE_32F_FAST_16BF:
      return "bf16";
    default:
      return {};
  }
}

void cublas_run(const CublasProduct& product, const Kokkos::Cuda& exec, const void* alpha, bool alpha_on_host,
                const void* beta, bool beta_on_host) {
  const CublasProduct p = column_major(product);
  const Operand a = operand(p.a).value(), b = operand(p.b).value(), c = operand(p.c).value();
  Handle& handle = handle_of(exec);
  const std::scoped_lock lock(handle.mutex);
  const bool captured = cuda::is_capturing(exec.cuda_stream());
  const BesideCaptures beside(captured);  // the library loads kernels when they are first called
  if (captured) handle.want_workspace();
  const bool on_host = alpha_on_host && beta_on_host;
  const std::size_t bytes = scalar_bytes(p.in);
  if (!on_host) {
    const auto bring = [&](const void*& scalar, bool is_on_host, int place) {
      if (!is_on_host) return;
      void* to = static_cast<char*>(handle.scalars.pointer) + 16 * place;
      if (captured)
        to = handle.constant(scalar, bytes);
      else
        cudaMemcpyAsync(to, scalar, bytes, cudaMemcpyHostToDevice, exec.cuda_stream());
      scalar = to;
    };
    bring(alpha, alpha_on_host, 0);
    bring(beta, beta_on_host, 1);
  }
  if (const auto mode = on_host ? CUBLAS_POINTER_MODE_HOST : CUBLAS_POINTER_MODE_DEVICE; mode != handle.mode) {
    check(cublasSetPointerMode(handle.blas.get(), mode), "cublasSetPointerMode");
    handle.mode = mode;
  }
  index_t k = p.a.extents[1];
  if (alpha_on_host && on_host) {
    // A and B are not read where alpha is 0, as in BLAS; the library does not promise it
    static constexpr char zeros[16] = {};
    bool is_zero = std::memcmp(alpha, zeros, bytes) == 0;
    if (bytes == 4 && !is_zero) is_zero = *static_cast<const float*>(alpha) == 0.0f;
    if (p.in == CublasProduct::Element::real64) is_zero = *static_cast<const double*>(alpha) == 0.0;
    if (is_zero) k = 0;
  }
  if (p.batches > 1)
    return check(cublasGemmStridedBatchedEx_64(handle.blas.get(), a.op, b.op, p.c.extents[0], p.c.extents[1], k, alpha,
                                               p.a.pointer, type_of(p.in), a.leading, p.a.batch_stride, p.b.pointer,
                                               type_of(p.in), b.leading, p.b.batch_stride, beta,
                                               const_cast<void*>(p.c.pointer), type_of(p.out), c.leading,
                                               p.c.batch_stride, p.batches, compute_type(p), CUBLAS_GEMM_DEFAULT),
                 "cublasGemmStridedBatchedEx");
  check(
      cublasGemmEx_64(handle.blas.get(), a.op, b.op, p.c.extents[0], p.c.extents[1], k, alpha, p.a.pointer,
                      type_of(p.in), a.leading, p.b.pointer, type_of(p.in), b.leading, beta,
                      const_cast<void*>(p.c.pointer), type_of(p.out), c.leading, compute_type(p), CUBLAS_GEMM_DEFAULT),
      "cublasGemmEx");
}

}  // namespace tessera::backends
