# shellcheck shell=bash
# Images for containers, of files of Debian's packages and ours (contrib/containers). Needs: TOP, ui.sh, WORK, OUT, DEBS, WEB, SUITE.
#
# mmdebstrap fetches and unpacks the packages of Debian, without installing them; what image-files names is copied with the libraries
# that it needs; buildah makes the image. Nothing here needs root or runs a program of the image.

# Octets of the files of the image authz without the engine, at most.
IMAGE_OCTETS_MAX=120000000
# Accounts: the service and its web server, and the engine, which is in no group of the service.
IMAGE_USER=10001
IMAGE_ENGINE_USER=10002

images_triplet() { dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || gcc -print-multiarch; }

# images_rows IMAGE…: package and path of each file of these images.
images_rows() {
    local image
    for image in "$@"; do
        awk -v i="$image" '$1 == i { print $2, $3 }' "$TOP/contrib/containers/image-files"
    done | sed "s|TRIPLET|$(images_triplet)|"
}

images_deb() { find "$DEBS" -maxdepth 1 -name "$1_*.deb" | sort | tail -n 1; }

# Print the packages of Debian that these images need: those that have files of theirs, and what our packages depend on.
images_needed() {
    local package deb
    {
        images_rows "$@" | cut -d ' ' -f 1 | sort -u | while read -r package; do
            deb=$(images_deb "$package")
            if [ -z "$deb" ]; then printf '%s\n' "$package"; else dpkg-deb -f "$deb" Depends | tr ',' '\n'; fi
        done
        printf 'base-files\nca-certificates\n'
    } | sed 's/|.*//; s/(.*//; s/ //g' | grep -vE '^(authz.*|init-system-helpers|systemd|lighttpd|apache2|)$' | sort -u
}

# Move what packages have below /lib and the like to where an installed Debian has it, below /usr.
images_merge() {
    local dir
    for dir in bin sbin lib lib64; do
        if [ ! -d "$WORK/full/$dir" ] || [ -L "$WORK/full/$dir" ]; then continue; fi
        mkdir -p "$WORK/full/usr/$dir"
        cp -a "$WORK/full/$dir/." "$WORK/full/usr/$dir/"
        rm -rf "${WORK:?}/full/$dir"
        ln -s "usr/$dir" "$WORK/full/$dir"
    done
}

# images_fetch IMAGE…: unpack the packages into WORK/full and keep their archives in WORK/full/var/cache/apt/archives; unpack ours
# over them.
images_fetch() {
    local package full=$WORK/full list
    list=$(images_needed "$@" | tr '\n' ',')
    case " $* " in
    *' web:lighttpd '*) list=${list}lighttpd, ;;
    *' authz-demo '*) list=${list}perl,openssl, ;;
    esac
    rm -rf "$full"
    mkdir -p "$full"
    mmdebstrap --quiet --variant=extract --skip=cleanup/apt --include="${list%,}" --format=tar "$SUITE" "$WORK/full.tar"
    tar -C "$full" --no-same-owner --exclude='./dev/*' -xf "$WORK/full.tar"
    rm -f "$WORK/full.tar"
    images_merge
    images_rows "$@" | cut -d ' ' -f 1 | sort -u | while read -r package; do
        if [ -n "$(images_deb "$package")" ]; then
            cp "$(images_deb "$package")" "$full/var/cache/apt/archives"
            dpkg-deb --fsys-tarfile "$(images_deb "$package")" | tar -C "$full" --no-same-owner --keep-directory-symlink -xf -
        fi
    done
}

# Print the libraries that a program of WORK/full needs, and the loader.
images_libraries() {
    local full=$WORK/full dir loader
    dir=$full/usr/lib/$(images_triplet)
    loader=$(find "$dir" -maxdepth 1 -name 'ld-linux*.so.*' | head -n 1)
    # A program that is linked statically has no list, and needs no loader.
    if "$loader" --library-path "$dir" --list "$1" 2>/dev/null | grep -o "$full/[^ ]*"; then printf '%s\n' "$loader"; fi
}

# images_copy PATH: copy a file with what its link leads to.
images_copy() {
    local from=$1
    while :; do
        (cd "$WORK/full" && cp --parents -P "$from" "$WORK/root")
        [ -L "$WORK/full/$from" ] || return 0
        from=$(dirname "$from")/$(readlink "$WORK/full/$from")
    done
}

