# The words that make takes here: the goals, and the variables, which are those that the text of `make help` has. For `make words`,
# which a shell completes from (scripts/completion.sh), and for refusing a variable that is none.

# A variable of the command line is known where a makefile uses it. Names of the shell's completion begin with __.
strange := $(foreach v,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $v))),$(filter-out __% SHELL,$v)))
strange := $(firstword $(foreach v,$(strange),$(if $(shell case $(call quoted,$v) in (*[!A-Z0-9_]*) ;; (*) \
           grep -qF '$$('$(call quoted,$v)')' Makefile make/*.mk && echo known ;; esac),,$v)))
ifneq (,$(strange))
  near := $(shell scripts/nearest $(call quoted,$(strange)) $$(sed -n '/^define help_text/,$$p' Makefile | grep -o '[A-Z][A-Z0-9_]*=' | tr -d =))
  $(error there is no variable $(strange); $(if $(near),did you mean $(near)?,make help lists them))
endif

.PHONY: words
words:
	printf '%s\n' $(lessons) $(solutions) lessons solutions $(actions) $(others)
	printf '%s\n' $(foreach w,$(help_text),$(if $(findstring =,$w),$(call quoted,$w))) | \
	    sed -n -e 's/^(//; s/[:)]*$$//; t value' -e ':value' -e '/=1$$/{ p; d }; /|/!s/=.*/=/p; /|/!d' \
	    -e ':choices' -e 's/^\([A-Z0-9_]*=\)\([^|]*\)|/\1\2\n\1/; t choices' -e p | sort -u
