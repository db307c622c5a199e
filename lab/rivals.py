"""The programs that look at endpoints for others, with the same checks as ours: haproxy, Prometheus, blackbox_exporter, Monit, Nagios.

Each is unpacked from Debian's packages, gets a configuration of N checks once a second, and runs as it is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lab.packages import Tools, check_libraries, unpack

PACKAGES = ["haproxy", "monit", "nagios4-core", "monitoring-plugins-basic", "prometheus", "prometheus-blackbox-exporter", "wrk"]
LIBRARIES = ["liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1", "libluajit-5.1-2", "libluajit-5.1-common"]
PROGRAMS = ["usr/sbin/haproxy", "usr/bin/monit", "usr/sbin/nagios4", "usr/bin/prometheus", "usr/bin/prometheus-blackbox-exporter",
            "usr/lib/nagios/plugins/check_tcp", "usr/bin/wrk"]
TIMEOUT_MS = 900


@dataclass(frozen=True)
class Rivals:
    root: Path

    def program(self, name: str) -> Path:
        return next(self.root / path for path in PROGRAMS if path.endswith("/" + name))

    @property
    def environment(self) -> dict[str, str]:
        return Tools(self.root).environment()


def fetch(folder: Path) -> Rivals:
    rivals = Rivals(folder)
    unpack(folder, PACKAGES + LIBRARIES, lambda: check_libraries([str(folder / path) for path in PROGRAMS], rivals.environment))
    return rivals


def address(number: int) -> str:
    """127.0.0.0/8 is this machine: as many addresses as one likes."""
    return f"127.{1 + number // 65025}.{number // 255 % 255}.{1 + number % 255}"


Port = Callable[[int], int]  # of the target with that number


def haproxy(rivals: Rivals, folder: Path, count: int, port: Port, http: bool) -> list:
    """One thread, as ours is."""
    asked = ["  option httpchk", "  http-check send meth GET uri / ver HTTP/1.1 hdr Host t hdr Connection close", "  http-check expect status 200"]
    lines = ["global", "  nbthread 1", "  maxconn 100", f"  stats socket {folder}/haproxy.sock", "  spread-checks 0",
             "  max-spread-checks 1s", "defaults", "  mode tcp", f"  timeout connect {TIMEOUT_MS}ms", f"  timeout check {TIMEOUT_MS}ms",
             "  timeout client 5s", "  timeout server 5s", "backend b", *(asked if http else [])]
    lines += [f"  server s{i} {address(i)}:{port(i)} check inter 1s fall 3 rise 2" for i in range(count)]
    return [rivals.program("haproxy"), "-db", "-f", _write(folder / "haproxy.cfg", lines)]


def monit(rivals: Rivals, folder: Path, count: int, port: Port, http: bool) -> list:
    """It looks at one after the other."""
    lines = ["set daemon 1", *(f"set {name} {folder}/monit.{name}" for name in ("pidfile", "statefile", "idfile")), f"set log {folder}/monit.out"]
    what = "protocol http" if http else "type tcp"
    for i in range(count):
        lines += [f"check host h{i} with address {address(i)}", f"  if failed port {port(i)} {what} with timeout 1 seconds for 3 cycles then alert"]
    config = _write(folder / "monit.rc", lines)
    config.chmod(0o700)
    return [rivals.program("monit"), "-I", "-c", config]


def prometheus(rivals: Rivals, folder: Path, count: int, port: Port, through: int | None = None) -> list:
    """Scrapes the targets; or, with the port of a blackbox_exporter, has that look at them."""
    lines = [f"global: {{scrape_interval: 1s, scrape_timeout: {TIMEOUT_MS}ms, evaluation_interval: 60s}}", "scrape_configs:", "- job_name: t"]
    if through is None:
        lines.append("  metrics_path: /")
    else:
        lines += ["  metrics_path: /probe", "  params: {module: [tcp]}", "  relabel_configs:",
                  "  - {source_labels: [__address__], target_label: __param_target}",
                  "  - {source_labels: [__param_target], target_label: instance}",
                  f"  - {{target_label: __address__, replacement: '127.0.0.1:{through}'}}"]
    lines.append("  static_configs:\n  - targets: [" + ",".join(f"'{address(i)}:{port(i)}'" for i in range(count)) + "]")
    return [rivals.program("prometheus"), f"--config.file={_write(folder / 'prometheus.yml', lines)}", f"--storage.tsdb.path={folder}/prometheus",
            "--web.listen-address=127.0.0.1:0", "--log.level=warn"]


def blackbox(rivals: Rivals, folder: Path, at: int) -> list:
    config = _write(folder / "blackbox.yml", [f"modules: {{tcp: {{prober: tcp, timeout: {TIMEOUT_MS}ms}}}}"])
    return [rivals.program("prometheus-blackbox-exporter"), f"--config.file={config}", f"--web.listen-address=127.0.0.1:{at}", "--log.level=error"]


def check_tcp(rivals: Rivals) -> str:
    """The monitoring plugin, as Nagios and we start it."""
    return str(rivals.program("check_tcp"))


def nagios(rivals: Rivals, folder: Path, count: int, port: int) -> list:
    home = folder / "nagios"
    (home / "spool").mkdir(parents=True)
    (home / "archives").mkdir()
    places = {"log_file": "nagios.log", "cfg_file": "objects.cfg", "object_cache_file": "objects.cache", "precached_object_file": "objects.precache",
              "status_file": "status.dat", "temp_file": "nagios.tmp", "temp_path": "", "check_result_path": "spool",
              "state_retention_file": "retention.dat", "lock_file": "nagios.lock", "command_file": "nagios.cmd", "query_socket": "nagios.qh",
              "log_archive_path": "archives"}
    settings = {"status_update_interval": 60, "nagios_user": "root", "nagios_group": "root", "interval_length": 1, "use_syslog": 0,
                "check_workers": 4, "max_concurrent_checks": 0, "sleep_time": 0.01, "enable_notifications": 0, "execute_service_checks": 1,
                "log_initial_states": 0, "host_inter_check_delay_method": "n", "service_inter_check_delay_method": "s",
                "max_service_check_spread": 1, "service_interleave_factor": "s", "cached_host_check_horizon": 0}
    config = _write(home / "nagios.cfg", [f"{key}={home / name}" for key, name in places.items()] + [f"{key}={value}" for key, value in settings.items()])
    days = "\n".join(f" {day} 00:00-24:00" for day in ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"))
    common = " max_check_attempts 3\n check_period 24x7\n contacts c"
    lines = [f"define timeperiod{{\n timeperiod_name 24x7\n alias a\n{days}\n}}",
             f"define command{{\n command_name t\n command_line {check_tcp(rivals)} -H $HOSTADDRESS$ -p {port} -t 1\n}}",
             "define contact{\n contact_name c\n host_notification_commands t\n service_notification_commands t\n"
             " host_notification_period 24x7\n service_notification_period 24x7\n}"]
    for i in range(count):
        lines += [f"define host{{\n host_name h{i}\n address {address(i)}\n active_checks_enabled 0\n{common}\n}}",
                  f"define service{{\n host_name h{i}\n service_description s\n check_command t\n check_interval 1\n retry_interval 1\n{common}\n}}"]
    _write(home / "objects.cfg", lines)
    return [rivals.program("nagios4"), config]


def _write(file: Path, lines: list[str]) -> Path:
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file