# Copy the files of these images and their libraries.
images_fill() {
    local path file
    images_rows "$@" | cut -d ' ' -f 2 | while read -r path; do
        [ -e "$WORK/full/$path" ] || die "image-files: no package has $path"
        if [ "${path%/}" != "$path" ]; then
            (cd "$WORK/full" && cp --parents -R "${path%/}" "$WORK/root")
        else
            images_copy "$path"
        fi
    done
    find "$WORK/root" -type f \( -perm -u+x -o -name '*.so' -o -name '*.so.*' \) | while read -r file; do
        if head -c 4 "$file" | grep -q ELF; then images_libraries "$WORK/full/${file#"$WORK"/root/}"; fi
    done | sort -u | while read -r file; do images_copy "$(realpath -s --relative-to="$WORK/full" "$file")"; done
    # The place where programs look for the loader.
    for path in lib lib64 bin sbin; do
        if [ -L "$WORK/full/$path" ]; then cp -P "$WORK/full/$path" "$WORK/root/$path"; fi
    done
    find "$WORK/full/usr/lib64" -name 'ld-linux*' 2>/dev/null | while read -r file; do
        (cd "$WORK/full" && cp --parents -P "${file#"$WORK"/full/}" "$WORK/root")
    done
}

# Add the copyright and the control data of each package that has a file in the image, where scanners look for them.
images_packages() {
    local deb name
    mkdir -p "$WORK/root/var/lib/dpkg/status.d"
    (cd "$WORK/root" && find . -type f | sort) >"$WORK/files"
    for deb in "$WORK"/full/var/cache/apt/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$deb" | tar -t | sed 's|^\./\(lib[0-9]*\|bin\|sbin\)/|./usr/\1/|' | sort >"$WORK/of-package"
        [ -n "$(comm -12 "$WORK/files" "$WORK/of-package")" ] || continue
        name=$(dpkg-deb -f "$deb" Package)
        dpkg-deb -f "$deb" Package Source Version Architecture Maintainer Description >"$WORK/root/var/lib/dpkg/status.d/$name"
        mkdir -p "$WORK/root/usr/share/doc/$name"
        cp -L "$WORK/full/usr/share/doc/$name/copyright" "$WORK/root/usr/share/doc/$name/copyright"
    done
}

