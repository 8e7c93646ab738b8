# agent-safe: one Makefile for every room.  `make help` lists the targets.
VERSION = 0.1.0
BUILD = build
PREFIX = /usr
BINDIR = $(PREFIX)/bin
LIBEXECDIR = $(PREFIX)/libexec/agent-safe
SHAREDIR = $(PREFIX)/share
UNITDIR = $(PREFIX)/lib
SYSCONFDIR = /etc
# The profile is for a parser from 4.0 on.  An older one cannot read it and would fail at each boot, and the hosts
# that need it (kernel.apparmor_restrict_unprivileged_userns) have a newer one: without that it is documentation.
APPARMORDIR = $(if $(wildcard $(SYSCONFDIR)/apparmor.d/abi/4.0),$(SYSCONFDIR)/apparmor.d,$(SHAREDIR)/doc/agent-safe/apparmor)
CC = gcc
ARCH := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null || uname -m)))

ifeq ($(filter $(ARCH),x86_64 aarch64),)
$(error agent-safe is built for x86_64 and aarch64 only, not for $(ARCH))
endif

# EXTRA: flags of a developer or of a test, e.g. EXTRA=-DSTUB_NO_LANDLOCK
EXTRA =
WARN = -Wall -Wextra -Werror -Wconversion -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wvla
HARDEN = -fPIE -fstack-protector-strong -fstack-clash-protection -D_FORTIFY_SOURCE=3
HARDEN += $(if $(filter x86_64,$(ARCH)),-fcf-protection=full)
BASE = -std=gnu17 -D_GNU_SOURCE -DAGENT_SAFE_VERSION='"$(VERSION)"' -DAGENT_SAFE_LIBEXECDIR='"$(LIBEXECDIR)"' $(WARN)
CFLAGS = -O2 -g
LDFLAGS = -pie -Wl,-z,relro,-z,now,-z,noexecstack,--as-needed
# Each job forks the executor five times and executes one keeper: without a dynamic loader and its mappings
# that costs a tenth less.  Where a library comes without its archive, and under a sanitizer, they are linked
# like the others.
archive = $(filter /%,$(shell $(CC) -print-file-name=lib$(1).a 2>/dev/null))
STATIC := $(if $(findstring -fsanitize,$(EXTRA)),,$(if $(and $(call archive,c),$(call archive,seccomp),$(call \
    archive,sodium)),executor keeper))
# What is in force: printed into build/flags, so that a change of compiler or flags builds anew.
FLAGS = $(CC) $(BASE) $(HARDEN) $(CFLAGS) $(LDFLAGS) $(EXTRA) static: $(STATIC)

# One row per program: folder, binary, libraries.  A folder with a main.c is one program.
PROGRAMS = broker launch cli mcp executor keeper relay auditor verify witness courier
broker_ROW   = broker          agent-safe-broker       -lsqlite3 -lcjson -lsodium
launch_ROW   = broker/launch   agent-safe-launch       -lcap
cli_ROW      = broker/cli      agent-safe              -lcjson -lzstd
mcp_ROW      = broker/mcp      agent-safe-mcp          -lcjson
executor_ROW = executor        agent-safe-executor     -lseccomp -lsodium
keeper_ROW   = executor/keeper agent-safe-keeper       -lsodium
relay_ROW    = executor/relay  agent-safe-relay
auditor_ROW  = auditor         agent-safe-auditor      -lsodium -lzstd
verify_ROW   = auditor/verify  agent-safe-audit-verify -lsodium -lzstd
witness_ROW  = auditor/witness agent-safe-witness      -lsodium
courier_ROW  = auditor/courier agent-safe-courier
# Pure files of the auditor that its verifier and the witness share.
verify_EXTRA = $(addprefix auditor/,record.c strict.c scan.c tree.c chain.c cut.c rekey.c walk.c segments.c dispatch.c \
    seals.c checkpoint.c cosign.c)
witness_EXTRA = $(addprefix auditor/,scan.c tree.c consistency.c checkpoint.c)

BUILT = $(foreach p,$(PROGRAMS),$(if $(wildcard $(firstword $($p_ROW))/main.c),$p))
BINARIES = $(foreach p,$(BUILT),$(BUILD)/$(word 2,$($p_ROW)))

all: $(BINARIES)

$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(FLAGS))' >$@

# A room sees shared/ and itself: another room's header is "No such file or directory".
$(BUILD)/obj/shared/%.o: shared/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(BASE) $(HARDEN) $(CFLAGS) $(EXTRA) -iquote shared -MMD -MP -c -o $@ $<

