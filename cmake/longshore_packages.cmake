# Debian packages: `cpack` in the folder of a build makes longshore-bench and liblongshore-dev, and
# with BUILD_SHARED_LIBS also the package of the shared libraries. The folder packaging/debian has
# the parts that cpack runs.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME longshore)
set(CPACK_PACKAGE_VENDOR "The Longshore authors")
set(CPACK_PACKAGE_CONTACT
    "The Longshore authors <longshore@packages.invalid>"
    CACHE STRING "The maintainer of the packages: NAME <ADDRESS>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_COMPONENTS_ALL longshore_development)
# The first line of a description is its summary. Debian wants lines of less than 80 columns.
set(LONGSHORE_PARTS
    "Longshore moves data between the ranks of a parallel program. It has many\n\
strategies for five patterns: stream, gather, halo, ghosts and sort. Ranks\n\
are threads, or processes over MPI, OpenSHMEM or UCX.")
set(CPACK_DEBIAN_LONGSHORE_DEVELOPMENT_PACKAGE_NAME liblongshore-dev)
set(CPACK_DEBIAN_LONGSHORE_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LONGSHORE_DEVELOPMENT_DESCRIPTION
    "communication patterns of parallel programs (development files)\n\
${LONGSHORE_PARTS}\n\n\
This package has the libraries and headers for C++ and C, the Fortran module,\n\
and the files for CMake and pkg-config.")
if(BUILD_SHARED_LIBS)
  list(APPEND CPACK_COMPONENTS_ALL longshore_runtime)
  set(CPACK_DEBIAN_LONGSHORE_RUNTIME_PACKAGE_NAME
      liblongshore${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}) # liblongshore.so has both
  set(CPACK_DEBIAN_LONGSHORE_RUNTIME_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_LONGSHORE_RUNTIME_PACKAGE_SHLIBDEPS ON)
  # By these files, other packages find the package of a shared library, and the loader finds its
  # files.
  set(runtime "${CPACK_DEBIAN_LONGSHORE_RUNTIME_PACKAGE_NAME} (>= ${PROJECT_VERSION})")
  set(major ${PROJECT_VERSION_MAJOR})
  set(shlibs "liblongshore ${major}.${PROJECT_VERSION_MINOR} ${runtime}\n")
  if(LONGSHORE_C)
    string(APPEND shlibs "liblongshore_c ${major} ${runtime}\n")
  endif()
  file(WRITE "${PROJECT_BINARY_DIR}/debian/shlibs" "${shlibs}")
  file(WRITE "${PROJECT_BINARY_DIR}/debian/triggers" "activate-noawait ldconfig\n")
  set(CPACK_DEBIAN_LONGSHORE_RUNTIME_PACKAGE_CONTROL_EXTRA
      "${PROJECT_BINARY_DIR}/debian/shlibs" "${PROJECT_BINARY_DIR}/debian/triggers")
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS # dpkg finds the libraries of this build there
      "${PROJECT_BINARY_DIR}/src/longshore" "${PROJECT_BINARY_DIR}/bindings/c")
  set(CPACK_DEBIAN_LONGSHORE_RUNTIME_DESCRIPTION
      "communication patterns of parallel programs (shared libraries)\n\
${LONGSHORE_PARTS}\n\n\
This package has the shared libraries, which programs need at run time.")
  get_property(modules GLOBAL PROPERTY longshore_modules)
  if(modules)
    list(APPEND CPACK_COMPONENTS_ALL longshore_modules)
    set(modules ${CPACK_DEBIAN_LONGSHORE_RUNTIME_PACKAGE_NAME}-modules)
    set(CPACK_DEBIAN_LONGSHORE_RUNTIME_PACKAGE_RECOMMENDS ${modules})
    set(CPACK_DEBIAN_LONGSHORE_MODULES_PACKAGE_NAME ${modules})
    set(CPACK_DEBIAN_LONGSHORE_MODULES_PACKAGE_SECTION libs)
    set(CPACK_DEBIAN_LONGSHORE_MODULES_PACKAGE_SHLIBDEPS ON)
    set(CPACK_DEBIAN_LONGSHORE_MODULES_DESCRIPTION
        "communication patterns of parallel programs (transports)\n\
${LONGSHORE_PARTS}\n\n\
This package has the transports over OpenSHMEM and UCX, the simulated machine,\n\
and the tasks of OpenMP and oneTBB. Programs load them when they need them.")
  endif()
endif()
if(LONGSHORE_BENCH)
  list(APPEND CPACK_COMPONENTS_ALL longshore_tools)
  set(CPACK_DEBIAN_LONGSHORE_TOOLS_PACKAGE_NAME longshore-bench)
  set(CPACK_DEBIAN_LONGSHORE_TOOLS_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_LONGSHORE_TOOLS_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_LONGSHORE_TOOLS_DESCRIPTION
      "measure communication patterns of parallel programs\n\
${LONGSHORE_PARTS}\n\n\
This package has longshore-bench, which measures and verifies all strategies.\n\
The study tool, which runs many measurements and compares them, is the Python\n\
package longshore-study.")
endif()

# cpack reads the first file before it makes the packages, and runs the second on the staged files.
set(LONGSHORE_DEBIAN_FOLDER "${PROJECT_SOURCE_DIR}/packaging/debian")
set(CPACK_PROJECT_CONFIG_FILE "${LONGSHORE_DEBIAN_FOLDER}/dependencies.cmake")
set(CPACK_PRE_BUILD_SCRIPTS "${LONGSHORE_DEBIAN_FOLDER}/complete_packages.cmake")

# Files of the libraries that programs need when they link Longshore. cpack asks dpkg for the
# package of each file.
set(CPACK_LONGSHORE_NEEDED_FILES "${fmt_DIR}/fmt-config.cmake")
if(LONGSHORE_MPI)
  list(TRANSFORM MPI_CXX_INCLUDE_DIRS APPEND /mpi.h OUTPUT_VARIABLE mpi_headers)
  list(APPEND CPACK_LONGSHORE_NEEDED_FILES ${mpi_headers})
endif()
if(LONGSHORE_SHMEM)
  list(APPEND CPACK_LONGSHORE_NEEDED_FILES "${LONGSHORE_OSHCC}")
endif()
if(LONGSHORE_UCX)
  list(APPEND CPACK_LONGSHORE_NEEDED_FILES "${LONGSHORE_UCX_INCLUDE}/ucp/api/ucp.h")
endif()
if(LONGSHORE_SIMULATED)
  list(APPEND CPACK_LONGSHORE_NEEDED_FILES "${LONGSHORE_BOOST_CONTEXT_LIBRARY}")
endif()
if(LONGSHORE_HWLOC)
  list(APPEND CPACK_LONGSHORE_NEEDED_FILES "${LONGSHORE_HWLOC_INCLUDE}/hwloc.h")
endif()
if(LONGSHORE_TBB)
  list(APPEND CPACK_LONGSHORE_NEEDED_FILES "${TBB_DIR}/TBBConfig.cmake")
endif()
set(CPACK_LONGSHORE_LAUNCHER "${MPIEXEC_EXECUTABLE}")
include(CPack)
