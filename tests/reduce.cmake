# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
tessera_test(reduce LIBRARIES tessera::reduce)
tessera_test(reduce_any_type LIBRARIES tessera::reduce)
tessera_test(portable_bits LIBRARIES tessera::reduce tessera::dot tessera::nrm2 tessera::asum)

# the same bits for any number of threads
if("OpenMP" IN_LIST TESSERA_SPACES)
  foreach(threads IN ITEMS 1 2 3 7)
    add_test(NAME "portable_bits.OpenMP.threads${threads}" COMMAND test_portable_bits_OpenMP)
    set_tests_properties("portable_bits.OpenMP.threads${threads}" PROPERTIES
      ENVIRONMENT "OMP_PROC_BIND=false;OMP_NUM_THREADS=${threads}" TIMEOUT 600)
  endforeach()
endif()
