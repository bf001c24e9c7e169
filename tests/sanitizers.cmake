# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Under a sanitizer, a program with one planted fault must be reported: else the other tests prove nothing.
foreach(kind IN ITEMS thread address)
  if(TESSERA_SANITIZE MATCHES "${kind}")
    add_executable(test_planted_${kind} sanitizers/planted_${kind}.cpp)
    target_link_libraries(test_planted_${kind} PRIVATE tessera::core)
    tessera_kokkos_target(test_planted_${kind})
    add_test(NAME "sanitizers.planted_${kind}" COMMAND test_planted_${kind})
    set_tests_properties("sanitizers.planted_${kind}" PROPERTIES LABELS house TIMEOUT 120
      ENVIRONMENT "${tessera_test_environment};OMP_NUM_THREADS=4" PASS_REGULAR_EXPRESSION "Sanitizer: (data race|heap-buffer-overflow)")
  endif()
endforeach()
