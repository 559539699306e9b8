"""
Tells the controller how many jobs and resources this Flux instance has: report.py CONTACT TOKEN. CONTACT is a file with
the addresses of the controllers, of which only the leader answers; it changes with the leader. TOKEN is a file with a
token for them. Flux has no event for resources that come and go, so this program asks again each time.
"""
import http.client
import json
import socket
import ssl
import sys
import time

import flux
from flux.job.stats import JobStats
from flux.resource.list import resource_list

# Seconds. The controller forgets numbers after a minute.
REPEATED = 25
TIMEOUT = 3
FIRST_WAIT = 1


def numbers(handle):
    stats = JobStats(handle).update_sync()
    sets = resource_list(handle).get()
    kinds = (("nodes", "nnodes"), ("cores", "ncores"), ("gpus", "ngpus"))
    states = ("free", "allocated", "down")
    return {
        "jobs": {
            "pending": stats.pending,
            "running": stats.running,
            "done": stats.inactive,
            "failed": stats.failed,
        },
        "resources": {
            kind: {state: int(getattr(sets[state], count)) for state in states} for kind, count in kinds
        },
    }


def post(address, contact, token, body):
    host, port = address.rsplit(":", 1)
    context = ssl.create_default_context(cadata=contact["ca"])
    plain = socket.create_connection((host.strip("[]"), int(port)), timeout=TIMEOUT)
    connection = http.client.HTTPSConnection(contact["host"], timeout=TIMEOUT)
    connection.sock = context.wrap_socket(plain, server_hostname=contact["host"])
    try:
        headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}
        connection.request("POST", contact["path"], body, headers)
        answer = connection.getresponse()
        if answer.status != 204:
            raise OSError("%d %s" % (answer.status, answer.read(300).decode(errors="replace").strip()))
    finally:
        connection.close()


def tell(found, files):
    """Returns why no controller took the numbers, or an empty text."""
    try:
        with open(files[0]) as file:
            contact = json.load(file)
        with open(files[1]) as file:
            token = file.read().strip()
    except (OSError, ValueError) as error:
        return str(error)
    problem = "the controller has no address"
    for address in contact.get("addresses", []):
        try:
            post(address, contact, token, json.dumps(found))
            return ""
        except (OSError, http.client.HTTPException) as error:
            problem = "%s: %s" % (address, error)
    return problem


def every(files):
    try:
        with open(files[0]) as file:
            return json.load(file)["every"]
    except (OSError, ValueError, KeyError):
        return FIRST_WAIT


def main(files):
    handle, told, at, said = None, None, 0.0, ""
    while True:
        try:
            handle = handle or flux.Flux()
            found = numbers(handle)
        except OSError:
            # A module that is loaded again answers later; without a broker there is no other handle.
            if handle is None:
                return
            handle = None
            time.sleep(FIRST_WAIT)
            continue
        if found != told or time.monotonic() - at >= REPEATED:
            problem = tell(found, files)
            if problem == "":
                told, at = found, time.monotonic()
            if problem not in ("", said):
                print("MiniCluster: the report to the controller failed: " + problem, file=sys.stderr)
            said = problem
        time.sleep(every(files))


main(sys.argv[1:])
