# cmake -DFROM=FILE -DINTO=FILE -P gzip.cmake: without name and time, so that a package can be made again, byte for byte.
execute_process(COMMAND gzip -9nc ${FROM} OUTPUT_FILE ${INTO} COMMAND_ERROR_IS_FATAL ANY)
