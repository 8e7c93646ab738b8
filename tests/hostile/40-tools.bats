#!/usr/bin/env bats
# Everyday tools in the default cage with no network: what does not work there makes people leave the cage.
# With ORDINARY=1 everything is started by an ordinary user (42-tools-ordinary runs this file like that).

load ../support/workspace
load ../support/procs
load ../support/jobs

setup_file() {
	workspace_make
	if [ -n "${ORDINARY:-}" ]; then
		WS_OPERATOR=$WS_UID
		WS_STATE=
		export XDG_STATE_HOME=$WS_TOP/home-$WS_UID/state
	fi
	workspace_policy <<-'END'
	{
	  "version": 2,
	  "allowed_working_roots": ["proj"],
	  "rules": [ { "program": "sh" }, { "program": "bash" }, { "program": "python3" }, { "program": "git" },
	      { "program": "make" }, { "program": "gcc" }, { "program": "node" }, { "program": "npm" }, { "program": "tar" }, { "program": "id" } ],
	  "limits": { "timeout_seconds": 100 }
	}
	END
	workspace_start
	export WS_TOP WS WS_STATE WS_BIN WS_UID WS_OPERATOR
}

teardown_file() { workspace_clean; }

setup() {
	[ -n "${ORDINARY:-}" ] || need_root
}

# FC-701, FC-702, FC-706: what a bare environment breaks in tools that say something else about it.
@test "a home that can be written, a language, a dumb terminal and no pager: no tool fails for want of them" {
	script bare.sh <<-'END'
	touch "$HOME/x" "$TMPDIR/y" && echo home
	printf '\303\251' | wc -m
	mkdir -p dir && : >"dir/$(printf 'n\303\251')" && ls dir
	printf 'b\nA\na\n' | sort | tr -d '\n'; echo
	tput cols
	clear >/dev/null; echo clear
	END
	job -- sh bare.sh
	worked
	[ "$(job_text stdout)" = $'home\n1\nn\303\251\nAab\n80\nclear' ]
	[ -z "$(job_text stderr)" ]
	script bare.py <<-'END'
	print("\u00e9")
	import pathlib
	pathlib.Path.home().joinpath("z").write_text("\u00e9")
	END
	job -- python3 bare.py
	worked
	if command -v git >/dev/null; then
		job -- sh -c 'git config --global user.name a && git config --global -l'
		worked
		said user.name=a
	fi
	if command -v npm >/dev/null; then
		job -- sh -c 'npm config get cache </dev/null'
		worked
		said /tmp/.npm
	fi
}

# On the path that jobs have; loudly skipped where it is not installed.
need() {
	PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin command -v "$1" >/dev/null || skip "$1 is not installed"
}

worked() { job_is '.status == "succeeded" and .result.returncode == 0'; }

said() { grep -qxF -- "$1" <(job_text stdout) || { job_text stdout; job_text stderr; return 1; }; }

@test "python: asyncio, socket pairs, a listener on a path; the network is refused at once" {
	need python3
	script net <<-'END'
	import asyncio, errno, os, socket, tempfile, threading, time
	a, b = socket.socketpair()
	a.send(b"x")
	assert b.recv(1) == b"x"
	loop = asyncio.new_event_loop()
	threading.Thread(target=loop.run_forever, daemon=True).start()
	async def answer(): return 42
	print("asyncio", asyncio.run_coroutine_threadsafe(answer(), loop).result(timeout=10))
	for folder in ".", tempfile.gettempdir():
	    path = os.path.join(folder, "listener")
	    server = socket.socket(socket.AF_UNIX)
	    server.bind(path)
	    server.listen()
	    client = socket.socket(socket.AF_UNIX)
	    client.connect(path)
	    os.unlink(path)
	print("listeners")
	begin = time.time()
	try:
	    s = socket.socket()
	    s.settimeout(5)
	    s.connect(("192.0.2.1", 80))
	    print("reached")
	except OSError as error:
	    print("refused", error.errno in (errno.EACCES, errno.ENETUNREACH), time.time() - begin < 1)
	END
	job -- python3 net
	worked
	said "asyncio 42"
	said listeners
	said "refused True True"
}

