# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A CBLAS, as TesseraCBLAS::TesseraCBLAS. The OpenMP build of OpenBLAS comes first: a second pool of spinning threads
# beside Kokkos's own halves both. Installed with the package, which links it on hosts.
find_path(TESSERA_CBLAS_INCLUDE_DIR NAMES cblas.h PATH_SUFFIXES openblas-openmp openblas)
find_library(TESSERA_CBLAS_LIBRARY NAMES openblas PATH_SUFFIXES openblas-openmp)
mark_as_advanced(TESSERA_CBLAS_INCLUDE_DIR TESSERA_CBLAS_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(TesseraCBLAS DEFAULT_MSG TESSERA_CBLAS_LIBRARY TESSERA_CBLAS_INCLUDE_DIR)
if(TesseraCBLAS_FOUND AND NOT TARGET TesseraCBLAS::TesseraCBLAS)
  add_library(TesseraCBLAS::TesseraCBLAS UNKNOWN IMPORTED)
  set_target_properties(TesseraCBLAS::TesseraCBLAS PROPERTIES
    IMPORTED_LOCATION "${TESSERA_CBLAS_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${TESSERA_CBLAS_INCLUDE_DIR}")
endif()
