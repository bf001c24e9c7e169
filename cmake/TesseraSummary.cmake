# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# One screen at the end of a configure: what is built, with what, and every option with its value.
function(tessera_summary)
  if(NOT PROJECT_IS_TOP_LEVEL)
    message(STATUS "Tessera ${PROJECT_VERSION}: ${TESSERA_SPACES}, Kokkos ${Kokkos_VERSION} (${Kokkos_DIR})")
    return()
  endif()
  list(JOIN TESSERA_SPACES " " spaces)
  list(JOIN Kokkos_ARCH " " arch)
  set(mpi "off")
  if(TESSERA_ENABLE_MPI)
    set(mpi "${MPI_CXX_LIBRARY_VERSION_STRING}")
    string(REGEX REPLACE "\n.*" "" mpi "${mpi}")
    if(NOT mpi)
      set(mpi "MPI ${MPI_CXX_VERSION}, ${MPI_CXX_COMPILER}")
    endif()
  endif()
  set(cblas "none")
  if(TESSERA_HAVE_CBLAS)
    set(cblas "${TESSERA_CBLAS_LIBRARY}")
  endif()
  set(text "")
  foreach(row
      "compiler=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} (${CMAKE_CXX_COMPILER}) ${CMAKE_BUILD_TYPE}"
      "Kokkos=${Kokkos_VERSION} (${Kokkos_DIR})"
      "execution spaces=${spaces} ${arch}"
      "MPI=${mpi}"
      "CBLAS=${cblas}"
      "launcher=${CMAKE_CXX_COMPILER_LAUNCHER}")
    string(REGEX MATCH "^[^=]*" name "${row}")
    string(REGEX REPLACE "^[^=]*=" "" value "${row}")
    string(APPEND name "                              ")
    string(SUBSTRING "${name}" 0 24 name)
    string(APPEND text "\n  ${name}${value}")
  endforeach()
  string(APPEND text "\n  options (-D...)")
  foreach(name TESSERA_BACKEND TESSERA_GPU_ARCH TESSERA_HOST_ARCH TESSERA_ENABLE_MPI TESSERA_ENABLE_CBLAS
               TESSERA_BUILD_TESTS TESSERA_BUILD_APPS TESSERA_INSTALL TESSERA_FUZZ TESSERA_SANITIZE
               TESSERA_SPACES_ONLY TESSERA_BOUNDS_CHECK TESSERA_WERROR TESSERA_DOWNLOAD TESSERA_CACHE_DIR BUILD_SHARED_LIBS
               FETCHCONTENT_SOURCE_DIR_KOKKOS)
    set(label "${name}                              ")
    string(SUBSTRING "${label}" 0 32 label)
    string(APPEND text "\n    ${label}${${name}}")
  endforeach()
  message(STATUS "Tessera ${PROJECT_VERSION}${text}")
endfunction()
tessera_summary()
