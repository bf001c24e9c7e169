# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The Matrix Market reader and the cg app. Real matrices lie beside the checkout where the project is developed;
# tests that use them skip where they are absent.
set(TESSERA_DATA_FOLDER "${PROJECT_SOURCE_DIR}/../shared/data")
list(GET TESSERA_SPACES 0 first_space)

if(TESSERA_BUILD_APPS)
  tessera_test(matrix_market HOST_ONLY LIBRARIES tessera::matrix_market)
  target_compile_definitions(test_matrix_market_${first_space}
    PRIVATE "TESSERA_DATA_FOLDER=\"${TESSERA_DATA_FOLDER}\""
            "TESSERA_FUZZ_CORPUS=\"${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus\"")

  # Apps run on Kokkos's default space, whichever that is: one program. Its parts on several ranks, too.
  tessera_test(cg HOST_ONLY LIBRARIES tessera::cg_solver)
  # more ranks than cores, as root in a container; each of them on one thread
  set(mpi_environment ${tessera_test_environment} OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
                      OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe)
  set(mpiexec "")
  if(TESSERA_ENABLE_MPI)
    set(mpiexec "${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG}")
    foreach(ranks 2 3 8)
      add_test(NAME "cg.ranks${ranks}" COMMAND "${MPIEXEC_EXECUTABLE}" "${MPIEXEC_NUMPROC_FLAG}" ${ranks}
                                               ${MPIEXEC_PREFLAGS} $<TARGET_FILE:test_cg_${first_space}>)
      set_tests_properties("cg.ranks${ranks}" PROPERTIES ENVIRONMENT "${mpi_environment}" TIMEOUT 120 PROCESSORS 2)
    endforeach()
  endif()

  # starts the app as a user does; no Kokkos and no MPI in the test itself
  add_executable(test_cg_app cg_app.cpp)
  target_compile_definitions(test_cg_app
    PRIVATE "TESSERA_CG=\"$<TARGET_FILE:tessera_app_cg>\"" "TESSERA_MPIEXEC=\"${mpiexec}\""
            "TESSERA_DATA_FOLDER=\"${TESSERA_DATA_FOLDER}\"")
  target_link_libraries(test_cg_app PRIVATE Catch2::Catch2WithMain nlohmann_json::nlohmann_json)
  tessera_compile_options(test_cg_app)
  add_dependencies(test_cg_app tessera_app_cg)
  add_test(NAME cg_app COMMAND test_cg_app)
  set_tests_properties(cg_app PROPERTIES ENVIRONMENT "${mpi_environment}" TIMEOUT 300 PROCESSORS 2)
endif()

if(TESSERA_FUZZ)
  include("${CMAKE_CURRENT_SOURCE_DIR}/fuzz/fuzz.cmake")
endif()
