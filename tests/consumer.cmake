# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A project of a user's, with host-only and C targets beside Tessera's: from the installed package, moved to another
# folder first, and by add_subdirectory. The first installs the whole build, so that everything must be built.
if(TESSERA_INSTALL AND NOT TESSERA_SANITIZE)
  foreach(way IN ITEMS installed subdirectory)
    add_test(NAME "consumer.${way}"
      COMMAND "${CMAKE_COMMAND}" "-DWAY=${way}" "-DTESSERA=${PROJECT_SOURCE_DIR}" "-DBUILD=${PROJECT_BINARY_DIR}"
              "-DWORK=${CMAKE_CURRENT_BINARY_DIR}/consumer ${way}" "-DGENERATOR=${CMAKE_GENERATOR}"
              "-DMAKE_PROGRAM=${CMAKE_MAKE_PROGRAM}" "-DCXX=${CMAKE_CXX_COMPILER}" "-DCXX_ID=${CMAKE_CXX_COMPILER_ID}"
              "-DLAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}" "-DBUILD_TYPE=${CMAKE_BUILD_TYPE}" "-DKOKKOS=${Kokkos_DIR}"
              "-DSPACES=${TESSERA_SPACES}" "-DHOST_ARCH=${TESSERA_HOST_ARCH}" "-DMPI=${TESSERA_ENABLE_MPI}"
              "-DCBLAS=${TESSERA_ENABLE_CBLAS}" -P "${CMAKE_CURRENT_SOURCE_DIR}/consumer/run.cmake")
    set_tests_properties("consumer.${way}" PROPERTIES LABELS consumer TIMEOUT 1800 RESOURCE_LOCK consumer
                         ENVIRONMENT "${tessera_test_environment};OMP_NUM_THREADS=2")
  endforeach()
endif()
