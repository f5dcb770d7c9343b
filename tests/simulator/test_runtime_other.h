// The second file of test_runtime_kernels.
#ifndef TEST_RUNTIME_OTHER_H
#define TEST_RUNTIME_OTHER_H

// The value that a kernel of this file reads from a device variable of this file: 43; -1 if a call fails.
extern "C" int answer_of_the_other_file();

#endif
