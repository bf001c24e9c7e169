# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The communicator, what the apps share, and how the apps behave from outside.
tessera_test(communicator LIBRARIES tessera::core)

# Several ranks on one node, as any user, on fewer cores than ranks; variables of other MPI libraries are harmless.
set(tessera_mpi_environment
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMPI_MCA_btl=self,sm,vader OMP_NUM_THREADS=1
  ${tessera_test_environment})
if(TESSERA_ENABLE_MPI)
  foreach(space IN LISTS TESSERA_SPACES)
    foreach(ranks 2 3 4)
      add_test(NAME communicator.${space}.ranks${ranks}
               COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:test_communicator_${space}>)
      set_tests_properties(communicator.${space}.ranks${ranks} PROPERTIES
        ENVIRONMENT "${tessera_mpi_environment}" TIMEOUT 120 PROCESSORS 2)
    endforeach()
  endforeach()
endif()

if(NOT TARGET tessera_app_common)
  return()
endif()
tessera_test(app_common HOST_ONLY LIBRARIES tessera::app_common)
if(TARGET tessera::bench_report)
  tessera_test(bench_report HOST_ONLY LIBRARIES tessera::bench_report)
  tessera_test(bench_replay LIBRARIES tessera::bench_measure)
  tessera_test(gemm_capture LIBRARIES tessera::gemm tessera::peers)
endif()
if(TARGET tessera::gemm_ladder_report)
  tessera_test(stored_results HOST_ONLY LIBRARIES tessera::gemm_ladder_report tessera::gemm_errors_report)
endif()

