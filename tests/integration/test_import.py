"""`wardmote config import` against the programs whose configuration it reads: Nagios itself resolves templates, groups and inheritance, and what
it came to must be translated to the same checks. What else Debian ships as an example must be accepted by `config check`."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from lab.instance import FOLDER
from lab.packages import Tools, check_libraries, unpack
from lab.processes import wait_until
from tools.agent import programs

NAGIOS = FOLDER / "nagios"
MONIT = FOLDER / "monit"

# Every rule of inheritance of xdata/xodtemplate.c that the importer knows.
OBJECTS = r"""
define command {
  command_name  check-host-alive
  command_line  $USER1$/check_ping -H '$HOSTADDRESS$' -w 5000,100% -c 5000,100% -p 1
}
define command {
  command_name  check_own      ; a comment
  command_line  $USER1$/check_own --one '$ARG1$' --two $ARG2$ --of $HOSTALIAS$
}
define timeperiod {
  timeperiod_name  24x7
  alias            always
}
define contact {
  contact_name                   root
  email                          root@example.org
  host_notification_period       24x7
  service_notification_period    24x7
  host_notification_commands     check-host-alive
  service_notification_commands  check-host-alive
}
define contactgroup {
  contactgroup_name  admins
  members            root
}
define host {
  name                base
  check_command       check-host-alive
  check_interval      4
  retry_interval      2
  max_check_attempts  5
  contact_groups      admins
  hostgroups          all
  register            0
}
define host {
  name                other
  check_interval      9
  alias               from-other
  register            0
}
define host {
  name                deeper
  use                 base,other
  hostgroups          +web
  max_check_attempts  7
  register            0
}
define host {
  use        base
  host_name  core
  address    10.0.0.1
}
define host {
  use         deeper
  host_name   web1
  address     10.0.0.11
  parents     core
  hostgroups  +extra
}
define host {
  use             other,deeper
  host_name       web2
  address         10.0.0.12
  parents         core
  retry_interval  1
}
define host {
  use            base
  host_name      quiet
  address        10.0.0.13
  check_command  null
}
define hostgroup {
  hostgroup_name  all
  alias           all
}
define hostgroup {
  hostgroup_name  web
  alias           web
}
define hostgroup {
  hostgroup_name     extra
  alias              extra
  hostgroup_members  nested
}
define hostgroup {
  hostgroup_name  nested
  alias           nested
  members         quiet
}
define service {
  name                 often
  check_interval       1
  retry_interval       1
  max_check_attempts   4
  register             0
}
define service {
  use                  often
  hostgroup_name       web,extra
  host_name            !web2
  service_description  by group
  check_command        check_own!a\!b!c d
}
define service {
  use                  often
  host_name            *
  service_description  everywhere
  check_command        check_own!'quoted text'
  contact_groups       admins
}
define service {
  use                    often
  host_name              core,web1
  service_description    named
  check_interval         15
  check_command          check_own
  max_check_attempts     1
}
"""


def imported(*paths: Path) -> tuple[dict, str]:
    done = subprocess.run([str(programs() / "wardmote"), "config", "import", *map(str, paths)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return yaml.safe_load(done.stdout), done.stderr


def accepted(text: dict, folder: Path) -> None:
    file = folder / "made.yaml"
    file.write_text(yaml.safe_dump(text), encoding="utf-8")
    done = subprocess.run([str(programs() / "wardmote"), "config", "check", str(file)], capture_output=True, text=True, check=False)
    assert done.stdout == "ok\n", done.stderr


@pytest.fixture(scope="module")
def nagios() -> Path:
    program = NAGIOS / "usr/sbin/nagios4"
    unpack(NAGIOS, ["nagios4-core", "nagios4-common"], lambda: check_libraries([str(program)], Tools(NAGIOS).environment()))
    return program


def precached(program: Path, objects: Path, folder: Path) -> Path:
    """All objects as Nagios itself resolves them."""
    result = folder / "objects.precache"
    main = folder / "nagios.cfg"
    settings = {"log_file": folder / "log", "cfg_file": objects, "object_cache_file": folder / "cache", "precached_object_file": result,
                "status_file": folder / "status", "command_file": folder / "command", "lock_file": folder / "lock", "temp_file": folder / "temp",
                "temp_path": folder, "check_result_path": folder, "state_retention_file": folder / "retention", "log_archive_path": folder,
                "nagios_user": "root", "nagios_group": "root"}
    main.write_text("".join(f"{key}={value}\n" for key, value in settings.items()), encoding="utf-8")
    done = subprocess.run([str(program), "-vp", str(main)], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout
    return result


def test_nagios_itself_resolves_templates_and_groups_to_the_same_checks(nagios, tmp_path):
    objects = tmp_path / "objects.cfg"
    objects.write_text(OBJECTS, encoding="utf-8")
    ours, _ = imported(objects)
    theirs, _ = imported(precached(nagios, objects, tmp_path))
    assert {one["name"]: one for one in ours["checks"]} == {one["name"]: one for one in theirs["checks"]}
    assert ours["notify"] == theirs["notify"]
    names = {one["name"] for one in ours["checks"]}
    assert {"core", "web1", "web2", "web1-by-group", "quiet-by-group", "core-named", "quiet-everywhere"} <= names
    assert not {"quiet", "web2-by-group", "web2-named"} & names
    accepted(ours, tmp_path)


def test_the_examples_of_nagios_and_monit_are_accepted(nagios, tmp_path):
    text, notes = imported(*sorted((NAGIOS / "etc/nagios4/objects").glob("*.cfg")), NAGIOS / "etc/nagios4/resource.cfg")
    accepted(text, tmp_path)
    assert "localhost-Root-Partition" in {one["name"] for one in text["checks"]}
    assert "no file defines its check_command 'check_ping'" in notes
    unpack(MONIT, ["monit"])
    text, notes = imported(MONIT / "etc/monit/monitrc", *sorted((MONIT / "etc/monit/conf-available").iterdir()))
    accepted(text, tmp_path)
    assert {"apache", "apache-80", "sshd-22"} <= {one["name"] for one in text["checks"]}
    assert "a word: no statement that is known" not in notes


# As people write them: in one text, in several, bare, with the quotes of Monit, which are not those of a shell.
ARGUMENTS = ["{0} 1 'sleep 5; exit 0' x\"", "{0}\" \"q r\" and \"s\"", "{0} a\\ b a'b c'd $HOME *\"", "{0} x''y it's 'a b'c\"",
             "{0}\" foo \"a b\" 'c d' -e", "{0}\" -d=/x,y"]
PROGRAM = """#!/usr/bin/python3
import json, sys
with open(sys.argv[0] + ".out", "a") as file:
    file.write(json.dumps(sys.argv[1:]) + "\\n")
