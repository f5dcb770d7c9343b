// The second file of test_runtime_kernels.
#ifndef TEST_RUNTIME_OTHER_H
#define TEST_RUNTIME_OTHER_H

// What this file's own kernel reads from this file's own variable: 43. -1 where a call fails.
extern "C" int answer_of_the_other_file();

#endif