# tessera_app_test(name APP heat OPTIONS --size 9 [RANKS 4] [EXIT 0] [STDOUT regex] [STDERR regex] [JSON key=value ...]
#                  [JSON_HAS key ...] [WITHIN seconds]); see apps/run.cmake
function(tessera_app_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "APP;RANKS;EXIT;STDOUT;STDERR;WITHIN" "OPTIONS;JSON;JSON_HAS")
  set(target tessera_app_${arg_APP})
  if(arg_APP STREQUAL "bench")
    set(target tessera-bench)
  endif()
  if(NOT TARGET ${target} OR (arg_RANKS AND NOT TESSERA_ENABLE_MPI))
    return()
  endif()
  set(command "$<TARGET_FILE:${target}>" ${arg_OPTIONS})
  if(arg_RANKS)
    list(PREPEND command "${MPIEXEC_EXECUTABLE}" "${MPIEXEC_NUMPROC_FLAG}" "${arg_RANKS}")
  endif()
  if(arg_JSON OR arg_JSON_HAS)
    list(APPEND command --json -)
  endif()
  set(definitions "-DEXIT=${arg_EXIT}")
  foreach(list_name IN ITEMS command arg_JSON arg_JSON_HAS)
    list(JOIN ${list_name} "|" ${list_name})
  endforeach()
  foreach(part STDOUT STDERR WITHIN JSON JSON_HAS)
    if(DEFINED arg_${part} AND NOT arg_${part} STREQUAL "")
      list(APPEND definitions "-D${part}=${arg_${part}}")
    endif()
  endforeach()
  add_test(NAME "app.${name}" COMMAND "${CMAKE_COMMAND}" ${definitions} "-DCOMMAND=${command}"
                                      -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/apps/run.cmake")
  set_tests_properties("app.${name}" PROPERTIES ENVIRONMENT "${tessera_mpi_environment}" TIMEOUT 300 LABELS app)
endfunction()

set(schema app version backend ranks parameters verified results timings)
foreach(app stream heat gemm)
  tessera_app_test(${app}.help APP ${app} OPTIONS --help EXIT 0 STDOUT "Examples:.*--json.*|--json.*Exit codes:.*130")
  tessera_app_test(${app}.version APP ${app} OPTIONS --version EXIT 0 STDOUT "^${app} .Tessera ${PROJECT_VERSION}.")
  tessera_app_test(${app}.backend_info APP ${app} OPTIONS --backend-info EXIT 0 STDOUT "Kokkos +[0-9].*device")
  tessera_app_test(${app}.backend_info_json APP ${app} OPTIONS --backend-info EXIT 0 JSON app=${app}
                   JSON_HAS backend ranks devices.0.name device.mpi)
  tessera_app_test(${app}.unknown_option APP ${app} OPTIONS --jsn x EXIT 2 STDERR "did you mean --json")
  tessera_app_test(${app}.json_folder_missing APP ${app} OPTIONS --json no/such/folder/x.json EXIT 2
                   STDERR "no/such/folder/x.json.*No such file.*Make the folder")
endforeach()

tessera_app_test(stream.fp64 APP stream OPTIONS --size 100000 --repetitions 3 EXIT 0 STDERR "triad"
                 JSON app=stream verified=ON ranks=1 parameters.size=100000 results.kernels.3.kernel=triad
                 JSON_HAS ${schema} results.kernels.4.ratio timings.copy.gb_per_s)
tessera_app_test(stream.fp32 APP stream OPTIONS --size 12345 --repetitions 4 --precision fp32 EXIT 0 JSON verified=ON)
tessera_app_test(stream.one APP stream OPTIONS --size 1 --repetitions 1 EXIT 0 JSON verified=ON)
tessera_app_test(stream.ranks APP stream RANKS 3 OPTIONS --size 10000 --repetitions 2 EXIT 0 JSON verified=ON ranks=3)
tessera_app_test(stream.size_zero APP stream OPTIONS --size 0 EXIT 2 STDERR "--size.*not in range")
tessera_app_test(stream.too_large APP stream OPTIONS --size 1000000000000 EXIT 2
                 STDERR "needs .* TiB of memory.*Use a smaller --size")

tessera_app_test(heat.fp64 APP heat OPTIONS --size 31 --steps 40 EXIT 0 STDERR "order of convergence"
                 JSON app=heat verified=ON ranks=1 results.steps_done=40 parameters.precision=fp64
                 JSON_HAS ${schema} results.error results.order results.field_hash timings.steps.gflop_per_s)
tessera_app_test(heat.fp32 APP heat OPTIONS --size 24 --steps 30 --precision fp32 EXIT 0 JSON verified=ON)
tessera_app_test(heat.no_steps APP heat OPTIONS --size 5 --steps 0 EXIT 0 JSON verified=ON results.steps_done=0)
tessera_app_test(heat.one_cell APP heat OPTIONS --size 1 --steps 3 EXIT 0 JSON verified=ON)
tessera_app_test(heat.not_a_number APP heat OPTIONS --size many EXIT 2 STDERR "--size.*many.*heat --help")
tessera_app_test(heat.bad_precision APP heat OPTIONS --precision fp16 EXIT 2 STDERR "fp16 not in {fp32,fp64}")
tessera_app_test(heat.bad_output APP heat OPTIONS --size 5 --output /proc/none EXIT 2 STDERR "folder .*/proc/none")
tessera_app_test(heat.timings APP heat OPTIONS --size 9 --steps 5 --timings EXIT 0 STDOUT "region +calls.*tessera::heat::steps")
tessera_app_test(heat.progress APP heat OPTIONS --size 9 --steps 5 --progress EXIT 0 STDERR "heat: .*100 %")
# A26: every rank ends within ten seconds and the largest rank count is named
tessera_app_test(heat.too_many_ranks APP heat RANKS 8 OPTIONS --size 1 EXIT 2 WITHIN 10
                 STDERR "8 ranks for a grid of 1 x 1 x 1 cells.*largest rank count is 1")
tessera_app_test(heat.prime_ranks APP heat RANKS 7 OPTIONS --size 5 EXIT 2 WITHIN 10
                 STDERR "largest rank count is 125, and the largest not above 7 is 6")
tessera_app_test(heat.a_cell_a_rank APP heat RANKS 8 OPTIONS --size 2 --steps 9 EXIT 0 JSON verified=ON ranks=8)

foreach(type fp64 fp32 fp16 bf16)
  foreach(op NN NT TN TT)
    tessera_app_test(gemm.${type}.${op} APP gemm OPTIONS --type ${type} --op ${op} --m 67 --n 45 --k 131 --layout-a right
                     --layout-c right --alpha 1.5 --beta -0.5 --repetitions 1 EXIT 0
                     JSON verified=ON JSON_HAS ${schema} results.path results.reasons results.paths.0.path)
  endforeach()
endforeach()
tessera_app_test(gemm.portable APP gemm OPTIONS --m 64 --n 64 --k 64 --path portable --repetitions 1 EXIT 0
                 STDOUT "path: gemm.portable.*verified")
tessera_app_test(gemm.no_inner APP gemm OPTIONS --k 0 --m 8 --n 9 --repetitions 1 EXIT 0 JSON verified=ON)
tessera_app_test(gemm.empty APP gemm OPTIONS --m 0 --repetitions 1 EXIT 0 JSON verified=ON)
tessera_app_test(gemm.unknown_path APP gemm OPTIONS --path fastest EXIT 2 STDERR "fastest.*portable")
tessera_app_test(gemm.table APP gemm OPTIONS --table --repetitions 2 EXIT 0 STDERR "fp32 .*1001 x 999 x 1003"
                 JSON verified=ON JSON_HAS results.table.9.gflop_per_s)

tessera_app_test(gemm.errors APP gemm OPTIONS --errors EXIT 0 STDERR "## Ill-scaled operands.*fp32_tf32x3 .*## Special"
                 JSON verified=ON JSON_HAS results.device results.errors.0.share_of_bound results.errors.104.path)
tessera_app_test(gemm.errors_from_nothing APP gemm OPTIONS --errors-from no/such.json EXIT 2
                 STDERR "no/such.json.* could not be opened")
tessera_app_test(gemm.errors_from_other APP gemm OPTIONS --errors-from "${CMAKE_CURRENT_LIST_FILE}" EXIT 2
                 STDERR "apps.cmake.*is not JSON from byte")
set(stored_errors "${PROJECT_SOURCE_DIR}/docs/results/gemm-errors.json")
tessera_app_test(gemm.errors_from APP gemm OPTIONS --errors-from ${stored_errors} EXIT 0
                 STDERR "## Ill-scaled" JSON verified=ON JSON_HAS results.errors.122.different)
tessera_app_test(gemm.errors_from_folder APP gemm OPTIONS --errors-from "${CMAKE_CURRENT_LIST_DIR}" EXIT 2
                 STDERR "tests\" is a folder.*gemm --errors --json")
tessera_app_test(gemm.errors_from_none APP gemm OPTIONS --errors-from= EXIT 2 STDERR "--errors-from.*FILE")
tessera_app_test(gemm.errors_k APP gemm OPTIONS --errors --k 100 EXIT 2
                 STDERR "--k does nothing beside --errors. Leave one of the two out")
tessera_app_test(gemm.errors_from_type APP gemm OPTIONS --errors-from ${stored_errors} --type fp16 EXIT 2
                 STDERR "--type does nothing beside --errors-from")
tessera_app_test(gemm.table_m APP gemm OPTIONS --table --m 9 EXIT 2 STDERR "--m does nothing beside --table")
file(READ "${stored_errors}" document)
string(JSON cut REMOVE "${document}" results errors 5)
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/errors_cut.json" "${cut}")
tessera_app_test(gemm.errors_from_cut APP gemm OPTIONS --errors-from "${CMAKE_CURRENT_BINARY_DIR}/errors_cut.json" EXIT 1
                 STDERR "1 rows of 123 are missing.*FAILED verification" JSON verified=OFF)
if(TARGET tessera_app_gemm)
  # the document's tables are what its command gives
  add_test(NAME app.gemm.errors_document COMMAND "${CMAKE_COMMAND}" -DGEMM=$<TARGET_FILE:tessera_app_gemm>
           -DROOT=${PROJECT_SOURCE_DIR} -P "${CMAKE_CURRENT_LIST_DIR}/apps/gemm_errors.cmake")
  set_tests_properties(app.gemm.errors_document PROPERTIES ENVIRONMENT "${tessera_mpi_environment}" TIMEOUT 60
                                                           LABELS app)
endif()

# The bench: one real case, stored results, and what it refuses. Its reports are tested in bench_report.cpp.
set(stored "${PROJECT_SOURCE_DIR}/docs/results/h200-2026-12-01.json")
tessera_app_test(bench.help APP bench OPTIONS --help EXIT 0
                 STDOUT "--filter.*--set.*--replay.*--list.*--from.*--json.*--csv.*--html.*--markdown.*--compare.*Examples:.*130")
tessera_app_test(bench.list APP bench OPTIONS --list --set full --filter "dot fp64" EXIT 0 STDOUT "^dot fp64 n=")
tessera_app_test(bench.one_case APP bench OPTIONS --set full --filter "dot fp64 1e5" --rounds 3 --progress EXIT 0
                 STDERR "0 of 1, 1 to go.*dot fp64 n=1e5"
                 JSON app=bench verified=ON interrupted=OFF cases_asked_for=1 results.0.verified=ON
                 JSON_HAS copy_gb_per_s results.0.ratios results.0.share_of_ceiling results.0.past_cache machine.0.name)
tessera_app_test(bench.from APP bench OPTIONS --from ${stored} --filter 2e8 EXIT 0
                 STDOUT "NVIDIA H200.*asum fp64 n=2e8.*cuBLAS: [0-9]+\\.[0-9][0-9]")
tessera_app_test(bench.from_csv APP bench OPTIONS --from ${stored} --csv - EXIT 0 STDOUT "\"asum fp64 n=2e8\",")
tessera_app_test(bench.from_html APP bench OPTIONS --from ${stored} --html - EXIT 0 STDOUT "^<!DOCTYPE html>.*</html>")
tessera_app_test(bench.from_compare APP bench OPTIONS --from ${stored} --compare ${stored} EXIT 0
                 STDOUT "[1-9][0-9]+ cases: 0 faster and 0 slower")
tessera_app_test(bench.two_to_stdout APP bench OPTIONS --from ${stored} --csv - --html - EXIT 2 STDERR "one of them")
tessera_app_test(bench.twice APP bench OPTIONS --from ${stored} --csv a.out --html ./a.out EXIT 2 STDERR "named twice")
tessera_app_test(bench.device APP bench OPTIONS --from ${stored} --csv /dev/null EXIT 2 STDERR "a device, a pipe")
tessera_app_test(bench.from_nothing APP bench OPTIONS --from no/such.json EXIT 2 STDERR "no/such.json.*not be opened")
tessera_app_test(bench.from_other APP bench OPTIONS --from "${CMAKE_CURRENT_LIST_FILE}" EXIT 2 STDERR "not JSON")
tessera_app_test(bench.no_case APP bench OPTIONS --filter nothing EXIT 2 STDERR "no case.*--list")
tessera_app_test(bench.folder_missing APP bench OPTIONS --html no/such/x.html EXIT 2 STDERR "no/such/x.html.*Make the")
tessera_app_test(bench.replay_from APP bench OPTIONS --from ${stored} --replay EXIT 2 STDERR "--(from excludes --replay|replay excludes --from)")
if("Cuda" IN_LIST TESSERA_SPACES OR "HIP" IN_LIST TESSERA_SPACES)
  tessera_app_test(bench.replay APP bench OPTIONS --set full --filter "dot fp64 1e5" --rounds 3 --replay EXIT 0
                   JSON verified=ON results.0.timed=replay)
else()
  tessera_app_test(bench.replay_on_host APP bench OPTIONS --filter dot --replay EXIT 2
                   STDERR "--replay with .*on hosts they run as they are made.*Leave it out.*cuda-hopper")
endif()
tessera_app_test(bench.other_space APP bench OPTIONS --space Nowhere EXIT 2 STDERR "Nowhere.*default space")
if(TARGET tessera-bench)
  add_test(NAME app.bench.interrupt COMMAND sh "${CMAKE_CURRENT_LIST_DIR}/apps/bench_interrupt.sh"
           $<TARGET_FILE:tessera-bench> "${CMAKE_CURRENT_BINARY_DIR}/bench_interrupt")
  set_tests_properties(app.bench.interrupt PROPERTIES ENVIRONMENT "${tessera_mpi_environment}" TIMEOUT 300 LABELS app)
  # the README's table is what its command gives
  add_test(NAME app.bench.readme COMMAND "${CMAKE_COMMAND}" -DBENCH=$<TARGET_FILE:tessera-bench>
           -DROOT=${PROJECT_SOURCE_DIR} -P "${CMAKE_CURRENT_LIST_DIR}/apps/bench_readme.cmake")
  set_tests_properties(app.bench.readme PROPERTIES ENVIRONMENT "${tessera_mpi_environment}" TIMEOUT 60 LABELS app)
endif()

# The same bits on any number of ranks.
if(TARGET tessera_app_heat AND TESSERA_ENABLE_MPI)
  foreach(precision fp32 fp64)
    set(options "--size|25|--steps|40|--precision|${precision}")
    set(commands "$<TARGET_FILE:tessera_app_heat>|${options}")
    foreach(ranks 2 3 4 6 8)
      string(APPEND commands
             "//${MPIEXEC_EXECUTABLE}|${MPIEXEC_NUMPROC_FLAG}|${ranks}|$<TARGET_FILE:tessera_app_heat>|${options}")
    endforeach()
    string(APPEND commands
           "//${MPIEXEC_EXECUTABLE}|${MPIEXEC_NUMPROC_FLAG}|8|$<TARGET_FILE:tessera_app_heat>|${options}|--no-overlap")
    add_test(NAME app.heat.ranks_agree.${precision}
             COMMAND "${CMAKE_COMMAND}" -DFIELDS=results.field_hash|results.error "-DCOMMANDS=${commands}"
                     -P "${CMAKE_CURRENT_LIST_DIR}/apps/agree.cmake")
    set_tests_properties(app.heat.ranks_agree.${precision} PROPERTIES
      ENVIRONMENT "${tessera_mpi_environment}" TIMEOUT 300 LABELS app)
  endforeach()
endif()
if(TARGET tessera_app_heat)
  set(launcher "")
  if(TESSERA_ENABLE_MPI)
    set(launcher "${MPIEXEC_EXECUTABLE}" "${MPIEXEC_NUMPROC_FLAG}" 2)
  endif()
  add_test(NAME app.heat.interrupt COMMAND sh "${CMAKE_CURRENT_LIST_DIR}/apps/interrupt.sh"
           $<TARGET_FILE:tessera_app_heat> "${CMAKE_CURRENT_BINARY_DIR}/interrupt" ${launcher})
  set_tests_properties(app.heat.interrupt PROPERTIES ENVIRONMENT "${tessera_mpi_environment}" TIMEOUT 300 LABELS app)
endif()
