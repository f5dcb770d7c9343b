# The actions: how a lesson that is built is checked, timed, traced, compared and started afresh.

harness := build/bin/attention build/bin/runner $(simulator_library)
.PHONY: build/harness
build/harness: $(harness)

option  = $(if $2,$1 $(call quoted,$2))
options = $(call option,--device,$(DEVICE)) $(call option,--shape,$(SHAPE)) $(if $(filter 1,$(CAUSAL)),--causal) \
          $(call option,--data,$(DATA)) $(call option,--seed,$(SEED)) $(call option,--time-limit,$(TIME_LIMIT)) \
          $(call option,--dtype,$(DTYPE)) $(call option,--inputs,$(INPUTS)) $(call option,--layout,$(LAYOUT)) $(call option,--scale,$(SCALE)) $(if $(filter 1,$(QUICK)),--quick)

# Of lesson-03, or of `kernel`, which stands for KERNEL=file.cu: its name in what is printed, the sources that an action
# works on, and what they are built to. A shape of two numbers is a matrix, which is nothing for attention.cu; any other, data
# and a mask are for attention.cu alone.
matrix    := $(filter 2,$(words $(subst $(comma), ,$(SHAPE))))
part       = $(if $(PART),$(filter %/$(PART).cu,$1),$1)
meant      = $(if $(matrix),$(filter-out %/attention.cu,$1),$(if $(SHAPE)$(DATA)$(filter 1,$(CAUSAL)),$(filter %/attention.cu,$1),$1))
name       = $(if $(filter kernel,$1),kernel-$(notdir $(KERNEL)),$(call title,$1))
sources    = $(if $(filter kernel,$1),$(KERNEL),$(call part,$(or $(call meant,$(files)),$(files))))
$(if $(PART),$(foreach u,$(chosen),$(if $(call sources,$u),,$(error PART=$(PART) and SHAPE=$(SHAPE) do not go together: it takes \
$(if $(matrix),B$(comma)H$(comma)N$(comma)D,ROWS$(comma)COLUMNS)))))
library    = $(if $(filter $(KERNEL),$1),$(kernel_library),$(1:%.cu=build/kernels/%.so))
libraries  = $(foreach s,$(sources),$(call library,$s))
# What a file computes says its name, attention.cu or softmax.cu; of a file from anywhere, the name of its function.
defined   := $(if $(KERNEL),$(shell sed -n 's/^.*cudaError_t  *\([a-z0-9_]*\)_forward[^a-z0-9_].*/\1/p' $(KERNEL)))
operation  = $(if $(filter $(KERNEL),$1),$(or $(firstword $(defined)),attention),$(basename $(notdir $1)))

# $(call alone,commands): one recipe runs kernels at a time, so that timings are not disturbed and lines do not mix.
alone = exec 9>build/.running; flock -w 5 9 || { echo 'waiting for another run to end' >&2; flock 9; }; ($1) 9>&-
described = --name $(name) --source $2 --kernel $(call library,$2)

# ---- check: one kernel after the other, the second one too where the first fails -------------------------------------

# A part of a lesson that has several has a verdict of its own: lesson-03_fused_softmax/softmax.
verdict = $(name)$(if $(word 2,$(files)),/$(basename $(notdir $2)))

# How the check of a lesson ends is remembered, for make progress.
partial  := $(strip $(SHAPE)$(DATA)$(DTYPE)$(INPUTS)$(LAYOUT)$(SCALE)$(filter 1,$(QUICK) $(CAUSAL)))
recorded  = $(if $(filter lesson-%,$1),build/bin/teach record $2 $(if $(partial),part,whole))

