# Installs the files for find_package(longshore): targets, their dependencies, the version.
include(CMakePackageConfigHelpers)
set(LONGSHORE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/longshore)
install(EXPORT longshore NAMESPACE longshore:: DESTINATION ${LONGSHORE_PACKAGE_DIR}
        FILE longshore-targets.cmake COMPONENT longshore_development)
set(LONGSHORE_FORTRAN_COMPILER "") # the compiler of the installed module files
if(LONGSHORE_FORTRAN)
  install(EXPORT longshore_fortran NAMESPACE longshore:: DESTINATION ${LONGSHORE_PACKAGE_DIR}
          FILE longshore-fortran-targets.cmake COMPONENT longshore_development)
  longshore_fortran_compiler(LONGSHORE_FORTRAN_COMPILER)
endif()
# The components for find_package(longshore COMPONENTS ...): the layers and languages of this build,
# and those that other builds have.
get_property(LONGSHORE_BUILT_COMPONENTS GLOBAL PROPERTY longshore_components)
set(LONGSHORE_MISSING_COMPONENTS "")
foreach(component mpi shmem ucx simulated c cuda hip fortran)
  string(TOUPPER ${component} option)
  if(LONGSHORE_${option} OR (component STREQUAL fortran AND TARGET longshore_fortran_source))
    list(APPEND LONGSHORE_BUILT_COMPONENTS ${component})
  else()
    list(APPEND LONGSHORE_MISSING_COMPONENTS ${component})
  endif()
endforeach()
list(REMOVE_DUPLICATES LONGSHORE_BUILT_COMPONENTS)
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/longshore-config.cmake.in"
  "${PROJECT_BINARY_DIR}/longshore-config.cmake"
  INSTALL_DESTINATION ${LONGSHORE_PACKAGE_DIR} PATH_VARS LONGSHORE_FORTRAN_SOURCES)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/longshore-config-version.cmake"
                                 COMPATIBILITY SameMajorVersion)
# The find_*.cmake files search, in the user's project, for libraries without a CMake package.
install(FILES "${PROJECT_BINARY_DIR}/longshore-config.cmake"
              "${PROJECT_BINARY_DIR}/longshore-config-version.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/find_boost_context.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/find_hwloc.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/find_openshmem.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/find_ucx.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/fortran_module.cmake"
        DESTINATION ${LONGSHORE_PACKAGE_DIR} COMPONENT longshore_development)
include(longshore_pkgconfig)

# An environment module for MODULEPATH. It finds the installed tree relative to its own path.
configure_file("${PROJECT_SOURCE_DIR}/packaging/modulefile.in"
               "${PROJECT_BINARY_DIR}/longshore-modulefile" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/longshore-modulefile" RENAME ${PROJECT_VERSION}
        DESTINATION ${CMAKE_INSTALL_DATADIR}/modulefiles/longshore
        COMPONENT longshore_development)
