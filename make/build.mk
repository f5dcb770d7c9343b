# Builds the harness, the simulator and the kernels. Each file in build/ is written under a temporary name and then renamed,
# so that concurrent makes never see an incomplete file.

builds := $(filter-out build/bin/teach build/sql_text.so,$(filter all check bench trace explore profile peers quiz repair run test test-all build/% \
          compile_commands.json,$(goals)))
ifneq (,$(builds))
  cuda := $(shell scripts/find-cuda --architectures)
  ifeq (error:,$(firstword $(cuda)))
    $(error $(wordlist 2,99,$(cuda)) [no-compiler])
  endif
endif
NVCC       := $(word 1,$(cuda))
CUDA       := $(word 2,$(cuda))
CUDA_MAJOR := $(firstword $(subst ., ,$(word 3,$(cuda))))
CUDA_LIB   := $(firstword $(wildcard $(CUDA)/lib64 $(CUDA)/lib))

CC       = gcc
# Goals that compile with gcc alone, if their program has not been built yet.
goals_needing_gcc := $(if $(wildcard build/bin/teach),,$(filter hint progress watch reset flashcards diff build/bin/teach,$(goals))) \
             $(if $(wildcard build/sql_text.so),,$(filter build/sql_text.so,$(goals))) \
             $(if $(wildcard build/bin/post),,$(filter post,$(goals)))
ifneq (,$(strip $(builds) $(goals_needing_gcc)))
  $(if $(shell command -v $(firstword $(CC))),,$(error $(CC) is not installed; run ./setup [no-compiler]))
endif
# -fno-var-tracking saves an eighth of gcc's time: variable locations in optimized code are not needed.
CFLAGS   = -std=c17 -O2 -g -fno-var-tracking -fPIC -pthread -Wall -Wextra -Werror
CPPFLAGS = -D_GNU_SOURCE -Icommon -Isimulator -Iteach -isystem $(CUDA)/include
# -ffp-contract=off and the options after it: the simulator must round exactly as the kernel's PTX specifies.
SIMULATOR_CFLAGS = -O3 -fvisibility=hidden -ffp-contract=off -fno-math-errno -fno-trapping-math
# -O1: sanitized tests are compiled more often than they are run.
SANITIZE = -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer

# What kernels are compiled to, as teach/architecture.c names it: code is machine code and PTX. tests/run sets ptx, since the
# simulator runs nothing else and ptxas takes two fifths of a compilation.
KERNEL_CODE ?= code

# The architecture comes from a line of each file (teach/architecture.c). -g affects only host code: it gives the layout of the
# structure that a kernel places in shared memory (teach/layout.h). -O also affects only host code and would only slow gcc
# down: device code is optimized by default.
NVCCFLAGS = -shared -std=c++20 -g -lineinfo -cudart shared --no-compress -Icommon \
            -Xcompiler -fPIC,-Wall,-Wextra,-Wno-missing-field-initializers

# Before a command that compiles: shows how far the build is (scripts/progress). BUILD_MAKE is this make, BUILD_RUN the first one,
# which may have called it. Goals whose recipes call make are counted by what they need first, since make -n would run them.
report_if_slow = scripts/progress '$1'
ifneq (,$(builds))
  export BUILD_MAKE  := $(shell echo $$PPID)
  export BUILD_RUN   := $(or $(if $(filter-out 0,$(MAKELEVEL)),$(BUILD_RUN)),$(BUILD_MAKE))
  export BUILD_GOALS := $(if $(filter quiz repair watch stills,$(goals)),build/harness build/bin/teach,$(goals))
  begun := $(shell scripts/progress --begin $(BUILD_MAKE) $(BUILD_RUN))
endif
# The first build takes minutes although no single file is slow.
ifneq (,$(filter all check bench trace explore profile peers quiz repair,$(goals)))
  $(if $(V)$(wildcard build/bin/runner),,$(info Building the harness and the simulator (once)))
