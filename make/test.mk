# The project's own tests. A file test_*.c in tests/harness, tests/simulator or tests/teach is a program, linked with what it
# tests; it is run as it is and, by make test-all, with ASan and UBSan. What else is run, and in which order, says tests/run.

test:
	tests/run
# The same, and what `make test` says that it leaves out.
test-all:
	TEST_ALL=1 tests/run

# What a test does itself takes no time; what it tests is compiled as people run it.
build/objects/tests/%: CFLAGS += -O0

harness_tests   := $(patsubst %.c,%,$(wildcard tests/harness/test_*.c))
simulator_tests := $(patsubst %.c,%,$(wildcard tests/simulator/test_*.c))
teach_tests     := $(patsubst %.c,%,$(wildcard tests/teach/test_*.c))
test_programs   := $(harness_tests) $(simulator_tests) $(teach_tests)
# What several tests of a folder share.
shared = $(patsubst %.c,%.o,$(filter-out $(wildcard $1/test_*.c),$(wildcard $1/*.c)))
tested = $(patsubst %.c,%.o,$(wildcard common/*.c common/host/*.c common/operations/*.c)) $(call shared,tests/harness)

$(harness_tests:%=build/%): build/%: build/objects/%.o $(tested:%=build/objects/%)
	$(call link,,-lcmocka -lm)
$(harness_tests:%=build/sanitized/%): build/sanitized/%: build/sanitized/%.o $(tested:%=build/sanitized/%)
	$(call link,$(SANITIZE),-lcmocka -lm)

simulated = $(simulator_objects) $(call shared,tests/simulator)
$(simulator_tests:%=build/%): build/%: build/objects/%.o $(simulated:%=build/objects/%)
	$(call link,,-lcmocka -lzstd -ldl -lm)
$(simulator_tests:%=build/sanitized/%): build/sanitized/%: build/sanitized/%.o $(simulated:%=build/sanitized/%)
	$(call link,$(SANITIZE),-lcmocka -lzstd -ldl -lm)

# The objects of build/bin/teach, so that they are compiled once.
taught_objects = $(patsubst %.c,%.o,$(filter-out teach/main.c,$(teach_sources)))
$(teach_tests:%=build/%): build/%: build/objects/%.o $(taught_objects:%=build/objects/plain/%)
	$(call link,,-lcmocka -lm)
$(teach_tests:%=build/sanitized/%): build/sanitized/%: build/sanitized/%.o $(taught_objects:%=build/sanitized/%)
	$(call link,$(SANITIZE),-lcmocka -lm)

# What gives a test its limit of CPU time.
build/tests/limit: build/objects/tests/limit.o
	$(call link)

# Skeletons as they come from the solutions; a learner's own files are not looked at. One that comes out as it was is left alone,
# so that it is not compiled again.
skeletons := $(patsubst solutions/%,build/skeletons/%,$(blanked))
build/skeletons/%.cu: solutions/%.cu build/bin/teach
	mkdir -p $(@D)
	build/bin/teach skeleton $< >$@.$$$$ && { cmp -s $@.$$$$ $@ && rm $@.$$$$ || mv $@.$$$$ $@; }
# What runs on the simulator alone needs no machine code.
build/kernels/build/right/% build/kernels/tests/dtypes/% build/kernels/build/dtypes/%: kernel_code = ptx
# A skeleton computes nothing: it is compiled for the simulator alone, and less optimised, which takes a quarter of the time.
build/kernels/build/skeletons/%: NVCCFLAGS += -Werror all-warnings -Xcicc -O1
build/kernels/build/skeletons/%: kernel_code = ptx

.PHONY: build/tests/all
build/tests/all: $(harness) build/bin/teach build/bin/post build/sql_text.so $(test_programs:%=build/%) $(if $(TEST_ALL),$(test_programs:%=build/sanitized/%)) \
    $(patsubst %.cu,build/kernels/%.so,$(wildcard solutions/*/*.cu baselines/*.cu) $(if $(TEST_ALL),$(skeletons)))

# libFuzzer wants its own build of what it exercises, by clang. Optimised it tries more inputs a second, but clang then takes three times
# as long as they are tried.
FUZZED = clang $(CPPFLAGS) -std=c17 -O0 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
build/fuzz/%.o: %.c build/flags
	mkdir -p $(@D)
	$(FUZZED) -MMD -MP -MT $@ -MF $(@:.o=.d) -c $< -o $@.$$$$ && mv $@.$$$$ $@
build/fuzz/tensor_map: build/fuzz/simulator/runtime/tensor_map.o
build/fuzz/%: build/fuzz/tests/fuzz/fuzz_%.o $(patsubst %.c,build/fuzz/%.o,$(wildcard simulator/ptx/*.c simulator/fatbin/*.c))
	$(FUZZED) $(filter %.o,$^) -o $@.$$$$ -lzstd -lm && mv $@.$$$$ $@
