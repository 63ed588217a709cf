# The machine on which main.ts tries the unit file. `unshare` runs this as the first process of namespaces of its own, so that
# nothing outside changes: the root folder is a layer above that of this machine, in memory.
#   machine.sh FOLDER PREFIX UNIT    PREFIX has the installed command; FOLDER gets the file `output`
set -e
folder=$1 prefix=$2 unit=$3

mount -t tmpfs tmpfs "$folder/layers"
mkdir "$folder/layers/upper" "$folder/layers/work" "$folder/layers/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$folder/layers/upper,workdir=$folder/layers/work" "$folder/layers/root"
cp -r "$prefix/." "$folder/layers/root/usr/local/"
cd "$folder/layers/root"
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
mount --bind "$folder/output" mnt
ip link set lo up

mkdir -p etc/sluice
cp "$unit" etc/systemd/system/sluice.service
echo 'PerClient: { burst: 5, count: 1, period: 1h, idFormat: clientNetwork }' > etc/sluice/limits.yaml
echo 'http: { api: { limits: [{ limit: PerClient, id: address }] } }' > etc/sluice/tables.yaml
cat > etc/systemd/system/probe.service <<'UNIT'
[Unit]
SuccessAction=exit-force
FailureAction=exit-force
[Service]
Type=oneshot
ExecStart=/bin/bash /mnt/probe.sh
StandardOutput=append:/mnt/text
StandardError=append:/mnt/text
UNIT
# What would change the kernel of this machine.
for name in systemd-sysctl.service systemd-modules-load.service systemd-binfmt.service proc-sys-fs-binfmt_misc.automount \
  kmod-static-nodes.service systemd-udevd.service systemd-udev-trigger.service sys-kernel-debug.mount \
  sys-kernel-tracing.mount sys-kernel-config.mount sys-fs-fuse-connections.mount dev-hugepages.mount dev-mqueue.mount; do
  ln -sf /dev/null "etc/systemd/system/$name"
done

mkdir before
pivot_root . before
cd /
umount --lazy /before
exec env -i container=other PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --system --unit=probe.service --log-target=null --show-status=0
