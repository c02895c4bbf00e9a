# cpack reads this file before it makes the packages. Sets the packages that liblongshore-dev and
# longshore-bench depend on, beside the shared libraries that dpkg-shlibdeps finds.
cmake_minimum_required(VERSION 3.25)

# The packages have descriptions of their own, which begin with a summary.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")

# Sets `result` to the Debian package of `file`, with its version as the least one. A package of
# Longshore cannot depend on a library that is in no Debian package.
function(longshore_debian_package file result)
  # A link belongs to the package for development, and may lead to a file of the shared library. No
  # package owns a link of update-alternatives; its file has an owner.
  file(REAL_PATH "${file}" real_file)
  foreach(name IN ITEMS "${file}" "${real_file}")
    # Debian has /lib as a link to /usr/lib; dpkg knows a file by one of both names.
    string(REGEX REPLACE "^/usr(/s?bin/|/lib)" "\\1" other_name "${name}")
    execute_process(COMMAND dpkg-query --search "${name}" "${other_name}" OUTPUT_VARIABLE owners
                    ERROR_QUIET)
    if(owners)
      break()
    endif()
  endforeach()
  if(NOT owners MATCHES "^([a-z0-9+.-]+)[:,]")
    message(FATAL_ERROR
            "Longshore was built with ${file}, which belongs to no Debian package, so a Debian "
            "package of Longshore cannot depend on it. Install the library by apt-get, or build "
            "without it (docs/guides/installing.md lists the options), and run cpack again.")
  endif()
  set(package ${CMAKE_MATCH_1})
  execute_process(COMMAND dpkg-query --show --showformat=\${Version} ${package}
                  OUTPUT_VARIABLE version COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "-[^-]*$" "" version "${version}") # without Debian's revision
  set(${result} "${package} (>= ${version})" PARENT_SCOPE)
endfunction()

set(needed)
foreach(file IN LISTS CPACK_LONGSHORE_NEEDED_FILES)
  # Only one of the folders of MPI's headers has mpi.h.
  if(file MATCHES "/mpi\\.h$" AND NOT EXISTS "${file}")
    continue()
  endif()
  longshore_debian_package("${file}" package)
  list(APPEND needed "${package}")
endforeach()
if("longshore_runtime" IN_LIST CPACK_COMPONENTS_ALL)
  set(runtime "${CPACK_DEBIAN_LONGSHORE_RUNTIME_PACKAGE_NAME}")
  string(APPEND runtime " (= ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
  list(APPEND needed "${runtime}")
  set(CPACK_DEBIAN_LONGSHORE_TOOLS_PACKAGE_DEPENDS "${runtime}")
  set(CPACK_DEBIAN_LONGSHORE_MODULES_PACKAGE_DEPENDS "${runtime}")
endif()
list(REMOVE_DUPLICATES needed)
list(SORT needed)
list(JOIN needed ", " CPACK_DEBIAN_LONGSHORE_DEVELOPMENT_PACKAGE_DEPENDS)
if(CPACK_LONGSHORE_LAUNCHER)
  longshore_debian_package("${CPACK_LONGSHORE_LAUNCHER}" launcher)
  set(CPACK_DEBIAN_LONGSHORE_TOOLS_PACKAGE_RECOMMENDS "${launcher}")
endif()
