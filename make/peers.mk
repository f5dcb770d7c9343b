# The comparison with kernels of PyTorch, FlashAttention and Triton (peers/README.md). Optional: PYTHON names a Python that has
# PyTorch; no other goal needs PyTorch.

PYTHON := python3
override PYTHON := $(or $(PYTHON),python3)
# 1: times one call at a time, including the launch overhead of the CPU.
EAGER  :=
# 1: instead of timing, counts with Nsight Compute on which units each kernel computes.
UNITS  :=
# A source tree of FlashAttention-3, and a CUTLASS that replaces the tree's submodule.
FA3     :=
CUTLASS :=

ifneq (,$(filter peers,$(selected_actions)))
  $(if $(filter-out peers,$(selected_actions)),$(error peers cannot be combined with other actions: first make $(filter-out peers,$(selected_actions)), then make peers [exclusive-goal]))
  $(if $(filter sim,$(DEVICE)),$(error peers times kernels and needs a GPU; omit DEVICE [needs-gpu]))
  $(if $(shell command -v $(firstword $(PYTHON))),,$(error PYTHON=$(PYTHON) does not exist; set PYTHON to a Python that has PyTorch [no-python]))
  $(if $(KERNEL)$(DATA),$(error peers times lessons and solutions, not KERNEL or DATA: make lesson-02 peers [wrong-action]))

  # All solutions and baselines, or the selected lessons; in both cases the unfused row softmax, which is their baseline.
  peer_sources := $(if $(selected_lessons),$(foreach u,$(selected_lessons),$(call files,$u)),$(wildcard solutions/*/*.cu baselines/*.cu))
  compared_libraries := $(patsubst %.cu,build/kernels/%.so,$(sort $(peer_sources) $(wildcard solutions/*/unfused_*.cu)))
  # peers-ready fails before the compilation if the comparison cannot run.
  $(compared_libraries): | peers-ready
endif

# ---- FlashAttention-3: its kernel instantiations, and the interface of attention.h ----------------------

ifneq (,$(FA3))
  $(if $(filter fp16 bf16,$(DTYPE)),,$(error FA3 needs DTYPE=bf16 or fp16: make peers DTYPE=bf16 FA3=$(FA3) [conflict]))
  fa3_tree := $(shell peers/fa3/find-tree $(DTYPE) $(call shell_quote,$(FA3)) $(call shell_quote,$(CUTLASS)))
  $(if $(filter error:,$(firstword $(fa3_tree))),$(error $(wordlist 2,99,$(fa3_tree))))
  fa3_hopper  := $(word 1,$(fa3_tree))
  fa3_cutlass := $(word 2,$(fa3_tree))
  fa3_version := flash-attention $(word 3,$(fa3_tree)), CUTLASS $(word 4,$(fa3_tree))
  fa3_build   := build/fa3/$(DTYPE)
  fa3_library := $(fa3_build)/attention.so
  fa3_element := $(if $(filter bf16,$(DTYPE)),cutlass::bfloat16_t,cutlass::half_t)
  fa3_macro   := $(if $(filter bf16,$(DTYPE)),ATTENTION_BF16,ATTENTION_FP16)

  # The flags of its setup.py. All features that a plain forward pass does not need are disabled: minutes instead of hours.
  fa3_off   := BACKWARD SPLIT PAGEDKV APPENDKV LOCAL SOFTCAP PACKGQA FP8 VARLEN HDIM192 HDIM256 SM8x HDIMDIFF64 HDIMDIFF192
  fa3_host  := -Xcompiler -fPIC,-fvisibility=hidden
  FA3_FLAGS := -std=c++17 -O3 -gencode arch=compute_90a,code=sm_90a --use_fast_math --expt-relaxed-constexpr \
               --expt-extended-lambda -DNDEBUG -DCUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED -DCUTLASS_ENABLE_GDC_FOR_SM90 \
               -DCUTLASS_DEBUG_TRACE_LEVEL=0 $(fa3_off:%=-DFLASHATTENTION_DISABLE_%) $(fa3_host) \
               -I$(fa3_hopper) -I$(fa3_cutlass)/include
  FA3_LAUNCHER_FLAGS := -std=c++20 -O2 $(fa3_host),-Wall,-Wextra,-Wno-missing-field-initializers -Icommon -I$(fa3_hopper) \
               -DELEMENT=$(fa3_element) -DDTYPE=$(fa3_macro)
  fa3_flags_written := $(shell test ! -d $(fa3_build)/failed || rmdir $(fa3_build)/failed; scripts/write-if-changed $(fa3_build)/flags $(call shell_quote,$(NVCC) $(FA3_FLAGS) $(FA3_LAUNCHER_FLAGS)))
  fa3_objects := $(foreach d,64 96 128,$(fa3_build)/hdim$d.o) $(fa3_build)/launcher.o

  $(fa3_build)/flags: ;
  $(fa3_objects): $(fa3_build)/flags peers/fa3/compile
  $(if $(filter peers,$(selected_actions)),$(eval $(fa3_objects): | peers-ready))

  $(fa3_build)/hdim%.o: $(fa3_hopper)/instantiations/flash_fwd_hdim%_$(DTYPE)_sm90.cu
	echo 'nvcc $< (takes minutes)'
	peers/fa3/compile $@ $(NVCC) $(FA3_FLAGS) -c $<
  $(fa3_build)/launcher.o: peers/fa3/attention.cpp
	$(call report_if_slow,nvcc $<) peers/fa3/compile $@ $(NVCC) $(FA3_LAUNCHER_FLAGS) -c $<
  $(fa3_library): $(fa3_objects)
	peers/fa3/compile $@ $(NVCC) -shared -cudart shared $(filter %.o,$^)
endif

# ---- The comparison ----------------------------------------------------------------------------------------------------

peer_options = $(strip $(call option,--dtype,$(DTYPE)) $(call option,--fa3,$(fa3_library)) \
               $(call option,--fa3-version,$(fa3_version)) $(call option,--shape,$(SHAPE)) $(if $(filter 1,$(CAUSAL)),--causal) \
               $(call option,--seed,$(SEED)) $(if $(selected_lessons),--lessons $(subst $(space),$(comma),$(strip $(selected_lessons)))) \
               --results $(call shell_quote,$(RESULTS)) $(if $(filter 1,$(EAGER)),--eager --attention))

.PHONY: peers-ready
peers-ready:
	$(PYTHON) peers/compare.py --ready $(peer_options)

peers: $(compared_libraries) $(fa3_library)
	for library in $(compared_libraries:%=%.serialised); do [ ! -e $$library ] || { sed 's/^/error: /' $$library >&2; exit 2; }; done
	$(call run_exclusively,commit=$$(scripts/commit $(compared_libraries)) || exit 2; \
	    $(if $(filter 1,$(UNITS)),scripts/count-units $(PYTHON),$(PYTHON) peers/compare.py) $(peer_options) --commit "$$commit")
