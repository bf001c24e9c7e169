# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The teaching ladder: its steps, its app, and the tables of its page.
if(NOT TARGET tessera::gemm_ladder_steps)
  return()
endif()
tessera_test(ladder LIBRARIES tessera::gemm_ladder_steps)

set(tiny --m 33 --n 47 --k 65)
set(stored_ladder "${PROJECT_SOURCE_DIR}/docs/results/gemm-ladder-h200-2026-12-01.json")
tessera_app_test(gemm_ladder.help APP gemm_ladder OPTIONS --help EXIT 0
                 STDOUT "--step.*--from.*--markdown.*--plot.*Examples:.*--json.*|--json.*Exit codes:.*130")
tessera_app_test(gemm_ladder.unknown_option APP gemm_ladder OPTIONS --stp naive EXIT 2 STDERR "did you mean --step")
tessera_app_test(gemm_ladder.run APP gemm_ladder OPTIONS ${tiny} --rounds 3 EXIT 0 STDERR "7 double_buffering +bf16.*verified"
                 JSON app=gemm_ladder verified=ON ranks=1 parameters.k=65 results.ladder.m=33 results.ladder.rungs.0.name=naive
                      results.ladder.rungs.6.verified=ON results.ladder.rungs.7.kind=house
                 JSON_HAS ${schema} results.ladder.rungs.6.gflop_per_s results.ladder.rungs.6.over_step_before
                          results.ladder.rungs.6.of_tessera_gemm)
tessera_app_test(gemm_ladder.check_only APP gemm_ladder OPTIONS ${tiny} --rounds 0 EXIT 0 JSON verified=ON)
tessera_app_test(gemm_ladder.no_inner APP gemm_ladder OPTIONS --m 5 --n 7 --k 0 EXIT 0 JSON verified=ON)
tessera_app_test(gemm_ladder.empty APP gemm_ladder OPTIONS --m 0 EXIT 0 JSON verified=ON)
tessera_app_test(gemm_ladder.two_steps APP gemm_ladder OPTIONS ${tiny} --rounds 0 --step padding --step naive EXIT 0
                 JSON verified=ON results.ladder.rungs.0.name=naive results.ladder.rungs.1.name=padding)
tessera_app_test(gemm_ladder.unknown_step APP gemm_ladder OPTIONS --step fastest EXIT 2 STDERR "fastest not in .naive,")
tessera_app_test(gemm_ladder.rounds APP gemm_ladder OPTIONS --rounds 2 EXIT 2 STDERR "--rounds.*a median wants 3 rounds")
tessera_app_test(gemm_ladder.too_large APP gemm_ladder OPTIONS --m 10000000 --n 10000000 EXIT 2
                 STDERR "needs .* TiB of memory.*Use smaller extents")
tessera_app_test(gemm_ladder.ranks APP gemm_ladder RANKS 2 OPTIONS ${tiny} EXIT 2 STDERR "2 ranks.*Start it without mpirun")
tessera_app_test(gemm_ladder.from APP gemm_ladder OPTIONS --from ${stored_ladder} EXIT 0
                 STDOUT "NVIDIA H200.*1 naive.*12 overlapped_epilogue.*verified")
tessera_app_test(gemm_ladder.plot APP gemm_ladder OPTIONS --from ${stored_ladder} --plot ladder_test.png EXIT 0)
tessera_app_test(gemm_ladder.from_nothing APP gemm_ladder OPTIONS --from no/such.json EXIT 2 STDERR "no/such.json.*not be opened")
tessera_app_test(gemm_ladder.from_other APP gemm_ladder OPTIONS --from "${CMAKE_CURRENT_LIST_FILE}" EXIT 2 STDERR "ladder.cmake.*not JSON")
tessera_app_test(gemm_ladder.from_bench APP gemm_ladder OPTIONS --from ${stored} EXIT 2 STDERR "another app.*gemm_ladder --json")
tessera_app_test(gemm_ladder.from_folder APP gemm_ladder OPTIONS --from "${CMAKE_CURRENT_LIST_DIR}" EXIT 2
                 STDERR "tests\" is a folder.*gemm_ladder --json")
tessera_app_test(gemm_ladder.from_none APP gemm_ladder OPTIONS --from= EXIT 2 STDERR "--from.*FILE")
tessera_app_test(gemm_ladder.from_and_m APP gemm_ladder OPTIONS --from ${stored_ladder} --m 5 EXIT 2
                 STDERR "--m does nothing beside --from. Leave one of the two out")
tessera_app_test(gemm_ladder.two_to_stdout APP gemm_ladder OPTIONS --from ${stored_ladder} --json - --markdown - EXIT 2
                 STDERR "--markdown - and --json -; standard output takes one of them.*--json FILE")
tessera_app_test(gemm_ladder.plot_to_stdout APP gemm_ladder OPTIONS --from ${stored_ladder} --plot - EXIT 2
                 STDERR "a picture does not go to standard output.*--plot FILE.png")
tessera_app_test(gemm_ladder.one_file APP gemm_ladder OPTIONS --from ${stored_ladder} --markdown a.out --plot ./a.out EXIT 2
                 STDERR "--markdown and --plot name one file, \"./a.out\"")
tessera_app_test(gemm_ladder.over_input APP gemm_ladder OPTIONS --from ${stored_ladder} --json ${stored_ladder} EXIT 2
                 STDERR "--json and --from name one file")
tessera_app_test(gemm_ladder.markdown_folder APP gemm_ladder OPTIONS --from ${stored_ladder} --markdown no/such/x.md EXIT 2
                 STDERR "no/such/x.md.*Make the folder")
file(READ "${stored_ladder}" document)
set(stored_steps "${PROJECT_SOURCE_DIR}/docs/results/gemm-ladder-h200-2026-12-01-8192.json")
tessera_app_test(gemm_ladder.from_steps APP gemm_ladder OPTIONS --from ${stored_steps} EXIT 0
                 JSON verified=ON parameters.m=8192 parameters.step.0=mma_sync results.ladder.rungs_asked_for=5)
string(JSON interrupted SET "${document}" interrupted true)
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/ladder_interrupted.json" "${interrupted}")
tessera_app_test(gemm_ladder.from_interrupted APP gemm_ladder
                 OPTIONS --from "${CMAKE_CURRENT_BINARY_DIR}/ladder_interrupted.json" EXIT 1
                 STDOUT "1 naive.*NOT VERIFIED: the run was interrupted.*FAILED verification")
if(TARGET tessera_app_gemm_ladder)
  # the page's tables are what its commands give
  add_test(NAME app.gemm_ladder.page COMMAND "${CMAKE_COMMAND}" -DBENCH=$<TARGET_FILE:tessera_app_gemm_ladder>
           -DROOT=${PROJECT_SOURCE_DIR} -DPAGE=docs/gemm-ladder.md "-DCALL=run gemm_ladder"
           -P "${CMAKE_CURRENT_LIST_DIR}/apps/bench_readme.cmake")
  set_tests_properties(app.gemm_ladder.page PROPERTIES ENVIRONMENT "${tessera_mpi_environment}" TIMEOUT 60 LABELS app)
endif()
