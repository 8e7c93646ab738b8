# Tests.  A C test says in its first lines what it links: "links: shared/text.c ..." and "libs: -lsodium".
#: make check             every test; TESTS=unit one suite, TESTS=text the files with that in their name
#: make check-full        the same with FULL=1: each layer of the cage taken away, the long forms of some tests, more time
#: make unit              UNITS=name: unit tests alone, their output as it comes
#: make fuzz              FUZZ=name SECONDS=60: one fuzz target with clang's libFuzzer
#: make soak              MINUTES=10: the auditor killed 1,000 times, rounds of killing anybody at random and at named points, the model of queue and
#:                        log on so many schedules of its own, then all fuzz targets in turn
#: make bench             submit and run beside bwrap and a bare spawn; jobs per second (LANES="1 2 8 32") beside
#:                        bwrap, task-spooler and firejail; the cost of the cage, of the log, of a long queue (JOBS=1000000)
#: make check-mcp         MCP=agents: official clients, inspector, conformance suite and real agents from npm, and a load
#: make check-vm          the suites (TESTS=) on the kernel that Debian 12 ships, with systemd and all controllers, in a virtual machine
#: make check-agents      the command lines of real agents from npm as jobs in the cage of profile agent; check runs them too once they are there
SAN = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FUZZ_CC = clang
SECONDS = 60
MINUTES = 10

