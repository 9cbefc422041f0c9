# That it measures at all, in a folder that is empty before.
file(REMOVE_RECURSE ${FOLDER})
execute_process(COMMAND ${PROGRAM} ${FOLDER} 500 3 COMMAND_ERROR_IS_FATAL ANY)