@test "python: multiprocessing by fork, spawn and forkserver, locks, shared memory; unittest" {
	need python3
	script pools.py <<-'END'
	import multiprocessing as mp
	from multiprocessing import shared_memory
	def square(x): return x * x
	if __name__ == "__main__":
	    for method in "fork", "spawn", "forkserver":
	        with mp.get_context(method).Pool(2) as pool:
	            print(method, pool.map(square, [1, 2, 3]))
	    lock = mp.Lock()
	    lock.acquire()
	    lock.release()
	    shared = shared_memory.SharedMemory(create=True, size=1 << 20)
	    shared.buf[0] = 1
	    shared.close()
	    shared.unlink()
	    print("lock and memory")
	END
	script test_it.py <<-'END'
	import subprocess, unittest
	class Test(unittest.TestCase):
	    def test_child(self):
	        self.assertEqual(subprocess.run(["true"]).returncode, 0)
	END
	job -- python3 pools.py
	worked
	said "fork [1, 4, 9]"
	said "spawn [1, 4, 9]"
	said "forkserver [1, 4, 9]"
	said "lock and memory"
	job -- python3 -m unittest -q
	worked
}

@test "devices, descriptors, fifos; no terminal; the host's shared memory is not there" {
	local mine="/dev/shm/agent-safe-test-$$"
	echo host >"$mine"
	job -- sh -c 'echo x >/dev/null && echo null; head -c 4 /dev/zero | wc -c; head -c 4 /dev/urandom | wc -c
	    (: </dev/tty) 2>/dev/null || echo no terminal; cd "${TMPDIR:-/tmp}" && mkfifo f && echo fifo
	    echo out >/dev/stdout; echo err >/dev/stderr; cat /dev/fd/3 3<<END
there
END
	    ls -A /dev/shm | wc -l'
	rm -f "$mine"
	worked
	[ "$(job_text stdout)" = $'null\n4\n4\nno terminal\nfifo\nout\nthere\n0' ]
	[ "$(job_text stderr)" = err ]
}

@test "gcc builds a program with threads, and it runs" {
	need gcc
	script threads.c <<-'END'
	#include <pthread.h>
	#include <stdio.h>
	static void *work(void *p) { return p; }
	int main(void) {
		pthread_t t[4];
		for (int i = 0; i < 4; i++)
			if (pthread_create(&t[i], 0, work, 0))
				return 1;
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], 0);
		puts("threads");
		return 0;
	}
	END
	job -- sh -c 'gcc -O1 -pthread -o threads threads.c && ./threads'
	worked
	said threads
}

@test "make -j with a sub-make: its job server has a pipe or a fifo in TMPDIR, which can run programs too" {
	need make
	script Makefile <<-'END'
	all: a b c d sub
	a b c d: ; @sleep 0.1; echo $@; mktemp >/dev/null
	sub: ; @$(MAKE) --no-print-directory -f Makefile.sub
	END
	script Makefile.sub <<-'END'
	all: e f
	e f: ; @sleep 0.1; echo $@
	END
	job -- make -j4
	worked
	[ "$(job_text stdout | sort | tr -d '\n')" = abcdef ]
	[ -z "$(job_text stderr)" ]
	job -- make -j4 --jobserver-style=fifo
	if [ "$(command jq .result.returncode "$JOB")" != 2 ]; then worked; fi
	job -- sh -c 'cd "${TMPDIR:-/tmp}" && cp /bin/true t && ./t && echo runs'
	worked
	said runs
}

@test "files: renames between folders, hard links, folders swapped, saved by rename, cut; not out of the root" {
	need python3
	script move.py <<-'END'
	import os, shutil, tempfile
	folder = tempfile.mkdtemp(dir=".")
	os.chdir(folder)
	os.mkdir("sub")
	open("f", "w").write("x")
	os.rename("f", "sub/f")
	os.link("sub/f", "l")
	os.rename("sub", "sub2")
	os.makedirs("a/x")
	os.mkdir("b")
	os.rename("a/x", "b/x")
	os.truncate("l", 0)
	open("t.tmp", "w").write("n")
	os.replace("t.tmp", "b/t")
	for outside in "/usr/t", "/etc/t", "/t":
	    try:
	        os.rename("b/t", outside)
	        print("WORKED", outside)
	    except OSError:
	        pass
	os.chdir("..")
	shutil.rmtree(folder)
	print("all")
	END
	job -- python3 move.py
	worked
	[ "$(job_text stdout)" = all ]
}