endif

# build/flags is rewritten when the toolkit or a flag changes, build/kernel-flags also when the GPU changes; every built file
# depends on one of them.
ifneq (,$(builds))
  flags_written := $(shell scripts/write-if-changed build/flags '$(wordlist 1,3,$(cuda)) $(CC) $(CFLAGS) $(CPPFLAGS) $(SIMULATOR_CFLAGS)') \
             $(shell scripts/write-if-changed build/kernel-flags '$(cuda) $(KERNEL_CODE) $(NVCCFLAGS)')
endif
build/flags build/kernel-flags: ;

# The user's options, as the launcher takes them.
option  = $(if $2,$1 $(call shell_quote,$2))
options = $(call option,--device,$(DEVICE)) $(call option,--shape,$(SHAPE)) $(if $(filter 1,$(CAUSAL)),--causal) \
          $(call option,--data,$(DATA)) $(call option,--seed,$(SEED)) $(call option,--time-limit,$(TIME_LIMIT)) \
          $(call option,--dtype,$(DTYPE)) $(call option,--inputs,$(INPUTS)) $(call option,--layout,$(LAYOUT)) $(call option,--scale,$(SCALE)) $(call option,--gpus,$(GPUS)) $(if $(filter 1,$(QUICK)),--quick)

# Before anything is compiled but the launcher, `ready` (make/run.mk) has it read the user's options: those of a check if there are
# any, and those of bench if it is the only action, or DEVICE=sim rules it out.
bench_first := $(and $(filter bench,$(selected_actions)),$(if $(word 2,$(selected_actions)),$(filter sim,$(DEVICE)),alone))
check_first := $(and $(filter all check trace explore profile repair,$(goals)),$(strip $(options)))
ready       := $(if $(bench_first)$(check_first),ready)

# ---- Kernels: lessons/02_vectorized/attention.cu -> build/kernels/lessons/02_vectorized/attention.so ----------------

# In solutions, baselines and common/, warnings are errors; a learner's file may have warnings.
build/kernels/solutions/% build/kernels/baselines/% build/kernels/common/%: NVCCFLAGS += -Werror all-warnings

kernel_code    = $(KERNEL_CODE)
kernel_tools   = build/kernel-flags scripts/compile-kernel teach/architecture.c | build/bin/teach $(ready)
compile_kernel = code=$$(build/bin/teach architecture $(kernel_code) $(call shell_quote,$(cuda)) $<) || exit; \
                 $(serialised_later) $(call report_if_slow,nvcc $<) scripts/compile-kernel $@ $(NVCC) $(NVCCFLAGS) $$code $<

build/kernels/%.so: %.cu $(kernel_tools)
	$(compile_kernel)

# The library of KERNEL= has the whole path of the file in its name, so that two files of the same name do not share it.
kernel_library = build/kernels/any/$(subst ../,up/,$(patsubst /%,root/%,$(basename $(KERNEL)))).so
ifneq (,$(KERNEL))
$(kernel_library): $(KERNEL) $(kernel_tools)
	$(compile_kernel)
endif

# For a learner's file, serialized wgmma is not a compile error: the simulator can run the file, and only the launcher refuses
# to run it on a GPU.
build/kernels/lessons/% build/kernels/build/quiz/% $(kernel_library): serialised_later = SERIALISED=later

# A learner waits for these files, so nvcc uses all processors if it can. Solutions, which are timed, do not use the option.
split_compile = $(shell $(NVCC) --help 2>/dev/null | grep -q -e '^--split-compile ' && echo --split-compile=0)
build/kernels/lessons/% build/kernels/build/quiz/% $(kernel_library): NVCCFLAGS += $(split_compile)

# ---- Objects: build/objects/, and build/sanitized/ with ASan and UBSan for the tests -------------------------

