# What main.ts tries on the machine of machine.sh. It ends with 1 at the first promise that is not kept.
set -eE
trap 'systemctl status --no-pager --lines=40 sluice || true' ERR
url=http://127.0.0.1:9090

# check ADDRESS: the status of a check for a client.
check() {
  curl --silent --output /dev/null --write-out '%{http_code}' --header "X-Forwarded-For: $1" $url/check/api
}

# within SECONDS COMMAND...: runs it until it succeeds.
within() {
  local end=$((SECONDS + $1))
  until "${@:2}"; do
    [ $SECONDS -lt $end ]
    sleep 0.1
  done
}

systemctl start sluice
within 30 curl --silent --fail --output /dev/null $url/health
echo "serves, as the user $(stat --format=%U /proc/$(systemctl show --property=MainPID --value sluice))"

statuses=$(for _ in 1 2 3 4 5 6; do check 203.0.113.7; echo -n ' '; done)
[ "$statuses" = '200 200 200 200 200 429 ' ]
echo "decides: $statuses"

# Each try is another client.
limited_to_one() {
  tried=$((tried + 1))
  [ "$(check 198.51.$tried.1) $(check 198.51.$tried.1)" = '200 429' ]
}
echo 'PerClient: { burst: 1, count: 1, period: 1h, idFormat: clientNetwork }' > /etc/sluice/limits.yaml
within 10 limited_to_one
echo 'follows changes of its files'

mkdir /etc/systemd/system/sluice.service.d
printf '[Service]\nGroup=www-data\n' > /etc/systemd/system/sluice.service.d/override.conf
echo 'SLUICE_OPTIONS="--http unix:/run/sluice/http.sock --trust unix --metrics 127.0.0.1:9102"' > /etc/sluice/environment
chmod 600 /etc/sluice/environment
systemctl daemon-reload
systemctl restart sluice
within 30 test -S /run/sluice/http.sock
setpriv --reuid www-data --regid www-data --clear-groups \
  curl --silent --fail --output /dev/null --unix-socket /run/sluice/http.sock http://localhost/health
within 10 curl --silent --fail --output /dev/null http://127.0.0.1:9102/metrics
echo 'serves on a unix socket, to the group of a proxy'

systemctl stop sluice
[ "$(systemctl show --property=Result --value sluice)" = success ]
echo 'ends when it is stopped'
