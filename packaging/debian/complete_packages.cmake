# cpack runs this file on the staged files of each package. Adds the licence and the changelogs that
# Debian wants in each package, compresses the manual page, and removes the environment module: it
# would add the folders of the system, which compilers search already, to CPATH.
cmake_minimum_required(VERSION 3.25)

set(repository "${CMAKE_CURRENT_LIST_DIR}/../..")
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # of SOURCE_DATE_EPOCH, if that is set
set(version "${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}")
file(READ "${repository}/LICENSE" licence)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER "${component}" upper)
  set(package "${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
  set(tree "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr")
  if(NOT IS_DIRECTORY "${tree}")
    message(FATAL_ERROR "The component ${component} of package ${package} has no file. Build the "
                        "target `all` first; install() names the component of each file.")
  endif()
  file(REMOVE_RECURSE "${tree}/share/modulefiles")
  set(documents "${tree}/share/doc/${package}")
  file(MAKE_DIRECTORY "${documents}")
  file(WRITE "${documents}/copyright" "${licence}")
  file(COPY_FILE "${repository}/CHANGELOG.md" "${documents}/changelog")
  file(WRITE "${documents}/changelog.Debian"
       "longshore (${version}) unstable; urgency=medium

  * The file changelog.gz lists the changes of this version.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  file(GLOB manual_pages "${tree}/share/man/man*/*")
  execute_process(
    COMMAND gzip -9n "${documents}/changelog" "${documents}/changelog.Debian" ${manual_pages}
    COMMAND_ERROR_IS_FATAL ANY)
endforeach()