# $(call compile,flags)
compile = mkdir -p $(@D); $(call report_if_slow,cc $<) \
          $(CC) $(CPPFLAGS) $(CFLAGS) $(if $(filter simulator/%,$<),$(SIMULATOR_CFLAGS)) $1 \
          -MMD -MP -MT $@ -MF $(@:.o=.d) -c $< -o $@.$$$$ && mv $@.$$$$ $@
AVX2    = -DLANES_AVX2 -mavx2 -mfma -mf16c
GENERIC = -DLANES_GENERIC

build/objects/%.avx2.o: %.c build/flags
	$(call compile,$(AVX2))
build/objects/%.generic.o: %.c build/flags
	$(call compile,$(GENERIC))
build/objects/%.o: %.c build/flags
	$(call compile)
build/sanitized/%.avx2.o: %.c build/flags
	$(call compile,$(AVX2) $(SANITIZE))
build/sanitized/%.generic.o: %.c build/flags
	$(call compile,$(GENERIC) $(SANITIZE))
build/sanitized/%.o: %.c build/flags
	$(call compile,$(SANITIZE))

# ---- Linking ---------------------------------------------------------------------------------------------------------

# $(call objects,folders): the objects of the C files of these folders.
objects = $(patsubst %.c,build/objects/%.o,$(wildcard $(1:%=%/*.c)))
# $(call link,flags,libraries): links the objects and archives that are prerequisites.
link = mkdir -p $(@D); \
       $(CC) -pthread $1 $(filter %.o,$^) $(filter %.a,$^) $2 -o $@.$$$$ && mv $@.$$$$ $@
archive = mkdir -p $(@D); rm -f $@.$$$$; ar rcs $@.$$$$ $(filter %.o,$^) && mv $@.$$$$ $@

# ---- The harness: a launcher that needs no CUDA, and the runner that it starts under a time limit (common/README.md) -

build/bin/attention: $(call objects,common common/launcher)
	$(call link,,-ldl -lm)

# RUNPATH, not RPATH: LD_LIBRARY_PATH precedes it, so that the launcher can load the simulator instead of NVIDIA's library.
build/bin/runner: $(call objects,common common/host common/operations common/runner) \
    $(patsubst %,build/objects/teach/%.o,layout shared expression text process)
	$(call link,,-L$(CUDA_LIB) -lcudart -Wl$(comma)--enable-new-dtags$(comma)-rpath$(comma)$(CUDA_LIB) -ldl -lm)

# ---- The simulator: a CUDA runtime library of the same name and symbol version as NVIDIA's ---------------------------

# Functions on all lanes of a warp are compiled for AVX2 and generic, and selected at run time (simulator/lanes/lanes.h).
lanes := $(filter-out simulator/lanes/lanes.c,$(wildcard simulator/lanes/*.c))
simulator_sources := $(filter-out $(lanes) $(wildcard simulator/nccl/*.c),$(wildcard simulator/*/*.c))
simulator_objects := $(simulator_sources:.c=.o) $(lanes:.c=.generic.o) \
                     $(if $(filter x86_64,$(shell uname -m)),$(lanes:.c=.avx2.o))
simulator_library := build/simulator/libcudart.so.$(CUDA_MAJOR)

build/simulator/exports.map: build/flags
	mkdir -p $(@D)
	echo 'libcudart.so.$(CUDA_MAJOR) { global: cuda*; __cuda*; simulator_*; local: *; };' >$@.$$$$ && mv $@.$$$$ $@
$(simulator_library): build/simulator/exports.map $(simulator_objects:%=build/objects/%)
	$(call link,-shared -Wl$(comma)-soname$(comma)$(@F) -Wl$(comma)--version-script=$<,-lzstd -ldl -lm)

include $(wildcard simulator/*/build.mk)

# An empty rule for dependency files: without it make spends half a second searching implicit rules for them.
%.d: ;
-include $(shell test ! -d build || find build -name '*.d' 2>/dev/null)
