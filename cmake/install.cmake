# What `cmake --install` puts where. Two components: `wardmote`, the programs, and `libwardmote-dev`, the library.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(doc ${CMAKE_INSTALL_DATAROOTDIR}/doc/wardmote)
set(service_dir lib/systemd/system)

install(TARGETS wardmote wardmoted RUNTIME COMPONENT wardmote)
install(FILES packaging/systemd/wardmoted.service DESTINATION ${service_dir} COMPONENT wardmote)
install(FILES packaging/debian/sysusers DESTINATION lib/sysusers.d RENAME wardmote.conf COMPONENT wardmote)
install(FILES packaging/debian/tmpfiles DESTINATION lib/tmpfiles.d RENAME wardmote.conf COMPONENT wardmote)
install(FILES packaging/systemd/root-sockets.conf packaging/systemd/failover.conf DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/wardmote/systemd COMPONENT wardmote)
install(FILES README.md CHANGELOG.md DESTINATION ${doc} COMPONENT wardmote)
install(FILES packaging/wardmote.yaml DESTINATION ${doc}/examples COMPONENT wardmote)
install(DIRECTORY contrib/prometheus DESTINATION ${doc}/examples COMPONENT wardmote)
install(DIRECTORY packaging/kubernetes DESTINATION ${doc}/examples COMPONENT wardmote)
install(DIRECTORY packaging/runit packaging/s6 DESTINATION ${doc}/examples USE_SOURCE_PERMISSIONS COMPONENT wardmote)
install(DIRECTORY docs/ DESTINATION ${doc}/docs COMPONENT wardmote
        PATTERN evidence EXCLUDE)

# The resource agent is the command line under another name: as OVN's own (the package diverts the link of Debian's ovn-central), and
# under a name of ours, for who wants to see both.
set(agent ${PROJECT_BINARY_DIR}/packaging/ovndb-servers)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/packaging)
file(CREATE_LINK ../../../../bin/wardmote ${agent} SYMBOLIC)
foreach(provider ovn wardmote)
  install(FILES ${agent} DESTINATION lib/ocf/resource.d/${provider} COMPONENT wardmote)
endforeach()

# Completions and manual pages come from the programs themselves, so they cannot differ from them.
set(printed ${PROJECT_BINARY_DIR}/printed)
set(share ${CMAKE_INSTALL_DATAROOTDIR})
set(all_printed)
function(install_printed program file destination)    # ARGN: the arguments that make PROGRAM print FILE
  list(JOIN ARGN " " arguments)
  add_custom_command(OUTPUT ${printed}/${file} DEPENDS ${program} VERBATIM
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${program}> "-DARGUMENTS=${arguments}" -DINTO=${printed}/${file}
            -P ${PROJECT_SOURCE_DIR}/cmake/printed.cmake)
  install(FILES ${printed}/${file} DESTINATION ${destination} COMPONENT wardmote)
  set(all_printed ${all_printed} ${printed}/${file} PARENT_SCOPE)
endfunction()
install_printed(wardmote wardmote ${share}/bash-completion/completions completion bash)
install_printed(wardmote _wardmote ${share}/zsh/vendor-completions completion zsh)
install_printed(wardmote wardmote.fish ${share}/fish/vendor_completions.d completion fish)
install_printed(wardmote wardmote.1.gz ${share}/man/man1 man)
install_printed(wardmoted wardmoted.8.gz ${share}/man/man8 man)
add_custom_target(printed ALL DEPENDS ${all_printed})

# libwardmote: the codecs, the judging and the OVN client, for programs of others.
# net_tls is a part of net, and has its headers there.
set(library_rooms base codec judge runtime observe net net_tls)
foreach(room ${library_rooms})
  if(EXISTS ${PROJECT_SOURCE_DIR}/src/${room})
    install(DIRECTORY src/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/wardmote COMPONENT libwardmote-dev
            FILES_MATCHING PATTERN "*.h" PATTERN net/sqlite EXCLUDE PATTERN net/curl EXCLUDE PATTERN net/mbedtls EXCLUDE)
  endif()
  set_target_properties(wardmote_${room} PROPERTIES EXPORT_NAME ${room})
  install(TARGETS wardmote_${room} EXPORT wardmote ARCHIVE COMPONENT libwardmote-dev)
endforeach()
install(FILES cmake/compiler.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/wardmote COMPONENT libwardmote-dev)
install(CODE "execute_process(COMMAND ${CMAKE_COMMAND} -DHEADERS=\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/wardmote
        -P ${PROJECT_SOURCE_DIR}/cmake/library_headers.cmake COMMAND_ERROR_IS_FATAL ANY)" COMPONENT libwardmote-dev)
list(JOIN wardmote_use_definitions " -D" wardmote_definitions)
set(wardmote_definitions "-D${wardmote_definitions}")
foreach(pc wardmote wardmote-tls)
  configure_file(cmake/${pc}.pc.in ${PROJECT_BINARY_DIR}/${pc}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${pc}.pc DESTINATION lib/${CMAKE_LIBRARY_ARCHITECTURE}/pkgconfig COMPONENT libwardmote-dev)
endforeach()
install(TARGETS wardmote_use EXPORT wardmote)
set_target_properties(wardmote_use PROPERTIES EXPORT_NAME use)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/wardmote)
install(EXPORT wardmote NAMESPACE wardmote:: FILE wardmote-targets.cmake DESTINATION ${package_dir} COMPONENT libwardmote-dev)
configure_package_config_file(cmake/wardmote-config.cmake.in ${PROJECT_BINARY_DIR}/wardmote-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/wardmote-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/wardmote-config.cmake ${PROJECT_BINARY_DIR}/wardmote-config-version.cmake
        DESTINATION ${package_dir} COMPONENT libwardmote-dev)
install(DIRECTORY examples/library DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/libwardmote-dev/examples
        COMPONENT libwardmote-dev)
