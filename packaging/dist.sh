#!/usr/bin/env bash
# Builds what users install, into dist/, and tries each package from empty: an archive with the
# program, its completions and manual pages; a wheel; a wheel with the weights of the embedder; a
# Debian package; a container image where a container engine runs.
#
#   PROFILE=dev      use the development profile, for trying this script
#   TARGET=TRIPLE    build for this target, such as x86_64-unknown-linux-musl (static)
#   SKIP="image …"   leave out: wheel embedder deb image manifests
set -euo pipefail
cd "$(dirname "$0")/.."

profile=${PROFILE:-release}
target=${TARGET:-}
dist=$PWD/dist
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
missing=()

say() { echo "== $*" >&2; }
wants() { [[ " ${SKIP:-} " != *" $1 "* ]]; }
fail() { echo "error: $*" >&2; exit 1; }

python=${PYTHON:-python3}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
triple=${target:-$(rustc -vV | sed -n 's/^host: //p')}
case $triple in
    x86_64-*) arch=amd64 ;;
    aarch64-*) arch=arm64 ;;
    *) arch=${triple%%-*} ;;
esac
mkdir -p "$dist"
# The program is built once, by maturin, and taken from the target folder for the other packages.
folder=${CARGO_TARGET_DIR:-target}/${target:+$target/}$([ "$profile" = dev ] && echo debug || echo "$profile")
export CARGO_PROFILE_RELEASE_STRIP=true

say "program and wheel ($profile, $triple)"
"$python" -m venv "$work/tools"
"$work/tools/bin/pip" -q install 'maturin>=1.9,<2' 'setuptools>=77' wheel
"$work/tools/bin/maturin" build --locked --profile "$profile" --out "$work/wheel" \
    ${target:+--target "$target"}
wheel=$(echo "$work"/wheel/halma-*.whl)
halma=$folder/halma
[ -x "$halma" ] || fail "$halma was not built"

say "completions and manual pages"
root=$work/root
mkdir -p "$root"/usr/{bin,share/{man/man1,doc/halma,bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d}}
install -m 755 "$halma" "$root/usr/bin/halma"
"$halma" man "$root/usr/share/man/man1" 2>/dev/null
"$halma" completions bash >"$root/usr/share/bash-completion/completions/halma"
"$halma" completions zsh >"$root/usr/share/zsh/vendor-completions/_halma"
"$halma" completions fish >"$root/usr/share/fish/vendor_completions.d/halma.fish"
bash -n "$root/usr/share/bash-completion/completions/halma"
if command -v man >/dev/null; then
    warnings=$(MANROFFSEQ='' man --warnings -E UTF-8 -l -Tutf8 "$root/usr/share/man/man1/halma.1" 2>&1 >/dev/null)
    [ -z "$warnings" ] || fail "halma.1: $warnings"
fi
cp README.md "$root/usr/share/doc/halma/"
cp LICENSE "$root/usr/share/doc/halma/copyright"

say "archive"
name=halma-$version-$triple
mkdir -p "$work/$name"
cp -r "$root/usr/bin" "$root/usr/share" "$work/$name/"
tar -C "$work" --owner=0 --group=0 --sort=name -czf "$dist/$name.tar.gz" "$name"

# The first demo answer from a package in an empty environment, with nothing of this machine's.
try_demo() {
    local halma=$1 home=$2
    mkdir -p "$home"
    (cd "$home" && env -i PATH=/usr/bin:/bin HOME="$home" HALMA_HOME="$home/cache" \
        "$halma" demo --dir "$home/demo" --ask "Which company makes Cyltezo?") >"$home/answer" 2>"$home/log" ||
        { cat "$home/log" >&2; fail "the demo of $halma did not run"; }
    grep -q "Boehringer" "$home/answer" || { cat "$home/answer" >&2; fail "the demo did not answer"; }
}

if wants wheel; then
    say "wheel: into an empty environment, and to the first answer"
    started=$(date +%s)
    "$python" -m venv "$work/empty"
    # The program needs no other package, so that it can be tried where there is no index.
    "$work/empty/bin/pip" -q install "$wheel" || "$work/empty/bin/pip" -q install --no-deps "$wheel"
    try_demo "$work/empty/bin/halma" "$work/wheel-home"
    took=$(($(date +%s) - started))
    say "wheel: $took s from \`pip install\` to the first answer (asked: 60), $(du -h "$wheel" | cut -f1)"
    "$work/empty/bin/python" -m halma --version >&2
    "$work/empty/bin/python" -c 'import halma; print(halma.find_halma())' >&2
    [ "$took" -le 60 ] || [ "$profile" = dev ] || fail "the wheel took $took s"
    cp "$wheel" "$dist/"
fi

