# Which GPU a kernel file is for says a line of its own, `// architecture: sm_80` (teach/architecture.c). Where the GPU here is
# none of those and was asked for, that is refused before anything is built; where nobody chose, the simulator runs it, and it
# is said.

for_gpu := $(filter bench profile peers,$(asked))
ifneq (,$(filter all check bench trace explore profile peers repair,$(goals)))
  unit_files    = $(if $(filter kernel,$1),$(KERNEL),$(files))
  kernel_files := $(sort $(wildcard solutions/*/*.cu baselines/*.cu common/runner/*.cu) \
                  $(foreach u,$(checked) $(benched),$(call unit_files,$u) $(wildcard $(call folder,$u)/repaired.cu)))
  facts        := $(shell scripts/architecture facts $(call quoted,$(cuda)) $(kernel_files))
endif
# $(call where,file): gpu and sim, those of the two that can run it, or none of them; wrong, where the line is.
where = $(or $(subst $(comma), ,$(lastword $(subst |, ,$(filter $1|%,$(facts))))),gpu sim)
why   = $(shell scripts/architecture why $(call quoted,$(cuda)) $1)

# $(call device_of,file), $(call said_device,unit,file): for a check.
simulated_only = $(if $(DEVICE),,$(filter sim,$(firstword $(call where,$1))))
device_of      = $(if $(call simulated_only,$1),--device sim)
said_device    = $(if $(call simulated_only,$2),echo $(call quoted,$(name) runs on the simulator: $(call why,$2));)

# $(call on_this_gpu,files): those of a ladder that can be timed here; what is left out is said.
on_this_gpu = $(foreach s,$1,$(if $(filter-out gpu,$(firstword $(call where,$s))),$(info $s is left out: $(call why,$s)),$s))

# What was asked for by name, or is to be checked, is refused where it cannot run.
refused_on = $(error $2 cannot run on $1: $(call why,$2)$3)
hint_sim  := $(if $(for_gpu),,; leave DEVICE out and the simulator runs it)
runnable   = $(if $(filter wrong,$(call where,$1)),$(error $(call why,$1)))\
             $(if $(for_gpu)$(filter gpu,$(DEVICE)),$(if $(filter gpu,$(call where,$1)),,\
                 $(call refused_on,the GPU here,$1,$(if $(filter sim,$(call where,$1)),$(hint_sim)))))\
             $(if $(filter sim,$(DEVICE))$(filter trace explore,$(asked)),$(if $(filter sim,$(call where,$1)),,\
                 $(call refused_on,the simulator,$1)))\
             $(if $(filter none,$(call where,$1)),$(call refused_on,anything here,$1))
asked_units := $(if $(filter all,$(goals)),$(solutions)) $(if $(filter check,$(asked)),$(checked)) \
               $(if $(filter bench trace explore profile peers,$(asked)),$(if $(KERNEL),kernel,$(chosen)))
asked_files := $(sort $(foreach u,$(asked_units),$(call unit_files,$u)) \
               $(if $(filter repair,$(asked)),$(foreach u,$(chosen),\
               $(or $(wildcard $(call folder,$u)/repaired.cu),$(call solution,$u)/attention.cu))))
$(foreach s,$(asked_files),$(call runnable,$s))
