# Builds text files into a room as string_views: wardmote_embed(serve serve/embedded.h kPageHtml src/serve/page/index.html …).
# Several files behind one name become one text.
# At configure time rather than by #embed: g++ 14 has no #embed, and ccache does not see the files behind one.

function(wardmote_embed room header)
  string(CONCAT code "// Made by cmake/embed.cmake.\n#include \"${header}\"\n\nnamespace wardmote::${room} {\n")
  set(end "")
  foreach(argument ${ARGN})
    if(NOT argument MATCHES "/")
      string(APPEND code "${end}\nconst std::string_view ${argument} =")
      set(end ";\n")
      continue()
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${argument})
    file(READ ${PROJECT_SOURCE_DIR}/${argument} text)
    string(APPEND code "\n    R\"embedded(${text})embedded\"")
  endforeach()
  string(APPEND code "${end}")
  string(APPEND code "\n}  // namespace wardmote::${room}\n")
  set(made ${PROJECT_BINARY_DIR}/embedded/${room}.cc)
  file(CONFIGURE OUTPUT ${made} CONTENT "${code}" @ONLY)
  # The standard asks for 65,536 bytes of every compiler; ours take what memory there is.
  set_source_files_properties(${made} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
  target_sources(wardmote_${room} PRIVATE ${made})
endfunction()
