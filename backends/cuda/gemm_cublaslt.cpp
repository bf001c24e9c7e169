// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gemm_cublaslt.hpp"

namespace tessera::backends {

struct LtProducts::Choice {
  bool made = false;
  LtProduct product;
  cublasLtMatmulDescOpaque_t operation{};
  cublasLtMatrixLayoutOpaque_t a{}, b{}, c{};
  cublasLtMatmulAlgo_t algorithm{};
  cublasStatus_t status = CUBLAS_STATUS_NOT_SUPPORTED;

  void make(cublasHandle_t handle, const LtProduct& p, std::size_t workspace_bytes);

 private:
  cublasStatus_t describe(const LtProduct& p);
  cublasStatus_t choose(cublasHandle_t handle, const LtProduct& p, std::size_t workspace_bytes);
};

namespace {

/// The first failure of several steps.
class Steps {
 public:
  Steps& operator()(cublasStatus_t status) {
    if (m_status == CUBLAS_STATUS_SUCCESS) m_status = status;
    return *this;
  }
  [[nodiscard]] cublasStatus_t status() const { return m_status; }

 private:
  cublasStatus_t m_status = CUBLAS_STATUS_SUCCESS;
};

cublasStatus_t describe_matrix(cublasLtMatrixLayoutOpaque_t& layout, cudaDataType type, std::int64_t rows,
                               std::int64_t columns, std::int64_t leading, std::int64_t batches, std::int64_t batch) {
  Steps step;
  step(cublasLtMatrixLayoutInit(&layout, type, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns),
                                leading));
  if (batches > 1) {
    const auto count = static_cast<std::int32_t>(batches);
    step(cublasLtMatrixLayoutSetAttribute(&layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count));
    step(cublasLtMatrixLayoutSetAttribute(&layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &batch, sizeof batch));
  }
  return step.status();
}

std::size_t mixed(const LtProduct& p) {
  std::uint64_t sum = 0;
  for (const std::int64_t word :
       {p.m, p.n, p.k, p.lda, p.ldb, p.ldc, p.batches, p.a_batch, p.b_batch, p.c_batch,
        static_cast<std::int64_t>(p.op_a), static_cast<std::int64_t>(p.op_b), static_cast<std::int64_t>(p.in),
        static_cast<std::int64_t>(p.out), static_cast<std::int64_t>(p.scalars_on_device)})
    sum = (sum ^ static_cast<std::uint64_t>(word)) * 0x9e3779b97f4a7c15u;
  for (const std::int32_t alignment : p.alignments)
    sum = (sum ^ static_cast<std::uint64_t>(alignment)) * 0x9e3779b97f4a7c15u;
  return static_cast<std::size_t>(sum >> 32);
}

}  // namespace

std::int32_t alignment_of(const void* pointer) {
  const auto bits = reinterpret_cast<std::uintptr_t>(pointer) | 256;
  return static_cast<std::int32_t>(bits & -bits);
}

