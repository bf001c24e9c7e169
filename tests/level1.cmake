# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
tessera_test(types LIBRARIES tessera::backends)
tessera_test(vec LIBRARIES tessera::core)
tessera_test(axpby LIBRARIES tessera::axpby tessera::scal)
tessera_test(reductions_level1 LIBRARIES tessera::dot tessera::nrm2 tessera::asum tessera::iamax)
tessera_test(transpose LIBRARIES tessera::transpose)
tessera_test(level1_calls LIBRARIES tessera::axpby tessera::scal tessera::dot tessera::nrm2 tessera::asum tessera::iamax
                                    tessera::transpose)

# the narrow floats against the toolkit's own, bit for bit on the device
if("Cuda" IN_LIST TESSERA_SPACES)
  add_executable(test_device_types_Cuda "${PROJECT_SOURCE_DIR}/backends/cuda/tests/device_types.cpp" $<TARGET_OBJECTS:test_main>)
  target_link_libraries(test_device_types_Cuda PRIVATE Catch2::Catch2 tessera::backends)
  tessera_kokkos_target(test_device_types_Cuda)
  add_test(NAME device_types.Cuda COMMAND test_device_types_Cuda)
endif()