define check_rule
.PHONY: $1/check
$1/check: $(libraries) $(harness) $(if $(filter lesson-%,$1),build/bin/teach)
	$(call alone,status=0; $(foreach s,$(sources),$(if $(word 2,$(sources)),echo '$s:';) $(call said_device,$1,$s) \
	    { $(call recorded,$1,$s) build/bin/attention check --name $(call verdict,$1,$s) --source $s --kernel $(call library,$s) $(call device_of,$s) $$(options) $$(call option,--out,$$(OUT)) \
	    $(if $(filter lesson-%,$1),$(if $(partial),,&& build/bin/teach price $(call described,$1,$s))); } || \
	    status=$$$$?;) \
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
  # The whole ladder has the baselines beside it.
  baselines      := $(if $(chosen)$(KERNEL),,$(wildcard baselines/*.cu))
  timed_here     := $(call on_this_gpu,$(sort $(foreach u,$(ladder) $(benched),$(call sources,$u)) $(baselines)))
  timed_files     = $(filter $(timed_here),$(sources))
  attention_of    = $(foreach s,$(timed_files),$(if $(filter attention,$(call operation,$s)),$s))
  others_of       = $(foreach s,$(timed_files),$(if $(filter attention,$(call operation,$s)),,$s))
  bare            = --name $1$(basename $(notdir $2)) --source $2 --kernel $(call library,$2)
  attention_runs := $(if $(matrix)$(if $(KERNEL),$(call others_of,kernel)),,\
                    $(foreach u,$(ladder),$(foreach s,$(call attention_of,$u),$(call described,$u,$s))))
  attention_runs += $(if $(attention_runs),$(foreach s,$(filter $(timed_here),$(baselines)),$(call bare,baseline-,$s)))
  # Another file of a lesson has for a rival what computes the same and has no blanks: unfused_softmax.cu for softmax.cu.
  rivals_of       = $(filter-out $(blanked),$(wildcard solutions/*/*_$(operation).cu))
  rivals         := $(sort $(foreach u,$(benched),$(foreach s,$(call others_of,$u),$(call rivals_of,$s))))
  other_runs     := $(foreach s,$(call on_this_gpu,$(rivals)),$(call bare,,$s)) \
                    $(foreach u,$(benched),$(foreach s,$(call others_of,$u),$(call described,$u,$s)))
endif
# What the GPU reaches at most is measured with the sizes of the ladder, not with a shape of the user's.
ceilings     := $(if $(attention_runs),$(if $(SHAPE),,$(patsubst %.cu,build/kernels/%.so,\
                $(call on_this_gpu,common/runner/ceilings.cu))))
bench_options = $(options) $(call option,--sizes,$(SIZES)) $(call option,--ceilings,$(ceilings)) \
                --results $(call quoted,$(RESULTS)) --state build/bench $(if $(filter 1,$(LSE)),--lse) $(if $(filter 1,$(FRESH)),--fresh)
# Those of the tensor cores lie beside that of the copy; where this GPU has no such instruction, bench says so.
ceiling_all  := $(if $(ceilings),$(patsubst %.cu,build/kernels/%.so,$(wildcard common/runner/ceiling*.cu)))
timed        := $(filter %.so,$(attention_runs) $(other_runs)) $(ceiling_all)

# Whether it can run at all the launcher says before anything else is compiled, where nothing else is asked for, or where
# DEVICE=sim says already that it cannot.
.PHONY: bench-ready
bench-ready: build/bin/attention
	build/bin/attention bench --ready $(bench_options)
behind_launcher = $(filter-out $(call objects,common common/launcher),$(call objects,common/host common/operations common/runner) \
                  $(simulator_objects:%=build/objects/%)) $(simulator_stubs:%.c=build/objects/%.o) $(simulator_stubs) \
                  build/simulator/exports.map build/bin/teach
ifneq (,$(and $(filter bench,$(asked)),$(if $(word 2,$(asked)),$(filter sim,$(DEVICE)),alone)))
$(timed) $(behind_launcher): | bench-ready
endif

.PHONY: run-bench
run-bench: $(timed) $(harness)
	$(call alone,commit=$$(scripts/commit $(timed)) || exit 2; \
	    build/bin/attention bench $(attention_runs) $(other_runs) $(bench_options) --commit "$$commit")

# ---- trace, profile: memory traffic, counted by the simulator and by a GPU --------------------------------------------

# Where no SHAPE is given, the operation itself has one for either.
define look_rules
.PHONY: $1/trace $1/profile
$1/trace: $(libraries) $(harness) build/bin/teach
	$(call alone,$(foreach s,$(sources),build/bin/teach trace $(call described,$1,$s) $$(options) &&) :)
$1/profile: $(libraries) $(harness)
	$(call alone,$(foreach s,$(sources),scripts/profile build/bin/attention check $(call described,$1,$s) \
	    --device gpu --time-limit $(or $(TIME_LIMIT),600) $(if $(filter 1,$(CAUSAL)),--causal) \
	    $(call option,--shape,$(SHAPE)) --sample profile &&) :)
endef
$(foreach u,$(checked),$(eval $(call look_rules,$u)))

# ---- explore: a page that shows what lanes do ---------------------------------------------------------------------------

# Beside a lesson its solution, or what BESIDE says; the same file of it, where it has one.
beside_unit = $(filter-out none,$(or $(BESIDE),$(if $(filter lesson,$(call kind,$1)),$(1:lesson-%=solution-%))))
beside_file = $(foreach u,$(beside_unit),$(wildcard $(call folder,$u)/$(if $(filter kernel,$1),attention.cu,$(notdir $2))))
beside_name = $(foreach u,$(beside_unit),$(call title,$u))
said_beside = $(if $(call beside_unit,$1),$(if $(call beside_file,$1,$2),,echo '$(call beside_name,$1) has no $(notdir $2): it is shown alone';))
beside      = $(foreach s,$(call beside_file,$1,$2),--beside $(call beside_name,$1) $s $(s:%.cu=build/kernels/%.so))

define explore_rule
.PHONY: $1/explore
$1/explore: $(libraries) $(foreach s,$(sources),$(patsubst %.cu,build/kernels/%.so,$(call beside_file,$1,$s))) $(harness) \
    build/bin/teach
	$(call alone,status=0; $(foreach s,$(sources),$(call said_beside,$1,$s) build/bin/teach explore $(call described,$1,$s) $(call beside,$1,$s) \
	    $$(options) || status=$$$$?;) exit $$$$status)
endef
ifneq (,$(filter explore,$(asked)))
$(foreach u,$(checked),$(eval $(call explore_rule,$u)))
endif

# ---- diff, reset: a lesson against its solution, a solution against the one before it ---------------------------------

define file_rules
.PHONY: $1/diff $1/reset
$1/diff: $(if $(filter solution,$(call kind,$1)),build/bin/teach)
	$(foreach s,$(call files,$1),scripts/diff $(call in_order,$1,$s,$(call compared,$1,$(notdir $s)));)
$1/reset: build/bin/teach
	$(foreach s,$(call files,$1),scripts/reset $(s:lessons/%=solutions/%) $s &&) :
endef
# From what a learner has, or from the solution before, to the solution.
in_order = $(if $3,$(if $(filter lesson,$(call kind,$1)),$2 $3,$3 $2),$2)
compared = $(wildcard $(if $(filter lesson,$(call kind,$1)),$(call solution,$1),$(call folder,$(call before,$1)))/$2)
$(foreach u,$(chosen),$(eval $(call file_rules,$u)))
