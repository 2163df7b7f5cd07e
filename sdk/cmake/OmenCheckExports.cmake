# SPDX-License-Identifier: Apache-2.0
# Fails unless LIBRARY defines exactly one dynamic symbol, omen_plugin_entry (run with cmake -P).
# GNU ld also lists local symbols that a linked library has as unique ones; -g leaves them out.
execute_process(COMMAND "${NM}" -D -g --defined-only -P "${LIBRARY}"
                OUTPUT_VARIABLE output RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "nm failed on ${LIBRARY}")
endif()
string(REGEX MATCHALL "[^\n]+" lines "${output}")
list(TRANSFORM lines REPLACE "[ @].*" "")
if(NOT lines STREQUAL "omen_plugin_entry")
  message(FATAL_ERROR "${LIBRARY} exports '${lines}'; allowed: omen_plugin_entry")
endif()
message("exports omen_plugin_entry only")
