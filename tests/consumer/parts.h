/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once
#ifdef __cplusplus
double host_part_value();
extern "C" {
#endif
int c_part_size(void);
#ifdef __cplusplus
}
#endif