SHARED = $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard shared/*.c))
$(BUILD)/libshared.a: $(SHARED)
	@rm -f $@
	ar rcs $@ $^

define program
$(1)_OBJ = $(patsubst %.c,$(BUILD)/obj/$(1)/%.o,$(wildcard $(firstword $($(1)_ROW))/*.c) $($(1)_EXTRA))
$(BUILD)/obj/$(1)/%.o: %.c $(BUILD)/flags
	@mkdir -p $$(@D)
	$(CC) $(BASE) $(HARDEN) $(CFLAGS) $(EXTRA) -iquote shared -iquote $(firstword $($(1)_ROW)) \
	    $(if $($(1)_EXTRA),-iquote auditor) -MMD -MP -c -o $$@ $$<
$(BUILD)/$(word 2,$($(1)_ROW)): $$($(1)_OBJ) $(BUILD)/libshared.a
	$(CC) $(CFLAGS) $(EXTRA) $(if $(filter $(1),$(STATIC)),$(LDFLAGS:-pie=-static-pie),$(LDFLAGS)) -Wl,-Map=$(BUILD)/obj/$(1)/map \
	    -o $$@ $$($(1)_OBJ) $(BUILD)/libshared.a $(wordlist 3,9,$($(1)_ROW))
endef
$(foreach p,$(PROGRAMS),$(eval $(call program,$p)))

-include $(shell find $(BUILD)/obj $(BUILD)/san -name '*.d' 2>/dev/null)

# The table above for those who check it: folder, binary, libraries; which file of the auditor is borrowed by whom.
rows:
	@$(foreach p,$(BUILT),echo '$($p_ROW)';)
borrowed:
	@$(foreach p,$(BUILT),$(foreach f,$($p_EXTRA),echo '$(firstword $($p_ROW)) $f';))

# --- what people call ----------------------------------------------------------
help:
	@sed -n 's/^#: //p' $(MAKEFILE_LIST)
#: make                   build everything into build/
#: make demo              the main job in a scratch workspace, from proposal to verified log
#: make deps              install what build and tests need (Debian: apt-get; elsewhere it names the packages)
#: make install           DESTDIR= PREFIX=/usr: programs, man pages, units, AppArmor profile, completions, sample policy
#: make uninstall         take that away again; state, policy and logs stay
#: make clean             remove build/

deps:
	@packaging/deps test

demo:
	@packaging/deps build
	@+$(MAKE) --no-print-directory -s all
	@BUILD_DIR=$(abspath $(BUILD)) packaging/demo.sh

# mode, files, folder below DESTDIR: nothing when there are no files
put = $(if $(strip $(2)),install -d $(DESTDIR)$(3) && install -m $(1) $(2) $(DESTDIR)$(3),:)

install: all
	$(call put,755,$(filter-out $(BUILD)/agent-safe,$(BINARIES)),$(LIBEXECDIR))
	$(call put,755,$(BUILD)/agent-safe,$(BINDIR))
	@for p in $(filter agent-safe-mcp agent-safe-audit-verify agent-safe-witness,$(notdir $(BINARIES))); do \
	    ln -sfr $(DESTDIR)$(LIBEXECDIR)/$$p $(DESTDIR)$(BINDIR)/$$p; done
	$(foreach n,1 5 7,$(if $(wildcard packaging/man/*.$n),$(call put,644,$(wildcard packaging/man/*.$n),$(SHAREDIR)/man/man$n);))
	$(call put,644,packaging/agent-safe.service,$(UNITDIR)/systemd/system)
	$(call put,644,packaging/sysusers.d/agent-safe.conf,$(UNITDIR)/sysusers.d)
	$(call put,644,packaging/tmpfiles.d/agent-safe.conf,$(UNITDIR)/tmpfiles.d)
	$(call put,644,packaging/apparmor/agent-safe,$(APPARMORDIR))
	@sed -i 's|/usr/libexec/agent-safe|$(LIBEXECDIR)|; s|/usr/bin/|$(BINDIR)/|' \
	    $(DESTDIR)$(UNITDIR)/systemd/system/agent-safe.service $(DESTDIR)$(APPARMORDIR)/agent-safe
	$(call put,644,packaging/completions/agent-safe,$(SHAREDIR)/bash-completion/completions)
	$(call put,644,packaging/completions/_agent-safe,$(SHAREDIR)/zsh/vendor-completions)
	$(call put,644,packaging/policy.json packaging/agent-safe-policy.schema.json README.md SECURITY.md LICENSE,$(SHAREDIR)/doc/agent-safe)
	$(call put,644,$(wildcard packaging/mcp/*),$(SHAREDIR)/doc/agent-safe/mcp)

uninstall:
	rm -rf $(DESTDIR)$(LIBEXECDIR) $(DESTDIR)$(SHAREDIR)/doc/agent-safe
	rm -f $(addprefix $(DESTDIR)$(BINDIR)/,agent-safe agent-safe-mcp agent-safe-audit-verify agent-safe-witness)
	rm -f $(foreach n,1 5 7,$(patsubst packaging/man/%,$(DESTDIR)$(SHAREDIR)/man/man$n/%,$(wildcard packaging/man/*.$n)))
	rm -f $(addprefix $(DESTDIR)$(UNITDIR)/,systemd/system/agent-safe.service sysusers.d/agent-safe.conf tmpfiles.d/agent-safe.conf)
	rm -f $(DESTDIR)$(SYSCONFDIR)/apparmor.d/agent-safe
	rm -f $(DESTDIR)$(SHAREDIR)/bash-completion/completions/agent-safe $(DESTDIR)$(SHAREDIR)/zsh/vendor-completions/_agent-safe

clean:
	rm -rf $(BUILD)

include tests/tests.mk

.PHONY: all rows borrowed help deps demo install uninstall clean FORCE
.DEFAULT_GOAL := all
