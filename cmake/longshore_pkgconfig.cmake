# The pkg-config files longshore.pc (C++), longshore-c.pc and longshore-fortran.pc. The libraries to
# link come from the targets. The prefix is relative to the file, so an installed tree can be moved.

# Appends to LIBRARIES_OUT the linker arguments of `target` and of all targets that it links.
function(longshore_linker_arguments target libraries_out)
  set(arguments ${${libraries_out}})
  get_target_property(aliased ${target} ALIASED_TARGET)
  if(aliased)
    set(target ${aliased})
  endif()
  get_target_property(kind ${target} TYPE)
  if(kind STREQUAL "STATIC_LIBRARY" AND NOT "-l${target}" IN_LIST arguments)
    list(APPEND arguments -l${target})
  endif()
  set(linked)
  foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
    get_target_property(some ${target} ${property})
    if(some)
      list(APPEND linked ${some})
    endif()
  endforeach()
  foreach(library IN LISTS linked)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" library "${library}")
    string(REGEX REPLACE "^\\$<INSTALL_INTERFACE:(.*)>$" "\\1" library "${library}")
    if(library MATCHES "^\\$<|^::@|longshore_flags")
      # Generator expressions and flags are used only while building. CMake adds the words ::@(...),
      # which tell to which folder a target belongs.
      continue()
    elseif(library MATCHES "^longshore(_|::)")
      longshore_linker_arguments(${library} arguments)
    elseif(library STREQUAL "Threads::Threads")
      list(APPEND arguments -pthread)
    elseif(library STREQUAL "MPI::MPI_CXX")
      list(APPEND arguments ${MPI_CXX_LIBRARIES})
    elseif(library STREQUAL "OpenMP::OpenMP_CXX")
      # Link the OpenMP library by name: the compiler flag selects another library with another
      # compiler.
      foreach(name IN LISTS OpenMP_CXX_LIB_NAMES)
        list(APPEND arguments -l${name})
      endforeach()
    elseif(library MATCHES "^([A-Za-z]+)::([a-z]+)$") # fmt::fmt, TBB::tbb
      list(APPEND arguments -l${CMAKE_MATCH_2})
    elseif(library MATCHES "^[/-]")
      list(APPEND arguments ${library})
    else()
      list(APPEND arguments -l${library})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES arguments)
  set(${libraries_out} ${arguments} PARENT_SCOPE)
endfunction()

file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")

# longshore_pkgconfig(NAME DESCRIPTION CFLAGS LIBS [REQUIRES])
function(longshore_pkgconfig name description cflags libs)
  set(file "${PROJECT_BINARY_DIR}/${name}.pc")
  string(REPLACE ";" " " libs "${libs}")
  string(REPLACE ";" " " cflags "${cflags}")
  file(
    WRITE "${file}"
    "prefix=\${pcfiledir}/${to_prefix}
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}
includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}

Name: ${name}
Description: ${description}
Version: ${PROJECT_VERSION}
Requires: ${ARGN}
Cflags: ${cflags}
Libs: -L\${libdir} ${libs}
")
  install(FILES "${file}" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
          COMPONENT longshore_development)
endfunction()

set(mpi_includes)
if(LONGSHORE_MPI)
  list(TRANSFORM MPI_CXX_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE mpi_includes)
endif()
# A shared library names the libraries that it needs itself.
set(cxx_libraries -llongshore)
if(NOT BUILD_SHARED_LIBS)
  set(cxx_libraries)
  longshore_linker_arguments(longshore_longshore cxx_libraries)
  set(cxx_libraries -Wl,--as-needed,--gc-sections -Wl,--start-group ${cxx_libraries} -Wl,--end-group)
endif()
longshore_pkgconfig(longshore "Communication patterns of parallel programs"
                    "-I\${includedir};-std=c++20;${mpi_includes}"
                    "${cxx_libraries}")
if(LONGSHORE_C)
  set(c_libraries -llongshore_c)
  if(NOT BUILD_SHARED_LIBS)
    set(c_libraries)
    longshore_linker_arguments(longshore_c c_libraries)
    set(c_libraries -Wl,--as-needed,--gc-sections -Wl,--start-group ${c_libraries} -Wl,--end-group -lstdc++ -lm)
  endif()
  longshore_pkgconfig(longshore-c "Communication patterns of parallel programs, for C"
                      "-I\${includedir};${mpi_includes}"
                      "${c_libraries}")
  # For Fortran compilers that cannot read the module files of longshore-fortran.pc: they compile
  # this source, and link as C does.
  file(APPEND "${PROJECT_BINARY_DIR}/longshore-c.pc"
       "fortran_source=\${prefix}/${LONGSHORE_FORTRAN_SOURCES}/longshore.f90\n")
endif()
if(LONGSHORE_FORTRAN)
  set(recursive)
  if(CMAKE_Fortran_COMPILER_ID STREQUAL "GNU")
    set(recursive -frecursive)
  endif()
  longshore_pkgconfig(
    longshore-fortran "Communication patterns of parallel programs, for Fortran"
    "-I\${includedir}/longshore/fortran;${recursive}" -llongshore_fortran longshore-c)
endif()