"""


def test_monit_itself_runs_a_program_with_the_same_arguments(tmp_path):
    unpack(MONIT, ["monit"])
    text = "set daemon 1\n" + "".join(f"set {name} {tmp_path}/{name}\n" for name in ("idfile", "statefile", "pidfile"))
    programs_run = []
    for number, arguments in enumerate(ARGUMENTS):
        program = tmp_path / f"p{number}"
        program.write_text(PROGRAM, encoding="utf-8")
        program.chmod(0o755)
        programs_run.append(program)
        text += f'check program p{number} with path "{arguments.format(program)}\n  if status != 0 then alert\n'
    control = tmp_path / "monitrc"
    control.write_text(text, encoding="utf-8")
    control.chmod(0o600)
    ours, _ = imported(control)
    outputs = [Path(f"{program}.out") for program in programs_run]
    with subprocess.Popen([str(MONIT / "usr/bin/monit"), "-I", "-c", str(control)], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as monit:
        try:
            wait_until(lambda: all(one.exists() and one.read_text(encoding="utf-8").endswith("\n") for one in outputs), 30,
                       "every program ran")
        finally:
            monit.terminate()
    theirs = [json.loads(one.read_text(encoding="utf-8").splitlines()[0]) for one in outputs]
    assert [one["exec"].get("args", []) for one in ours["checks"]] == theirs
    assert [one["exec"]["program"] for one in ours["checks"]] == [str(program) for program in programs_run]
    accepted(ours, tmp_path)


MONITORS = """
[DEFAULT]
hostname = compute-1
[api]
auth_url = http://keystone:5000/v3
username = masakari
password = not-to-be-copied
project_name = service
[introspectiveinstancemonitor]
guest_monitoring_interval = 5
guest_monitoring_failure_threshold = 4
qemu_guest_agent_sock_path = /var/lib/libvirt/qemu/org\\.qemu\\.guest_agent\\..*\\.instance-.*\\.sock
[callback]
retry_max = 12
"""


def test_masakaris_monitors(tmp_path):
    """What `wardmote config import` makes of masakarimonitors.conf is what the agent itself accepts."""
    file = tmp_path / "masakarimonitors.conf"
    file.write_text(MONITORS, encoding="utf-8")
    made, notes = imported(file)
    guests, receiver = made["guests"], made["notify"]["receivers"][0]
    assert guests["rules"] == "masakari" and guests["threshold"] == 4 and guests["every"] == "5s"
    assert guests["channel_path"] == "/var/lib/libvirt/qemu/org.qemu.guest_agent.*.instance-*.sock*", "the original matches a beginning"
    assert receiver["masakari"]["type"] == "instance" and receiver["masakari"]["host"] == "compute-1"
    assert "not-to-be-copied" not in str(made) + notes and "retry_max" in notes
    secret = tmp_path / "secret"
    secret.write_text("a-password\n", encoding="utf-8")
    receiver["masakari"]["keystone"]["secret_file"] = str(secret)
    made["data"] = str(tmp_path)  # the package makes /var/lib/wardmote
    accepted(made, tmp_path)
    checked = subprocess.run([str(programs() / "wardmoted"), "config", "check", str(tmp_path / "made.yaml")], capture_output=True, text=True, check=False)
    assert checked.stdout == "ok\n", checked.stderr
