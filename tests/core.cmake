# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
tessera_test(core LIBRARIES tessera::core tessera::backends)
tessera_test(core_views LIBRARIES tessera::core)
tessera_test(core_overlap HOST_ONLY LIBRARIES tessera::core)

# What shows only from outside a process: environment variables and the end of a program.
add_executable(test_core_probe core_probe.cpp)
target_link_libraries(test_core_probe PRIVATE tessera::core)
tessera_kokkos_target(test_core_probe)
# tessera_probe(name ARGUMENTS... [ENVIRONMENT a=b ...] PASS regex [FAIL regex])
function(tessera_probe name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PASS;FAIL" "ARGUMENTS;ENVIRONMENT")
  add_test(NAME "core_probe.${name}" COMMAND test_core_probe ${arg_ARGUMENTS})
  set_tests_properties("core_probe.${name}" PROPERTIES TIMEOUT 60 PASS_REGULAR_EXPRESSION "${arg_PASS}")
  if(arg_FAIL)
    set_tests_properties("core_probe.${name}" PROPERTIES FAIL_REGULAR_EXPRESSION "${arg_FAIL}")
  endif()
  if(arg_ENVIRONMENT)
    set_tests_properties("core_probe.${name}" PROPERTIES ENVIRONMENT "${arg_ENVIRONMENT}")
  endif()
endfunction()
tessera_probe(log_topic ARGUMENTS log ENVIRONMENT "TESSERA_LOG=timings,paths"
  PASS "tessera.paths. a line about paths" FAIL "a line about devices|devices is on")
tessera_probe(log_all ARGUMENTS log ENVIRONMENT "TESSERA_LOG=all" PASS "tessera.devices. a line about devices")
tessera_probe(log_silent ARGUMENTS log ENVIRONMENT "TESSERA_LOG=" PASS "paths is off\ndevices is off\n$" FAIL "a line about")
tessera_probe(notice_once ARGUMENTS notice PASS "^tessera: notice: a slower way was taken\ntessera: notice: another one\n$")
tessera_probe(stopped_at_start ARGUMENTS late
  PASS "stopped: probe: a device of another kind; the kind built for. Rebuild. .*Kokkos was not started")
tessera_probe(lifetime ARGUMENTS run --kokkos-num-threads=1
  PASS "before: .*before Kokkos started.*arguments left: 2\n(.*\n)?handle destroyed while Kokkos runs\nafter: .*after Kokkos ended.*\nKokkos stays ended"
  FAIL "region +calls|is gone|accepted")
tessera_probe(devices ARGUMENTS run ENVIRONMENT "TESSERA_LOG=devices"
  PASS "tessera.devices. Tessera [0-9.]+ over Kokkos.*tessera.devices. .* cores, architecture .*, built for ")
tessera_probe(timings ARGUMENTS run ENVIRONMENT "TESSERA_TIMINGS=1" PASS "region +calls.*\ntessera::probe +1 ")
