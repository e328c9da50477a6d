/* Tests of the PTX interpreter. Without arguments: every instruction against its oracle, and
 * planted bugs. Each argument is a PTX file made from kernels/samples.cu by one of the compilers;
 * `--speed FILE` only measures. */
#include "vptx_host.h"

int main(int argc, char **argv)
{
    int failures;
    if (argc == 3 && strcmp(argv[1], "--speed") == 0)
        return test_vptx_speed(argv[2]);
    failures = test_vptx_ops() + test_vptx_warp() + test_vptx_faults();
    for (int i = 1; i < argc; i++)
        failures += test_vptx_samples(argv[i]);
    return failures ? 1 : 0;
}
