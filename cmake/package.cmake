# Debian packages: ./dev package.

set(WARDMOTE_MAINTAINER "Wardmote maintainers <wardmote@users.noreply.github.com>" CACHE STRING "Who stands behind the packages")

if(DEFINED ENV{SOURCE_DATE_EPOCH})
  string(TIMESTAMP packaged_on "%a, %d %b %Y %H:%M:%S +0000" UTC)
else()
  string(TIMESTAMP packaged_on "%a, %d %b %Y 00:00:00 +0000" UTC)
endif()
configure_file(packaging/debian/changelog.in ${PROJECT_BINARY_DIR}/packaging/changelog @ONLY)
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/packaging/changelog.gz DEPENDS ${PROJECT_BINARY_DIR}/packaging/changelog VERBATIM
  COMMAND ${CMAKE_COMMAND} -DFROM=${PROJECT_BINARY_DIR}/packaging/changelog -DINTO=${PROJECT_BINARY_DIR}/packaging/changelog.gz
          -P ${PROJECT_SOURCE_DIR}/cmake/gzip.cmake)
add_custom_target(packaging ALL DEPENDS ${PROJECT_BINARY_DIR}/packaging/changelog.gz)
foreach(package wardmote libwardmote-dev)
  install(FILES packaging/debian/copyright ${PROJECT_BINARY_DIR}/packaging/changelog.gz
          DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${package} COMPONENT ${package})
endforeach()
install(FILES packaging/debian/lintian-overrides DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/lintian/overrides RENAME wardmote
        COMPONENT wardmote)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME wardmote)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "${WARDMOTE_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
# tools/deb.py strips, and keeps the symbols in a package of their own.
set(CPACK_STRIP_FILES OFF)
set(CPACK_OUTPUT_FILE_PREFIX ${PROJECT_BINARY_DIR}/debs)
set(CPACK_DEB_COMPONENT_INSTALL ON)
# tools/deb.py packs again.
set(CPACK_DEBIAN_COMPRESSION_TYPE none)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_COMPONENTS_ALL wardmote libwardmote-dev)

set(CPACK_DEBIAN_WARDMOTE_PACKAGE_NAME wardmote)
set(CPACK_DEBIAN_WARDMOTE_PACKAGE_SECTION net)
set(CPACK_DEBIAN_WARDMOTE_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_WARDMOTE_PACKAGE_DEPENDS
    "systemd-standalone-sysusers | systemd-sysusers, systemd-standalone-tmpfiles | systemd-tmpfiles")
set(CPACK_DEBIAN_WARDMOTE_PACKAGE_RECOMMENDS tzdata)
set(CPACK_DEBIAN_WARDMOTE_DESCRIPTION "health and failover agent for control planes
Asks every member of OVN raft clusters, routing daemons and services for its
own view, compares what they say about each other, names what is wrong with
evidence, and answers liveness and readiness from memory.")
set(CPACK_DEBIAN_WARDMOTE_PACKAGE_CONTROL_EXTRA
    "${PROJECT_SOURCE_DIR}/packaging/debian/preinst;${PROJECT_SOURCE_DIR}/packaging/debian/postinst;${PROJECT_SOURCE_DIR}/packaging/debian/prerm;${PROJECT_SOURCE_DIR}/packaging/debian/postrm")

set(CPACK_DEBIAN_LIBWARDMOTE-DEV_PACKAGE_NAME libwardmote-dev)
set(CPACK_DEBIAN_LIBWARDMOTE-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBWARDMOTE-DEV_PACKAGE_DEPENDS "libboost1.81-dev, libboost-json1.81-dev, libfmt-dev, libssl-dev, nettle-dev, libnghttp2-dev, libpugixml-dev")
set(CPACK_DEBIAN_LIBWARDMOTE-DEV_DESCRIPTION "codecs, judging and OVN client of Wardmote
Parses OVSDB and cluster/status, compares what the members of a raft cluster
say about each other, and asks OVN database servers. Static libraries with
their C++23 headers and a CMake package.")

include(CPack)
