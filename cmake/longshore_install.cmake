# What `cmake --install` leaves behind, so that find_package(longshore) works: targets, their dependencies, the version.
include(CMakePackageConfigHelpers)
set(LONGSHORE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/longshore)
install(EXPORT longshore NAMESPACE longshore:: DESTINATION ${LONGSHORE_PACKAGE_DIR} FILE longshore-targets.cmake)
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/longshore-config.cmake.in" "${PROJECT_BINARY_DIR}/longshore-config.cmake"
                              INSTALL_DESTINATION ${LONGSHORE_PACKAGE_DIR})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/longshore-config-version.cmake" COMPATIBILITY SameMinorVersion)
# Libraries that have no CMake package of their own are found again where Longshore is used.
install(FILES "${PROJECT_BINARY_DIR}/longshore-config.cmake" "${PROJECT_BINARY_DIR}/longshore-config-version.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/find_hwloc.cmake" "${PROJECT_SOURCE_DIR}/cmake/find_openshmem.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/find_ucx.cmake"
        DESTINATION ${LONGSHORE_PACKAGE_DIR})
