# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A functor of yours in the kernels of gemm for 16-bit floats on compute capability 9.0 (tessera/gemm/functor.hpp):
#
#   tessera_add_gemm_epilogue(my_solver clamp.cu)
#
# compiles clamp.cu as plain CUDA for exactly that chip, with the include directories of my_solver and no flag of Kokkos,
# and puts its object into my_solver. Where Tessera was built without CUDA it does nothing: the functor runs as a second
# pass there. It enables CMake's CUDA language, which may not be done in a function.
macro(tessera_add_gemm_epilogue target file)
  if(TARGET tessera::gemm_kernels)
    if(NOT "${CMAKE_CURRENT_FUNCTION}" STREQUAL "" AND NOT CMAKE_CUDA_COMPILE_OBJECT)
      message(FATAL_ERROR "tessera_add_gemm_epilogue(${target} ${file}) was called in a function, and CMake enables "
                          "languages only outside of one: call it in the CMakeLists.txt itself, or enable_language(CUDA) there.")
    endif()
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    tessera_gemm_epilogue_object("${target}" "${file}")
  endif()
endmacro()

function(tessera_gemm_epilogue_object target file)
  string(MAKE_C_IDENTIFIER "${target}_${file}" object)
  add_library(${object} OBJECT "${file}")
  set_target_properties(${object} PROPERTIES CUDA_ARCHITECTURES 90a-real CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON
                                             CUDA_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${object} PRIVATE tessera::gemm_kernels)
  target_include_directories(${object} PRIVATE "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  # a wgmma that is serialised (by a call that was not inlined) or an ignored register cap is a fault, not a warning
  target_compile_options(${object} PRIVATE -Xptxas --warning-as-error --expt-relaxed-constexpr)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${object}>)
  target_link_libraries(${target} PRIVATE CUDA::cudart_static)
endfunction()
