# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# For every target whose sources include Kokkos or Tessera headers:
#
#   tessera_kokkos_target(my_solver)
#
# compiles and links it with the compiler of the Kokkos in use, which for CUDA is nvcc while CXX stays a host compiler.
# All other targets stay with CXX and CC and see no device flag. Installed with the package.
function(tessera_kokkos_target target)
  if(PROJECT_NAME STREQUAL "tessera")
    tessera_compile_options(${target})
  endif()
  # the project that adds Tessera by add_subdirectory does not see these of its find_package
  if(NOT Kokkos_CXX_COMPILER)
    set(Kokkos_CXX_COMPILER "${TESSERA_KOKKOS_CXX_COMPILER}")
    set(Kokkos_CXX_COMPILER_ID "${TESSERA_KOKKOS_CXX_COMPILER_ID}")
  endif()
  if("CUDA" IN_LIST TESSERA_KOKKOS_DEVICES AND Kokkos_CXX_COMPILER_ID STREQUAL "NVIDIA")
    tessera_redirect_to_nvcc(${target})
  elseif(TESSERA_KOKKOS_DEVICES MATCHES "CUDA|HIP" AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    kokkos_compilation(TARGET ${target})
  endif()
endfunction()

# kokkos_compilation's redirection breaks where a compiler launcher is set (it takes `ccache c++ ...` for a foreign
# command and runs the host compiler). Here the launcher moves behind the redirection:
# the target's commands run as `script c++ ...`, and the script runs `ccache nvcc_wrapper ...`.
function(tessera_redirect_to_nvcc target)
  if("${CMAKE_SOURCE_DIR}${CMAKE_BINARY_DIR}" MATCHES " ")
    message(FATAL_ERROR "Kokkos's nvcc_wrapper does not take file names with spaces, and this project is in\n"
                        "  ${CMAKE_SOURCE_DIR}, built in ${CMAKE_BINARY_DIR}.\n  Move it for CUDA builds.")
  endif()
  get_target_property(launcher ${target} CXX_COMPILER_LAUNCHER)
  if(NOT launcher)
    set(launcher env)
  endif()
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "")
  # in our own code, not in consumers', what nvcc only warns of and must not pass: a host function in device code
  # compiles, and then does nothing or fails at run time; ptxas's warnings are a serialised wgmma or an ignored register
  # cap. Not options of the target: ccache parts -Xcudafe from what follows it
  set(flags "")
  if(PROJECT_NAME STREQUAL "tessera")
    set(flags "-Xcudafe --diag_error=20011 -Xcudafe --diag_error=20013 -Xcudafe --diag_error=20014 -Xptxas --warning-as-error")
  endif()
  string(MAKE_C_IDENTIFIER "${PROJECT_NAME}-${launcher}" suffix)
  set(script "${CMAKE_BINARY_DIR}/tessera-nvcc-${suffix}")
  get_property(written GLOBAL PROPERTY TESSERA_NVCC_${suffix})
  if(NOT written)
    set_property(GLOBAL PROPERTY TESSERA_NVCC_${suffix} TRUE)
    find_program(Kokkos_NVCC_WRAPPER NAMES nvcc_wrapper HINTS "${Kokkos_DIR}/../../../bin" NO_DEFAULT_PATH REQUIRED)
    find_program(TESSERA_NVCC nvcc REQUIRED)
    execute_process(COMMAND "${TESSERA_NVCC}" --version OUTPUT_VARIABLE version ERROR_QUIET)
    string(SHA256 identity "${version} ${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_VERSION} ${flags}")
    list(JOIN launcher "' '" words)
    # nvcc_wrapper is a script: what decides the object is the nvcc and the host compiler behind it. And nvcc -E gives
    # the device's pass alone: by that text ccache would take a changed #if of host code for the same (so: DEPEND).
    file(CONFIGURE OUTPUT "${script}" @ONLY CONTENT [=[#!/bin/sh
# made by tessera_kokkos_target: runs a command of the C++ compiler with nvcc, any other as it stands
[ "$1" = '@CMAKE_CXX_COMPILER@' ] || exec "$@"
shift
export NVCC_WRAPPER_DEFAULT_COMPILER='@CMAKE_CXX_COMPILER@'
export NVCC_APPEND_FLAGS="@flags@ ${NVCC_APPEND_FLAGS:-}"
export CCACHE_DEPEND=1 CCACHE_COMPILERTYPE=nvcc CCACHE_COMPILERCHECK='string:@identity@'
exec '@words@' '@Kokkos_NVCC_WRAPPER@' "$@"
]=])
    file(CHMOD "${script}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE)
  endif()
  set_target_properties(${target} PROPERTIES RULE_LAUNCH_COMPILE "\"${script}\"" RULE_LAUNCH_LINK "\"${script}\"")
endfunction()
