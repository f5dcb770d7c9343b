# How the harness, the simulator and the kernels are built. Everything goes to build/, first under a name of its own and
# is then renamed, so that two makes at once never see half a file.

builds := $(filter-out build/bin/teach build/sql_text.so,$(filter all check bench trace explore profile peers quiz repair run test test-all build/% \
          compile_commands.json,$(goals)))
ifneq (,$(builds))
  cuda := $(shell scripts/find-cuda --architectures)
  ifeq (error:,$(firstword $(cuda)))
    $(error $(wordlist 2,99,$(cuda)))
  endif
endif
NVCC       := $(word 1,$(cuda))
CUDA       := $(word 2,$(cuda))
CUDA_MAJOR := $(firstword $(subst ., ,$(word 3,$(cuda))))
CUDA_LIB   := $(firstword $(wildcard $(CUDA)/lib64 $(CUDA)/lib))

CC       = gcc
# What needs gcc alone, where it has not been built.
needs_gcc := $(if $(wildcard build/bin/teach),,$(filter hint progress watch reset flashcards diff build/bin/teach,$(goals))) \
             $(if $(wildcard build/sql_text.so),,$(filter build/sql_text.so,$(goals))) \
             $(if $(wildcard build/bin/post),,$(filter post,$(goals)))
ifneq (,$(strip $(builds) $(needs_gcc)))
  $(if $(shell command -v $(firstword $(CC))),,$(error $(CC) is not installed; run ./setup))
endif
# Without -fno-var-tracking an eighth of gcc's time goes into where each variable of optimised code stands, address by address.
CFLAGS   = -std=c17 -O2 -g -fno-var-tracking -fPIC -pthread -Wall -Wextra -Werror
CPPFLAGS = -D_GNU_SOURCE -Icommon -Isimulator -Iteach -isystem $(CUDA)/include
# -ffp-contract=off and what follows it: the simulator adds and multiplies exactly as the kernel's PTX says.
SIMULATOR_CFLAGS = -O3 -fvisibility=hidden -ffp-contract=off -fno-math-errno -fno-trapping-math
# Less optimised than what people run: it is compiled more often than it is run.
SANITIZE = -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer

# For which architecture says the line of each file (teach/architecture.c). -g is for the host alone: it says where the members
# of a structure lie that a kernel lays over its shared memory (teach/layout.h). nvcc's -O is for the host alone, too, and makes only
# gcc slower: what runs on the GPU is optimised without it.
NVCCFLAGS = -shared -std=c++20 -g -lineinfo -cudart shared --no-compress -Icommon \
            -Xcompiler -fPIC,-Wall,-Wextra,-Wno-missing-field-initializers

# What is compiled is said where that takes longer than three seconds, or at once with V=1.
said = $(if $(V),echo '$1';,{ sleep 3 >/dev/null 2>&1 </dev/null && echo '$1'; } & slow=$$!; \
       trap 'kill $$slow 2>/dev/null' EXIT; trap 'exit 130' INT TERM HUP;)
# The first build takes a while without any one of its files being slow.
ifneq (,$(filter all check bench trace explore profile peers quiz repair,$(goals)))
  $(if $(V)$(wildcard build/bin/runner),,$(info Building the harness and the simulator; once, about a minute))
endif

# build/flags is written anew when the toolkit or a flag changes, build/kernel-flags when the GPU does, too; all that is built
# depends on one of them.
ifneq (,$(builds))
  stamped := $(shell scripts/stamp build/flags '$(wordlist 1,3,$(cuda)) $(CC) $(CFLAGS) $(CPPFLAGS) $(SIMULATOR_CFLAGS)') \
             $(shell scripts/stamp build/kernel-flags '$(cuda) $(NVCCFLAGS)')
endif
build/flags build/kernel-flags: ;

# ---- Kernels: lessons/02_vectorized/attention.cu -> build/kernels/lessons/02_vectorized/attention.so ----------------

# Warnings are shown to a learner, and are errors in a solution.
build/kernels/solutions/% build/kernels/baselines/% build/kernels/common/%: NVCCFLAGS += -Werror all-warnings

kernel_code    = code
kernel_tools   = build/kernel-flags scripts/compile-kernel teach/architecture.c | build/bin/teach
compile_kernel = code=$$(build/bin/teach architecture $(kernel_code) $(call quoted,$(cuda)) $<) || exit; $(call said,nvcc $<) \
                 $(refused_later) scripts/compile-kernel $@ $(NVCC) $(NVCCFLAGS) $$code $<

build/kernels/%.so: %.cu $(kernel_tools)
	$(compile_kernel)

# A file from anywhere keeps its whole path, so that two of the same name never share a library.
kernel_library = build/kernels/any/$(subst ../,up/,$(patsubst /%,root/%,$(basename $(KERNEL)))).so
ifneq (,$(KERNEL))
$(kernel_library): $(KERNEL) $(kernel_tools)
	$(compile_kernel)
endif

# What a learner has in work the simulator runs even where ptxas serialises its products; the launcher refuses it on a GPU.
build/kernels/lessons/% build/kernels/build/quiz/% $(kernel_library): refused_later = SERIALISED=later

# Somebody waits for these: nvcc's passes use all processors, where it knows how. What is timed as the ladder does without.
split = $(shell $(NVCC) --help 2>/dev/null | grep -q -e '^--split-compile ' && echo --split-compile=0)
build/kernels/lessons/% build/kernels/build/quiz/% $(kernel_library): NVCCFLAGS += $(split)

# ---- Objects: build/objects/ as they run, build/sanitized/ with ASan and UBSan for the tests -------------------------

# $(call compile,flags)
compile = mkdir -p $(@D); $(call said,cc $<) \
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

# The loader's path comes before this RUNPATH, so that the launcher can put the simulator in the place of NVIDIA's library.
build/bin/runner: $(call objects,common common/host common/operations common/runner) \
    $(patsubst %,build/objects/teach/%.o,layout shared expression text process)
	$(call link,,-L$(CUDA_LIB) -lcudart -Wl$(comma)--enable-new-dtags$(comma)-rpath$(comma)$(CUDA_LIB) -ldl -lm)

# ---- The simulator: a CUDA runtime library of the same name and symbol version as NVIDIA's ---------------------------

# What works on all lanes of a warp is compiled twice and chosen at run time (simulator/lanes/lanes.h).
lanes := $(filter-out simulator/lanes/lanes.c,$(wildcard simulator/lanes/*.c))
simulator_sources := $(filter-out $(lanes),$(wildcard simulator/*/*.c))
simulator_objects := $(simulator_sources:.c=.o) $(lanes:.c=.generic.o) \
                     $(if $(filter x86_64,$(shell uname -m)),$(lanes:.c=.avx2.o))
simulator_library := build/simulator/libcudart.so.$(CUDA_MAJOR)

build/simulator/exports.map: build/flags
	mkdir -p $(@D)
	echo 'libcudart.so.$(CUDA_MAJOR) { global: cuda*; __cuda*; simulator_*; local: *; };' >$@.$$$$ && mv $@.$$$$ $@
$(simulator_library): build/simulator/exports.map $(simulator_objects:%=build/objects/%)
	$(call link,-shared -Wl$(comma)-soname$(comma)$(@F) -Wl$(comma)--version-script=$<,-lzstd -ldl -lm)

include $(wildcard simulator/*/build.mk)

# Nobody makes these by themselves: without a rule that says so, make seeks one for each of hundreds, in half a second.
%.d: ;
-include $(shell test ! -d build || find build -name '*.d' 2>/dev/null)
