# cmake -DPROGRAM=wardmote -DSHELL=bash -DINTO=FILE -P completion.cmake: keeps what `wardmote completion SHELL` prints.
execute_process(COMMAND ${PROGRAM} completion ${SHELL} OUTPUT_FILE ${INTO} COMMAND_ERROR_IS_FATAL ANY)
