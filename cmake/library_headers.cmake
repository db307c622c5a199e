# cmake -DHEADERS=DIR -P library_headers.cmake: headers that programs include as <wardmote/…>. Inside the source tree they name each other
# from src/, which would be too common a name beside other libraries. Each also checks the compiler.
file(GLOB_RECURSE headers ${HEADERS}/*.h)
foreach(header ${headers})
  file(READ ${header} text)
  string(REGEX REPLACE "#include \"((base|codec|judge|runtime|observe|net)/[^\"]*)\"" "#include <wardmote/\\1>" text "${text}")
  if(NOT header MATCHES "/compiler\\.h$" AND NOT text MATCHES "wardmote/compiler\\.h")
    string(REPLACE "#pragma once\n" "#pragma once\n\n#include <wardmote/compiler.h>\n" text "${text}")
  endif()
  file(WRITE ${header} "${text}")
endforeach()
