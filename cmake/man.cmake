# cmake -DPROGRAM=wardmote -DINTO=FILE -P man.cmake: keeps what `wardmote man` prints.
execute_process(COMMAND ${PROGRAM} man OUTPUT_FILE ${INTO} COMMAND_ERROR_IS_FATAL ANY)