@test "git: init, add, commit, status, diff, log, branch, worktree, gc, clone, fetch from a file" {
	need git
	script git.sh <<-'END'
	set -e
	rm -rf repo other clone bare.git
	git init -q -b main repo
	cd repo
	git config user.name a
	git config user.email a@b.invalid
	echo 1 >f
	git add f
	git commit -qm one
	echo 2 >>f
	git diff --stat | cat
	git commit -qam two
	git log --oneline | wc -l
	git worktree add -q ../other -b wt
	git status --porcelain | wc -l
	git gc -q
	git clone -q --bare . ../bare.git
	git clone -q ../bare.git ../clone
	cd ../clone
	git fetch -q origin
	git log --oneline | wc -l
	cd ../other
	git status --porcelain
	echo good
	END
	job -- sh git.sh
	worked
	said good
	[ -z "$(job_text stderr)" ]
}

@test "a job runs, and git says what it says outside, whatever .git is" {
	need git
	as_uid "$WS_UID" sh -c 'set -e
		G="git -c user.name=a -c user.email=a@b.invalid -c protocol.file.allow=always"
		cd "$1"; mkdir shapes; cd shapes
		git init -q plain; cd plain; $G commit -q --allow-empty -m m; git worktree add -q ../worktree -b wt 2>/dev/null
		mkdir h; rm -rf .git/hooks; ln -s ../h .git/hooks; cd ..
		git init -q sup; cd sup; $G submodule -q add ../plain sub 2>/dev/null; $G commit -qam s; cd ..
		git clone -q --bare plain bare.git; mkdir none brokenlink closed; ln -s nowhere brokenlink/.git
		mkdir -m 0 closed/.git' sh "$WS/proj"
	local shape
	for shape in plain worktree sup/sub bare.git none brokenlink closed; do
		JOB_CWD=$WS/proj/shapes/$shape job -- sh -c 'true; git status >/dev/null 2>&1; echo "git $?"'
		worked
		said "git $(as_uid "$WS_UID" sh -c 'cd "$1"; git status >/dev/null 2>&1; echo $?' sh "$WS/proj/shapes/$shape")"
	done
	chmod 700 "$WS/proj/shapes/closed/.git"
}

# Uid 0 is not in the job's map: what is root's belongs to nobody there.
@test "own files are the job's own, root's are not; both have a name" {
	job -- sh -c 'id -un; touch own; stat -c %u own . | uniq | wc -l; [ "$(stat -c %u own)" = "$(id -u)" ] && echo own
	    [ "$(stat -c %u /bin/sh)" != "$(id -u)" ] && echo foreign; stat -c %U /bin/sh; rm own'
	worked
	[ "$(job_text stdout | tr '\n' ' ')" = "job 1 own foreign nobody " ]
	[ -z "$(job_text stderr)" ]
}

@test "node: workers, children, a loopback-free event loop" {
	need node
	script work.js <<-'END'
	const { Worker, isMainThread, parentPort } = require('worker_threads');
	if (!isMainThread) {
		parentPort.postMessage(6 * 7);
	} else {
		new Worker(__filename).on('message', (m) => {
			console.log('worker', m);
			console.log('child', require('child_process').execFileSync('echo', ['hi']).toString().trim());
			console.log('cpus', require('os').cpus().length > 0);
		});
	}
	END
	job -- node work.js
	worked
	said "worker 42"
	said "child hi"
	said "cpus true"
}

@test "npm: a dependency from a folder and one from a packed file, scripts; nothing is asked of a network" {
	need npm
	script pack.sh <<-'END'
	set -e
	rm -rf app dep package
	mkdir -p app dep package
	echo '{ "name": "dep", "version": "1.0.0", "main": "index.js" }' >dep/package.json
	echo 'module.exports = 6;' >dep/index.js
	echo '{ "name": "packed", "version": "1.0.0", "main": "index.js" }' >package/package.json
	echo 'module.exports = 7;' >package/index.js
	tar czf app/packed-1.0.0.tgz package
	cd app
	cat >package.json <<-'JSON'
	{ "name": "app", "version": "1.0.0", "private": true,
	  "scripts": { "build": "node -e \"console.log(require('dep') * require('packed'))\"", "test": "node --version" },
	  "dependencies": { "dep": "file:../dep", "packed": "file:packed-1.0.0.tgz" } }
	JSON
	npm install --offline --no-audit --no-fund
	npm run build
	npm test --silent >/dev/null
	npm ci --offline --no-audit --no-fund >/dev/null
	npm ls
	END
	job -- sh pack.sh
	worked
	said 42
}

