# shellcheck shell=bash
# The network of contrib/cluster: one namespace for each machine, all on one bridge. Needs: layout.sh. Root alone may make it.

NET_ID=
# Each machine of the cluster and the last part of its address.
NET_MACHINES='etcd:10 db1:11 db2:12 db3:13 app1:21 app2:22'

# Choose the names and addresses by the directory, so that two clusters do not meet.
net_choose() { NET_ID=$(($(printf '%s' "$BASE" | cksum | cut -d ' ' -f 1) % 200)); }

net_space() { printf 'azc%s-%s' "$NET_ID" "$1"; }

net_address() {
    local row
    for row in $NET_MACHINES; do
        if [ "${row%%:*}" = "$1" ]; then printf '10.213.%s.%s' "$NET_ID" "${row#*:}" && return 0; fi
    done
    die "there is no machine $1" "the machines are: $MACHINES"
}

# net_in MACHINE COMMAND…: run a command as root in the network of a machine.
net_in() {
    local machine=$1
    shift
    ip netns exec "$(net_space "$machine")" "$@"
}

net_there() { ip netns list | grep -qw "$(net_space "$1")"; }

# A step: make what is missing.
net_up() {
    local machine space
    hint 'network namespaces need root, and a kernel that has them: ip netns add try && ip netns del try'
    if ! ip link show "azc$NET_ID" >/dev/null 2>&1; then
        ip link add "azc$NET_ID" type bridge
        ip addr add "10.213.$NET_ID.1/24" dev "azc$NET_ID"
        ip link set "azc$NET_ID" up
    fi
    for machine in $MACHINES; do
        if net_there "$machine"; then continue; fi
        space=$(net_space "$machine")
        ip netns add "$space"
        ip link add "$space" type veth peer name eth0 netns "$space"
        ip link set "$space" master "azc$NET_ID" up
        ip -n "$space" addr add "$(net_address "$machine")/24" dev eth0
        ip -n "$space" link set lo up
        ip -n "$space" link set eth0 up
    done
}

net_down() {
    local row
    for row in $NET_MACHINES; do
        if net_there "${row%%:*}"; then ip netns del "$(net_space "${row%%:*}")"; fi
    done
    if ip link show "azc$NET_ID" >/dev/null 2>&1; then ip link del "azc$NET_ID"; fi
}

# net_cut MACHINE OTHER…: drop every packet between a machine and others, without a word to either side.
net_cut() {
    local machine=$1 other list=
    shift
    for other in "$@"; do list="$list${list:+, }$(net_address "$other")"; done
    net_heal "$machine"
    net_in "$machine" nft -f - <<-END
		table ip cut {
		    chain in { type filter hook input priority 0; ip saddr { $list } drop; }
		    chain out { type filter hook output priority 0; ip daddr { $list } drop; }
		}
	END
}

net_heal() { net_in "$1" nft delete table ip cut 2>/dev/null || :; }
