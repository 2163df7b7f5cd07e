# SPDX-License-Identifier: Apache-2.0
# Program graphs with PyTorch Geometric and networkx, and with the published ProGraML.
if(TARGET Omen::cli AND TARGET loadbalance-llvm)
  foreach(peer pyg programl)
    add_test(NAME interop.graphs_${peer}
             COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/interop/graphs.sh" ${peer} $<TARGET_FILE:Omen::cli>
                     "${PROJECT_SOURCE_DIR}/build/python")
    set_tests_properties(interop.graphs_${peer} PROPERTIES LABELS "interop;loadbalance" TIMEOUT 600
      SKIP_RETURN_CODE 77)
  endforeach()
  # Slow for the wheels of PyTorch: over 5 GB.
  set_tests_properties(interop.graphs_pyg PROPERTIES LABELS "slow;interop;loadbalance" TIMEOUT 3600)
endif()
