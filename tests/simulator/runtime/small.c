// The smallest program with a kernel, for tests of compiler options: test_runtime_other.cu with a main(). It prints the
// name of the error if its launch fails.
#include <cuda_runtime_api.h>
#include <stdio.h>

extern int answer_of_the_other_file(void);

int main(void) {
    if (answer_of_the_other_file() == 43)
        return 0;
    puts(cudaGetErrorName(cudaGetLastError()));
    return 1;
}
