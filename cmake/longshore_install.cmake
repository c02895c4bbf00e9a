# What `cmake --install` leaves behind, so that find_package(longshore) works: targets, their dependencies, the version.
include(CMakePackageConfigHelpers)
set(LONGSHORE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/longshore)
install(EXPORT longshore NAMESPACE longshore:: DESTINATION ${LONGSHORE_PACKAGE_DIR} FILE longshore-targets.cmake)
set(LONGSHORE_FORTRAN_COMPILER "") # whose module files are installed
if(LONGSHORE_FORTRAN)
  install(EXPORT longshore_fortran NAMESPACE longshore:: DESTINATION ${LONGSHORE_PACKAGE_DIR} FILE longshore-fortran-targets.cmake)
  longshore_fortran_compiler(LONGSHORE_FORTRAN_COMPILER)
endif()
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/longshore-config.cmake.in" "${PROJECT_BINARY_DIR}/longshore-config.cmake"
                              INSTALL_DESTINATION ${LONGSHORE_PACKAGE_DIR} PATH_VARS LONGSHORE_FORTRAN_SOURCES)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/longshore-config-version.cmake" COMPATIBILITY SameMinorVersion)
# Libraries that have no CMake package of their own are found again where Longshore is used.
install(FILES "${PROJECT_BINARY_DIR}/longshore-config.cmake" "${PROJECT_BINARY_DIR}/longshore-config-version.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/find_hwloc.cmake" "${PROJECT_SOURCE_DIR}/cmake/find_openshmem.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/find_ucx.cmake" "${PROJECT_SOURCE_DIR}/cmake/fortran_module.cmake"
        DESTINATION ${LONGSHORE_PACKAGE_DIR})
include(longshore_pkgconfig)

# An environment module that names the installed tree by its own place, for MODULEPATH.
configure_file("${PROJECT_SOURCE_DIR}/packaging/modulefile.in" "${PROJECT_BINARY_DIR}/longshore-modulefile" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/longshore-modulefile" DESTINATION ${CMAKE_INSTALL_DATADIR}/modulefiles/longshore RENAME ${PROJECT_VERSION})