if wants embedder; then
    say "wheel of the embedder's weights"
    if HALMA_HOME=$work/weights "$halma" doctor --fetch --kb "$work/none" >/dev/null 2>"$work/fetch.log"; then
        mkdir -p packaging/embedder/data
        cp "$work"/weights/models/all-MiniLM-L6-v2/{model.safetensors,tokenizer.json,config.json} packaging/embedder/data/
        "$work/tools/bin/pip" -q wheel --no-deps --no-build-isolation -w "$work/embedder" packaging/embedder
        rm -rf packaging/embedder/{build,data,*.egg-info}
        cp "$work"/embedder/halma_embedder-*.whl "$dist/"
        if wants wheel; then
            "$work/empty/bin/pip" -q install --no-index --no-deps "$work"/embedder/halma_embedder-*.whl
            env -i PATH=/usr/bin:/bin HOME="$work/wheel-home" HALMA_HOME="$work/no-cache" \
                "$work/empty/bin/halma" doctor --kb "$work/none" --json 2>/dev/null |
                grep -q 'all-MiniLM-L6-v2, 384 dimensions' || fail "the installed weights are not found"
            try_demo "$work/empty/bin/halma" "$work/embedder-home"
        fi
    else
        missing+=("wheel of the weights: $(tail -1 "$work/fetch.log")")
    fi
fi

if wants deb && command -v dpkg-deb >/dev/null; then
    say "Debian package"
    mkdir -p "$root"/{DEBIAN,etc/halma,usr/lib/systemd/system}
    "$halma" init "$root/etc/halma/halma.toml" >/dev/null
    cp packaging/debian/halma.service "$root/usr/lib/systemd/system/"
    cp packaging/debian/{postinst,prerm,postrm} "$root/DEBIAN/"
    chmod 755 "$root"/DEBIAN/{postinst,prerm,postrm}
    echo /etc/halma/halma.toml >"$root/DEBIAN/conffiles"
    find "$root/usr/share/man" -name '*.1' -exec gzip -9n {} +
    # The newest symbol of the C library that the program uses; none for a static one.
    glibc=$(grep -ao 'GLIBC_2\.[0-9]*' "$halma" | sort -uV | tail -1 | cut -d_ -f2 || true)
    size=$(du -sk --exclude=DEBIAN "$root" | cut -f1)
    sed -e "s/@VERSION@/$version/; s/@ARCH@/$arch/; s/@SIZE@/$size/" \
        -e "s/@DEPENDS@/${glibc:+libc6 (>= $glibc), libgcc-s1, }adduser/" packaging/debian/control >"$root/DEBIAN/control"
    deb=$dist/halma_${version}_$arch.deb
    dpkg-deb --root-owner-group --build "$root" "$deb" >/dev/null
    dpkg-deb -x "$deb" "$work/unpacked"
    try_demo "$work/unpacked/usr/bin/halma" "$work/deb-home"
    if command -v systemd-analyze >/dev/null; then
        # Checked at the place where the program is now.
        sed "s,/usr/bin/halma,$work/unpacked/usr/bin/halma," packaging/debian/halma.service >"$work/halma.service"
        systemd-analyze verify --man=no "$work/halma.service" || fail "the systemd unit is wrong"
    fi
elif wants deb; then
    missing+=("Debian package: dpkg-deb is not installed")
fi

if wants manifests; then
    say "Kubernetes manifests"
    if command -v kubeconform >/dev/null; then
        kubeconform -strict -summary packaging/kubernetes/*.yaml
    elif "$work/tools/bin/pip" -q install kubernetes-validate; then
        "$work/tools/bin/kubernetes-validate" --strict packaging/kubernetes/*.yaml >&2
    else
        missing+=("check of the Kubernetes manifests: neither kubeconform nor kubernetes-validate can be had")
    fi
fi

if wants image; then
    engine=
    for one in docker podman; do
        if command -v $one >/dev/null && $one info >/dev/null 2>&1; then engine=$one && break; fi
    done
    if [ -n "$engine" ]; then
        say "container image ($engine)"
        # Podman's own format of images has no health check.
        $engine build -q $([ $engine = docker ] || echo --format docker) -f packaging/docker/Dockerfile -t "halma:$version" .
        $engine run --rm --read-only --tmpfs /tmp --tmpfs /data "halma:$version" \
            demo --dir /data/demo --ask "Which company makes Cyltezo?" | grep -q Boehringer ||
            fail "the demo did not answer in the image"
    else
        missing+=("container image: neither docker nor podman runs here")
    fi
fi

(cd "$dist" && sha256sum -- *.whl *.tar.gz *.deb 2>/dev/null >SHA256SUMS || true)
say "in dist/:" && ls -sh "$dist" >&2
for one in ${missing[@]+"${missing[@]}"}; do say "not built here: $one"; done
