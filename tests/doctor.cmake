# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
if(TARGET tessera_app_doctor)
  list(GET TESSERA_SPACES 0 first_space)
  tessera_test(doctor HOST_ONLY LIBRARIES tessera::core SOURCES "${PROJECT_SOURCE_DIR}/apps/doctor/advice.cpp")
  target_include_directories(test_doctor_${first_space} PRIVATE "${PROJECT_SOURCE_DIR}/apps")
  add_test(NAME doctor_app COMMAND tessera_app_doctor --json -)
  set_tests_properties(doctor_app PROPERTIES ENVIRONMENT "${tessera_test_environment}" TIMEOUT 120
    PASS_REGULAR_EXPRESSION "\"verified\": true" FAIL_REGULAR_EXPRESSION "WRONG")
endif()
