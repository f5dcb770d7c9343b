# The actions: how a lesson that is built is checked, timed, traced, compared and started afresh.

harness := build/bin/attention build/bin/runner $(simulator_library)

option  = $(if $2,$1 $(call quoted,$2))
options = $(call option,--device,$(DEVICE)) $(call option,--shape,$(SHAPE)) $(if $(filter 1,$(CAUSAL)),--causal) \
          $(call option,--data,$(DATA)) $(call option,--seed,$(SEED)) $(call option,--time-limit,$(TIME_LIMIT)) \
          $(call option,--inputs,$(INPUTS)) $(call option,--layout,$(LAYOUT)) $(if $(filter 1,$(QUICK)),--quick)

# Of lesson-03, or of `kernel`, which stands for KERNEL=file.cu: its name in what is printed, the sources that an action
# works on, and what they are built to. A shape of two numbers is a matrix, for softmax.cu; one of four, data and a mask are
# for attention.cu.
matrix    := $(filter 2,$(words $(subst $(comma), ,$(SHAPE))))
left_out  := $(if $(matrix),%/attention.cu,$(if $(SHAPE)$(DATA)$(filter 1,$(CAUSAL)),%/softmax.cu))
name       = $(if $(filter kernel,$1),kernel-$(notdir $(KERNEL)),$(call title,$1))
sources    = $(if $(filter kernel,$1),$(KERNEL),$(or $(filter-out $(left_out),$(files)),$(files)))
library    = $(if $(filter $(KERNEL),$1),$(kernel_library),$(1:%.cu=build/kernels/%.so))
libraries  = $(foreach s,$(sources),$(call library,$s))
is_softmax = $(filter %/softmax.cu,$1)$(if $(filter $(KERNEL),$1),$(shell grep -l softmax_forward $1))

# $(call alone,commands): one recipe runs kernels at a time, so that timings are not disturbed and lines do not mix.
alone = exec 9>build/.running; flock -w 5 9 || { echo 'waiting for another run to end' >&2; flock 9; }; ($1) 9>&-
described = --name $(name) --source $2 --kernel $(call library,$2)

# ---- check: one kernel after the other, the second one too where the first fails -------------------------------------

# How the check of a lesson ends is remembered, for make progress.
partial  := $(strip $(SHAPE)$(DATA)$(INPUTS)$(LAYOUT)$(filter 1,$(QUICK) $(CAUSAL)))
recorded  = $(if $(filter lesson-%,$1),scripts/record $2 $(if $(partial),part,whole))

define check_rule
.PHONY: $1/check
$1/check: $(libraries) $(harness)
	$(call alone,status=0; $(foreach s,$(sources),$(if $(word 2,$(sources)),echo '$s:';) \
	    $(call recorded,$1,$s) build/bin/attention check $(call described,$1,$s) $$(options) || status=$$$$?;) \
	    exit $$$$status)
endef
$(foreach u,$(sort $(checked) $(solutions)),$(eval $(call check_rule,$u)))

.PHONY: check-solutions
check-solutions: $(solutions:%=%/check)

# ---- bench: what is asked for beside lesson 01 and the lesson before it, in one interleaved run ----------------------

follows := $(join $(addsuffix <,$(wordlist 2,99,$(numbers))),$(numbers))
before   = $(patsubst $(number)<%,solution-%,$(filter $(number)<%,$(follows)))
wanted  := $(sort $(firstword $(solutions)) $(foreach u,$(benched) $(chosen),$(call before,$u)) $(benched))
ladder  := $(foreach n,$(numbers),$(filter solution-$n,$(wanted)) $(filter lesson-$n,$(wanted))) $(filter kernel,$(wanted))

