# pkg-config files: longshore.pc for C++, longshore-c.pc, longshore-fortran.pc. What is to be linked is asked of the targets, and the prefix is
# found from where the file lies, so that an installed tree can be moved.

# Appends to LIBRARIES_OUT what `target` and all below it link: -l for our own, the words of the linker for others.
function(longshore_link_words target libraries_out)
  set(words ${${libraries_out}})
  get_target_property(aliased ${target} ALIASED_TARGET)
  if(aliased)
    set(target ${aliased})
  endif()
  get_target_property(kind ${target} TYPE)
  if(kind STREQUAL "STATIC_LIBRARY" AND NOT "-l${target}" IN_LIST words)
    list(APPEND words -l${target})
  endif()
  set(below)
  foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
    get_target_property(some ${target} ${property})
    if(some)
      list(APPEND below ${some})
    endif()
  endforeach()
  foreach(library IN LISTS below)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" library "${library}")
    string(REGEX REPLACE "^\\$<INSTALL_INTERFACE:(.*)>$" "\\1" library "${library}")
    if(library MATCHES "^\\$<|^::@|longshore_flags")
      continue() # of the build alone
    elseif(library MATCHES "^longshore(_|::)")
      longshore_link_words(${library} words)
    elseif(library STREQUAL "Threads::Threads")
      list(APPEND words -pthread)
    elseif(library STREQUAL "MPI::MPI_CXX")
      list(APPEND words ${MPI_CXX_LIBRARIES})
    elseif(library STREQUAL "OpenMP::OpenMP_CXX")
      # By name: what asks for OpenMP is the library alone, and the flag of one compiler means another library to the next.
      foreach(name IN LISTS OpenMP_CXX_LIB_NAMES)
        list(APPEND words -l${name})
      endforeach()
    elseif(library MATCHES "^([A-Za-z]+)::([a-z]+)$") # fmt::fmt, TBB::tbb
      list(APPEND words -l${CMAKE_MATCH_2})
    elseif(library MATCHES "^[/-]")
      list(APPEND words ${library})
    else()
      list(APPEND words -l${library})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES words)
  set(${libraries_out} ${words} PARENT_SCOPE)
endfunction()

file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")

# longshore_pkgconfig(NAME WHAT CFLAGS LIBS [REQUIRES])
function(longshore_pkgconfig name what cflags libs)
  set(file "${PROJECT_BINARY_DIR}/${name}.pc")
  string(REPLACE ";" " " libs "${libs}")
  string(REPLACE ";" " " cflags "${cflags}")
  file(
    WRITE "${file}"
    "prefix=\${pcfiledir}/${to_prefix}
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}
includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}

Name: ${name}
Description: ${what}
Version: ${PROJECT_VERSION}
Requires: ${ARGN}
Cflags: ${cflags}
Libs: -L\${libdir} ${libs}
")
  install(FILES "${file}" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

set(of_mpi)
if(LONGSHORE_MPI)
  list(TRANSFORM MPI_CXX_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE of_mpi)
endif()
set(cxx_libraries)
longshore_link_words(longshore_longshore cxx_libraries)
longshore_pkgconfig(longshore "Communication patterns of parallel programs" "-I\${includedir};-std=c++20;${of_mpi}"
                    "-Wl,--start-group;${cxx_libraries};-Wl,--end-group")
if(LONGSHORE_C)
  set(c_libraries)
  longshore_link_words(longshore_c c_libraries)
  longshore_pkgconfig(longshore-c "Communication patterns of parallel programs, for C" "-I\${includedir};${of_mpi}"
                      "-Wl,--start-group;${c_libraries};-Wl,--end-group;-lstdc++;-lm")
  # For a Fortran compiler whose module files are not those of longshore-fortran.pc: it compiles the module, and links as C does.
  file(APPEND "${PROJECT_BINARY_DIR}/longshore-c.pc" "fortran_source=\${prefix}/${LONGSHORE_FORTRAN_SOURCES}/longshore.f90\n")
endif()
if(LONGSHORE_FORTRAN)
  set(recursive)
  if(CMAKE_Fortran_COMPILER_ID STREQUAL "GNU")
    set(recursive -frecursive)
  endif()
  longshore_pkgconfig(longshore-fortran "Communication patterns of parallel programs, for Fortran"
                      "-I\${includedir}/longshore/fortran;${recursive}" -llongshore_fortran longshore-c)
endif()
