# Finds OpenSHMEM by its compiler wrapper and makes the imported target longshore::openshmem, else
# sets LONGSHORE_SHMEM to OFF. This file is also installed, so that projects that link an installed
# Longshore find their own OpenSHMEM.
#
# With MPI, OpenSHMEM and MPI must come from the same library, because a program cannot link two.
# The options --showme:... of Open MPI's wrapper oshcc give the flags. Other wrappers need these
# options.
if(TARGET longshore::openshmem)
  return()
endif()
find_program(LONGSHORE_OSHCC NAMES oshcc HINTS ENV SHMEM_HOME PATH_SUFFIXES bin)
set(found OFF)
if(LONGSHORE_OSHCC)
  foreach(kind incdirs libdirs libs)
    execute_process(COMMAND ${LONGSHORE_OSHCC} --showme:${kind} OUTPUT_VARIABLE ${kind} ERROR_QUIET
                    RESULT_VARIABLE ${kind}_status OUTPUT_STRIP_TRAILING_WHITESPACE)
    separate_arguments(${kind} UNIX_COMMAND "${${kind}}")
  endforeach()
  if(incdirs_status EQUAL 0 AND incdirs)
    set(same_library ON)
    if(LONGSHORE_MPI)
      execute_process(COMMAND ${MPI_CXX_COMPILER} --showme:libdirs OUTPUT_VARIABLE mpi_libdirs
                      ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
      separate_arguments(mpi_libdirs UNIX_COMMAND "${mpi_libdirs}")
      if(NOT "${mpi_libdirs}" STREQUAL "${libdirs}")
        set(same_library OFF)
        message(STATUS "The OpenSHMEM of ${LONGSHORE_OSHCC} and the MPI of ${MPI_CXX_COMPILER} are "
                       "different libraries: the transport shmem is not built")
      endif()
    endif()
    if(same_library)
      add_library(longshore::openshmem INTERFACE IMPORTED GLOBAL)
      target_include_directories(longshore::openshmem SYSTEM INTERFACE ${incdirs})
      target_link_directories(longshore::openshmem INTERFACE ${libdirs})
      target_link_libraries(longshore::openshmem INTERFACE ${libs})
      find_program(LONGSHORE_OSHRUN NAMES oshrun HINTS ENV SHMEM_HOME PATH_SUFFIXES bin)
      if(NOT LONGSHORE_OSHRUN AND LONGSHORE_MPI)
        set(LONGSHORE_OSHRUN ${MPIEXEC_EXECUTABLE})
      endif()
      set(found ON)
    endif()
  endif()
endif()
if(NOT found)
  set(LONGSHORE_SHMEM OFF)
  if(NOT LONGSHORE_OSHCC)
    message(STATUS "OpenSHMEM (oshcc) was not found: the transport shmem is not built")
  endif()
endif()
