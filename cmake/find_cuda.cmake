# Finds a compiler of CUDA 12.8 or later, for the driver of GPUs. Sets LONGSHORE_CUDA to ON or OFF,
# and LONGSHORE_CUDART to the static run-time library. The compiler may come from PyPI:
# -DCMAKE_CUDA_COMPILER=<environment>/lib/python3.x/site-packages/nvidia/cu13/bin/nvcc
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES all-major)
endif()
include(CheckLanguage)
check_language(CUDA)
set(longshore_cuda_problem "")
if(NOT CMAKE_CUDA_COMPILER)
  set(longshore_cuda_problem
      "no compiler of CUDA was found: put nvcc into PATH, or set CMAKE_CUDA_COMPILER")
else()
  enable_language(CUDA)
  find_library(LONGSHORE_CUDART NAMES libcudart_static.a
               HINTS ${CMAKE_CUDA_IMPLICIT_LINK_DIRECTORIES})
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.8)
    set(longshore_cuda_problem
        "CUDA ${CMAKE_CUDA_COMPILER_VERSION} is too old: Longshore needs 12.8 or later")
  elseif(NOT LONGSHORE_CUDART)
    set(longshore_cuda_problem "libcudart_static.a was not found beside ${CMAKE_CUDA_COMPILER}")
  endif()
endif()
if(NOT longshore_cuda_problem)
  set(LONGSHORE_CUDA ON)
elseif(LONGSHORE_CUDA STREQUAL "AUTO")
  message(STATUS "${longshore_cuda_problem}: the driver of GPUs is not built")
  set(LONGSHORE_CUDA OFF)
else()
  message(FATAL_ERROR "LONGSHORE_CUDA=ON: ${longshore_cuda_problem}")
endif()
