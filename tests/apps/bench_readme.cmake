# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The measured table of README.md is the output of the command that stands above it:
#   ./dev bench --from FILE ... --markdown -      (with \ at the ends of lines where it is long)
# Usage: cmake -DBENCH=tessera-bench -DROOT=folder of README.md -P bench_readme.cmake
file(READ "${ROOT}/README.md" readme)
if(NOT readme MATCHES "\n\\./dev bench (--from [^\n]*(\n  [^\n]*)*)\n")
  message(FATAL_ERROR "README.md does not tell the command that makes its table")
endif()
string(REPLACE "\\\n" " " command "${CMAKE_MATCH_1}")
separate_arguments(arguments UNIX_COMMAND "${command}")
execute_process(COMMAND "${BENCH}" ${arguments} WORKING_DIRECTORY "${ROOT}" RESULT_VARIABLE code OUTPUT_VARIABLE table
                ERROR_VARIABLE said)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "exit code ${code} of ${BENCH} ${arguments}\n${said}")
endif()
string(FIND "${readme}" "${table}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "README.md does not hold what its command gives. Put this there:\n${table}")
endif()