@test "git in the directory itself: init, add, commit; a violation is only what names a program" {
	need git
	script init.sh <<-'END'
	set -e
	git init -q -b main
	echo 1 >first
	git add first
	git -c user.name=a -c user.email=a@b.invalid commit -qm one
	git log --oneline | wc -l
	git status --porcelain -uno | wc -l
	END
	job -- sh init.sh
	worked
	[ -d "$WS/proj/.git" ]
	job -- git diff
	worked
	rm -rf "$WS/proj/.git" "$WS/proj/first"
}

@test "tar, find, sed, sort --parallel, bash jobs and coprocesses" {
	script many.sh <<-'END'
	set -e
	mkdir -p tree/a/b
	for i in $(seq 200); do echo $((i * 7919 % 1000)) >"tree/a/b/$i"; done
	tar czf tree.tgz tree
	mkdir -p out
	tar xzf tree.tgz -C out
	diff -r tree out/tree
	find out -type f | wc -l
	cat out/tree/a/b/* | sort -n --parallel=4 -S 1M | sed -n '1p;$p' | tr '\n' ' '
	echo
	coproc cat
	echo through >&"${COPROC[1]}"
	read -r line <&"${COPROC[0]}"
	echo "$line"
	sleep 0.1 & first=$!
	sleep 0.1 & wait $first $!
	diff <(echo a) <(echo a) && echo good
	END
	job -- bash many.sh
	worked
	said 200
	said through
	said good
}

@test "names: localhost resolves, others fail at once" {
	job -- sh -c 'getent hosts localhost >/dev/null && echo localhost; head -c 1 /etc/resolv.conf >/dev/null && echo readable
	    begin=$(date +%s); getent hosts example.invalid; [ $(($(date +%s) - begin)) -lt 3 ] && echo fast; [ -e /var/run/. ] && echo run'
	said localhost
	said fast
}

@test "whatever the starter has open, a job has 0, 1 and 2" {
	workspace_stop
	(exec 5</etc/hostname 6</ 7<>/dev/null && agent_safe status >/dev/null)
	job -- python3 -c 'import os; print(sorted(int(fd) for fd in os.listdir("/proc/self/fd"))[:3], len(os.listdir("/proc/self/fd")), os.getcwd())'
	worked
	# and the descriptor of the listing itself
	said "[0, 1, 2] 4 $WS/proj"
}

@test "a repository stays clean, also when the executor is killed in the middle of a job" {
	need git
	rm -rf "$WS/proj/clean"
	as_uid "$WS_UID" sh -c 'git init -q "$1" && cd "$1" && git -c user.name=a -c user.email=a@b.invalid commit -q --allow-empty -m m' \
	    sh "$WS/proj/clean"
	look() { (cd "$WS/proj/clean" && as_uid "$WS_UID" git status --porcelain --ignored && find . | sort); }
	local before id
	before=$(look)
	JOB_CWD=$WS/proj/clean job -- sh -c true
	worked
	[ "$(look)" = "$before" ]
	id=$(JOB_CWD=$WS/proj/clean propose_in -- sh -c 'sleep 2')
	agent_safe approve "$id" --by tester >/dev/null
	agent_safe run "$id" --execute >/dev/null 2>&1 3>&- 4>&- &
	wait_until 10 keeper_is_there
	kill -KILL "$(workspace_pids | sed -n 's/^executor //p')"
	wait $! || true
	workspace_start
	wait_until 10 no_keeper_is_there
	[ "$(look)" = "$before" ]
}

keeper_is_there() { [ -n "$(running "$WS_BIN/agent-safe-keeper")" ]; }
no_keeper_is_there() { [ -z "$(running "$WS_BIN/agent-safe-keeper")" ]; }
