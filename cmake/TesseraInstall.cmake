# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A relocatable package: find_package(tessera), targets tessera::core, tessera::algorithms, tessera::<algorithm>.
if(NOT TESSERA_INSTALL)
  return()
endif()
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tessera")

get_target_property(algorithms tessera_algorithms INTERFACE_LINK_LIBRARIES)
list(FILTER algorithms INCLUDE REGEX "^tessera_")
install(TARGETS tessera_core tessera_problems tessera_backends tessera_algorithms ${algorithms} EXPORT tessera-targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
if(TARGET tessera_gemm_kernels)
  install(TARGETS tessera_gemm_kernels EXPORT tessera-targets)
  install(DIRECTORY backends/cuda/plain/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.cuh")
  install(DIRECTORY backends/cuda/gemm DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tessera/plain/cuda"
    FILES_MATCHING PATTERN "*.cuh" PATTERN "half_sm90a.hpp" PATTERN "half_sm80" EXCLUDE PATTERN "fp*_sm90a" EXCLUDE)
endif()
install(EXPORT tessera-targets NAMESPACE tessera:: DESTINATION "${package_dir}")
install(DIRECTORY core/include/tessera "${PROJECT_BINARY_DIR}/core/include/tessera" algorithms/include/tessera
                  backends/include/tessera
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")

configure_package_config_file(cmake/tessera-config.cmake.in "${PROJECT_BINARY_DIR}/tessera-config.cmake"
  INSTALL_DESTINATION "${package_dir}")
# before 1.0 a minor version may change the interface
write_basic_package_version_file("${PROJECT_BINARY_DIR}/tessera-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/tessera-config.cmake" "${PROJECT_BINARY_DIR}/tessera-config-version.cmake"
              cmake/TesseraKokkosTarget.cmake cmake/TesseraGemmEpilogue.cmake cmake/FindTesseraCBLAS.cmake
  DESTINATION "${package_dir}")
