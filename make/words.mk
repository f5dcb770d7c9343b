# The goals, and the variables in the text of `make help`: for `make words`, which shell completion reads
# (scripts/completion.sh), and to reject unknown variables.

# A variable of the command line is known if a makefile uses it. Names that begin with __ come from shell completion.
unknown_variable := $(foreach v,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $v))),$(filter-out __% SHELL,$v)))
unknown_variable := $(firstword $(foreach v,$(unknown_variable),$(if $(shell case $(call shell_quote,$v) in (*[!A-Z0-9_]*) ;; (*) \
           grep -qF '$$('$(call shell_quote,$v)')' Makefile make/*.mk && echo known ;; esac),,$v)))
ifneq (,$(unknown_variable))
  variable_suggestion := $(shell scripts/nearest $(call shell_quote,$(unknown_variable)) $$(sed -n '/^define help_text/,$$p' Makefile | grep -o '[A-Z][A-Z0-9_]*=' | tr -d =))
  $(error there is no variable $(unknown_variable); $(if $(variable_suggestion),did you mean $(variable_suggestion)?,make help lists all variables) [unknown-variable])
endif

.PHONY: words
words:
	printf '%s\n' $(lessons) $(solutions) lessons solutions $(actions) $(others)
	printf '%s\n' $(foreach w,$(help_text),$(if $(findstring =,$w),$(call shell_quote,$w))) | \
	    sed -n -e 's/^(//; s/[:)]*$$//; t value' -e ':value' -e '/=1$$/{ p; d }; /|/!s/=.*/=/p; /|/!d' \
	    -e ':choices' -e 's/^\([A-Z0-9_]*=\)\([^|]*\)|/\1\2\n\1/; t choices' -e p | sort -u
