# The project's own tests. Each test_*.c in tests/harness, tests/simulator or tests/teach is a program linked with the code under
# test; make test-all also runs it with ASan and UBSan. tests/run lists the other tests and their order.

test:
	tests/run
# The same, with the tests that `make test` reports as skipped.
test-all:
	TEST_ALL=1 tests/run

# Test code itself is not optimized; the code under test is compiled as users run it.
build/objects/tests/%: CFLAGS += -O0

harness_tests   := $(patsubst %.c,%,$(wildcard tests/harness/test_*.c))
simulator_tests := $(patsubst %.c,%,$(wildcard tests/simulator/test_*.c))
teach_tests     := $(patsubst %.c,%,$(wildcard tests/teach/test_*.c))
test_programs   := $(harness_tests) $(simulator_tests) $(teach_tests)
# Objects shared by several tests of a folder.
shared_objects = $(patsubst %.c,%.o,$(filter-out $(wildcard $1/test_*.c),$(wildcard $1/*.c)))
harness_objects = $(patsubst %.c,%.o,$(wildcard common/*.c common/host/*.c common/operations/*.c)) $(call shared_objects,tests/harness)

$(harness_tests:%=build/%): build/%: build/objects/%.o $(harness_objects:%=build/objects/%)
	$(call link,,-lcmocka -lm)
$(harness_tests:%=build/sanitized/%): build/sanitized/%: build/sanitized/%.o $(harness_objects:%=build/sanitized/%)
	$(call link,$(SANITIZE),-lcmocka -lm)

simulator_test_objects = $(simulator_objects) $(call shared_objects,tests/simulator)
$(simulator_tests:%=build/%): build/%: build/objects/%.o $(simulator_test_objects:%=build/objects/%)
	$(call link,,-lcmocka -lzstd -ldl -lm)
$(simulator_tests:%=build/sanitized/%): build/sanitized/%: build/sanitized/%.o $(simulator_test_objects:%=build/sanitized/%)
	$(call link,$(SANITIZE),-lcmocka -lzstd -ldl -lm)

# The objects of build/bin/teach, to compile them only once.
teach_objects = $(patsubst %.c,%.o,$(filter-out teach/main.c,$(teach_sources)))
$(teach_tests:%=build/%): build/%: build/objects/%.o $(teach_objects:%=build/objects/plain/%)
	$(call link,,-lcmocka -lm)
$(teach_tests:%=build/sanitized/%): build/sanitized/%: build/sanitized/%.o $(teach_objects:%=build/sanitized/%)
	$(call link,$(SANITIZE),-lcmocka -lm)

# Limits the CPU time of a test.
build/tests/limit: build/objects/tests/limit.o
	$(call link)

# Skeletons generated from the solutions, independent of the learner's files. An unchanged skeleton is not rewritten, so that it
# is not compiled again.
skeletons := $(patsubst solutions/%,build/skeletons/%,$(solutions_with_blanks))
build/skeletons/%.cu: solutions/%.cu build/bin/teach
	mkdir -p $(@D)
	build/bin/teach skeleton $< >$@.$$$$ && { cmp -s $@.$$$$ $@ && rm $@.$$$$ || mv $@.$$$$ $@; }
# Kernels that run only on the simulator need no machine code.
build/kernels/build/right/% build/kernels/tests/dtypes/% build/kernels/build/dtypes/%: kernel_code = ptx
# A skeleton computes nothing: -O1 and PTX only take a quarter of the compile time.
build/kernels/build/skeletons/%: NVCCFLAGS += -Werror all-warnings -Xcicc -O1
build/kernels/build/skeletons/%: kernel_code = ptx

.PHONY: build/tests/all
build/tests/all: $(harness) build/bin/teach build/bin/post build/sql_text.so $(test_programs:%=build/%) $(if $(TEST_ALL),$(test_programs:%=build/sanitized/%)) \
    $(patsubst %.cu,build/kernels/%.so,$(wildcard solutions/*/*.cu baselines/*.cu) $(if $(TEST_ALL),$(skeletons)))

# libFuzzer needs an instrumented build by clang. -O0: optimization would triple the total time, since clang would take longer
# than the fuzzing.
FUZZED = clang $(CPPFLAGS) -std=c17 -O0 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
build/fuzz/%.o: %.c build/flags
	mkdir -p $(@D)
	$(FUZZED) -MMD -MP -MT $@ -MF $(@:.o=.d) -c $< -o $@.$$$$ && mv $@.$$$$ $@
build/fuzz/tensor_map: build/fuzz/simulator/runtime/tensor_map.o
build/fuzz/%: build/fuzz/tests/fuzz/fuzz_%.o $(patsubst %.c,build/fuzz/%.o,$(wildcard simulator/ptx/*.c simulator/fatbin/*.c))
	$(FUZZED) $(filter %.o,$^) -o $@.$$$$ -lzstd -lm && mv $@.$$$$ $@