# Rooms that a test takes whole, but for their main().
AUDITOR = $(filter-out auditor/main.c auditor/confine.c,$(wildcard auditor/*.c)) auditor/verify/verify.c \
    $(addprefix shared/,packed.c boot.c channel.c fields.c loop.c messages.c process.c run.c digest.c text.c \
    base64.c log.c vkey.c tcp_ports.c whole.c)
POLICY = $(wildcard broker/policy*.c) $(wildcard shared/json*.c shared/secret*.c) $(addprefix shared/,base64.c \
    text.c log.c digest.c fields.c profile.c run.c tcp_ports.c vkey.c owner.c run_as.c landlock.c landlock_rights.c)

# What the tests say of themselves, read in one go: unit_text_LINKS, unit_text_LIBS, ...
$(BUILD)/links.mk: $(wildcard tests/unit/*.c tests/contract/*.c tests/fuzz/*.c) tests/tests.mk
	@mkdir -p $(@D)
	@awk '{ sub(/ *\*\/ *$$/, "") } \
	    match($$0, /(links|libs): */) { \
		what = substr($$0, RSTART, 4) == "link" ? "LINKS" : "LIBS"; \
		split(FILENAME, part, "/"); sub(/\.c$$/, "", part[3]); \
		print part[2] "_" part[3] "_" what " += " substr($$0, RSTART + RLENGTH) }' $(filter %.c,$^) >$@
include $(BUILD)/links.mk

# Folders that a source may include from: its own, shared/, and the auditor's for its verifier and the witness.
sees = $(sort shared $(patsubst %/,%,$(dir $(1))) $(if $(filter auditor/verify/% auditor/witness/%,$(1)),auditor))

# Every source once more, sanitized: the tests share these objects.
$(BUILD)/san/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(BASE) $(SAN) $(EXTRA) $(addprefix -iquote ,$(call sees,$<) tests/support) -MMD -MP -c -o $@ $<

# What another compiler says of every source, without building: make -s -j2 CC=clang syntax
syntax: $(addprefix syntax/,$(wildcard shared/*.c) $(foreach p,$(BUILT),$(wildcard $(firstword $($p_ROW))/*.c)))
syntax/%.c: %.c FORCE
	@$(CC) -fsyntax-only $(BASE) $(EXTRA) $(addprefix -iquote ,$(call sees,$<)) $<

# $(1): unit, contract or fuzz; $(2): name.  A fuzz target gets a main() that replays files.
define c_test
$(BUILD)/san/tests/$(1)/$(2).o: tests/$(1)/$(2).c $(BUILD)/flags
	@mkdir -p $$(@D)
	$(CC) $(BASE) $(SAN) $(EXTRA) $$(addprefix -iquote ,$$(call sees,$$($(1)_$(2)_LINKS)) tests/support) -MMD -MP -c -o $$@ $$<
$(BUILD)/$(1)/$(2): $(BUILD)/san/tests/$(1)/$(2).o $$(patsubst %.c,$(BUILD)/san/%.o,$$($(1)_$(2)_LINKS) $(3))
	@mkdir -p $$(@D)
	$(CC) $(SAN) $(EXTRA) -o $$@ $$^ -lcmocka $$($(1)_$(2)_LIBS)
endef

UNITS = $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/*.c))
CONTRACTS = $(patsubst tests/contract/%.c,%,$(wildcard tests/contract/*.c))
FUZZERS = $(filter-out replay,$(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c)))
$(foreach t,$(UNITS),$(eval $(call c_test,unit,$t)))
$(foreach t,$(CONTRACTS),$(eval $(call c_test,contract,$t)))
$(foreach t,$(FUZZERS),$(eval $(call c_test,fuzz,$t,tests/fuzz/replay.c)))

TEST_BINARIES = $(UNITS:%=$(BUILD)/unit/%) $(CONTRACTS:%=$(BUILD)/contract/%) $(FUZZERS:%=$(BUILD)/fuzz/%)

# Rooms with a probe for their main(): what somebody can do who has taken the process over.
define taken
$(BUILD)/taken/$(word 2,$($(1)_ROW)): tests/hostile/taken/$(1).c tests/hostile/taken/taken.c \
    $$(filter-out %/$(firstword $($(1)_ROW))/main.o,$$($(1)_OBJ)) $(BUILD)/libshared.a
	@mkdir -p $$(@D)
	$(CC) $(BASE) $(HARDEN) $(CFLAGS) $(EXTRA) $(LDFLAGS) -iquote shared -iquote $(firstword $($(1)_ROW)) \
	    -iquote tests/hostile/taken -o $$@ $$^ $(wordlist 3,9,$($(1)_ROW))
endef
TAKEN = broker executor auditor keeper courier
$(foreach p,$(TAKEN),$(eval $(call taken,$p)))
$(BUILD)/taken/plain: tests/hostile/taken/plain.c tests/hostile/taken/taken.c
	@mkdir -p $(@D)
	$(CC) $(BASE) $(CFLAGS) -iquote tests/hostile/taken -o $@ $^
$(BUILD)/taken/liar: tests/hostile/taken/liar.c $(BUILD)/libshared.a
	@mkdir -p $(@D)
	$(CC) $(BASE) $(CFLAGS) -iquote shared -o $@ $^
# The broker, whose plans are wider than its policy.
$(BUILD)/taken/greedy: tests/hostile/taken/greedy.c $(broker_OBJ) $(BUILD)/libshared.a
	@mkdir -p $(@D)
	$(CC) $(BASE) $(HARDEN) $(CFLAGS) $(EXTRA) $(LDFLAGS) -iquote shared -iquote broker \
	    -Wl,--wrap=policy_decide,--wrap=assess_cage -o $@ $^ $(wordlist 3,9,$(broker_ROW))
# Starts a program whose measures fail.
$(BUILD)/measures/fail: tests/hostile/measures/fail.c
	@mkdir -p $(@D)
	$(CC) $(BASE) $(CFLAGS) -static -o $@ $^
# The executor, with a syscall() that can fail in a job's last process before its exec.
$(BUILD)/measures/agent-safe-executor: tests/hostile/measures/worker.c $(executor_OBJ) $(BUILD)/libshared.a
	@mkdir -p $(@D)
	$(CC) $(BASE) $(HARDEN) $(CFLAGS) $(EXTRA) $(LDFLAGS) -iquote tests/support -Wl,--wrap=syscall -o $@ $^ $(wordlist 3,9,$(executor_ROW))
# The executor with one capability less.
$(BUILD)/measures/less: tests/hostile/measures/less.c $(filter-out %/executor/confine.o,$(executor_OBJ)) $(BUILD)/libshared.a
	@mkdir -p $(@D)
	$(CC) $(BASE) $(HARDEN) $(CFLAGS) $(EXTRA) $(LDFLAGS) -iquote shared -iquote executor -o $@ $^ \
	    $(wordlist 3,9,$(executor_ROW))
# The executor without one of its layers.
LAYERED = syscall prctl mount setsid mounts_show cage_check_namespaces fence_close rlimits_apply \
    filter_load_job process_reset_signals filter_load_own filter_load_init protect_cover protect_inspect nested_cover nested_inspect \
    workdir_check decode_plan program_find_named landlock_job
$(BUILD)/layers/agent-safe-executor: tests/layers/layers.c $(executor_OBJ) $(BUILD)/libshared.a
	@mkdir -p $(@D)
	$(CC) $(BASE) $(HARDEN) $(CFLAGS) $(EXTRA) $(LDFLAGS) -iquote shared -iquote executor -iquote tests/support \
	    $(LAYERED:%=-Wl,--wrap=%) -o $@ $^ $(wordlist 3,9,$(executor_ROW))
comma = ,
define starter
$(BUILD)/layers/$(word 2,$($(1)_ROW)): tests/layers/starter.c $$($(1)_OBJ) $(BUILD)/libshared.a
	@mkdir -p $$(@D)
	$(CC) $(BASE) $(HARDEN) $(CFLAGS) $(EXTRA) $(LDFLAGS) -iquote tests/support \
	    $(addprefix -Wl$(comma)--wrap=,prctl unshare mount) -o $$@ $$^ $(wordlist 3,9,$($(1)_ROW))
endef
$(foreach p,cli launch,$(eval $(call starter,$p)))
# Every program with an older kernel's answer about Landlock.
define old_kernel
$(BUILD)/kernels/$(word 2,$($(1)_ROW)): tests/hostile/measures/landlock.c $$($(1)_OBJ) $(BUILD)/libshared.a
	@mkdir -p $$(@D)
	$(CC) $(BASE) $(HARDEN) $(CFLAGS) $(EXTRA) $(LDFLAGS) -iquote shared -iquote tests/support -Wl,--wrap=landlock_abi -o $$@ $$^ \
	    $(wordlist 3,9,$($(1)_ROW))
endef
$(foreach p,$(BUILT),$(eval $(call old_kernel,$p)))
TAKEN_BINARIES = $(foreach p,$(TAKEN),$(BUILD)/taken/$(word 2,$($p_ROW))) $(BUILD)/taken/plain $(BUILD)/taken/liar $(BUILD)/taken/greedy $(BUILD)/measures/fail \
    $(BUILD)/measures/agent-safe-executor $(BUILD)/measures/less $(BUILD)/layers/agent-safe-executor \
    $(BUILD)/layers/agent-safe-launch $(BUILD)/layers/agent-safe \
    $(foreach p,$(BUILT),$(BUILD)/kernels/$(word 2,$($p_ROW)))

# In two steps, so that what deps installs is there when the compiler starts; -k: what does not build
# is a failure of that test, not the end of all.
check check-full:
	@packaging/deps test
	@+$(MAKE) --no-print-directory -s all
	@+$(MAKE) --no-print-directory -s -k tests || true
	@BUILD_DIR=$(abspath $(BUILD)) FULL=$(filter check-full,$@) tests/run $(TESTS)

tests: $(TEST_BINARIES) $(TAKEN_BINARIES)

taken: $(TAKEN_BINARIES)

unit: $(addprefix $(BUILD)/unit/,$(UNITS))
	@set -e; for u in $^; do echo "# $$u"; $$u; done

# libFuzzer's own main; new inputs are kept in build/, findings become files there.
fuzz:
	@test -n "$(FUZZ)" || { echo 'usage: make fuzz FUZZ=name SECONDS=60; names: $(FUZZERS)'; exit 2; }
	@mkdir -p $(BUILD)/fuzzing/$(FUZZ)
	$(FUZZ_CC) $(BASE) -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $(BUILD)/fuzzing/$(FUZZ).bin \
	    $(addprefix -iquote ,$(call sees,$(fuzz_$(FUZZ)_LINKS)) tests/support) \
	    tests/fuzz/$(FUZZ).c $(fuzz_$(FUZZ)_LINKS) $(fuzz_$(FUZZ)_LIBS)
	cd $(BUILD)/fuzzing && ./$(FUZZ).bin -max_total_time=$(SECONDS) -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
	    $(FUZZ) $(abspath tests/fuzz/$(FUZZ).seeds)

# The auditor alone killed a thousand times at random, then half of the time for each of the others.
soak: all $(BUILD)/unit/auditor_process
	@set -e; for seed in 1 2 3 4 5 6 7 8 9 10; do echo "auditor killed at random, 100 rounds, seed $$seed"; \
	    KILL_SEED=$$seed AUDITOR_TEST='killed_at_random*' AUDITOR_BINARY=$(BUILD)/agent-safe-auditor \
	    $(BUILD)/unit/auditor_process; done
	BUILD_DIR=$(abspath $(BUILD)) SECONDS_TO_RUN=$$(( $(MINUTES) * 30 )) tests/soak/crash.sh
	@+$(MAKE) --no-print-directory -s $(BUILD)/unit/model
	MODEL_ROUNDS=$$(( $(MINUTES) * 50 )) MODEL_SEED=$$(date +%s) $(BUILD)/unit/model 2>/dev/null
	@+set -e; for f in $(FUZZERS); do \
	    $(MAKE) --no-print-directory fuzz FUZZ=$$f SECONDS=$$(( $(MINUTES) * 30 / $(words $(FUZZERS)) )); done

bench-programs: all
	@mkdir -p $(BUILD)/bench
	$(CC) $(BASE) $(CFLAGS) -o $(BUILD)/bench/bench tests/bench/bench.c
	$(CC) $(BASE) $(CFLAGS) -o $(BUILD)/bench/rate tests/bench/rate.c
	$(CC) $(BASE) $(CFLAGS) -iquote shared -iquote tests/support -o $(BUILD)/bench/cage tests/bench/cage.c \
	    $(addprefix tests/support/,cage_rig.c cage_plan.c cage_world.c) $(BUILD)/libshared.a -lsodium
	$(CC) $(BASE) $(CFLAGS) -iquote shared -iquote auditor -o $(BUILD)/bench/audit tests/bench/audit.c \
	    $(filter-out %/main.o %/auditor.o %/on_broker.o %/on_executor.o %/on_courier.o %/confine.o,$(auditor_OBJ)) $(BUILD)/libshared.a -lsodium -lzstd

bench: bench-programs
	@BUILD_DIR=$(abspath $(BUILD)) tests/bench/bench.sh
	@BUILD_DIR=$(abspath $(BUILD)) tests/bench/rate.sh
	@BUILD_DIR=$(abspath $(BUILD)) tests/bench/audit.sh
	@BUILD_DIR=$(abspath $(BUILD)) tests/bench/queue.sh

# Not part of check: the two that install packages (into build/npm), the only things here that need a network.
check-mcp: all
	@BUILD_DIR=$(abspath $(BUILD)) tests/mcp/check.sh $(MCP)

check-agents: all
	@BUILD_DIR=$(abspath $(BUILD)) tests/mcp/install.sh
	@BUILD_DIR=$(abspath $(BUILD)) tests/run agents

# Not part of check either: it makes a whole Debian in build/vm (debootstrap, qemu), once.
check-vm:
	@BUILD_DIR=$(abspath $(BUILD)) tests/vm/check.sh $(TESTS)

.PHONY: check check-full check-vm tests syntax taken unit fuzz soak bench bench-programs check-mcp check-agents
