# The system service in the machine of tests/vm, for test files there.
#
#   service_make             installed from BUILD_DIR, with a policy for /srv/proj, which is ana's; started
#   service_clean            stopped and taken away
#   service_words            what it and systemd said of it last
#   as_root, as_ana ARG...   agent-safe --system; JSON
#   sudo_ana CMD...          as ana, with her groups
#   service_propose CMD...   by ana in /srv/proj; prints the id
#   service_job CMD...       proposed, approved, run: in $JOB, whatever became of it

ROOT=${ROOT:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
BUILD_DIR=${BUILD_DIR:-$ROOT/build}

. "$ROOT/tests/support/workspace.bash" # jq, refute
. "$ROOT/tests/support/procs.bash"

service_make() {
	make -s --no-print-directory -C "$ROOT" BUILD="$BUILD_DIR" install
	systemd-sysusers
	systemd-tmpfiles --create
	usermod -aG agent-safe-propose ana
	install -d -o ana -g ana /srv/proj
	cat >/etc/agent-safe/policy.json <<-'END'
	{ "version": 2, "allowed_working_roots": ["/srv/proj"],
	  "rules": [ { "program": "true" }, { "program": "echo" }, { "program": "sh" },
	      { "program": "python3", "limits": { "memory_bytes": 67108864, "processes": 16, "cpu_percent": 50 } } ] }
	END
	systemctl daemon-reload
	systemctl start agent-safe
}

service_clean() {
	systemctl stop agent-safe
	make -s --no-print-directory -C "$ROOT" BUILD="$BUILD_DIR" uninstall
}

service_words() { journalctl --no-pager -o short-monotonic -n 60 -u agent-safe -u agent-safe-system.scope; }

as_root() { /usr/bin/agent-safe --system "$@" 3>&- 4>&-; }

sudo_ana() { runuser -u ana -- "$@"; }

as_ana() { sudo_ana /usr/bin/agent-safe --system "$@" 3>&- 4>&-; }

service_propose() { as_ana submit --new --cwd /srv/proj -- "$@" | jq -er .id; }

service_job() {
	local id
	id=$(service_propose "$@") || return
	as_root approve "$id" --by root >/dev/null || return
	JOB=$(as_root run "$id" --execute) || [ $? = 1 ]
}
