# The comparison with what PyTorch and Triton offer (peers/README.md). Optional: PYTHON names a Python that has PyTorch, and
# nothing else here needs one.

PYTHON := python3
override PYTHON := $(or $(PYTHON),python3)
# One call at a time, with what a launch costs the CPU.
EAGER  :=

ifneq (,$(filter peers,$(asked)))
  $(if $(filter-out peers,$(asked)),$(error peers goes alone: first make $(filter-out peers,$(asked)), then make peers))
  $(if $(filter sim,$(DEVICE)),$(error peers needs a GPU: how long the simulator takes says nothing about a GPU))
  $(if $(shell command -v $(firstword $(PYTHON))),,$(error $(PYTHON) is not there; PYTHON=... names the Python that has PyTorch))
  $(if $(KERNEL)$(DATA),$(error peers takes lessons and solutions, and no KERNEL or DATA: make lesson-02 peers))

  # Every solution and the baselines, or what was asked for; the rival of a row softmax in any case.
  space        := $(subst ,, )
  peer_sources := $(if $(chosen),$(foreach u,$(chosen),$(call files,$u)),$(wildcard solutions/*/*.cu baselines/*.cu))
  compared_libraries := $(patsubst %.cu,build/kernels/%.so,$(sort $(peer_sources) $(wildcard solutions/*/unfused_*.cu)))
  # Whether it can run at all is known before anything is compiled.
  $(compared_libraries): | peers-ready
endif
peer_options = $(call option,--shape,$(SHAPE)) $(if $(filter 1,$(CAUSAL)),--causal) $(call option,--seed,$(SEED)) \
               $(if $(chosen),--lessons $(subst $(space),$(comma),$(strip $(chosen)))) --results $(call quoted,$(RESULTS)) \
               $(if $(filter 1,$(EAGER)),--eager --attention)

.PHONY: peers-ready
peers-ready:
	$(PYTHON) peers/compare.py --ready $(peer_options)

peers: $(compared_libraries)
	$(call alone,commit=$$(scripts/commit $(compared_libraries)) || exit 2; \
	    $(PYTHON) peers/compare.py $(peer_options) --commit "$$commit")
