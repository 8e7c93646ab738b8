# What /proc says of processes.

. "${BASH_SOURCE[0]%/*}/wait.bash"

# status_of PID FIELD: one field of /proc/PID/status, blanks squeezed
status_of() { sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status" | tr -s '[:space:]' ' ' | sed 's/ $//'; }

# The five capability sets in one line: "inh prm eff bnd amb"
caps_of() { sed -n 's/^Cap\(Inh\|Prm\|Eff\|Bnd\|Amb\):[[:space:]]*//p' "/proc/$1/status" | tr '\n' ' ' | sed 's/ $//'; }

NO_CAPS='0000000000000000 0000000000000000 0000000000000000 0000000000000000 0000000000000000'

# Children of PID, one per line
children_of() { cat /proc/"$1"/task/*/children 2>/dev/null | tr ' ' '\n' | sed '/^$/d'; }

# Every process below PID
descendants_of() {
	local child
	for child in $(children_of "$1"); do
		echo "$child"
		descendants_of "$child"
	done
}

# Processes that run this program file, one per line (root sees all of them)
running() { find /proc/[0-9]*/exe -maxdepth 0 -lname "$1" 2>/dev/null | cut -d/ -f3; }