cublasStatus_t LtProducts::Choice::describe(const LtProduct& p) {
  Steps step;
  const cublasLtPointerMode_t mode =
      p.scalars_on_device != 0 ? CUBLASLT_POINTER_MODE_DEVICE : CUBLASLT_POINTER_MODE_HOST;
  step(cublasLtMatmulDescInit(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  step(cublasLtMatmulDescSetAttribute(&operation, CUBLASLT_MATMUL_DESC_TRANSA, &p.op_a, sizeof p.op_a));
  step(cublasLtMatmulDescSetAttribute(&operation, CUBLASLT_MATMUL_DESC_TRANSB, &p.op_b, sizeof p.op_b));
  step(cublasLtMatmulDescSetAttribute(&operation, CUBLASLT_MATMUL_DESC_POINTER_MODE, &mode, sizeof mode));
  const bool plain_a = p.op_a == CUBLAS_OP_N, plain_b = p.op_b == CUBLAS_OP_N;
  step(describe_matrix(a, p.in, plain_a ? p.m : p.k, plain_a ? p.k : p.m, p.lda, p.batches, p.a_batch));
  step(describe_matrix(b, p.in, plain_b ? p.k : p.n, plain_b ? p.n : p.k, p.ldb, p.batches, p.b_batch));
  step(describe_matrix(c, p.out, p.m, p.n, p.ldc, p.batches, p.c_batch));
  return step.status();
}

cublasStatus_t LtProducts::Choice::choose(cublasHandle_t handle, const LtProduct& p, std::size_t workspace_bytes) {
  cublasLtMatmulPreferenceOpaque_t preference{};
  Steps step;
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    step(cublasLtMatmulPreferenceSetAttribute(&preference, attribute, &value, sizeof value));
  };
  step(cublasLtMatmulPreferenceInit(&preference));
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(workspace_bytes));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, static_cast<std::uint32_t>(p.alignments[0]));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, static_cast<std::uint32_t>(p.alignments[1]));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, static_cast<std::uint32_t>(p.alignments[2]));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, static_cast<std::uint32_t>(p.alignments[2]));
  if (step.status() != CUBLAS_STATUS_SUCCESS) return step.status();
  cublasLtMatmulHeuristicResult_t result{};
  int found = 0;
  // a cuBLAS handle may stand for one of cuBLASLt
  const cublasStatus_t asked = cublasLtMatmulAlgoGetHeuristic(reinterpret_cast<cublasLtHandle_t>(handle), &operation,
                                                              &a, &b, &c, &c, &preference, 1, &result, &found);
  if (asked != CUBLAS_STATUS_SUCCESS) return asked;
  if (found < 1) return CUBLAS_STATUS_NOT_SUPPORTED;
  algorithm = result.algo;
  std::int32_t parts = 1;
  std::uint32_t scheme = CUBLASLT_REDUCTION_SCHEME_NONE;
  std::size_t written = 0;
  step(cublasLtMatmulAlgoConfigGetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &parts, sizeof parts,
                                            &written));
  step(cublasLtMatmulAlgoConfigGetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &scheme, sizeof scheme,
                                            &written));
  // Parts of a split K may be rounded to C's type before they are added. Asked for none such, cuBLASLt names kernels of
  // up to twice the time; cublasGemmEx, asked the same, better ones
  const bool rounds = parts > 1 && p.out != CUDA_R_32F && scheme != CUBLASLT_REDUCTION_SCHEME_NONE &&
                      scheme != CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  if (step.status() != CUBLAS_STATUS_SUCCESS || rounds) return CUBLAS_STATUS_NOT_SUPPORTED;
  return result.state;
}

void LtProducts::Choice::make(cublasHandle_t handle, const LtProduct& p, std::size_t workspace_bytes) {
  status = describe(p);
  if (status == CUBLAS_STATUS_SUCCESS) status = choose(handle, p, workspace_bytes);
  product = p;
  made = true;
}

LtProducts::LtProducts() : m_choices(std::make_unique<Choice[]>(kept)) {}
LtProducts::~LtProducts() = default;

cublasStatus_t LtProducts::run(cublasHandle_t handle, const LtProduct& product, const Operands& operands,
                               Workspace workspace, cudaStream_t stream) {
  Choice& choice = m_choices[mixed(product) % kept];
  if (!choice.made || !(choice.product == product)) choice.make(handle, product, workspace.bytes);
  if (choice.status != CUBLAS_STATUS_SUCCESS) return choice.status;
  return cublasLtMatmul(reinterpret_cast<cublasLtHandle_t>(handle), &choice.operation, operands.alpha, operands.a,
                        &choice.a, operands.b, &choice.b, operands.beta, operands.c, &choice.c, operands.c, &choice.c,
                        &choice.algorithm, workspace.pointer, workspace.bytes, stream);
}

}  // namespace tessera::backends
