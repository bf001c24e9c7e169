# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The Matrix Market reader and the cg app. Real matrices lie beside the checkout where the project is developed;
# tests that use them skip where they are absent.
set(TESSERA_DATA_FOLDER "${PROJECT_SOURCE_DIR}/../shared/data")

if(TESSERA_BUILD_APPS)
  tessera_test(matrix_market HOST_ONLY LIBRARIES tessera::matrix_market)
  foreach(space IN LISTS TESSERA_SPACES)
    if(TARGET test_matrix_market_${space})
      target_compile_definitions(test_matrix_market_${space}
        PRIVATE "TESSERA_DATA_FOLDER=\"${TESSERA_DATA_FOLDER}\""
                "TESSERA_FUZZ_CORPUS=\"${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus\"")
    endif()
  endforeach()
endif()

if(TESSERA_FUZZ)
  include("${CMAKE_CURRENT_SOURCE_DIR}/fuzz/fuzz.cmake")
endif()
