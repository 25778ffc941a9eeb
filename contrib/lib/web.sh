# shellcheck shell=bash
# The web server of one instance: a small main file that includes the shipped configuration of etc/. Needs: layout.sh,
# daemons.sh.

# Address on which lighttpd listens.
WEB_BIND=${AUTHZ_WEB_BIND:-127.0.0.1}
APACHE_MODULES=/usr/lib/apache2/modules

# Print a shipped file with the directories of this instance.
web_shipped() {
    sed -e "s|\"/run/authz-fcgi\"|\"$RUN_DIR\"|" -e "s|\"/usr/share/authz/|\"$(prefix_dir)/share/authz/|" "$TOP/etc/$1"
}

web_lighttpd() {
    web_shipped lighttpd/authz.conf >"$BASE/etc/lighttpd-authz.conf"
    web_shipped lighttpd/authz-portal.conf >"$BASE/etc/lighttpd-authz-portal.conf"
    cp "$TOP/etc/lighttpd/authz-limits.conf" "$BASE/etc/authz-limits.conf"
    cat >"$BASE/etc/lighttpd.conf" <<-END
		server.bind = "$WEB_BIND"
		server.port = $1
		server.document-root = "$BASE/inst"
		server.tag = ""
		server.modules = ( "mod_access", "mod_fastcgi" )
		server.upload-dirs = ( "$RUN_DIR" )
		include "$BASE/etc/lighttpd-authz.conf"
		include "$BASE/etc/lighttpd-authz-portal.conf"
	END
    hint "if the port is in use, choose another with --port; lighttpd -tt -f $BASE/etc/lighttpd.conf checks the" \
        "configuration; the log is $LOG_DIR/web.log"
    "$(web_program lighttpd)" -tt -f "$BASE/etc/lighttpd.conf"
}

web_apache() {
    local module
    web_shipped apache/authz.conf >"$BASE/etc/apache-authz.conf"
    web_shipped apache/authz-portal.conf >"$BASE/etc/apache-authz-portal.conf"
    cp "$TOP/etc/apache/authz-mpm.conf" "$BASE/etc/apache-authz-mpm.conf"
    {
        for module in mpm_event authz_core alias buffer deflate dir headers setenvif reqtimeout proxy proxy_fcgi; do
            printf 'LoadModule %s_module %s/mod_%s.so\n' "$module" "$APACHE_MODULES" "$module"
        done
        cat <<-END
			ServerRoot "$BASE"
			DefaultRuntimeDir "$RUN_DIR"
			PidFile "$RUN_DIR/apache.pid"
			Mutex file:$RUN_DIR default
			Listen 127.0.0.1:$1
			ServerName 127.0.0.1:$1
			DocumentRoot "$BASE/inst"
			ErrorLog "$LOG_DIR/web.log"
			LogLevel warn
			ServerTokens Prod
			ServerSignature Off
			MaxKeepAliveRequests 0
			<Directory />
			    Require all denied
			    AllowOverride None
			</Directory>
			Include "$BASE/etc/apache-authz-mpm.conf"
			Include "$BASE/etc/apache-authz.conf"
			Include "$BASE/etc/apache-authz-portal.conf"
		END
    } >"$BASE/etc/apache.conf"
    hint "if the port is in use, choose another with --port; apache2 -t -f $BASE/etc/apache.conf checks the" \
        "configuration; the log is $LOG_DIR/web.log"
    as_service "$(web_program apache2)" -t -f "$BASE/etc/apache.conf"
}

web_program() {
    local name=$1 dir
    for dir in /usr/sbin /usr/bin; do
        if [ -x "$dir/$name" ]; then
            printf '%s/%s' "$dir" "$name"
            return 0
        fi
    done
    command -v "$name"
}

web_answers() { curl -s --noproxy '*' --max-time 5 -o /dev/null "$BASE_URL/health/live"; }

# A step of quickstart.
web_start() {
    local kind=$1 port=$2 command mark
    case $kind in
    lighttpd)
        web_lighttpd "$port"
        command=("$(web_program lighttpd)" -D -f "$BASE/etc/lighttpd.conf")
        ;;
    apache)
        web_apache "$port"
        command=("$(web_program apache2)" -DFOREGROUND -f "$BASE/etc/apache.conf")
        ;;
    esac
    mark=$(printf '%s ' "${command[@]}" | mark_of "$BASE/etc/"*authz*.conf "${command[-1]}")
    # To replace the web server, stop the engine first: its long poll would delay the old one.
    if [ "$(daemon_mark web)" != "$mark" ]; then daemon_stop_named opa; fi
    if ! daemon_current web "$mark" && [ "$port" -ge 1024 ] && ! port_free "$port"; then
        hint "another program uses port $port; choose another one with --port"
        printf 'port %s is in use\n' "$port"
        return 1
    fi
    # A port below 1024 needs this one capability and nothing else of root.
    if [ "$port" -lt 1024 ]; then DAEMON_CAPS=,+net_bind_service; fi
    daemon_start web "$mark" "${command[@]}"
    daemon_await web 15 web_answers
}