ifneq (,$(filter bench,$(asked)))
  attention_of    = $(foreach s,$(sources),$(if $(call is_softmax,$s),,$s))
  softmax_of      = $(foreach s,$(sources),$(if $(call is_softmax,$s),$s))
  attention_runs := $(if $(matrix)$(if $(KERNEL),$(call softmax_of,kernel)),,\
                    $(foreach u,$(ladder),$(call described,$u,$(call attention_of,$u))))
  # The whole ladder has the baselines beside it.
  baseline        = --name baseline-$(basename $(notdir $1)) --source $1 --kernel $(call library,$1)
  attention_runs += $(if $(attention_runs),$(if $(chosen)$(KERNEL),,$(foreach s,$(wildcard baselines/*.cu),$(call baseline,$s))))
  softmax_runs   := $(strip $(foreach u,$(benched),$(if $(call softmax_of,$u),$(call described,$u,$(call softmax_of,$u)))))
  # The rival of lesson 03's row softmax is the same in five passes.
  unfused        := $(wildcard solutions/*/unfused_softmax.cu)
  rival           = --name unfused_softmax --source $(unfused) --kernel $(call library,$(unfused))
  softmax_runs   := $(if $(softmax_runs),$(rival) $(softmax_runs))
endif
# What the GPU reaches at most is measured with the sizes of the ladder, not with a shape of the user's.
ceilings     := $(if $(attention_runs),$(if $(SHAPE),,build/kernels/common/runner/ceilings.so))
bench_options = $(options) $(call option,--sizes,$(SIZES)) $(call option,--ceilings,$(ceilings)) \
                --results $(call quoted,$(RESULTS)) --state build/bench $(if $(filter 1,$(FRESH)),--fresh)
timed        := $(filter %.so,$(attention_runs) $(softmax_runs)) $(ceilings)

# Whether it can run at all is known before kernels are compiled, where nothing else is asked for.
.PHONY: bench-ready
bench-ready: build/bin/attention
	build/bin/attention bench --ready $(bench_options)
ifeq (bench,$(asked))
$(timed): | bench-ready
endif

.PHONY: run-bench
run-bench: $(timed) $(harness)
	$(call alone,commit=$$(scripts/commit $(timed)) || exit 2; \
	    build/bin/attention bench $(attention_runs) $(softmax_runs) $(bench_options) --commit "$$commit")

# ---- trace, profile: memory traffic, counted by the simulator and by a GPU --------------------------------------------

profile_shape  := 1,16,1024,64
profile_matrix := 4096,4096

define look_rules
.PHONY: $1/trace $1/profile
$1/trace: $(libraries) $(harness)
	$(call alone,$(foreach s,$(sources),scripts/trace $(call described,$1,$s) $$(options) &&) :)
$1/profile: $(libraries) $(harness)
	$(call alone,$(foreach s,$(sources),scripts/profile build/bin/attention check $(call described,$1,$s) \
	    --device gpu --time-limit $(or $(TIME_LIMIT),600) $(if $(filter 1,$(CAUSAL)),--causal) --shape \
	    $(call quoted,$(or $(SHAPE),$(if $(call is_softmax,$s),$(profile_matrix),$(profile_shape)))) &&) :)
endef
$(foreach u,$(checked),$(eval $(call look_rules,$u)))

# ---- diff, reset: a lesson against its solution, a solution against the one before it ---------------------------------

define file_rules
.PHONY: $1/diff $1/reset
$1/diff:
	$(foreach s,$(call files,$1),scripts/diff $(call in_order,$1,$s,$(call compared,$1,$(notdir $s)));)
$1/reset:
	$(foreach s,$(call files,$1),scripts/reset $(s:lessons/%=solutions/%) $s &&) :
endef
# From what a learner has, or from the solution before, to the solution.
in_order = $(if $3,$(if $(filter lesson,$(call kind,$1)),$2 $3,$3 $2),$2)
compared = $(wildcard $(if $(filter lesson,$(call kind,$1)),$(call solution,$1),$(call folder,$(call before,$1)))/$2)
$(foreach u,$(chosen),$(eval $(call file_rules,$u)))
