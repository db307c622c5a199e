"""Real OVN clusters and BIRDs on this machine, to look at and to break.

examples:
  ./dev lab up                        northbound and southbound clusters of three members
  ./dev lab up --birds 1.6 2          and a BIRD 1.6 and a BIRD 2 with a session between them
  ./dev lab status                    who leads, who lives, where the sockets are
  ./dev lab break kill nb/leader      now look at: wardmote status
  ./dev lab break loss sb/2 --value 30
  ./dev lab mend                      make everything healthy again
  ./dev lab down
"""

import argparse
import sys

from lab.bird import BirdError
from lab.faults import FAULTS, mend
from lab.instance import Lab, LabError, may_run, take_down_all
from lab.network import NetworkError
from lab.ovn import DATABASES, Cluster
from lab.packages import PackageError
from lab.wire import WireError

DEFAULT_NAME = "demo"


def main(arguments: list[str]) -> int:
    given = _parser().parse_args(arguments)
    reason = may_run()
    if reason:
        print(f"lab: {reason}", file=sys.stderr)
        return 77
    try:
        given.verb(given)
    except (LabError, PackageError, NetworkError, WireError, BirdError, TimeoutError) as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev lab", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--name", default=DEFAULT_NAME, help=f"which lab (default: {DEFAULT_NAME}); several can stand side by side")
    verbs = parser.add_subparsers(required=True, metavar="VERB")

    up = verbs.add_parser("up", help="bring the clusters up and wait until they are healthy")
    up.add_argument("--members", type=int, default=3, choices=range(1, 8), metavar="N", help="of each cluster (default: 3)")
    up.add_argument("--db", choices=[*DATABASES, "both", "none"], default="both")
    up.add_argument("--birds", nargs="*", default=[], choices=["1.6", "2", "frr"], metavar="VERSION",
                    help="a BIRD of this version (1.6 or 2), or an FRR (frr), on each host from the first, all with sessions to "
                         "each other")
    up.set_defaults(verb=_up)

    status = verbs.add_parser("status", help="what each member says, and where to ask it")
    status.set_defaults(verb=_status)

    rows = "\n".join(f"  {fault.name:14} {fault.help}" + (f" (--value {fault.value}, default {fault.default:g})" if fault.value else "")
                     for fault in FAULTS.values())
    breaks = verbs.add_parser("break", help="do something to a member", formatter_class=argparse.RawTextHelpFormatter,
                              epilog=f"faults:\n{rows}\n\ntargets: nb/1 sb/3 nb/leader sb/follower; also nb, or for both: 2")
    breaks.add_argument("fault", choices=FAULTS, metavar="FAULT")
    breaks.add_argument("target", nargs="?", default="nb/follower", metavar="TARGET", help="default: nb/follower")
    breaks.add_argument("--value", type=float, help="the fault's number")
    breaks.set_defaults(verb=_break)

    healed = verbs.add_parser("mend", help="make the clusters healthy again; those past mending are built anew")
    healed.set_defaults(verb=_mend)
    down = verbs.add_parser("down", help="end it all and remove it")
    down.set_defaults(verb=_down)
    clean = verbs.add_parser("clean", help="take down every lab of this checkout")
    clean.set_defaults(verb=lambda _: take_down_all())
    return parser


def _up(given: argparse.Namespace) -> None:
    databases = {"both": list(DATABASES), "none": []}.get(given.db, [given.db])
    lab = Lab.up(given.name, databases, given.members, birds=given.birds)
    _show(lab)


def _status(given: argparse.Namespace) -> None:
    _show(Lab.load(given.name))


def _break(given: argparse.Namespace) -> None:
    lab = Lab.load(given.name)
    fault = FAULTS[given.fault]
    value = fault.default if given.value is None else given.value
    try:
        for cluster, number in _targets(lab, given.target):
            fault.does(cluster, number, value)
            cluster.past_mending |= not fault.mends
            print(f"{cluster.database.short}/{number}: {fault.name}: {fault.help}")
    finally:
        lab.save()


def _targets(lab: Lab, text: str) -> list[tuple[Cluster, int]]:
    database, _, who = (text, "/", "follower") if text in lab.clusters else text.rpartition("/")
    if database and database not in lab.clusters:
        raise LabError(f"'{text}': no database '{database}' here; there are: {', '.join(lab.clusters)}")
    chosen = [lab.clusters[database]] if database else list(lab.clusters.values())
    return [(cluster, _number(cluster, who)) for cluster in chosen]


def _number(cluster: Cluster, who: str) -> int:
    if who == "leader":
        return cluster.leader()
    if who == "follower":
        return cluster.followers()[0]
    if who.isdigit() and int(who) in cluster.members:
        return int(who)
    raise LabError(f"'{who}' is no member: use leader, follower or one of {', '.join(map(str, cluster.members))}")


def _mend(given: argparse.Namespace) -> None:
    lab = Lab.load(given.name)
    for cluster in lab.clusters.values():
        anew = mend(cluster)
        print(f"{cluster.database.short}: healthy" + (" (built anew)" if anew else ""))
        lab.save()


def _down(given: argparse.Namespace) -> None:
    Lab(given.name).down()


def _show(lab: Lab) -> None:
    print(f"lab '{lab.name}'")
    for cluster in lab.clusters.values():
        print(f"  {cluster.database.name}")
        views = cluster.views()
        for number, member in cluster.members.items():
            view = views.get(number)
            process = member.process.pid if member.process and member.process.alive() else "-"
            says = f"{view.role}, term {view.term}, {view.status}" if view and view.role else "no answer"
            print(f"    {cluster.database.short}/{number}  {cluster.address(number):24} pid {process:<8} {says}")
    for bird in lab.birds:
        process = bird.process.pid if bird.process and bird.process.alive() else "-"
        says = ", ".join(f"{name} {info or 'disabled'}" for name, info in bird.sessions().items()) or "no answer"
        print(f"  {bird.name}  {bird.version:4} {bird.address:16} {bird.control}  pid {process:<8} {says}")
    print(f"sockets: {lab.sockets}/{{{','.join(lab.clusters)}}}-N.{{ctl,sock}}   agent's configuration: {lab.folder}/wardmote.yaml")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
