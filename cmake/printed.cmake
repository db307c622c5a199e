# cmake -DPROGRAM=wardmote -DARGUMENTS="completion bash" -DINTO=FILE -P printed.cmake: keeps what the program prints; packed when
# FILE ends in .gz, without name and time, so that a package can be made again, byte for byte.
separate_arguments(ARGUMENTS)
set(pipe COMMAND ${PROGRAM} ${ARGUMENTS})
if(INTO MATCHES "\\.gz$")
  list(APPEND pipe COMMAND gzip -9nc)
endif()
execute_process(${pipe} OUTPUT_FILE ${INTO} COMMAND_ERROR_IS_FATAL ANY)