# Accounts, directories and authorities that no package has as a file.
images_ground() {
    local root=$WORK/root
    mkdir -p "$root"/{dev,proc,sys,tmp,etc/ssl/certs,etc/authz,run,var/empty,var/lib,run/secrets}
    printf 'root:x:0:0:root:/root:/nonexistent\nauthz:x:%s:%s::/:/nonexistent\nauthz-opa:x:%s:%s::/:/nonexistent\n' \
        "$IMAGE_USER" "$IMAGE_USER" "$IMAGE_ENGINE_USER" "$IMAGE_ENGINE_USER" >"$root/etc/passwd"
    printf 'root:x:0:\nauthz:x:%s:\nauthz-opa:x:%s:authz\n' "$IMAGE_USER" "$IMAGE_ENGINE_USER" >"$root/etc/group"
    printf 'passwd: files\ngroup: files\nhosts: files dns\n' >"$root/etc/nsswitch.conf"
    : >"$root/etc/hosts"
    : >"$root/etc/hostname"
    : >"$root/etc/resolv.conf"
    cat "$WORK"/full/usr/share/ca-certificates/mozilla/*.crt >"$root/etc/ssl/certs/ca-certificates.crt"
    cp "$WORK/full/usr/lib/os-release" "$root/etc/os-release"
    ln -sfn authz "$root/run/authz-fcgi"
}

# images_layer: WORK/layer.tar, everything of root but the directories that the accounts write to.
images_layer() {
    local tar=(tar --sort=name --mtime="@$EPOCH" --numeric-owner --format=gnu)
    find "$WORK/root" -type d -exec chmod 755 {} +
    chmod 1777 "$WORK/root/tmp"
    "${tar[@]}" -C "$WORK/root" --owner=0 --group=0 -cf "$WORK/layer.tar" .
    rm -rf "$WORK/own"
    mkdir -p "$WORK/own/run/authz" "$WORK/own/run/authz-uploads" "$WORK/own/run/authz-opa" "$WORK/own/var/lib/authz-opa" "$WORK/own/trial"
    chmod 700 "$WORK/own/run/authz" "$WORK/own/run/authz-uploads" "$WORK/own/var/lib/authz-opa"
    chmod 750 "$WORK/own/run/authz-opa" "$WORK/own/trial"
    "${tar[@]}" -C "$WORK/own" --owner="$IMAGE_USER" --group="$IMAGE_USER" -rf "$WORK/layer.tar" \
        ./run/authz ./run/authz-uploads
    if [ -d "$WORK/root/trial" ]; then
        "${tar[@]}" -C "$WORK/own" --owner="$IMAGE_USER" --group="$IMAGE_USER" -rf "$WORK/layer.tar" ./trial
    fi
    "${tar[@]}" -C "$WORK/own" --owner="$IMAGE_ENGINE_USER" --group="$IMAGE_ENGINE_USER" -rf "$WORK/layer.tar" \
        ./run/authz-opa ./var/lib/authz-opa
}

images_octets() { find "$WORK/root" -type f -printf '%s\n' | awk '{ n += $1 } END { printf "%d", n }'; }

# No image needs containers to run, so the driver that needs no mounts will do.
images_buildah() {
    buildah --storage-driver vfs --root "$WORK/storage" --runroot "$WORK/storage-run" "$@"
}

# images_commit NAME TAG CONFIG-OPTION…: the image as OUT/NAME.tar, for `docker load` and `podman load`.
images_commit() {
    local name=$1 tag=$2 container
    shift 2
    images_layer
    container=$(images_buildah from --format docker scratch)
    images_buildah add --quiet "$container" "$WORK/layer.tar" / >/dev/null
    images_buildah config --label org.opencontainers.image.title="$name" --label org.opencontainers.image.version="$VERSION" \
        --label org.opencontainers.image.licenses=MIT "$@" "$container"
    rm -f "$OUT/$name.tar"
    images_buildah commit --quiet --format docker --timestamp "$EPOCH" --rm "$container" "docker-archive:$OUT/$name.tar:$tag" >/dev/null
    printf '%s: %s, %s octets of files\n' "$OUT/$name.tar" "$tag" "$(images_octets)"
}

images_begin() {
    images_fetch "$@"
    rm -rf "$WORK/root"
    mkdir -p "$WORK/root"
    images_fill "$@"
    images_ground
}

# A step: the image authz with the chosen web server, and the program opa, which makes the plans by which the service decides. It
# writes them below TMPDIR: the root may be read-only.
images_authz() {
    local images=(authz "web:$WEB" authz-opa) file=lighttpd/lighttpd.conf
    if [ "$WEB" = apache ]; then file=apache2/apache2.conf; fi
    images_begin "${images[@]}"
    cp "$TOP/contrib/containers/web/$(basename "$file")" "$WORK/root/etc/$file"
    images_packages
    if [ "$(images_octets)" -gt "$IMAGE_OCTETS_MAX" ]; then
        die "the image authz has $(images_octets) octets, more than $IMAGE_OCTETS_MAX" 'see contrib/containers/image-files'
    fi
    images_commit "authz-$WEB" "authz:$VERSION-$WEB" --user "$IMAGE_USER:$IMAGE_USER" --port 8080 --stop-signal SIGTERM \
        --env SVC_RUNTIME_DIR=/run/authz/shared --env TMPDIR=/run/authz --env LC_ALL=C.UTF-8 --entrypoint '["/usr/bin/authzctl"]' --cmd "serve $WEB" \
        --healthcheck 'CMD /usr/bin/authzctl health http://127.0.0.1:8080' --healthcheck-interval 10s --healthcheck-timeout 6s \
        --healthcheck-start-period 30s
}

# A step: the image of the policy engine. Its name for the service is the name of the container.
images_opa() {
    images_begin authz-opa
    mkdir -p "$WORK/root/etc/authz-opa"
    dpkg-deb --fsys-tarfile "$(images_deb authz)" | tar -xO ./usr/share/authz/opa.yaml |
        sed -e 's|\${OPA_INSTANCE}|${HOSTNAME}|' -e 's|X-Bundle-API-Key: "[^"]*", ||' >"$WORK/root/etc/authz-opa/opa.yaml"
    images_packages
    images_commit authz-opa "authz-opa:$VERSION" --user "$IMAGE_ENGINE_USER:$IMAGE_ENGINE_USER" --stop-signal SIGTERM \
        --env GOGC=400 --env GOMEMLIMIT=512MiB \
        --entrypoint '["/usr/bin/opa","run","--server","--config-file=/etc/authz-opa/opa.yaml","--log-level=error","--skip-version-check","--optimize-store-for-read-speed","--addr=unix:///run/authz-opa/opa.sock","--unix-socket-perm=660"]' \
        --cmd '--set-file=services.svc.headers.X-Bundle-API-Key=/run/secrets/bundle_api_key'
}

# A step: the demonstration for contrib/containers/compose.yml. It has the whole of Perl, and is for trials alone.
images_demo() {
    images_begin authz-demo
    (cd "$WORK/full" && tar --exclude=./var --exclude=./usr/share/doc --exclude=./usr/share/man --exclude=./usr/share/locale \
        --exclude=./usr/share/lintian --exclude=./run --exclude=./dev -cf - .) | tar -C "$WORK/root" -xf -
    images_ground
    mkdir -p "$WORK/root/usr/share/authz-demo" "$WORK/root/trial"
    cp -R "$TOP"/contrib/demo/{keys,serve,upstream,lib} "$WORK/root/usr/share/authz-demo"
    cp "$TOP/etc/www/head.html" "$WORK/root/usr/share/authz-demo"
    images_packages
    images_commit authz-demo "authz-demo:$VERSION" --user "$IMAGE_USER:$IMAGE_USER" --env LC_ALL=C
}
