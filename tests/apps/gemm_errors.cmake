# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The tables of docs/gemm-errors.md are the output of the command that stands above them:
#   ./dev run gemm --errors-from FILE
# and every error in them is within its bound, or the app fails.
# Usage: cmake -DGEMM=tessera_app_gemm -DROOT=folder of docs -P gemm_errors.cmake
file(READ "${ROOT}/docs/gemm-errors.md" document)
if(NOT document MATCHES "\n\\./dev run gemm (--errors-from [^\n]*)\n")
  message(FATAL_ERROR "docs/gemm-errors.md does not tell the command that makes its tables")
endif()
separate_arguments(arguments UNIX_COMMAND "${CMAKE_MATCH_1}")
execute_process(COMMAND "${GEMM}" ${arguments} WORKING_DIRECTORY "${ROOT}" RESULT_VARIABLE code OUTPUT_VARIABLE tables
                ERROR_VARIABLE said)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "exit code ${code} of ${GEMM} ${arguments}\n${said}")
endif()
string(FIND "${document}" "${tables}" at)
if(at EQUAL -1 OR tables STREQUAL "")
  message(FATAL_ERROR "docs/gemm-errors.md does not hold what its command gives. Put this there:\n${tables}")
endif()
