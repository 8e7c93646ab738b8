# agent-safe: one Makefile for every room.  `make help` lists the targets.
VERSION = 0.1.0
BUILD = build
PREFIX = /usr
LIBEXECDIR = $(PREFIX)/libexec/agent-safe
CC = gcc
ARCH := $(shell $(CC) -dumpmachine | cut -d- -f1)

ifeq ($(filter $(ARCH),x86_64 aarch64),)
$(error agent-safe is built for x86_64 and aarch64 only, not for $(ARCH))
endif

WARN = -Wall -Wextra -Werror -Wconversion -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wvla
HARDEN = -fPIE -fstack-protector-strong -fstack-clash-protection -D_FORTIFY_SOURCE=3
HARDEN += $(if $(filter x86_64,$(ARCH)),-fcf-protection=full)
BASE = -std=gnu17 -D_GNU_SOURCE -DAGENT_SAFE_VERSION='"$(VERSION)"' -DAGENT_SAFE_LIBEXECDIR='"$(LIBEXECDIR)"' $(WARN)
CFLAGS = -O2 -g
LDFLAGS = -pie -Wl,-z,relro,-z,now,-z,noexecstack,--as-needed

# One row per program: folder, binary, libraries.  A folder with a main.c is one program.
PROGRAMS = broker launch cli mcp executor keeper auditor verify
broker_ROW   = broker          agent-safe-broker       -lsqlite3 -lcjson -lsodium
launch_ROW   = broker/launch   agent-safe-launch       -lcap
cli_ROW      = broker/cli      agent-safe              -lcjson
mcp_ROW      = broker/mcp      agent-safe-mcp          -lcjson
executor_ROW = executor        agent-safe-executor     -lseccomp -lcap -lsodium
keeper_ROW   = executor/keeper agent-safe-keeper       -lsodium
auditor_ROW  = auditor         agent-safe-auditor      -lsodium
verify_ROW   = auditor/verify  agent-safe-audit-verify -lsodium
# Pure files of the auditor that its verifier shares.
verify_EXTRA = $(addprefix auditor/,record.c strict.c scan.c tree.c chain.c walk.c segments.c dispatch.c)

BUILT = $(foreach p,$(PROGRAMS),$(if $(wildcard $(firstword $($p_ROW))/main.c),$p))

all: $(foreach p,$(BUILT),$(BUILD)/$(word 2,$($p_ROW)))

# A room sees shared/ and itself: another room's header is "No such file or directory".
$(BUILD)/obj/shared/%.o: shared/%.c
	@mkdir -p $(@D)
	$(CC) $(BASE) $(HARDEN) $(CFLAGS) -iquote shared -MMD -MP -c -o $@ $<

SHARED = $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard shared/*.c))
$(BUILD)/libshared.a: $(SHARED)
	@rm -f $@
	ar rcs $@ $^

define program
$(1)_OBJ = $(patsubst %.c,$(BUILD)/obj/$(1)/%.o,$(wildcard $(firstword $($(1)_ROW))/*.c) $($(1)_EXTRA))
$(BUILD)/obj/$(1)/%.o: %.c
	@mkdir -p $$(@D)
	$(CC) $(BASE) $(HARDEN) $(CFLAGS) -iquote shared -iquote $(firstword $($(1)_ROW)) $(if $($(1)_EXTRA),-iquote auditor) -MMD -MP -c -o $$@ $$<
$(BUILD)/$(word 2,$($(1)_ROW)): $$($(1)_OBJ) $(BUILD)/libshared.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $$@ $$($(1)_OBJ) $(BUILD)/libshared.a $(wordlist 3,9,$($(1)_ROW))
endef
$(foreach p,$(PROGRAMS),$(eval $(call program,$p)))

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

clean:
	rm -rf $(BUILD)

include tests/tests.mk

.PHONY: all clean
.DEFAULT_GOAL := all
